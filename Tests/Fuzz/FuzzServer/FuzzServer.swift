// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadSymbolServers
import CrashpadSymbolication
import CrashpadUpload
import Glibc
import Synchronization
import SystemPackage

/// The bytes of a server's answers, head and all: each begins with "HTTP/", and the last one is repeated. Two runs ask, so that
/// downloads are continued by the same run and by the next. Whatever the bytes are, the cache gets no file but one of the module
/// that was asked for.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  // An input without a head gets one, so that bodies are changed, too.
  let isWhole = bytes.starts(with: Array("HTTP/".utf8))
  server.answers.withLock { $0 = isWhole ? answers(bytes[...]) : [head(bytes.count) + bytes] }
  for _ in 0..<2 {
    ask()
    check()
  }
  removeFiles()
  return 0
}

private func ask() {
  var options = SymbolServerOptions()
  options.limits.size = 1 << 20
  (options.limits.stall, options.limits.total) = (.seconds(1), .seconds(2))
  let client = SymbolServers([server.symbols], ServerCache(cache), options) { _ in }
  let search = SymbolSearch(paths: [], looksInSystem: false, servers: client)
  let found = search.find(identity)
  for symbols in found.symbols { _ = symbols.symbolize(0x1000) }
}

private func answers(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
  let start = Array("HTTP/".utf8)
  var places = bytes.indices.filter { bytes[$0...].starts(with: start) }
  places.append(bytes.endIndex)
  return zip(places, places.dropFirst()).map { Array(bytes[$0..<$1]) }
}

private func head(_ count: Int) -> [UInt8] { Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8) }

private let identity = ModuleIdentity(
  path: "/app/libexample.so", debugID: DebugID(text: "0123456789ABCDEF0123456789ABCDEF0"), buildID: [])

private let root = FilePath("/dev/shm/crashpadctl-fuzz-server-\(getpid())")
private let cache = root.appending("cache")

/// Each file of the cache is of the module, in its place, and nothing is beside the cache.
private func check() {
  for file in (try? regularFiles(in: cache, recursive: true).files) ?? [] {
    let own = try! SymbolFileIdentity(file)
    precondition(own.debugIDs.contains { $0.uuid == identity.debugID?.uuid }, "\(file)")
    precondition(
      file.string.hasSuffix("libexample.so/0123456789ABCDEF0123456789ABCDEF0/libexample.so.sym"), "\(file)")
  }
  let beside = try! regularFiles(in: root, recursive: false)
  precondition(beside.files.isEmpty, "\(beside.files)")
}

/// Directories stay.
private func removeFiles() {
  for file in (try? regularFiles(in: root, recursive: true, hidden: true).files) ?? [] {
    unsafe file.withPlatformString { unsafe _ = unlink($0) }
  }
}

// MARK: The server

private let server = Server()

/// Sends an answer for each request, and closes the connection.
private final class Server: Sendable {
  let answers = Mutex<[[UInt8]]>([])
  let symbols: SymbolServer

  init() {
    atexit { unsafe system("rm -rf /dev/shm/crashpadctl-fuzz-server-\(getpid())") }
    try! createDirectories(root)
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isOpen = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    precondition(isOpen)
    symbols = try! SymbolServer("http://127.0.0.1:\(address.sin_port.bigEndian)")
    Self.listener.store(listener, ordering: .relaxed)
    var thread = pthread_t()
    let failure = unsafe pthread_create(&thread, nil, { _ in server.serve() }, nil)
    precondition(failure == 0)
  }

  private static let listener = Atomic<CInt>(-1)

  private func serve() -> Never {
    let listener = Self.listener.load(ordering: .relaxed)
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { continue }
      var request = [UInt8](repeating: 0, count: 8192)
      _ = unsafe recv(connection, &request, request.count, 0)
      let bytes = answers.withLock { answers in answers.count > 1 ? answers.removeFirst() : answers.first ?? [] }
      _ = unsafe send(connection, bytes, bytes.count, CInt(MSG_NOSIGNAL))
      close(connection)
    }
  }
}
