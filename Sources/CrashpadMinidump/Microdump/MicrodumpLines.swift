// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The lines of a log that may have a microdump, without what the log puts in front of each.
///
/// Android's log has "google-breakpad" in front of them, after a date or a letter and before the number of the process, as
/// in `W/google-breakpad( 3728): O A arm64 …`. On Linux they go to standard error as they are.
struct MicrodumpLines {
  struct Line {
    /// Its offset in the file.
    let offset: Int
    let text: Substring.UTF8View
    /// The number in parentheses before it; nil if the log has none there.
    let processID: Int32?
  }

  static let begin = "-----BEGIN BREAKPAD MICRODUMP-----"
  static let end = "-----END BREAKPAD MICRODUMP-----"
  private static let tag = "google-breakpad"
  /// A line has 384 bytes of a stack, or the registers: twice as many digits. Longer ones are none of a microdump.
  private static let longest = 16 * 1024

  private var place: Int
  /// Whether lines without the tag are those of other writers.
  private var isTagged = false

  init(at offset: Int = 0) { place = offset }

  /// Whether a log has the first line of a microdump in its first bytes.
  static func areIn(_ bytes: RawSpan) -> Bool {
    let start = bytes.array(in: ByteRange(offset: 0, count: min(bytes.byteCount, 256 * 1024)))
    let pattern = Array(begin.utf8)
    var index = 0
    while let next = start[index...].firstIndex(of: pattern[0]), next + pattern.count <= start.count {
      if start[next..<next + pattern.count].elementsEqual(pattern) { return true }
      // A log has rules of hyphens, which begin like the line.
      index = next + 1
    }
    return false
  }

  mutating func next(_ bytes: RawSpan) -> Line? {
    while place < bytes.byteCount {
      let start = place
      var end = start
      while end < bytes.byteCount, bytes.uint8(at: end) != 0x0a { end += 1 }
      place = end + 1
      guard end - start <= Self.longest else { continue }
      let line = String(decoding: bytes.array(in: ByteRange(offset: start, count: end - start)), as: UTF8.self)
      if let found = payload(line, at: start) { return found }
    }
    return nil
  }

  private mutating func payload(_ line: String, at offset: Int) -> Line? {
    var text = line[...]
    if text.utf8.last == 0x0d { text.unicodeScalars.removeLast() }
    guard let tag = text.firstRange(of: Self.tag) else {
      return isTagged ? nil : Line(offset: offset, text: text.utf8, processID: nil)
    }
    let rest = text[tag.upperBound...]
    guard let colon = rest.firstRange(of: ": ") else { return nil }
    isTagged = true
    let number = rest[..<colon.lowerBound].filter(\.isNumber)
    return Line(offset: offset, text: rest[colon.upperBound...].utf8, processID: Int32(number))
  }
}
