// SPDX-License-Identifier: Apache-2.0
/// Quotation marks as editors of texts and pages write them, in the place of those of JSON.
enum Typography {
  static func remove(_ text: [UInt8]) -> Removal? {
    guard let first = text.firstIndex(of: UInt8(ascii: "{")),
      let next = text[(first + 1)...].firstIndex(where: { $0 > 0x20 }), isMark(text, next),
      !text.contains(UInt8(ascii: "\""))
    else { return nil }
    var copy = TextCopy(of: text)
    var (start, index) = (0, next)
    while index < text.count {
      guard isMark(text, index) else {
        index += 1
        continue
      }
      copy.copy(start..<index)
      copy.put(UInt8(ascii: "\""), for: index)
      index += 3
      start = index
    }
    copy.copy(start..<text.count)
    return Removal(copy, "the quotation marks of JSON were typographic ones", at: next)
  }

  /// The marks U+201C to U+201F.
  private static func isMark(_ text: [UInt8], _ index: Int) -> Bool {
    index + 2 < text.count && text[index] == 0xe2 && text[index + 1] == 0x80 && (0x9c...0x9f).contains(text[index + 2])
  }
}
