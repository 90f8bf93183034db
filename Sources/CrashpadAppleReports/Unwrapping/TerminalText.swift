// SPDX-License-Identifier: Apache-2.0
/// Additions of a terminal, a printer or a pager to a text: colours, marks of pages, letters struck twice.
enum TerminalText {
  static func remove(_ text: [UInt8]) -> Removal? {
    guard let first = text.firstIndex(where: isControl) else { return nil }
    var copy = TextCopy(of: text)
    var (start, index) = (0, first)
    while index < text.count {
      guard isControl(text[index]) else {
        index += 1
        continue
      }
      var length = 1
      switch text[index] {
      case escape: length = sequence(text, index)
      case pageEnd:
        // A mark that stands alone has a line of its own.
        if index == 0 || text[index - 1] == 0x0a, index + 1 < text.count, text[index + 1] == 0x0a { length = 2 }
      default:
        // The letter before it is struck over.
        copy.copy(start..<index)
        start = index
        if let last = copy.bytes.last, last != 0x0a { copy.removeLast() }
      }
      copy.copy(start..<index)
      index = min(index + length, text.count)
      start = index
    }
    copy.copy(start..<text.count)
    return Removal(copy, "control characters of a terminal or a printer were left out", at: first)
  }

  private static let escape: UInt8 = 0x1b
  private static let pageEnd: UInt8 = 0x0c
  private static let backspace: UInt8 = 0x08

  private static func isControl(_ byte: UInt8) -> Bool { byte == escape || byte == pageEnd || byte == backspace }

  /// The length of the sequence at `index`, as in ECMA-48: "ESC [ 0 ; 31 m", "ESC ] 0 ; title BEL", "ESC ( B".
  private static func sequence(_ text: [UInt8], _ index: Int) -> Int {
    guard index + 1 < text.count else { return 1 }
    var end = index + 2
    switch text[index + 1] {
    case UInt8(ascii: "["):
      while end < text.count, (0x20...0x3f).contains(text[end]) { end += 1 }
      // The final letter.
      return end < text.count && (0x40...0x7e).contains(text[end]) ? end + 1 - index : end - index
    case UInt8(ascii: "]"):
      while end < text.count, text[end] >= 0x20, end - index < 256 { end += 1 }
      return end < text.count && text[end] == 0x07 ? end + 1 - index : end - index
    case 0x20...0x2f: return min(3, text.count - index)
    case 0x40...0x7e: return 2
    default: return 1
    }
  }
}
