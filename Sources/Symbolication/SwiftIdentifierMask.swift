/// A Swift name whose identifiers have no letters that look like references.
///
/// The estimate takes `A0466L` in the file id of a private declaration, `33_CA514E…A0466LL`, for 466 references to one part.
/// Here each `A` and `S` in such an identifier is replaced by a capital letter that the name does not have, and back in the
/// demangled name. If it was no identifier, the result is wrong or none, but the estimate of the new name still holds.
struct SwiftIdentifierMask {
  let bytes: [UInt8]
  private let a: UInt8
  private let s: UInt8

  /// Nil if there is nothing to replace, or no letter to replace it with.
  init?(_ name: [UInt8]) {
    // Those that the demangler's own words have not.
    let free = "JXZQKYWLH".utf8.filter { !name.contains($0) }
    guard free.count > 1 else { return nil }
    (a, s) = (free[0], free[1])
    var bytes = name
    var index = 0
    while index < name.count {
      guard let texts = Self.texts(index, name) else {
        index += 1
        continue
      }
      for place in texts.joined() {
        if name[place] == UInt8(ascii: "A") { bytes[place] = a }
        if name[place] == UInt8(ascii: "S") { bytes[place] = s }
      }
      index = texts.last!.upperBound
    }
    guard bytes != name else { return nil }
    self.bytes = bytes
  }

  /// The demangled name with its own letters.
  func restore(_ name: String) -> String {
    String(
      decoding: name.utf8.map { $0 == a ? UInt8(ascii: "A") : $0 == s ? UInt8(ascii: "S") : $0 }, as: UTF8.self)
  }

  /// The texts of the identifier at `index`, if it is a file id, `33_` and 32 digits, or another function's name, `61$s…`.
  /// After a 0 there are several, with references to words between them: `04$s10a5Build0`
  private static func texts(_ index: Int, _ name: [UInt8]) -> [Range<Int>]? {
    var hasWords = name[index] == UInt8(ascii: "0")
    var texts: [Range<Int>] = []
    var next = hasWords ? index + 1 : index
    repeat {
      while !texts.isEmpty, hasWords, next < name.count, isLetter(name[next]) {
        // The last word is a capital letter.
        hasWords = name[next] >= UInt8(ascii: "a")
        next += 1
      }
      guard let text = text(next, name) else { break }
      texts.append(text)
      next = text.upperBound
    } while hasWords
    guard let first = texts.first else { return nil }
    let isFileID =
      first.count == 33 && name[first.lowerBound] == UInt8(ascii: "_")
      && name[first].dropFirst().allSatisfy(isHexadecimal)
    return isFileID || name[first].starts(with: "$s".utf8) ? texts : nil
  }

  /// The text whose length stands at `index`.
  private static func text(_ index: Int, _ name: [UInt8]) -> Range<Int>? {
    var length = 0
    var start = index
    while start < name.count, isDigit(name[start]), length < name.count {
      length = length * 10 + Int(name[start] - UInt8(ascii: "0"))
      if length == 0 { return nil }
      start += 1
    }
    return length > 0 && start + length <= name.count ? start..<start + length : nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")) || (byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z"))
  }
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F"))
  }
}
