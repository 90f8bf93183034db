// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

/// A dump whose events were written, or a file without a crash.
package struct SeenDump: Sendable, Hashable {
  /// The digest that represents a version of a file.
  package static func digest(_ file: FileIdentity) -> UInt64 {
    let text = "\(file.device) \(file.number) \(file.size) \(file.modified) \(file.changed)"
    let digest = unsafe SHA256.digest(Array(text.utf8).span.bytes)
    return unsafe digest.span.bytes.uint64(at: 0)
  }

  /// Nil for a file without a dump.
  package var id: UUIDBytes?
  /// A digest of the file's identity, size and times; nil for an input that is not a file.
  package var file: UInt64?

  package init(id: UUIDBytes?, file: UInt64?) {
    self.id = id
    self.file = file
  }
}

/// The lines of a cursor file, each with a checksum behind it:
///
///     crashpadctl-cursor/1
///     d 5c3e0c119a2b4d778f102b6e0d1f4a90 9f86d081884c7d65 20526 1b2c3d4e
///     w 65024 1183 0 2114 60303ae22b998861 5e6f7a8b
///     c 9c0d1e2f
///
/// `d` is a dump (its id, its file, the day since 1970 on which it was seen last), `w` says that the events of the dumps before
/// it are about to be written (device and number of the file, offset, bytes, digest), and `c` that all lines before it count.
enum CursorText {
  static let header = "crashpadctl-cursor/1"
  static let headerStart = "crashpadctl-cursor/"

  /// The events of a batch in the output.
  struct Writing: Equatable {
    var device: UInt64
    var number: UInt64
    /// Both in bytes.
    var start: Int
    var count: Int
    var digest: String

    static func digest(_ bytes: [UInt8]) -> String {
      unsafe SHA256.digest(bytes.span.bytes).prefix(8).map { hexadecimal(UInt64($0), width: 2) }.joined()
    }
  }

  enum Line: Equatable {
    case dump(SeenDump, day: Int32)
    case writing(Writing)
    case commit
  }

  // MARK: Writing

  static func dump(_ dump: SeenDump, day: Int32) -> String {
    let id = dump.id.map { hexadecimal($0.high, width: 16) + hexadecimal($0.low, width: 16) } ?? "-"
    return line("d \(id) \(dump.file.map { hexadecimal($0, width: 16) } ?? "-") \(day)")
  }

  static func writing(_ writing: Writing) -> String {
    line("w \(writing.device) \(writing.number) \(writing.start) \(writing.count) \(writing.digest)")
  }

  static let commit = line("c")

  private static func line(_ text: String) -> String {
    text + " " + hexadecimal(UInt64(checksum(text.utf8)), width: 8) + "\n"
  }

  /// FNV-1a, which is enough to see damage.
  private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var hash: UInt32 = 0x811c_9dc5
    for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    return hash
  }

  // MARK: Reading

  /// Nil for a line that is damaged or cut short.
  static func parse(_ bytes: ArraySlice<UInt8>) -> Line? {
    guard bytes.count > 9, let space = bytes.lastIndex(of: UInt8(ascii: " ")), bytes.endIndex - space == 9,
      let sum = UInt32(String(decoding: bytes[(space + 1)...], as: UTF8.self), radix: 16),
      checksum(bytes[..<space]) == sum
    else { return nil }
    let words = bytes[..<space].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    func text(_ index: Int) -> String { String(decoding: words[index], as: UTF8.self) }
    switch (words[0].first, words.count) {
    case (UInt8(ascii: "c"), 1): return .commit
    case (UInt8(ascii: "d"), 4):
      guard let day = Int32(text(3)) else { return nil }
      let id = text(1) == "-" ? nil : UUIDBytes(text: text(1))
      return .dump(SeenDump(id: id, file: UInt64(text(2), radix: 16)), day: day)
    case (UInt8(ascii: "w"), 6):
      guard let device = UInt64(text(1)), let number = UInt64(text(2)), let start = Int(text(3)), start >= 0,
        let count = Int(text(4)), count >= 0
      else { return nil }
      return .writing(Writing(device: device, number: number, start: start, count: count, digest: text(5)))
    default: return nil
    }
  }
}

/// The content of a cursor file.
struct CursorContent {
  /// Days since 1970.
  private(set) var days: [SeenDump: Int32] = [:]
  private(set) var ids: Set<UUIDBytes> = []
  private(set) var files: [UInt64: SeenDump] = [:]
  /// The number of lines of dumps in the file, with those that later lines repeat.
  private(set) var lineCount = 0
  /// Offset behind the last line that counts, in bytes.
  private(set) var end = 0
  /// Lines behind it: a run was killed there, or is at work.
  private(set) var open: [(dump: SeenDump, day: Int32)] = []
  private(set) var writing: CursorText.Writing?
  /// Offset behind the last line that is whole, in bytes.
  private(set) var wholeEnd = 0
  /// Whether bytes follow `end`: a run was killed there, or is at work.
  private(set) var hasUncommittedTail = false

  /// Why a file is no cursor.
  enum Damage: Error, Equatable {
    case notACursor
    case laterVersion(String)
    /// A line that is not the last one is damaged; counted from 1.
    case line(Int)
  }

  mutating func add(_ dump: SeenDump, day: Int32) {
    days[dump] = max(day, days[dump] ?? day)
    if let id = dump.id { ids.insert(id) }
    if let file = dump.file { files[file] = dump }
    lineCount += 1
  }

  init() {}

  mutating func setEnd(_ offset: Int) { end = offset }

  /// Ends the part behind the last complete batch.
  mutating func closeTail() { (open, writing, hasUncommittedTail) = ([], nil, false) }

  /// Reads the whole text.
  init(_ bytes: [UInt8]) throws(Damage) {
    guard !bytes.isEmpty else { return }
    let newline = UInt8(ascii: "\n")
    guard let headEnd = bytes.firstIndex(of: newline) else {
      // The first run was killed while it wrote the first line.
      guard Array(CursorText.header.utf8).starts(with: bytes) else { throw .notACursor }
      hasUncommittedTail = true
      return
    }
    let head = String(decoding: bytes[..<headEnd], as: UTF8.self)
    guard head == CursorText.header else {
      guard head.hasPrefix(CursorText.headerStart) else { throw .notACursor }
      throw .laterVersion(String(head.dropFirst(CursorText.headerStart.count).prefix(20)))
    }
    end = headEnd + 1
    wholeEnd = end
    var number = 1
    var damaged: Int?
    var start = end
    while start < bytes.count {
      number += 1
      let lineEnd = bytes[start...].firstIndex(of: newline) ?? bytes.count
      guard lineEnd < bytes.count, let line = CursorText.parse(bytes[start..<lineEnd]) else {
        damaged = damaged ?? number
        start = lineEnd + 1
        continue
      }
      // Nothing is written behind a line that breaks off.
      if let damaged { throw .line(damaged) }
      switch line {
      case .dump(let dump, let day): open.append((dump, day))
      case .writing(let value): writing = value
      case .commit:
        for (dump, day) in open { add(dump, day: day) }
        (open, writing) = ([], nil)
        end = lineEnd + 1
      }
      wholeEnd = lineEnd + 1
      start = lineEnd + 1
    }
    hasUncommittedTail = end < bytes.count
    // The last line was not written to its end, so nothing was done that comes behind it.
    if damaged != nil, writing == nil { open = [] }
  }
}
