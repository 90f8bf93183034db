// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
internal import CrashpadBytes
internal import CrashpadFiles

extension FileMagic {
  /// The number of bytes that are examined.
  private static let startLength = 4096

  /// "a PNG image"; nil if the bytes do not say.
  static func kind(_ bytes: RawSpan) -> String? { known(bytes)?.name ?? textKind(bytes) }

  /// The same of kinds that are no text, though reports may be inside of them: one of them would be read for all.
  static func notText(_ bytes: RawSpan) -> String? { known(bytes).flatMap { $0.mayBeText ? nil : $0.name } }

  /// A property list of the old form, as an object is printed, which begins as JSON does: "{ name = Wheel; }".
  static func notJSON(_ bytes: RawSpan) -> String? {
    let start = bytes.array(in: ByteRange(offset: 0, count: min(bytes.byteCount, startLength)))
    let content = start.drop { $0 <= 0x20 }.dropFirst().drop { $0 <= 0x20 }
    let line = content.prefix { $0 != 0x0a && $0 != 0x0d }
    let key = line.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ":") }
    if key.count < line.count, line[key.endIndex] == UInt8(ascii: "=") { return "a property list of the old form" }
    let isDump = String(decoding: start.prefix(4096), as: UTF8.self).containsBytes("crashpad-intermediate-dump")
    return isDump ? nil : OtherTexts.name(start)
  }

  private static func textKind(_ bytes: RawSpan) -> String? {
    let count = min(bytes.byteCount, startLength)
    guard count > 0 else { return nil }
    let start = bytes.array(in: ByteRange(offset: 0, count: count))
    guard start.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || (0x08...0x0d).contains($0) || $0 == 0x1b }) else { return nil }
    // The last character may be cut.
    guard !String(decoding: start, as: UTF8.self).dropLast(count < bytes.byteCount ? 3 : 0).contains("\u{fffd}") else {
      return nil
    }
    let words = String(decoding: start.drop { $0 <= 0x20 }.prefix(64), as: UTF8.self).lowercased()
    if words.hasPrefix("<!doctype html") || words.hasPrefix("<html") { return "an HTML page" }
    if words.hasPrefix("<?xml") || words.hasPrefix("<!doctype") { return "an XML file" }
    return OtherTexts.name(start) ?? "text"
  }
}
