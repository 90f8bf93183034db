internal import CrashpadBytes

/// The sections for line tables.
struct LineSections {
  let lines: RawSpanHolder
  private let lineStrings: RawSpanHolder
  private let strings: RawSpanHolder
  let isBigEndian: Bool

  /// The place of a text.
  enum Text {
    case unknown
    case lines(ByteRange)
    /// An offset in `.debug_line_str`
    case lineStrings(UInt64)
    /// An offset in `.debug_str`
    case strings(UInt64)
  }

  /// - Parameters:
  ///   - file: the file with the sections.
  ///   - strings: its `.debug_str`.
  init(_ file: any DwarfContainer, strings: RawSpanHolder) {
    lines = file.contents(".debug_line")
    lineStrings = file.contents(".debug_line_str")
    self.strings = strings
    isBigEndian = !file.isLittleEndian
  }

  /// The sections of a file without lines.
  init(strings: RawSpanHolder) {
    (lines, lineStrings, self.strings, isBigEndian) = (RawSpanHolder(), RawSpanHolder(), strings, false)
  }

  /// Nil if the text is missing or not terminated.
  func text(_ place: Text) -> String? {
    switch place {
    case .unknown: nil
    case .lines(let range): lines.withBytes { $0.text(in: range) }
    case .lineStrings(let offset): lineStrings.withBytes { $0.string(at: offset) }
    case .strings(let offset): strings.withBytes { $0.string(at: offset) }
    }
  }
}

extension RawSpan {
  /// The text before the next zero; nil if there is none.
  func string(at offset: UInt64) -> String? {
    guard offset < UInt64(byteCount) else { return nil }
    let start = Int(offset)
    let end = firstZero(in: ByteRange(offset: start, count: byteCount - start))
    return end < byteCount ? text(in: ByteRange(offset: start, count: end - start)) : nil
  }
}
