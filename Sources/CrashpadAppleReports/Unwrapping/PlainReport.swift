// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import CrashpadBytes
internal import Glibc

/// Sees that a report is not wrapped, which most are not, without reading it line by line.
enum PlainReport {
  static func isPlain(_ bytes: RawSpan) -> Bool {
    let start = unsafe bytes.extracting(first: 4096).withUnsafeBytes { unsafe Array($0) }
    let content = start.firstIndex { $0 > 0x20 && $0 != 0xef && $0 != 0xbb && $0 != 0xbf } ?? start.count
    guard content < start.count, ReportFormat.of(bytes) != nil else { return false }
    // Time stamps of logs stand in brackets, too.
    let isJSON = start[content] == UInt8(ascii: "{") || ReportStart.isArray(start[content...])
    // A byte order mark, or lines that are indented.
    if content > 0, !isJSON, start[content - 1] != 0x0a { return false }
    guard isJSON ? isPlainJSON(start[content...], bytes) : isPlainText(start[content...]) else { return false }
    return unsafe bytes.withUnsafeBytes { unsafe isPlain($0, isJSON: isJSON) }
  }

  // MARK: The start

  private static func isPlainText(_ start: ArraySlice<UInt8>) -> Bool {
    guard ReportLine.isHead(start) || start.has(prefix: "-----") && start.first(of: "\nTranslated Report") != nil,
      let end = start.firstIndex(of: 0x0a)
    else { return false }
    // Each second line is blank where lines are doubled.
    let second = start[(end + 1)...].prefix { $0 != 0x0a }
    return !second.trimmed.isEmpty && start.first(of: "<br") == nil
  }

  /// Keys of the objects that readers know, with their quotation marks.
  private static let keys: Set<String> = [
    "app_name", "bug_type", "procName", "captureTime", "usedImages", "threads", "callStackTree", "crashDiagnostics",
    "hangDiagnostics", "cpuExceptionDiagnostics", "diskWriteExceptionDiagnostics", "appLaunchDiagnostics", "callStacks",
    "binary_images", "crash", "crashReport", "backtraceTime", "incident", "uptime", "procRole", "osVersion",
    "processByPid",
  ]

  private static func isPlainJSON(_ start: ArraySlice<UInt8>, _ bytes: RawSpan) -> Bool {
    let line = start.prefix { $0 != 0x0a }
    // The header is one long line; if it is short, it was broken.
    if line.count > 40, line.count <= LineBreaks.maximumWidth, line.count < start.count, line.last != 0x7d {
      return false
    }
    // Carriage returns inside of the line are the line ends of old Macs.
    if line.dropLast().contains(0x0d) { return false }
    return start.first == UInt8(ascii: "[") || hasKey(start)
  }

  /// Whether the object itself has one of the keys, and not a value in it.
  private static func hasKey(_ start: ArraySlice<UInt8>) -> Bool {
    var (depth, index) = (0, start.startIndex)
    while index < start.endIndex {
      switch start[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth <= 0 { return false }
      case UInt8(ascii: "\""):
        let key = index + 1
        index = key
        while index < start.endIndex, start[index] != UInt8(ascii: "\"") { index += start[index] == 0x5c ? 2 : 1 }
        guard index < start.endIndex else { return false }
        if depth == 1, index - key < 32, keys.contains(start[key..<index].string) { return true }
      default: break
      }
      index += 1
    }
    return false
  }

  // MARK: The whole

  private static func isPlain(_ bytes: UnsafeRawBufferPointer, isJSON: Bool) -> Bool {
    if unsafe hasUnicodeBlank(bytes) || hasControl(bytes) { return false }
    if isJSON {
      return unsafe hasOneDocument(bytes) && !has("{\"app_name\"", in: bytes, from: 1) && !hasTextBehind(bytes)
        && hasWideLine(bytes)
    }
    // A header of JSON stands before another report.
    return unsafe !has("\n{\"", in: bytes, from: 0) && !has("\npanic(cpu ", in: bytes, from: 1)
      && !hasTwo("\nIncident Identifier:", in: bytes)
      && !hasTwo("\nProcess: ", in: bytes)
      && !hasTwo("\nException Type:", in: bytes) && !hasEntity(bytes)
      && !has("\\_", in: bytes, from: 0)
      && (hasWideLine(bytes) || LineBreaks.joined(Array(bytes)) == nil)
  }

