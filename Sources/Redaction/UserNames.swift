/// The parts of paths that name users.
enum UserNames {
  /// What stands before them, between separators, in small letters.
  private static let folders = ["home", "users", "media", "documents and settings"].map { Array($0.utf16) }
  /// Folders that are nobody's.
  private static let nobody = ["shared", "public", "default"].map { Array($0.utf16) }

  /// Marks what follows `/home/`, `/Users/`, `/media/`, `C:\Users\` and the like, up to the next separator. As names may have
  /// blanks in them, only what can't be in a path ends them otherwise, so more is marked rather than less.
  static func mark(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index < text.count {
      guard isSeparator(text[index]) else {
        index += 1
        continue
      }
      while index < text.count, isSeparator(text[index]) { index += 1 }
      guard let folder = folders.first(where: { starts(with: $0, at: index, text) }) else { continue }
      var start = index + folder.count
      guard start < text.count, isSeparator(text[start]) else { continue }
      while start < text.count, isSeparator(text[start]) { start += 1 }
      var end = start
      while end < text.count, !isSeparator(text[end]), !endsPath(text[end]) { end += 1 }
      if !nobody.contains(where: { $0.count == end - start && starts(with: $0, at: start, text) }) {
        marks.mark(start..<end)
      }
      // The name may itself be that of such a folder: go on with the separator before it.
      index = start - 1
    }
  }

  private static func starts(with word: [UInt16], at index: Int, _ text: [UInt16]) -> Bool {
    guard word.count <= text.count - index else { return false }
    for place in word.indices where lowercase(text[index + place]) != word[place] { return false }
    return true
  }

  private static func isSeparator(_ unit: UInt16) -> Bool { unit == Unit.slash || unit == Unit.backslash }

  /// Line ends, NUL, and what stands between the paths of a list or around a path.
  private static func endsPath(_ unit: UInt16) -> Bool {
    switch unit {
    case 0..<0x20, Unit.quote, 0x3a, 0x3b, 0x3c, 0x3e, 0x7c: true
    default: false
    }
  }
}
