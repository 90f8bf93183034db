// SPDX-License-Identifier: Apache-2.0
/// Numbers with a digit that checks the others, alone or in groups.
enum CheckedNumbers {
  /// A number: its digits, and the sizes of its groups.
  struct Number {
    var digits: [UInt8] = []
    var groups: [Int] = []
  }

  /// Marks the numbers that `isKind` says are of a kind; groups of digits are tried together, the most first.
  static func mark(_ text: [UInt16], _ marks: inout Marks, _ isKind: (Number) -> Bool) {
    var index = 0
    while index < text.count {
      guard Unit.isDigit(text[index]) else {
        index += 1
        continue
      }
      let groups = whole(groups(text, &index), text)
      var first = groups.startIndex
      while first < groups.endIndex {
        guard let last = last(text, groups, first, isKind) else {
          first += 1
          continue
        }
        marks.mark(groups[first].lowerBound..<groups[last].upperBound)
        first = last + 1
      }
    }
  }

  /// The groups of digits from `index` on, with one blank or hyphen between them. Moves `index` behind them.
  private static func groups(_ text: [UInt16], _ index: inout Int) -> [Range<Int>] {
    var groups: [Range<Int>] = []
    while true {
      let start = index
      while index < text.count, Unit.isDigit(text[index]) { index += 1 }
      groups.append(start..<index)
      let separator = Unit.at(text, index)
      guard separator == 0x20 || separator == 0x2d, Unit.isDigit(Unit.at(text, index + 1)) else { return groups }
      index += 1
    }
  }

  /// The groups without those at either end that are part of a name, a hexadecimal number, a fraction or a time.
  private static func whole(_ groups: [Range<Int>], _ text: [UInt16]) -> ArraySlice<Range<Int>> {
    var whole = groups[...]
    if let first = whole.first, isPart(text, first.lowerBound - 1, -1) { whole.removeFirst() }
    if let last = whole.last, isPart(text, last.upperBound, 1) { whole.removeLast() }
    return whole
  }

  /// Whether the character beside a number joins it to a name or another number.
  private static func isPart(_ text: [UInt16], _ index: Int, _ step: Int) -> Bool {
    let unit = Unit.at(text, index)
    return Unit.isWord(unit)
      || (unit == Unit.period || unit == 0x3a) && Unit.isDigit(Unit.at(text, index + step))
  }

  private static func last(
    _ text: [UInt16], _ groups: ArraySlice<Range<Int>>, _ first: Int, _ isKind: (Number) -> Bool
  ) -> Int? {
    var number = Number()
    var found: Int?
    for index in first..<groups.endIndex {
      let group = groups[index]
      guard number.digits.count + group.count <= 20 else { break }
      number.groups.append(group.count)
      number.digits += text[group].map { UInt8($0 - 0x30) }
      if isKind(number) { found = index }
    }
    return found
  }

  // MARK: Kinds

  /// The number of digits and the first digits of each issuer. Source: ISO/IEC 7812, as issuers publish it.
  private static let issuers: [(first: ClosedRange<Int>, width: Int, counts: ClosedRange<Int>)] = [
    (4...4, 1, 16...16), (51...55, 2, 16...16), (2221...2720, 4, 16...16), (34...34, 2, 15...15), (37...37, 2, 15...15),
    (6011...6011, 4, 16...16), (644...649, 3, 16...16), (65...65, 2, 16...16), (36...36, 2, 14...14),
    (300...305, 3, 14...14), (38...39, 2, 14...14), (3528...3589, 4, 16...16), (62...62, 2, 16...19),
    (50...50, 2, 16...19), (56...58, 2, 16...19), (67...67, 2, 16...19),
  ]
  private static let cardGroups: Set<[Int]> = [[4, 4, 4, 4], [4, 6, 5], [4, 6, 4], [4, 4, 4, 4, 3], [6, 13]]

  static func isCard(_ number: Number) -> Bool {
    guard number.groups.count == 1 || cardGroups.contains(number.groups), (14...19).contains(number.digits.count)
    else { return false }
    let isIssued = issuers.contains { issuer in
      issuer.counts.contains(number.digits.count) && issuer.first.contains(first(issuer.width, number))
    }
    return isIssued && luhn(number.digits)
  }

  /// The first two digits name the body that gave the number. Source: GSMA TS.06.
  private static let reportingBodies: Set<Int> = [1, 35, 44, 45, 49, 86, 91, 98, 99]

  static func isIMEI(_ number: Number) -> Bool {
    guard number.digits.count == 15,
      number.groups == [15] || number.groups == [2, 6, 6, 1] || number.groups == [8, 6, 1]
    else { return false }
    return reportingBodies.contains(first(2, number)) && luhn(number.digits)
  }

  /// Source: ITU-T E.118: 89, the country, the issuer, the account, and the check digit.
  static func isICCID(_ number: Number) -> Bool {
    guard (18...20).contains(number.digits.count), number.digits.starts(with: [8, 9]) else { return false }
    guard number.groups.count == 1 || number.groups.dropLast().allSatisfy({ (4...5).contains($0) }) else {
      return false
    }
    // Some have a filler or a second check digit behind it.
    return luhn(number.digits) || number.digits.count == 20 && luhn(number.digits.dropLast())
  }

  private static func first(_ count: Int, _ number: Number) -> Int {
    number.digits.prefix(count).reduce(0) { $0 * 10 + Int($1) }
  }

