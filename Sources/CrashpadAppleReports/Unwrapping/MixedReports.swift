// SPDX-License-Identifier: Apache-2.0
internal import CrashpadJSON

/// Finds the reports of a text that holds several of different forms: .ips files, with JSON or text behind their header, reports in
/// text, and panics.
enum MixedReports {
  static func parts(of text: [UInt8]) -> [Range<Int>] {
    var finder = MixedReportFinder(text)
    let starts = finder.starts()
    // Texts alone are divided by their own rules.
    guard starts.count > 1, starts.contains(where: { $0.isOther }) else { return [] }
    let ends = starts.dropFirst().map(\.offset) + [text.count]
    let ranges = zip(starts, ends).map { $0.offset..<$1 }.filter { ReportFormat.of(text[$0]) != nil }
    return ranges.count > 1 ? ranges : []
  }
}

private struct MixedReportFinder {
  struct Start {
    let offset: Int
    /// Whether it has a header of JSON, is JSON, or is a panic.
    let isOther: Bool
  }

  private let text: [UInt8]
  private var found: [Start] = []
  /// The offset of a header, whose body comes next.
  private var header: Int?
  /// Whether the report so far has what its head announces.
  private var hasBody = true
  private var isPanic = false
  /// Whether a line said that the same report follows as JSON.
  private var repeats = false
  private var failures = 0
  /// Whether stacks or images of the report so far were read, behind which no key of a head stands.
  private var hasStack = false
  /// The offset of the first of the keys that lead to the present line.
  private var keys: Int?

  /// Text with more of such lines that are no JSON is searched no further for it.
  private static let mostFailures = 8

  init(_ text: [UInt8]) { self.text = text }

  mutating func starts() -> [Start] {
    var offset = 0
    while offset < text.count, found.count <= ReportJSON.maximumParts {
      let end = text[offset...].firstIndex(of: 0x0a) ?? text.count
      let content = text[offset..<end].trimmed
      if content.first == UInt8(ascii: "{"), failures < Self.mostFailures, let next = readJSON(content.startIndex) {
        offset = next
        continue
      }
      read(content, at: offset)
      offset = end + 1
    }
    return found
  }

  /// Reads an object that begins a line. Returns the offset behind the object; nil if the line begins no object.
  private mutating func readJSON(_ start: Int) -> Int? {
    let tree = unsafe JSONTree(text.span.bytes, from: start, limit: JSONTree.maximumValues)
    guard let root = tree.root, tree.failure == nil else {
      failures += 1
      return nil
    }
    if repeats {
      // It may have a header of its own.
      repeats = ReportJSON.isHeader(root)
    } else if ReportJSON.isHeader(root) {
      header = start
    } else if header != nil || ReportJSON.isReport(root) {
      add(header ?? start, isOther: true)
      hasBody = true
    }
    return max(tree.end, start + 1)
  }

  private mutating func read(_ content: TextBytes, at offset: Int) {
    if content.isEmpty || content.allSatisfy({ $0 == UInt8(ascii: "-") }) { return }
    repeats = content.equals("Full Report") || repeats
    readKeys(content, at: offset)
    if let header {
      // The body of a header is text.
      if ReportLine.isFence(content) {
        self.header = nil
        return
      }
      add(header, isOther: true)
      hasBody = false
    } else if hasStack, Self.isKeyOfHead(content) {
      // Some begin with other keys than most: the first of these is the start.
      add(keys ?? offset, isOther: true)
      hasBody = content.has(prefix: "Exception Type:")
    } else if ReportLine.isHead(content) {
      if hasBody { add(offset, isOther: false) }
      hasBody = false
    } else if content.has(prefix: "panic(cpu ") {
      if hasBody, !isPanic { add(offset, isOther: true) }
      (hasBody, isPanic) = (true, true)
    }
    if content.has(prefix: "Exception Type:") || content.has(prefix: "Event:") { hasBody = true }
    // A panic may tell of another one; the versions of the system end it.
    if content.has(prefix: "System uptime in nanoseconds:") || content.has(prefix: "Mac OS version:") {
      isPanic = false
    }
  }

  private mutating func readKeys(_ content: TextBytes, at offset: Int) {
    if ReportLine.isFrame(content) || ReportLine.isImage(content) {
      (hasStack, keys) = (true, nil)
    } else if ReportLine.isThread(content) || TextKey(content) == nil {
      keys = nil
    } else {
      keys = keys ?? offset
    }
  }

  /// Whether a line has a key that stands once in a report, before its stacks.
  private static func isKeyOfHead(_ line: TextBytes) -> Bool {
    ["Incident Identifier:", "CrashReporter Key:", "Hardware Model:", "Date/Time:", "Exception Type:"].contains {
      line.has(prefix: $0)
    }
  }

  private mutating func add(_ offset: Int, isOther: Bool) {
    found.append(Start(offset: offset, isOther: isOther))
    header = nil
    isPanic = false
    (hasStack, keys) = (false, nil)
  }
}
