// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The reason why a connection ends: the other side, or bytes that are not HTTP.
struct Ended: Error { let reason: String }

/// A connected socket, read through a buffer.
final class Stream {
  let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 128 << 10)
  private var start = 0
  private var end = 0
  /// At most so many bytes are read at once, with a pause before each.
  var readLimit: (bytes: Int, microseconds: UInt32)?
  /// All bytes that were given to a caller.
  private(set) var byteCount: Int64 = 0

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Reads more; false at the end.
  private func fill() throws(Ended) -> Bool {
    if start == end { (start, end) = (0, 0) }
    if end == buffer.count {
      guard start > 0 else { return false }
      unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe _ = memmove(bytes.baseAddress!, bytes.baseAddress! + start, end - start)
      }
      (start, end) = (0, end - start)
    }
    if let readLimit { usleep(readLimit.microseconds) }
    let room = min(buffer.count - end, readLimit?.bytes ?? .max)
    let count = unsafe buffer.withUnsafeMutableBytes { [end, descriptor] bytes in
      unsafe read(descriptor, bytes.baseAddress! + end, room)
    }
    guard count >= 0 else { throw Ended(reason: "reset by the client: error \(errno)") }
    end += count
    return count > 0
  }

  /// The head of a request, with the empty line; nil if the connection ends before the first byte.
  func head() throws(Ended) -> [UInt8]? {
    var seen = start
    while true {
      // As TLS begins.
      if start < end, !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(buffer[start]) {
        throw Ended(reason: "no HTTP")
      }
      if let found = position(of: [13, 10, 13, 10], from: seen) {
        defer { start = found + 4 }
        return Array(buffer[start..<(found + 4)])
      }
      seen = max(start, end - 3)
      let offset = seen - start
      guard end - start < 64 << 10, try fill() else {
        if start == end { return nil }
        throw Ended(reason: "no whole head")
      }
      seen = start + offset
    }
  }

  /// A line without its end.
  func line() throws(Ended) -> String {
    while true {
      if let found = buffer[start..<end].firstIndex(of: 10) {
        defer { start = found + 1 }
        let line = buffer[start..<found]
        return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
      }
      guard end - start < 64 << 10, try fill() else { throw Ended(reason: "no whole line") }
    }
  }

  /// Gives `body` the next `count` bytes, piece by piece.
  func pieces(_ count: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var rest = count
    while rest > 0 {
      if start == end {
        guard try fill() else { throw Ended(reason: "the body ends early") }
      }
      let size = Int(min(rest, Int64(end - start)))
      byteCount += Int64(size)
      let range = start..<(start + size)
      start += size
      rest -= Int64(size)
      try unsafe buffer.withUnsafeBytes { try unsafe body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
  }

  private func position(of bytes: [UInt8], from start: Int) -> Int? {
    let range = start..<end
    return unsafe buffer.withUnsafeBytes { unsafe search(for: bytes, in: UnsafeRawBufferPointer(rebasing: $0[range])) }
      .map { $0 + start }
  }

  /// Whether all was written.
  func write(_ bytes: some Collection<UInt8>) -> Bool {
    let bytes = Array(bytes)
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// POLLRDHUP, which glibc has with _GNU_SOURCE only.
  private static let otherSideClosed: Int16 = 0x2000

  /// Waits until the other side has gone, at most so many milliseconds: where nothing is read, its end comes behind what it
  /// has sent, which is never.
  func waitForEnd(limit: Int32 = -1) {
    var request = pollfd(fd: descriptor, events: Self.otherSideClosed, revents: 0)
    while unsafe poll(&request, 1, limit) < 0, errno == EINTR {}
  }

  /// Reads what comes for some time after the last answer, so that it is not taken back by a reset.
  func linger() {
    shutdown(descriptor, Int32(SHUT_WR))
    (start, end) = (0, 0)
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&request, 1, 2000) > 0, (try? fill()) == true { (start, end) = (0, 0) }
  }

  /// The connection's end is a reset.
  func reset() {
    var value = linger_t(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger_t>.size))
  }

  private typealias linger_t = Glibc.linger
}
