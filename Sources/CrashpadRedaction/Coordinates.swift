// SPDX-License-Identifier: Apache-2.0
/// Places on the earth as two numbers: "location 52.520008, 13.404954".
enum Coordinates {
  private static let words = Unit.set(
    "location", "locations", "coordinate", "coordinates", "gps", "position", "place", "geo", "latlng", "latlon")
  /// As many digits behind the point name a street.
  private static let fewestDigits = 4

  /// Marks pairs of numbers behind such a word; other pairs are sizes and points of a screen.
  static func mark(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index < text.count {
      guard let first = number(text, index, upTo: 90) else {
        index += 1
        continue
      }
      var next = first
      while Unit.at(text, next) == 0x20 || Unit.at(text, next) == 0x2c || Unit.at(text, next) == 0x3b { next += 1 }
      if next > first, let end = number(text, next, upTo: 180), isPlace(text, index) {
        marks.mark(index..<first)
        marks.mark(next..<end)
        index = end
      } else {
        index = first
      }
    }
  }

  private static func isPlace(_ text: [UInt16], _ index: Int) -> Bool {
    Unit.wordsBefore(text, index, 3).contains { words.contains($0.map(lowercase)) }
  }

  /// The end of a number with a sign and with digits behind the point, that is not larger than `limit`.
  private static func number(_ text: [UInt16], _ start: Int, upTo limit: Int) -> Int? {
    guard start == 0 || !Unit.isWord(text[start - 1]) && text[start - 1] != Unit.period else { return nil }
    var index = start
    if [0x2b, 0x2d].contains(Unit.at(text, index)) { index += 1 }
    let first = index
    var value = 0
    while Unit.isDigit(Unit.at(text, index)), index - first < 4 {
      value = value * 10 + Int(text[index] - 0x30)
      index += 1
    }
    guard index > first, index - first <= 3, value <= limit, Unit.at(text, index) == Unit.period else { return nil }
    index += 1
    let point = index
    while Unit.isDigit(Unit.at(text, index)) { index += 1 }
    return index - point >= fewestDigits && !Unit.isWord(Unit.at(text, index)) ? index : nil
  }
}