  /// Whether a report in text stands behind one in JSON, or behind that which a header has.
  private static func hasTextBehind(_ bytes: UnsafeRawBufferPointer) -> Bool {
    for head in ["\nIncident Identifier:", "\nProcess: ", "\npanic(cpu "] as [StaticString] {
      guard let first = unsafe find(head, in: bytes, from: 0) else { continue }
      let before = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<first])
      if unsafe has("\n{", in: before, from: 0) || has(head, in: bytes, from: first + 1) { return true }
    }
    return false
  }

  /// Whether no object begins a line but the body behind the header.
  private static func hasOneDocument(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let second = unsafe find("\n{\"", in: bytes, from: 0) else { return true }
    // The body may begin with a brace on a line of its own.
    if let first = unsafe find("\n{", in: bytes, from: 0), first < second { return false }
    let line = unsafe bytes[..<second]
    let isHeader = ["\"bug_type\"", "\"app_name\""].contains { key in
      let start = unsafe Array(line.prefix(4096))
      return start[...].first(of: key) != nil
    }
    return unsafe isHeader && second < 4096 && !has("\n{\"", in: bytes, from: second + 1)
  }

  /// Whether a sequence of a terminal, or a mark of pages, is in the text.
  private static func hasControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    return [0x1b, 0x0c, 0x08].contains { unsafe memchr(base, $0, bytes.count) != nil }
  }

  private static func hasUnicodeBlank(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    for byte in [0xc2, 0xe2, 0xe3, 0xef] as [Int32] {
      var offset = byte == 0xef ? 3 : 0
      while offset < bytes.count, let found = unsafe memchr(base + offset, byte, bytes.count - offset) {
        offset = unsafe UnsafeRawPointer(found) - base
        let character = unsafe Array(bytes[offset..<min(offset + 3, bytes.count)])
        if UnicodeBlanks.kind(character, at: 0) != nil { return true }
        offset += 1
      }
    }
    return false
  }

  /// Whether a character is written as HTML does, once or, as "&amp;lt;", several times. Names of C++ have "&" before blanks and
  /// commas.
  private static func hasEntity(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while let found = unsafe find("&", in: bytes, from: offset) {
      offset = found + 1
      let character = unsafe Array(bytes[found..<min(found + 12, bytes.count)])
      if Markup.entity(character, at: 0) != nil { return true }
    }
    return false
  }

  private static func find(_ words: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard start < bytes.count, let base = bytes.baseAddress,
      let found = unsafe memmem(base + start, bytes.count - start, words.utf8Start, words.utf8CodeUnitCount)
    else { return nil }
    return unsafe UnsafeRawPointer(found) - base
  }

  private static func has(_ words: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int) -> Bool {
    unsafe find(words, in: bytes, from: start) != nil
  }

  private static func hasTwo(_ words: StaticString, in bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = unsafe find(words, in: bytes, from: 0) else { return false }
    // The first line has no line feed before it.
    let line = words.description.utf8.dropFirst()
    let isFirstLine = unsafe bytes.count >= line.count && zip(bytes, line).allSatisfy { $0 == $1 }
    return unsafe isFirstLine || has(words, in: bytes, from: first + 1)
  }

  /// Whether a line is wider than lines of texts that were broken, and would have been broken. The widest are those of images, at
  /// the end.
  private static func hasWideLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    // The header of an .ips is wide, too.
    let start = unsafe bytes.prefix(LineBreaks.maximumWidth + 1)
    if unsafe start.count > LineBreaks.maximumWidth, unsafe !start.contains(0x0a), unsafe mayBreak(bytes, 0) {
      return true
    }
    var (end, count) = (bytes.count, 0)
    while end > 0 {
      var start = 0
      if let found = unsafe memrchr(base, 0x0a, end) { start = unsafe UnsafeRawPointer(found) - base + 1 }
      if end - start > LineBreaks.maximumWidth, unsafe mayBreak(bytes, start) { return true }
      end = start - 1
      count += 1
    }
    // JSON without any blank is one line or two.
    return count <= fewLines && bytes.count > LineBreaks.maximumWidth
  }

  private static let fewLines = 3

  private static func mayBreak(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Bool {
    let line = unsafe Array(bytes[start..<min(start + LineBreaks.maximumWidth, bytes.count)])
    return line[...].isBreakable
  }
}
