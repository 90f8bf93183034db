// SPDX-License-Identifier: Apache-2.0
/// The parts of paths that name users, and these names in other texts.
enum UserNames {
  /// The folders before a name, in lowercase. A number may follow `home`.
  private static let folders = ["home", "homes", "users", "media", "documents and settings"].map { Array($0.utf16) }
  /// Names of folders that belong to no user.
  private static let shared = ["shared", "public", "default"].map { Array($0.utf16) }

  /// Marks the component after `/home/`, `/Users/`, `/media/`, `C:\Users\` and the like, up to the next separator,
  /// and the name in `~name`. Names may contain blanks, so only characters that end a path end a name: this marks
  /// too much rather than too little.
  static func mark(_ text: [UInt16], _ marks: inout Marks) {
    forEach(text) { marks.mark($0) }
  }

  private static func forEach(_ text: [UInt16], _ body: (Range<Int>) -> Void) {
    var index = 0
    while index < text.count {
      if let name = nameBehindTilde(text, index) { body(name) }
      let isStart = index == 0 || !isPathPart(text[index - 1])
      let first = skipSeparators(text, index)
      guard first > index else {
        index += 1
        continue
      }
      index = first
      guard let folder = folderEnd(text, index, isStart: isStart) else { continue }
      var start = skipSeparators(text, folder)
      guard start > folder else { continue }
      // "." between separators is the same folder.
      while start < text.count, text[start] == dot, skipSeparators(text, start + 1) > start + 1 {
        start = skipSeparators(text, start + 1)
      }
      var end = start
      while end < text.count, separator(text, end) == 0, !endsPath(text[end]) { end += 1 }
      if !isShared(text[start..<end]), !text[start..<end].allSatisfy({ $0 == dot }) { body(start..<end) }
      // The name may itself be one of these folders, so continue with the separator before it.
      index = start - 1
      while separator(text, index) == 0 { index -= 1 }
    }
  }

  /// The end of the home folder's name that begins at `index`; nil if there is none.
  private static func folderEnd(_ text: [UInt16], _ index: Int, isStart: Bool) -> Int? {
    var end = index
    while end < text.count, separator(text, end) == 0, !endsPath(text[end]) { end += 1 }
    let name = text[index..<end].map(lowercase)
    // `/u/` is a home folder only at the start of a path; elsewhere it is an ordinary name.
    if folders.contains(name) || (isStart && name == [0x75]) { return end }
    let home = folders[0]
    let isNumbered =
      name.starts(with: home) && name.count > home.count
      && name[home.count...].allSatisfy { (0x30...0x39).contains($0) }
    return isNumbered ? end : nil
  }

  /// The name in `~name` at the start of a path.
  private static func nameBehindTilde(_ text: [UInt16], _ index: Int) -> Range<Int>? {
    guard text[index] == 0x7e, index == 0 || startsPath(text, index) else { return nil }
    var end = index + 1
    while end < text.count, isName(text[end]) { end += 1 }
    guard end > index + 1, !(0x30...0x39).contains(text[index + 1]) else { return nil }
    guard end == text.count || separator(text, end) > 0 || endsPath(text[end]) || text[end] == 0x20 else { return nil }
    return index + 1..<end
  }

  /// Whether a path may start after the previous unit: a blank, quotation mark, `=`, `(`, `,`, or a colon
  /// other than in `Class::~Class`.
  private static func startsPath(_ text: [UInt16], _ index: Int) -> Bool {
    switch text[index - 1] {
    case 0...0x20, Unit.quote, Unit.apostrophe, 0x3d, 0x28, 0x2c: true
    case 0x3a: index < 2 || text[index - 2] != 0x3a
    default: false
    }
  }

  private static func isShared(_ name: ArraySlice<UInt16>) -> Bool { shared.contains(name.map(lowercase)) }

  private static let dot = UInt16(UInt8(ascii: "."))

  private static func isName(_ unit: UInt16) -> Bool {
    Unit.isLetterOrDigit(unit) || unit == 0x5f || unit == 0x2d || unit == dot
  }