  /// Whether the last digit fits the others. Source: ISO/IEC 7812-1, annex B.
  private static func luhn(_ digits: some BidirectionalCollection<UInt8>) -> Bool {
    var sum = 0
    for (index, digit) in digits.reversed().enumerated() {
      let value = index % 2 == 0 ? Int(digit) : 2 * Int(digit)
      sum += value > 9 ? value - 9 : value
    }
    return sum % 10 == 0 && sum > 0
  }

  // MARK: Bank accounts

  /// Two capital letters, two digits and up to 30 capital letters and digits, alone or in groups of four, whose
  /// remainder by 97 is 1. Source: ISO 13616.
  static func markIBANs(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index + 15 <= text.count {
      let start = index
      index += 1
      guard Unit.isCapital(text[start]), Unit.isCapital(text[start + 1]), Unit.isDigit(text[start + 2]),
        Unit.isDigit(text[start + 3]), start == 0 || !Unit.isWord(text[start - 1])
      else { continue }
      var end = start
      var characters: [UInt16] = []
      while end < text.count, characters.count < 34 {
        if Unit.isCapital(text[end]) || Unit.isDigit(text[end]) {
          characters.append(text[end])
        } else if text[end] != 0x20 || characters.count % 4 != 0 {
          break
        }
        end += 1
      }
      while text[end - 1] == 0x20 { end -= 1 }
      guard characters.count >= 15, !Unit.isWord(Unit.at(text, end)), remainder(characters) == 1 else { continue }
      marks.mark(start..<end)
      index = end
    }
  }

  private static func remainder(_ characters: [UInt16]) -> Int {
    (characters[4...] + characters[..<4]).reduce(0) { rest, unit in
      Unit.isDigit(unit) ? (rest * 10 + Int(unit - 0x30)) % 97 : (rest * 100 + Int(unit - 0x41) + 10) % 97
    }
  }
}

/// Phone numbers.
enum PhoneNumbers {
  static func mark(_ text: [UInt16], _ marks: inout Marks) {
    var index = 0
    while index < text.count {
      if let end = international(text, index) ?? american(text, index) {
        marks.mark(index..<end)
        index = end
      } else {
        index += 1
      }
    }
  }

  /// The end of a number such as "+49 170 1234567". An offset from UTC stands behind a time, and one in code has no
  /// ten digits.
  private static func international(_ text: [UInt16], _ start: Int) -> Int? {
    guard text[start] == 0x2b, (0x31...0x39).contains(Unit.at(text, start + 1)) else { return nil }
    let before = Unit.at(text, start - 1)
    if Unit.isWord(before) || before == 0x29 { return nil }
    if before == 0x20, Unit.isDigit(Unit.at(text, start - 2)) { return nil }
    let (end, digits, isGrouped) = digits(text, start + 1)
    return digits <= 15 && digits >= (isGrouped ? 8 : 10) && !Unit.isWord(Unit.at(text, end)) ? end : nil
  }

  /// The end of the digits from `start` on, with separators between them. Another number may follow: at most `limit`
  /// digits are taken, in whole groups.
  static func digits(
    _ text: [UInt16], _ start: Int, limit: Int = 15
  ) -> (end: Int, count: Int, isGrouped: Bool) {
    var end = start
    var count = 0
    var isGrouped = false
    var index = start
    var separators = 0
    while index < text.count, separators <= 2 {
      if Unit.isDigit(text[index]) {
        let group = text[index...].prefix { Unit.isDigit($0) }
        if count > 0, count + group.count > limit || Unit.isLetter(Unit.at(text, group.endIndex)) { break }
        isGrouped = isGrouped || separators > 0
        separators = 0
        count += group.count
        end = group.endIndex
        index = group.endIndex
        continue
      } else if [0x20, 0x2d, 0x2e, 0x2f, 0x28, 0x29].contains(text[index]) {
        separators += 1
      } else {
        break
      }
      index += 1
    }
    return (end, count, isGrouped)
  }

  /// The end of a number such as "(415) 555-0123" or "415-555-0123".
  private static func american(_ text: [UInt16], _ start: Int) -> Int? {
    let opens = text[start] == 0x28
    let first = opens ? start + 1 : start
    let before = Unit.at(text, start - 1)
    guard !Unit.isWord(before), before != Unit.period, before != 0x2b, first + 12 <= text.count else { return nil }
    var index = first
    func number(_ count: Int) -> Bool {
      for _ in 0..<count {
        guard Unit.isDigit(Unit.at(text, index)) else { return false }
        index += 1
      }
      return true
    }
    guard text[first] >= 0x32, number(3) else { return nil }
    let separator = Unit.at(text, index)
    if opens {
      guard separator == 0x29 else { return nil }
      index += Unit.at(text, index + 1) == 0x20 ? 2 : 1
    } else {
      guard separator == 0x2d || separator == Unit.period else { return nil }
      index += 1
    }
    guard Unit.at(text, index) >= 0x32, number(3) else { return nil }
    let second = Unit.at(text, index)
    guard opens ? second == 0x2d || second == 0x20 : second == separator else { return nil }
    index += 1
    let next = index + 4
    guard number(4), !Unit.isWord(Unit.at(text, next)) else { return nil }
    return Unit.at(text, next) == Unit.period && Unit.isDigit(Unit.at(text, next + 1)) ? nil : next
  }
}
