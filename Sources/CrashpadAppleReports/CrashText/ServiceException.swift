// SPDX-License-Identifier: Apache-2.0
/// The name and the reason of an exception, as crash services write them in one line.
struct ServiceException {
  let name: String
  /// Nil if the line has the name alone.
  let reason: String?

  /// Whether the line behind an exception's name is the label of the queue whose stack follows, and no reason.
  static func isQueue(_ line: TextBytes) -> Bool {
    line.first?.isLetter == true && line.last != UInt8(ascii: ".")
      && line.allSatisfy { $0.isLetter || $0.isDigit || ".-_".utf8.contains($0) }
      && line.count { $0 == UInt8(ascii: ".") } >= 2
  }

  /// Parses "NSRangeException", "NSRangeException: index 3 beyond bounds", and "NSRangeExceptionIndex 3 beyond bounds", which
  /// is what is copied from the pages of some services.
  init(_ text: TextBytes) {
    // A name of C++ may have blanks.
    if text.has(prefix: "(anonymous namespace)::") {
      name = text.trimmed.string
      reason = nil
      return
    }
    var rest = text
    var name = rest.takeWord()
    rest = rest.trimmed
    if name.last == UInt8(ascii: ":") {
      name = name.dropLast()
    } else if name.has(prefix: "NS"), let end = name.last(of: "Exception").map({ $0 + "Exception".utf8.count }),
      end < name.endIndex, (0x41...0x5a).contains(name[end])
    {
      rest = text[end...].trimmed
      name = name[..<end]
    }
    self.name = name.string
    reason = rest.isEmpty ? nil : rest.string
  }
}
