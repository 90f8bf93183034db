// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON

/// Finds the reports of a text that holds several: files that were put behind one another, lines of JSON, lists.
enum ReportSplitter {
  /// The ranges of the reports; one or none if the text is not to be split.
  static func parts(of text: [UInt8]) -> [Range<Int>] {
    let content = text[...].drop { $0 <= 0x20 }
    guard let first = content.first else { return [] }
    let alike = first == UInt8(ascii: "[") || content.beginsObject ? documents(text) : texts(text)
    let mixed = MixedReports.parts(of: text)
    let found = mixed.count > 1 && mixed.count >= alike.count ? mixed : alike
    return found.count > 1 ? found : ToolReports.parts(of: text)
  }

  /// Whether a text has reports of different forms, or several of one tool.
  static func hasSeveral(_ text: [UInt8]) -> Bool {
    MixedReports.parts(of: text).count > 1 || ToolReports.parts(of: text).count > 1
  }

  // MARK: Texts

  private static func texts(_ text: [UInt8]) -> [Range<Int>] {
    var starts: [Int] = []
    var hasBody = true
    for line in TextLines(text) where starts.count <= ReportJSON.maximumParts {
      let content = line.trimmed
      if ReportLine.isHead(content) {
        if hasBody { starts.append(line.startIndex) }
        hasBody = false
      } else if content.has(prefix: "Exception Type:") || content.has(prefix: "{\"") {
        hasBody = true
      }
    }
    let ends = starts.dropFirst() + [text.count]
    let heads = starts.isEmpty ? [0..<text.count] : zip(starts, ends).map { $0..<$1 }
    let ranges = heads.flatMap { headless(text, $0) }.filter { holdsReport(text[$0]) }
    guard ranges.count > 1 else { return [] }
    // The text before the first one is that of a message.
    return ranges
  }

  /// The reports of a range that has the head of the first one alone, or none: each begins with its exception, and has a stack.
  private static func headless(_ text: [UInt8], _ range: Range<Int>) -> [Range<Int>] {
    var ends: [Int] = []
    var (exceptions, hasStack) = (0, false)
    for line in TextLines(Array(text[range])) {
      let content = line.trimmed
      if content.has(prefix: "Exception Type:") {
        exceptions += 1
        // The first is that of the head.
        if exceptions > 1 {
          guard hasStack, ends.count < ReportJSON.maximumParts else { return [range] }
          ends.append(range.lowerBound + line.startIndex)
        }
        hasStack = false
      } else if TextStart.hasCrashed(content) || content.has(prefix: "Last Exception Backtrace:") {
        hasStack = true
      }
    }
    guard hasStack, !ends.isEmpty else { return [range] }
    return zip([range.lowerBound] + ends, ends + [range.upperBound]).map { $0..<$1 }
  }

  private static func holdsReport(_ text: TextBytes) -> Bool {
    let form = ReportFormat.of(text[...])
    return form != nil && text.first(of: "Exception Type:") != nil
  }

  // MARK: JSON

  private static func documents(_ text: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var header: Int?
    var offset = 0
    while let start = next(text, offset), ranges.count < ReportJSON.maximumParts {
      let tree = unsafe JSONTree(text.span.bytes, from: start, limit: JSONTree.maximumValues)
      guard let root = tree.root, tree.failure == nil else { break }
      offset = tree.end
      if ReportJSON.isHeader(root) {
        // A header without a body is no report of its own if another one follows.
        header = start
      } else if header != nil || ReportJSON.isReport(root) {
        ranges.append((header ?? start)..<offset)
        header = nil
      } else if root.kind == .array, start == text.firstIndex(where: { $0 > 0x20 }) {
        ranges += root.elements.filter { ReportJSON.isReport($0) }.map(\.range)
      }
    }
    return ranges.count > 1 ? ranges : []
  }

  /// The offset of the next document: at `offset`, or at the start of a line.
  private static func next(_ text: [UInt8], _ offset: Int) -> Int? {
    var index = offset
    while index < text.count, text[index] <= 0x20 || text[index] == UInt8(ascii: ",") { index += 1 }
    while index < text.count {
      if text[index] == UInt8(ascii: "{") || text[index] == UInt8(ascii: "[") { return index }
      guard let end = text[index...].firstIndex(of: 0x0a) else { return nil }
      index = text[end...].firstIndex { $0 > 0x20 } ?? text.count
    }
    return nil
  }
}
