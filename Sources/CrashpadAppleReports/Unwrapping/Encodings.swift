// SPDX-License-Identifier: Apache-2.0
/// Encodings of texts other than UTF-8.
enum Encodings {
  private struct Form {
    let name: String
    let width: Int
    let isBig: Bool
    let mark: Int
  }

  /// Decodes UTF-16 and UTF-32.
  static func narrow(_ text: [UInt8]) -> Removal? {
    guard let form = form(of: text) else { return nil }
    var copy = TextCopy(of: text)
    if form.width == 1 {
      copy.copy(form.mark..<text.count)
      return Removal(copy, "the text was \(form.name)", at: 0)
    }
    var (offset, damaged) = (form.mark, 0)
    while offset + form.width <= text.count {
      let start = offset
      let (scalar, length) = form.width == 2 ? pair(text, at: offset, form.isBig) : quad(text, at: offset, form.isBig)
      offset += length
      if scalar == nil { damaged += 1 }
      copy.put(scalar ?? "\u{fffd}", for: start)
    }
    if offset < text.count { damaged += 1 }
    var removal = Removal(copy, "the text was \(form.name)", at: 0)
    if damaged > 0 {
      removal.notes.append(.init(text: "\(damaged) characters are damaged", offset: 0, isUncertain: true))
    }
    return removal
  }

  private static func form(of text: [UInt8]) -> Form? {
    if text.starts(with: [0xff, 0xfe, 0, 0]) { return Form(name: "UTF-32", width: 4, isBig: false, mark: 4) }
    if text.starts(with: [0, 0, 0xfe, 0xff]) { return Form(name: "UTF-32", width: 4, isBig: true, mark: 4) }
    if text.starts(with: [0xff, 0xfe]) { return Form(name: "UTF-16", width: 2, isBig: false, mark: 2) }
    if text.starts(with: [0xfe, 0xff]) { return Form(name: "UTF-16", width: 2, isBig: true, mark: 2) }
    if text.starts(with: [0xef, 0xbb, 0xbf]) {
      return Form(name: "UTF-8 with a byte order mark", width: 1, isBig: false, mark: 3)
    }
    let start = text.prefix(256)
    guard start.count >= 16, start.contains(0) else { return nil }
    // Most letters of reports are ASCII, each with zeros beside it.
    func zeros(_ width: Int, _ place: Int) -> Bool {
      let known = start.indices.count { ($0 % width == place) == (start[$0] != 0) }
      return known * 10 > start.count * 9
    }
    if zeros(2, 0) { return Form(name: "UTF-16", width: 2, isBig: false, mark: 0) }
    if zeros(2, 1) { return Form(name: "UTF-16", width: 2, isBig: true, mark: 0) }
    if zeros(4, 0) { return Form(name: "UTF-32", width: 4, isBig: false, mark: 0) }
    if zeros(4, 3) { return Form(name: "UTF-32", width: 4, isBig: true, mark: 0) }
    return nil
  }

  private static func unit(_ text: [UInt8], at offset: Int, _ isBig: Bool) -> UInt32 {
    let (first, second) = (UInt32(text[offset]), UInt32(text[offset + 1]))
    return isBig ? first << 8 | second : second << 8 | first
  }

  private static func pair(_ text: [UInt8], at offset: Int, _ isBig: Bool) -> (Unicode.Scalar?, Int) {
    let high = unit(text, at: offset, isBig)
    guard Surrogates.isHigh(high), offset + 4 <= text.count else { return (Unicode.Scalar(high), 2) }
    let scalar = Surrogates.scalar(high, unit(text, at: offset + 2, isBig))
    return (scalar, scalar == nil ? 2 : 4)
  }

  private static func quad(_ text: [UInt8], at offset: Int, _ isBig: Bool) -> (Unicode.Scalar?, Int) {
    let (first, second) = (unit(text, at: offset, isBig), unit(text, at: offset + 2, isBig))
    return (Unicode.Scalar(isBig ? first << 16 | second : second << 16 | first), 4)
  }

  /// Replaces the line ends of old Macs, carriage returns alone.
  static func lineEnds(_ text: [UInt8]) -> Removal? {
    var (returns, feeds) = (0, 0)
    for index in text.indices {
      if text[index] == 0x0d { returns += 1 }
      if text[index] == 0x0a { feeds += 1 }
    }
    guard returns > 1, feeds * 10 < returns else { return nil }
    var copy = TextCopy(of: text)
    var start = 0
    for index in text.indices where text[index] == 0x0d {
      copy.copy(start..<index)
      copy.put(0x0a, for: index)
      start = index + 1
    }
    copy.copy(start..<text.count)
    return Removal(copy, "lines ended with carriage returns alone", at: 0)
  }
}

/// Blanks and characters without a width that editors and web pages put in place of blanks.
enum UnicodeBlanks {
  enum Kind {
    case blank, lineEnd, nothing
  }

  /// The character at `index`, if it is one of them, and its length.
  static func kind(_ text: [UInt8], at index: Int) -> (kind: Kind, length: Int)? {
    let byte = text[index]
    guard byte >= 0xc2, index + 1 < text.count else { return nil }
    let second = text[index + 1]
    if byte == 0xc2 { return second == 0xa0 ? (.blank, 2) : second == 0xad ? (.nothing, 2) : nil }
    guard byte == 0xe2 || byte == 0xe3 || byte == 0xef, index + 2 < text.count else { return nil }
    switch (byte, second, text[index + 2]) {
    case (0xe2, 0x80, 0x80...0x8a), (0xe2, 0x80, 0xaf), (0xe2, 0x81, 0x9f), (0xe3, 0x80, 0x80): return (.blank, 3)
    case (0xe2, 0x80, 0x8b), (0xe2, 0x81, 0xa0), (0xef, 0xbb, 0xbf): return (.nothing, 3)
    case (0xe2, 0x80, 0xa8), (0xe2, 0x80, 0xa9): return (.lineEnd, 3)
    default: return nil
    }
  }

