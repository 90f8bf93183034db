// SPDX-License-Identifier: Apache-2.0
/// Ids of devices and installations, by their forms.
enum DeviceIDs {
  // MARK: UUIDs

  private static let uuidLength = 36

  /// The text of a UUID that replaces another: zeros and a number.
  static func placeholder(_ number: Int) -> String {
    let digits = String(number)
    return "00000000-0000-0000-0000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
  }

  /// Whether the units are a UUID that replaced another.
  static func isPlaceholder(_ text: ArraySlice<UInt16>) -> Bool {
    text.count == uuidLength && text.prefix(24).allSatisfy { $0 == 0x30 || $0 == 0x2d }
  }

  /// Whether there are 8-4-4-4-12 hexadecimal digits from `start` on.
  static func isUUID(_ text: [UInt16], _ start: Int) -> Bool {
    start + uuidLength <= text.count && isUUID(text[start..<start + uuidLength])
  }

  /// Whether a text is 8-4-4-4-12 hexadecimal digits, as in the ids of reports, clients and builds.
  static func isUUID(_ text: ArraySlice<UInt16>) -> Bool {
    guard text.count == uuidLength else { return false }
    return text.indices.allSatisfy { index in
      [8, 13, 18, 23].contains(index - text.startIndex) ? text[index] == 0x2d : Unit.isHex(text[index])
    }
  }

  static func markUUIDs(_ scan: PersonalScan, _ marks: inout Marks) {
    let text = scan.text
    var index = 8
    // The first hyphen is the ninth character.
    while index + 28 <= text.count {
      guard text[index] == 0x2d, isUUID(text, index - 8) else {
        index += 1
        continue
      }
      let range = index - 8..<index + 28
      if isPersonal(scan, range) { marks.mark(range) }
      index += uuidLength
    }
  }

  /// Images keep their ids: those of the report, and those that dyld prints before a path.
  private static func isPersonal(_ scan: PersonalScan, _ range: Range<Int>) -> Bool {
    let text = scan.text
    guard !Unit.isAlphanumeric(Unit.at(text, range.lowerBound - 1)),
      !Unit.isAlphanumeric(Unit.at(text, range.upperBound)),
      !isPlaceholder(text[range]), !scan.imageIDs.contains(text[range].map(lowercase))
    else { return false }
    let isInBrackets = Unit.at(text, range.lowerBound - 1) == 0x3c && Unit.at(text, range.upperBound) == 0x3e
    return
      !(isInBrackets && Unit.at(text, range.upperBound + 1) == 0x20
      && Unit.at(text, range.upperBound + 2) == Unit.slash)
  }

  // MARK: UDIDs

  /// Marks 40 hexadecimal digits, 24 that begin with the zeros of a chip's number, and these in the form 8-16.
  static func markUDIDs(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index < text.count {
      guard Unit.isHex(text[index]), !isJoined(Unit.at(text, index - 1)) else {
        index += 1
        continue
      }
      let start = index
      while index < text.count, Unit.isHex(text[index]) { index += 1 }
      var end = index
      if index - start == 8, Unit.at(text, index) == 0x2d {
        end = index + 1
        while end < text.count, Unit.isHex(text[end]) { end += 1 }
      }
      let counts = [index - start, end > index ? end - index - 1 : 0]
      let hasLetter = text[start..<end].contains { !Unit.isDigit($0) && $0 != 0x2d }
      let isChip = text[start..<min(start + 4, end)].allSatisfy { $0 == 0x30 }
      let isID = counts == [40, 0] && hasLetter || counts == [8, 16] && isChip || counts == [24, 0] && isChip
      if isID, !isJoined(Unit.at(text, end)),
        Unit.at(text, end) != Unit.period || !Unit.isAlphanumeric(Unit.at(text, end + 1))
      {
        marks.mark(start..<end)
      }
      index = max(index, end)
    }
  }

  /// A hash in the name of a file is joined to other parts of the name.
  private static func isJoined(_ unit: UInt16) -> Bool { Unit.isWord(unit) }

  // MARK: Serial numbers

  /// The beginnings of Apple's serial numbers of 11 and 12 characters that no word begins with.
  private static let serialStarts = ["C02", "C07", "C17", "C1M", "FVF", "FVH"].map { Array($0.utf16) }

  static func markSerials(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index < text.count {
      guard Unit.isWord(text[index]) else {
        index += 1
        continue
      }
      let end = text[index...].firstIndex { !Unit.isWord($0) } ?? text.count
      let word = text[index..<end]
      if (11...12).contains(word.count), word.allSatisfy({ Unit.isCapital($0) || Unit.isDigit($0) }),
        serialStarts.contains(where: { word.starts(with: $0) }), word.count(where: Unit.isDigit) >= 2
      {
        marks.mark(index..<end)
      }
      index = end
    }
  }
}
