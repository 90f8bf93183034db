// SPDX-License-Identifier: Apache-2.0
internal import CrashpadJSON

/// A log with an object of JSON for each line of the report: that of Docker, of journalctl, and of services that gather logs.
enum LogObjects {
  static func remove(_ text: [UInt8]) -> Removal? {
    guard let (key, first) = firstObject(text) else { return nil }
    var copy = TextCopy(of: text)
    var (count, longer, others) = (0, 0, 0)
    var isBroken = false
    if let removal = ofMongo(text, first) { return removal }
    for line in TextLines(text) where !line.trimmed.isEmpty {
      guard let words = value(of: key, in: line) else {
        if line.trimmed.count > Self.longestMark { others += 1 }
        // The end of the log may be cut.
        if count > 0, line.first(of: "\"\(key.description)\"") != nil { isBroken = true }
        continue
      }
      // Something else broke the lines, which is around the log.
      if isBroken { return nil }
      count += 1
      if words.dropLast().utf8.contains(0x0a) { longer += 1 }
      copy.put(words.utf8, for: line.startIndex)
      if words.utf8.last != 0x0a { copy.put(0x0a as UInt8, for: line.startIndex) }
    }
    // A report that is whole in one message is a string as others are.
    guard count >= Self.leastLines, longer == 0, others <= count,
      // The keys of JSON in an HTML page have entities for their marks.
      !ReportAnchors.all(copy.bytes).isEmpty || copy.bytes[...].first(of: "&quot;") != nil
        || ReportFormat.of(copy.bytes[...]) != nil
    else { return nil }
    return Removal(copy, "each line was in an object of JSON", at: first)
  }

  /// The log of MongoDB, from the first object on that says that the process ends.
  private static func ofMongo(_ text: [UInt8], _ first: Int) -> Removal? {
    var copy = TextCopy(of: text)
    var (hasStack, hasBegun) = (false, false)
    for line in TextLines(text) {
      guard let words = object(in: line, key: "attr", { MongoLog.words(of: $0) }) else { continue }
      hasBegun = hasBegun || words.isFatal || words.isStack || words.isFrame
      guard hasBegun, !(hasStack && words.isFrame) else { continue }
      hasStack = hasStack || words.isStack
      for line in words.lines { copy.put((line + "\n").utf8, for: first) }
    }
    guard hasBegun, ReportFormat.of(copy.bytes[...]) != nil else { return nil }
    return Removal(copy, "each line was in an object of JSON, of MongoDB's log", at: first)
  }

  /// The member that the first object has the words in, and the offset of its line: a log may have a head, and words before each line.
  private static func firstObject(_ text: [UInt8]) -> (key: StaticString, place: Int)? {
    for line in TextLines(text).lazy.filter({ $0.contains(UInt8(ascii: "{")) }).prefix(Self.mostHeads) {
      if let key = keys.first(where: { value(of: $0, in: line) != nil }) { return (key, line.startIndex) }
    }
    return nil
  }

  private static let mostHeads = 8
  private static let leastLines = 3
  /// Lines of a fence or a table around the log.
  private static let longestMark = 8

  /// Members that logs have the words in.
  private static let keys: [StaticString] = ["log", "MESSAGE", "message", "msg", "line", "textPayload", "text"]

  /// The words of a line's object, which may have other words before and behind it.
  private static func value(of key: StaticString, in line: TextBytes) -> String? {
    object(in: line, key: key) { $0[key]?.string }
  }

  private static func object<Value>(in line: TextBytes, key: StaticString, _ read: (JSONValue) -> Value?) -> Value? {
    guard line.first(of: "\"\(key.description)\"") != nil, let start = line.first(of: "{\""),
      let end = line.lastIndex(of: UInt8(ascii: "}")), start < end
    else { return nil }
    let bytes = Array(line[start...end])
    let tree = unsafe JSONTree(bytes.span.bytes)
    guard tree.failure == nil else { return nil }
    return tree.root.flatMap(read)
  }
}
