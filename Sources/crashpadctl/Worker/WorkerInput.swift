// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Glibc
import SystemPackage

/// The requests on standard input: each a length and a head, then a length and a dump. Lengths have 32 bits, little endian.
struct WorkerInput {
  struct Frame: Sendable {
    /// From 0, in the order of standard input.
    let index: Int
    let head: [UInt8]
    let dump: Dump
  }

  enum Dump: Sendable {
    case bytes([UInt8])
    /// It has more bytes than `InputFile.pipeLimit` allows, and was passed over.
    case tooLarge(Int)
  }

  /// There is no request behind this place.
  enum Ending: Error {
    case end
    /// The result of the head, if it is whole; the lengths can't be trusted from here on.
    case damaged(index: Int, head: [UInt8], text: String)
    case failed(Errno)
  }

  /// A head has an id and options. One that is longer is most likely none.
  static let longestHead = 1 << 20
  /// So much memory is taken before the bytes of a dump come.
  private static let firstBlock = 8 << 20

  private let descriptor = FileDescriptor.standardInput
  /// Can be read once the worker is asked to end; nil if it never is.
  private let wakeDescriptor: Int32?
  private var count = 0
  private var isAtEnd = false

  init(wakeDescriptor: Int32?) { self.wakeDescriptor = wakeDescriptor }

  mutating func next() throws(Ending) -> Frame {
    if isAtEnd { throw .end }
    guard waitForRequest() else {
      isAtEnd = true
      throw .end
    }
    do { return try frame() } catch {
      isAtEnd = true
      throw error
    }
  }

  /// Returns false if the worker is asked to end.
  private func waitForRequest() -> Bool {
    guard let wakeDescriptor else { return true }
    var descriptors = [
      pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&descriptors, nfds_t(descriptors.count), -1) < 0 {
      guard errno == EINTR else { return true }
    }
    return descriptors[0].revents == 0
  }

  private mutating func frame() throws(Ending) -> Frame {
    let index = count
    count += 1
    guard let headCount = try length(head: [], mayEnd: true) else { throw .end }
    guard headCount <= Self.longestHead else {
      throw .damaged(
        index: index, head: [], text: "a head of \(headCount) bytes; more than \(Self.longestHead) are not allowed")
    }
    let head = try bytes(headCount, head: [])
    let dumpCount = try length(head: head, mayEnd: false) ?? 0
    if dumpCount > InputFile.pipeLimit {
      try skip(dumpCount, head: head)
      return Frame(index: index, head: head, dump: .tooLarge(dumpCount))
    }
    return Frame(index: index, head: head, dump: .bytes(try bytes(dumpCount, head: head)))
  }

  /// Nil at the end of standard input, where that is allowed.
  private func length(head: [UInt8], mayEnd: Bool) throws(Ending) -> Int? {
    let number = try read(4)
    if number.isEmpty, mayEnd { return nil }
    guard number.count == 4 else { throw cut(head) }
    return number.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private func bytes(_ wanted: Int, head: [UInt8]) throws(Ending) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < wanted {
      // A length is a claim: memory is taken as bytes come.
      let part = try block(min(wanted - bytes.count, max(bytes.count, Self.firstBlock)), head: head)
      if bytes.isEmpty { bytes = part } else { bytes += part }
    }
    return bytes
  }

  private func block(_ wanted: Int, head: [UInt8]) throws(Ending) -> [UInt8] {
    let block = try read(wanted)
    guard block.count == wanted else { throw cut(head) }
    return block
  }

  private func skip(_ wanted: Int, head: [UInt8]) throws(Ending) {
    var rest = wanted
    while rest > 0 { rest -= try block(min(rest, 1 << 18), head: head).count }
  }

  private func read(_ count: Int) throws(Ending) -> [UInt8] {
    do { return try descriptor.bytes(count) } catch { throw .failed(error) }
  }

  private func cut(_ head: [UInt8]) -> Ending {
    .damaged(index: count - 1, head: head, text: "standard input ended within a request")
  }
}