  private static func isPathPart(_ unit: UInt16) -> Bool { isName(unit) || unit == 0x7e || unit == Unit.star }

  private static func skipSeparators(_ text: [UInt16], _ index: Int) -> Int {
    var index = index
    while true {
      let count = separator(text, index)
      if count == 0 { return index }
      index += count
    }
  }

  /// The number of units in the separator at `index`, including separators encoded in URLs: `%2F`, `%252F`.
  private static func separator(_ text: [UInt16], _ index: Int) -> Int {
    guard index < text.count else { return 0 }
    if text[index] == Unit.slash || text[index] == Unit.backslash { return 1 }
    guard text[index] == 0x25 else { return 0 }
    var end = index + 1
    while end + 1 < text.count, text[end] == 0x32, text[end + 1] == 0x35 { end += 2 }
    guard end + 1 < text.count else { return 0 }
    let code = (text[end], lowercase(text[end + 1]))
    return code == (0x32, 0x66) || code == (0x35, 0x63) ? end + 2 - index : 0
  }

  /// Whether the unit ends a path: line ends, NUL, and characters between the paths of a list or around a path.
  private static func endsPath(_ unit: UInt16) -> Bool {
    switch unit {
    case 0..<0x20, Unit.quote, 0x3a, 0x3b, 0x3c, 0x3e, 0x7c: true
    default: false
    }
  }

  // MARK: Names in other texts

  /// Common account names, which identify no person.
  private static let common: Set<String> = [
    "admin", "administrator", "android", "app", "build", "builder", "debian", "default", "example", "guest", "home",
    "linux", "public", "root", "runner", "service", "shared", "system", "test", "ubuntu", "user", "users",
    "vagrant",
  ]
  private static let lengths = 3...64

  /// The names in the paths of `text`, in lowercase, that have to be hidden elsewhere
  /// too. In UTF-8 each unit is a byte.
  static func names(in text: [UInt16], isUTF16: Bool) -> [String] {
    var names: [String] = []
    forEach(text) { range in
      var name = text[range]
      // If no separator follows the name, it may run into the rest of the line.
      if separator(text, range.upperBound) == 0 || !name.allSatisfy({ isName($0) || $0 == 0x20 }) {
        name = name.prefix { isName($0) }
      }
      while name.last == dot { name.removeLast() }
      guard lengths.contains(name.count) else { return }
      let units = name.map(lowercase)
      let known =
        isUTF16 ? String(decoding: units, as: UTF16.self) : String(decoding: units.map(UInt8.init), as: UTF8.self)
      if !common.contains(known), known.contains(where: \.isLetter) { names.append(known) }
    }
    return names
  }
}

/// A user's name to hide in any text.
struct UserName: Sendable, Hashable {
  private let utf8: [UInt16]
  private let utf16: [UInt16]

  /// - Parameter name: the name in lowercase.
  init(_ name: String) {
    utf8 = name.utf8.map(UInt16.init)
    utf16 = Array(name.utf16)
  }

  /// Marks the name where it occurs as a whole word.
  func mark(_ text: [UInt16], isUTF16: Bool, _ marks: inout Marks) {
    let name = isUTF16 ? utf16 : utf8
    guard let first = name.first, text.count >= name.count else { return }
    for start in 0...text.count - name.count where lowercase(text[start]) == first {
      let end = start + name.count
      guard start == 0 || !Unit.isLetterOrDigit(text[start - 1]),
        end == text.count || !Unit.isLetterOrDigit(text[end]),
        name.indices.allSatisfy({ lowercase(text[start + $0]) == name[$0] })
      else { continue }
      marks.mark(start..<end)
    }
  }
}

/// Collects the user names in the paths of a dump.
final class UserNameCollector {
  /// The maximum number of names; more would make redacting a damaged dump slow.
  private static let maximumCount = 64
  private(set) var names: Set<String> = []

  func collect(_ text: [UInt16], isUTF16: Bool) {
    guard names.count < Self.maximumCount else { return }
    for name in UserNames.names(in: text, isUTF16: isUTF16) where names.count < Self.maximumCount { names.insert(name) }
  }
}
