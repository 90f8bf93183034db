// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Reads Apple's `.ips`: a header of one JSON object, and a body of JSON or text. Console writes a translation before
/// both, which is skipped. A body without its header is read too.
enum IPSReader {
  static func read(_ bytes: RawSpan, into builder: inout ReportBuilder) {
    let start = firstDocument(bytes)
    // A translation that was copied without its report.
    if start < bytes.byteCount, bytes.uint8(at: start) != UInt8(ascii: "{") {
      return CrashTextReader.read(bytes, from: start, into: &builder)
    }
    let tree = JSONTree(bytes, from: start)
    guard let first = tree.root, first.kind == .object else {
      builder.note(ReportRules.notJSON, at: tree.failure?.offset ?? start)
      builder.isRefused = true
      return
    }
    let cut = cutPanic(tree, bytes)
    if isBody(first) || cut != nil { return read(first, tree, bytes, header: nil, cutPanic: cut, into: &builder) }
    builder.report.bugType = first["bug_type"]?.display
    if let type = builder.report.bugType, BugType.of(type)?.kind == nil { return refuse(type, &builder) }
    let second = bytes.skippingBlanks(tree.end)
    guard tree.failure == nil, second < bytes.byteCount else {
      if let failure = tree.failure { builder.note(ReportRules.notJSON, at: failure.offset) }
      builder.note(ReportRules.noBody, at: tree.end)
      builder.isRefused = true
      return
    }
    builder.readHeader(first)
    guard bytes.uint8(at: second) == UInt8(ascii: "{") else {
      builder.report.kind = builder.report.bugType.flatMap { BugType.of($0)?.kind } ?? .crash
      return CrashTextReader.read(bytes, from: second, into: &builder)
    }
    let body = JSONTree(bytes, from: second)
    guard let root = body.root else { return }
    read(root, body, bytes, header: first, cutPanic: cutPanic(body, bytes), into: &builder)
  }

  /// The beginning of the kernel's text, where the report ends within it: the tree has no member for it.
  private static func cutPanic(_ tree: JSONTree, _ bytes: RawSpan) -> String? {
    guard let failure = tree.failure, failure.reason == .badString, failure.offset < bytes.byteCount,
      bytes.uint8(at: failure.offset) == UInt8(ascii: "\"")
    else { return nil }
    var end = failure.offset
    while end > 0, [0x20, 0x09, 0x0a, 0x0d, UInt8(ascii: ":")].contains(bytes.uint8(at: end - 1)) { end -= 1 }
    for key in ["\"panicString\"", "\"macOSPanicString\""] {
      let start = end - key.utf8.count
      guard start >= 0, key.utf8.enumerated().allSatisfy({ bytes.uint8(at: start + $0.offset) == $0.element }) else {
        continue
      }
      return JSONTree.text(ofString: bytes.extracting((failure.offset + 1)..<bytes.byteCount))
    }
    return nil
  }

  /// The body, if it is JSON.
  static func body(_ bytes: RawSpan) -> JSONValue? {
    let tree = JSONTree(bytes, from: firstDocument(bytes))
    guard let first = tree.root, first.kind == .object else { return nil }
    return isBody(first) ? first : JSONTree(bytes, from: bytes.skippingBlanks(tree.end)).root
  }

  /// Whether an object is a body rather than a header; both have a bug type.
  static func isBody(_ object: JSONValue) -> Bool {
    object["threads"] != nil || object["procName"] != nil || object["usedImages"] != nil || object["captureTime"] != nil
      || object["processes"] != nil || object["memoryStatus"] != nil || object["processByPid"] != nil
      || object["panicString"] != nil
      || object["macOSPanicString"] != nil
      // Members that were copied out of a body.
      || object["bug_type"] == nil
        && (object["exception"] != nil || object["termination"] != nil || object["lastExceptionBacktrace"] != nil)
  }

  /// Refuses a type that is not a crash; names the type if the table has it.
  private static func refuse(_ bugType: String, _ builder: inout ReportBuilder) {
    let name = BugType.of(bugType)?.name
    builder.note(
      ReportRules.notACrash, found: .text(name.map { "\($0), bug type \(bugType)" } ?? "bug type \(bugType)"))
    builder.isRefused = true
  }

  private static func read(
    _ body: JSONValue, _ tree: JSONTree, _ bytes: RawSpan, header: JSONValue?, cutPanic: String?,
    into builder: inout ReportBuilder
  ) {
    _ = builder.readJSON(tree)
    builder.report.bugType = body["bug_type"]?.display ?? builder.report.bugType
    if let type = builder.report.bugType {
      guard let kind = BugType.of(type)?.kind else { return refuse(type, &builder) }
      builder.report.kind = kind
    } else if body["memoryStatus"] != nil {
      builder.report.kind = .jetsam
    } else if header == nil, cutPanic != nil {
      builder.report.kind = .panic
    }
    switch builder.report.kind {
    case .jetsam:
      builder.readJetsam(body)
      if let failure = tree.failure { builder.recoverProcesses(bytes, from: failure.offset) }
    case .panic, .forceReset: builder.readPanic(body, cut: cutPanic)
    // One process that was taken out of a stackshot has the form of a crash.
    case .stackshot where body["processByPid"] != nil || body["stackshot"] != nil: builder.readStackshot(body)
    default: builder.readCrash(body)
    }
  }

  /// The offset of the first JSON document: the start, or after Console's "Full Report".
  private static func firstDocument(_ bytes: RawSpan) -> Int {
    let start = bytes.skippingBlanks(0)
    var line = start
    while line < bytes.byteCount {
      if bytes.uint8(at: line) == UInt8(ascii: "{") { return line }
      line = bytes.lineEnd(line) + 1
    }
    return start
  }
}

extension RawSpan {
  /// The first byte from `offset` on that is not a blank, line feed, NUL or part of a byte order mark.
  func skippingBlanks(_ offset: Int) -> Int {
    var offset = offset
    while offset < byteCount {
      switch uint8(at: offset) {
      case 0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf, 0x00: offset += 1
      default: return offset
      }
    }
    return offset
  }

  /// The offset of the line feed that ends the line at `offset`, or of the end.
  func lineEnd(_ offset: Int) -> Int {
    var offset = offset
    while offset < byteCount, uint8(at: offset) != 0x0a { offset += 1 }
    return offset
  }
}
