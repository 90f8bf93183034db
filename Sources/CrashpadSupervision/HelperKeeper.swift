// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import CrashpadFiles
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Watches one helper at a time. It has no other thread, so that it may make the next one at any time.
struct HelperKeeper {
  private let socket: FileDescriptor
  private let limits: HelperLimits
  private let request = SharedRequest()

  /// The interval in which the helper is examined, in nanoseconds. Memory grows by some 10 MB meanwhile.
  private static let interval = 10_000_000
  private static let endWithParent: Int32 = 1

  init(_ socket: FileDescriptor, _ limits: HelperLimits) { (self.socket, self.limits) = (socket, limits) }

  func run(_ answer: ([UInt8]) -> [UInt8]) -> Never {
    // The parent decides when it has enough: it closes the socket then.
    for signal in [SIGINT, SIGTERM, SIGHUP] { _ = Glibc.signal(signal, SIG_IGN) }
    linux_prctl(Self.endWithParent, UInt(SIGKILL))
    while true {
      let child = linux_fork()
      if child == 0 { serve(answer) }
      guard child > 0, let end = watch(child), HelperMessage.write(HelperMessage.answer(end), to: socket) else {
        _exit(0)
      }
    }
  }

  // MARK: The helper

  private func serve(_ answer: ([UInt8]) -> [UInt8]) -> Never {
    linux_prctl(Self.endWithParent, UInt(SIGKILL))
    while let bytes = HelperMessage.body(from: socket) {
      let start = request.begin(at: MonotonicTime.milliseconds)
      let made = answer(bytes)
      // Another answer is written for a request that took too much, and this process ends.
      while !request.end(start) { pause() }
      guard HelperMessage.write(HelperMessage.answer(.bytes(made)), to: socket) else { break }
    }
    _exit(0)
  }

  // MARK: Its limits

  /// Waits until the helper ends; nil if that was not within a request.
  private func watch(_ child: pid_t) -> HelperAnswer? {
    var idle = memory(of: child)
    while true {
      var status: Int32 = 0
      if unsafe waitpid(child, &status, WNOHANG) != 0 {
        return request.clear() && status & 0x7f != 0 ? .killed(signal: status & 0x7f) : nil
      }
      if let start = request.start {
        if let end = excess(child, since: start, idle), request.condemn(start) {
          kill(child, SIGKILL)
          while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
          _ = request.clear()
          return end
        }
      } else {
        idle = memory(of: child)
      }
      var time = timespec(tv_sec: 0, tv_nsec: Self.interval)
      unsafe nanosleep(&time, nil)
    }
  }

  private func excess(_ child: pid_t, since start: Int64, _ idle: UInt64) -> HelperAnswer? {
    if let time = limits.time, MonotonicTime.milliseconds - start > time { return .timeout }
    guard let limit = limits.memory else { return nil }
    let used = memory(of: child)
    return used > idle && used - idle > limit ? .memory : nil
  }

  private func memory(of child: pid_t) -> UInt64 {
    limits.memory == nil ? 0 : ProcessMemory.bytes(of: String(child)) ?? 0
  }
}

/// The time at which the request began, in memory that a helper and its keeper share.
///
/// Safe: the memory is that of one atomic number, and stays as long as the process.
@safe
private struct SharedRequest {
  private let place: UnsafeMutablePointer<Atomic<Int64>>
  private static let condemned: Int64 = -1

  init() {
    let size = MemoryLayout<Atomic<Int64>>.size
    let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { _exit(1) }
    unsafe place = memory.bindMemory(to: Atomic<Int64>.self, capacity: 1)
    unsafe place.initialize(to: Atomic(0))
  }

  /// Nil without a request.
  var start: Int64? {
    let start = unsafe place.pointee.load(ordering: .acquiring)
    return start > 0 ? start : nil
  }

  func begin(at time: Int64) -> Int64 {
    unsafe place.pointee.store(max(1, time), ordering: .releasing)
    return max(1, time)
  }

  /// False if the keeper ends the process for the request.
  func end(_ start: Int64) -> Bool { replace(start, 0) }
  /// False if the request was just done.
  func condemn(_ start: Int64) -> Bool { replace(start, Self.condemned) }

  private func replace(_ old: Int64, _ new: Int64) -> Bool {
    unsafe place.pointee.compareExchange(expected: old, desired: new, ordering: .sequentiallyConsistent).exchanged
  }

  /// Returns whether there was a request.
  func clear() -> Bool { unsafe place.pointee.exchange(0, ordering: .sequentiallyConsistent) != 0 }
}