  /// Replaces them if they stand where a report has blanks of its own, and not only in names.
  static func remove(_ text: [UInt8]) -> Removal? {
    guard let place = firstPlace(text) else { return nil }
    var copy = TextCopy(of: text)
    var (start, index, count) = (0, 0, 0)
    while index < text.count {
      guard let (kind, length) = kind(text, at: index) else {
        index += 1
        continue
      }
      copy.copy(start..<index)
      if kind != .nothing { copy.put(kind == .blank ? 0x20 : 0x0a, for: index) }
      index += length
      start = index
      count += 1
    }
    copy.copy(start..<text.count)
    return Removal(copy, "\(count) no-break spaces and the like were replaced by blanks", at: place)
  }

  /// The offset of the first one that is part of the report's form: at the start of a line, before or after a colon, a
  /// number, a bracket or one of its own kind.
  private static func firstPlace(_ text: [UInt8]) -> Int? {
    var index = text.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    while index < text.count {
      guard let (kind, length) = kind(text, at: index) else {
        index += 1
        continue
      }
      let before = index == 0 ? 0x0a : text[index - 1]
      let after = index + length < text.count ? text[index + length] : 0x0a
      if kind != .lineEnd, isForm(before, after) || self.kind(text, at: min(index + length, text.count - 1)) != nil {
        return index
      }
      if kind == .lineEnd { return index }
      index += length
    }
    return nil
  }

  private static func isForm(_ before: UInt8, _ after: UInt8) -> Bool {
    // Names have them between letters, or before a number: "Orrery 2.app".
    [0x0a, 0x0d, UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: ","), UInt8(ascii: "]")].contains(before)
      || [UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "<")].contains(after)
  }
}

/// Lines of mails, in which "=" at the end continues a line, and "=3D" is a character.
enum QuotedPrintable {
  static func remove(_ text: [UInt8]) -> Removal? {
    guard let first = firstSoftEnd(text),
      !ReportAnchors.all(text).isEmpty || !MailParts.contents(of: text, encoding: "base64").isEmpty
    else { return nil }
    // The heads of a mail's parts are not encoded.
    let part = MailParts.contents(of: text, encoding: "quoted-printable").first { range in
      range.contains(first) || firstSoftEnd(Array(text[range])) != nil
    }
    let range = part ?? 0..<text.count
    guard isEncoded(text[range]) else { return nil }
    // The other parts of a mail may be reports, too.
    let isAlone = [text[..<range.lowerBound], text[range.upperBound...]].allSatisfy {
      ReportAnchors.all(Array($0)).isEmpty
    }
    let whole = isAlone ? range : 0..<text.count
    var copy = TextCopy(of: text)
    var (start, index) = (whole.lowerBound, range.lowerBound)
    while index < range.upperBound {
      guard text[index] == UInt8(ascii: "=") else {
        index += 1
        continue
      }
      copy.copy(start..<index)
      if let length = softEnd(text, at: index) {
        index += length
      } else if let byte = byte(text, at: index) {
        copy.put(byte, for: index)
        index += 3
      } else {
        copy.put(text[index], for: index)
        index += 1
      }
      start = index
    }
    copy.copy(start..<whole.upperBound)
    return Removal(copy, "the text was quoted-printable, as in mails", at: first)
  }

  /// The first "=" at the end of a line, or in the place of a blank before it.
  private static func firstSoftEnd(_ text: [UInt8]) -> Int? {
    text.indices.first {
      text[$0] == UInt8(ascii: "=") && (softEnd(text, at: $0) != nil || text[$0...].has(prefix: "=20\n"))
    }
  }

  /// The length of "=" and the line's end.
  private static func softEnd(_ text: [UInt8], at index: Int) -> Int? {
    if index + 1 < text.count, text[index + 1] == 0x0a { return 2 }
    return index + 2 < text.count && text[index + 1] == 0x0d && text[index + 2] == 0x0a ? 3 : nil
  }

  private static func byte(_ text: [UInt8], at index: Int) -> UInt8? {
    guard index + 2 < text.count else { return nil }
    return text[(index + 1)..<(index + 3)].hexadecimal.map { UInt8($0) }
  }

  /// Whether no line is longer than such mails allow, and each "=" has its meaning.
  private static func isEncoded(_ text: TextBytes) -> Bool {
    let bytes = Array(text)
    var length = 0
    for index in bytes.indices {
      length = bytes[index] == 0x0a ? 0 : length + 1
      if length > 78 { return false }
      if bytes[index] == UInt8(ascii: "="), softEnd(bytes, at: index) == nil, byte(bytes, at: index) == nil {
        return false
      }
    }
    return true
  }
}

/// Bytes as letters: refused by name.
enum EncodedReport {
  private static let starts = ["{\"", "Incident Identifier:", "Process:", "-----", "Thread ", "CrashReporter Key:"]

  static func isBase64(_ text: [UInt8]) -> Bool {
    let all = text.prefix(4096).filter { $0 > 0x20 }
    let letters = all.prefix(all.count / 4 * 4)
    let start = Base64.decode(String(decoding: letters, as: UTF8.self))
    // Decoding stops at the first character that has no meaning.
    guard start.count >= 16, start.count + 4 >= letters.count / 4 * 3 else { return false }
    if start.starts(with: [0x1f, 0x8b]) || start.starts(with: Array("PK\u{3}\u{4}".utf8)) { return true }
    return starts.contains { start[...].trimmed.has(prefix: $0) }
  }
}
