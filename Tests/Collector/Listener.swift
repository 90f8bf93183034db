// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A socket on 127.0.0.1 that others connect to.
struct Listener: Sendable {
  let port: UInt16
  private let descriptor: Int32

  init(port: UInt16) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var one: Int32 = 1
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        guard unsafe bind(descriptor, raw, size) == 0, listen(descriptor, 4096) == 0 else { return Int32(-1) }
        return unsafe getsockname(descriptor, raw, &size)
      }
    }
    guard status == 0 else {
      complain("collector: cannot listen on port \(port): error \(errno)", status: 73)
    }
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// The next connection; nil after `stop()`.
  func next() -> Int32? {
    while true {
      let connection = accept(descriptor, nil, nil)
      if connection >= 0 {
        var one: Int32 = 1
        unsafe setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return connection
      }
      // Out of descriptors: some connection will end.
      if errno == EMFILE || errno == ENFILE { usleep(1000) } else if errno == EINVAL { return nil }
    }
  }

  func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// A connection to a port of 127.0.0.1; nil if there is none.
func connected(to port: UInt16) -> Int32? {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  let status = unsafe withUnsafePointer(to: &address) {
    unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  if status == 0 { return descriptor }
  close(descriptor)
  return nil
}

/// Passes bytes on, both ways, until one side closes.
func relay(_ first: Int32, _ second: Int32) {
  var sides = [first, second].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  while unsafe poll(&sides, 2, -1) > 0 {
    for (index, target) in [second, first].enumerated() where sides[index].revents != 0 {
      let count = unsafe read(sides[index].fd, &buffer, buffer.count)
      guard count > 0, unsafe send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
    }
  }
}

enum Threads {
  private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` in a detached thread.
  static func start(_ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    unsafe pthread_attr_setstacksize(&attributes, 512 << 10)
    var thread = pthread_t()
    let box = unsafe Unmanaged.passRetained(Box(body))
    let failure = unsafe pthread_create(
      &thread, &attributes,
      {
        unsafe Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    guard failure == 0 else {
      complain("collector: cannot start a thread: error \(failure)", status: 71)
    }
  }
}
