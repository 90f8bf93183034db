// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadJSON

/// Lossless JSON for intermediate dumps: `dump → JSON → dump` gives the same bytes for every well-formed dump.
///
///     {"format": "crashpad-intermediate-dump", "version": 1, "root": [
///       {"key": "kPID", "value": 4711},
///       {"key": "kSystemInfo", "map": [{"key": "kAddressMask", "value": "0xffffff8000000000"}]},
///       {"key": "kThreads", "array": [[{"key": "kThreadID", "value": 7}, {"key": 9999, "hex": "00ff"}]]}]}
///
/// A record has a key (its name, or its number if the format has no such key) and one of `value`, `hex`, `map`,
/// `array`. The type of `value` follows from the key's shape; values of a wrong size are written as `hex`.
/// crashpadctl-json(5) describes the format.
package enum DumpJSON {
  package static let formatName = "crashpad-intermediate-dump"
  package static let formatVersion = 1

  // MARK: Writing

  /// Writes the content of `tree`. For an incomplete dump this is the readable part, with the cause in `"incomplete"`.
  package static func write(_ tree: DumpTree, _ bytes: RawSpan, to json: inout JSONWriter) {
    json.open("{")
    json.member("format", formatName)
    json.member("version", formatVersion)
    if let cause = tree.incomplete {
      json.object("incomplete") {
        $0.member("code", cause.rule.code)
        if let offset = cause.offset { $0.member("offset", offset) }
      }
    }
    json.key("root")
    write(recordsOf: tree.root, depth: 1, tree, bytes, to: &json)
    json.close("}")
  }

  /// The maximum nesting depth of maps and arrays, including the root. No reader of dumps accepts deeper ones.
  private static let maximumDepth = Limits().maximumDepth

  private static func write(
    recordsOf node: DumpNode, depth: Int, _ tree: DumpTree, _ bytes: RawSpan, to json: inout JSONWriter
  ) {
    json.open("[")
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      if record.kind != .property, depth == maximumDepth { continue }
      if node.isArray {
        write(recordsOf: record.node, depth: depth + 1, tree, bytes, to: &json)
        continue
      }
      if record.kind == .property {
        json.inline { json in
          json.object { json in
            writeKey(record.key, to: &json)
            write(DumpValue(of: record, in: bytes), bytes, KeyTable[record.key]?.unit, to: &json)
          }
        }
        continue
      }
      json.open("{")
      writeKey(record.key, to: &json)
      json.key(record.kind == .map ? "map" : "array")
      write(recordsOf: record.node, depth: depth + 1, tree, bytes, to: &json)
      json.close("}")
    }
    json.close("]")
  }

  private static func writeKey(_ key: DumpKey, to json: inout JSONWriter) {
    json.key("key")
    if let descriptor = KeyTable[key] { json.string(descriptor.name) } else { json.number(key.rawValue) }
  }

  private static func write(
    _ value: DumpValue, _ bytes: RawSpan, _ unit: KeyDescriptor.Unit?, to json: inout JSONWriter
  ) {
    if case .bytes(let range) = value {
      json.key("hex")
      json.hex(bytes.extracting(range.offset..<range.end))
      return
    }
    json.key("value")
    switch value {
    case .bytes: break
    case .boolean(let value): json.bool(value)
    case .unsigned(let value):
      if unit == .address || unit == .mask { json.string("0x" + String(value, radix: 16)) } else { json.number(value) }
    case .signed(let value): json.number(value)
    case .time(let seconds, let microseconds, let padding):
      json.object {
        $0.member("seconds", seconds)
        $0.member("microseconds", microseconds)
        if padding != 0 { $0.member("padding", padding) }
      }
    case .duration(let seconds, let microseconds):
      json.object {
        $0.member("seconds", seconds)
        $0.member("microseconds", microseconds)
      }
    case .uuid(let high, let low):
      let digits = [high, low].map {
        String(repeating: "0", count: 16 - String($0, radix: 16).count) + String($0, radix: 16)
      }
      json.string(digits.joined())
    case .text(let text): json.string(text)
    case .words(let words):
      json.array { array in
        for word in words { array.string("0x" + String(word, radix: 16)) }
      }
    }
  }

  // MARK: Reading

  /// The reason why a text is not a dump: a JSON error, or a violation of the dump format.
  package struct Failure: Error, Equatable, Sendable {
    package enum Reason: Sendable, Equatable {
      case json(JSONReader.Failure.Reason)
      case notADump
      case unsupportedVersion
      case keyFirst
      case unknownKey(String)
      case unknownMember(String)
      case badValue(key: String)
      case tooDeep
      case trailing
    }

    package let reason: Reason
    /// The byte offset in the text.
    package let offset: Int

    /// Without the offset: "not the JSON form of a dump: text behind the end of the document".
    package var problem: String {
      let what =
        reason == .notADump
        ? "JSON that is neither a crash report nor the form of a dump" : "not the JSON form of a dump"
      let problem =
        switch reason {
        case .json(.expected(let what)): "\(what) expected"
        case .json(.badString): "a string that is not allowed"
        case .json(.badNumber): "a number that is not allowed; only integers are"
        case .json(.tooDeep), .tooDeep: "nested too deep"
        case .json(.trailingText), .trailing: "text behind the end of the document"
        case .notADump:
          "no \"format\": \"\(formatName)\" with \"root\""
        case .unsupportedVersion: "\"version\" is not \(formatVersion)"
        case .keyFirst: "a record does not begin with \"key\""
        case .unknownKey(let key): "the format has no key \(key); a key of your own is a number from 1 to 65535"
        case .unknownMember(let member): "unexpected member \"\(member)\""
        case .badValue(let key): "the value of \(key) does not fit its key; any bytes may stand in \"hex\""
        }
      return "\(what): \(problem)"
    }
  }

  /// Writes the dump that `text` describes. Throws `Failure`, or an error of the output.
  package static func read(_ text: RawSpan, to output: any ByteOutput) throws {
    var reader = JSONReader()
    do {
      try reader.open("{", in: text)
      guard try reader.nextKey(in: text) == "format",
        try String(decoding: reader.string(in: text), as: UTF8.self) == formatName
      else { throw Failure(reason: .notADump, offset: reader.offset) }
      guard try reader.nextKey(in: text) == "version", try reader.integer(in: text) == Int128(formatVersion) else {
        throw Failure(reason: .unsupportedVersion, offset: reader.offset)
      }
      var key = try reader.nextKey(in: text)
      if key == "incomplete" {
        // The readable part of a damaged dump is written as a complete dump.
        try reader.open("{", in: text)
        while let member = try reader.nextKey(in: text) {
          if member == "code" { _ = try reader.string(in: text) } else { _ = try reader.integer(in: text) }
        }
        key = try reader.nextKey(in: text)
      }
      guard key == "root" else { throw Failure(reason: .notADump, offset: reader.offset) }
      try DumpWriter.write(to: output) { root in
        try readRecords(into: &root, depth: 1, &reader, text)
        guard try reader.nextKey(in: text) == nil else { throw Failure(reason: .trailing, offset: reader.offset) }
        try reader.end(in: text)
      }
    } catch let failure as JSONReader.Failure {
      throw Failure(reason: .json(failure.reason), offset: failure.offset)
    }
  }

  private static func readRecords(
    into map: inout DumpWriter.MapScope, depth: Int, _ reader: inout JSONReader, _ text: RawSpan
  ) throws {
    guard depth <= maximumDepth else { throw Failure(reason: .tooDeep, offset: reader.offset) }
    try reader.open("[", in: text)
    while try reader.nextElement(in: text) {
      try reader.open("{", in: text)
      guard try reader.nextKey(in: text) == "key" else { throw Failure(reason: .keyFirst, offset: reader.offset) }
      let key = try readKey(&reader, text)
      guard let member = try reader.nextKey(in: text) else {
        throw Failure(reason: .badValue(key: KeyTable.name(of: key)), offset: reader.offset)
      }
      switch member {
      case "value": map.property(key, bytes: try readValue(of: key, &reader, text))
      case "hex": map.property(key, bytes: try reader.hex(in: text))
      case "map": try map.map(key) { try readRecords(into: &$0, depth: depth + 1, &reader, text) }
      case "array":
        guard depth < maximumDepth else { throw Failure(reason: .tooDeep, offset: reader.offset) }
        try map.array(key) { array in
          try reader.open("[", in: text)
          while try reader.nextElement(in: text) {
            try array.map { try readRecords(into: &$0, depth: depth + 2, &reader, text) }
          }
        }
      default: throw Failure(reason: .unknownMember(member), offset: reader.offset)
      }
      if let extra = try reader.nextKey(in: text) {
        throw Failure(reason: .unknownMember(extra), offset: reader.offset)
      }
    }
  }

  private static func readKey(_ reader: inout JSONReader, _ text: RawSpan) throws -> DumpKey {
    if reader.peek(in: text) == "\"" {
      let name = String(decoding: try reader.string(in: text), as: UTF8.self)
      guard let descriptor = KeyTable[name: name] else {
        throw Failure(reason: .unknownKey(name), offset: reader.offset)
      }
      return descriptor.key
    }
    let number = try reader.integer(in: text)
    guard let key = UInt16(exactly: number), key != 0 else {
      throw Failure(reason: .unknownKey(String(number)), offset: reader.offset)
    }
    return DumpKey(rawValue: key)
  }

  /// Reads the bytes of a value from the JSON form of the key's shape.
  private static func readValue(of key: DumpKey, _ reader: inout JSONReader, _ text: RawSpan) throws -> [UInt8] {
    let bad = Failure(reason: .badValue(key: KeyTable.name(of: key)), offset: reader.offset)
    func integer(_ bits: Int) throws -> [UInt8] {
      let value = try readInteger(&reader, text, bad)
      let low = bits == 64 ? Int128(Int64.min) : -(1 << Int128(bits - 1))
      guard value >= low, value < 1 << Int128(bits) else { throw bad }
      return littleEndian(UInt64(truncatingIfNeeded: value), size: bits / 8)
    }
    switch KeyTable[key]?.shape {
    case .boolean: return [try reader.bool(in: text) ? 1 : 0]
    case .integer(let size, _): return try integer(8 * size)
    case .time, .duration:
      let isTime = KeyTable[key]?.shape == .time
      var seconds: [UInt8]?
      var microseconds: [UInt8]?
      var padding = littleEndian(0, size: isTime ? 4 : 0)
      try reader.open("{", in: text)
      while let member = try reader.nextKey(in: text) {
        switch member {
        case "seconds": seconds = try integer(isTime ? 64 : 32)
        case "microseconds": microseconds = try integer(32)
        case "padding" where isTime: padding = try integer(32)
        default: throw Failure(reason: .unknownMember(member), offset: reader.offset)
        }
      }
      guard let seconds, let microseconds else { throw bad }
      return seconds + microseconds + padding
    case .uuid:
      let bytes = try reader.hex(in: text)
      guard bytes.count == 16 else { throw bad }
      return bytes
    case .text, .bytes: return try reader.string(in: text)
    case .words:
      var words: [UInt8] = []
      try reader.open("[", in: text)
      while try reader.nextElement(in: text) { words += try integer(64) }
      return words
    case .map, .array, .state, nil: throw bad
    }
  }

  /// Reads a number, or a string "0x…".
  private static func readInteger(_ reader: inout JSONReader, _ text: RawSpan, _ bad: Failure) throws -> Int128 {
    guard reader.peek(in: text) == "\"" else { return try reader.integer(in: text) }
    let digits = String(decoding: try reader.string(in: text), as: UTF8.self)
    guard digits.hasPrefix("0x"), digits.dropFirst(2).allSatisfy(\.isHexDigit),
      let value = UInt64(digits.dropFirst(2), radix: 16)
    else { throw bad }
    return Int128(value)
  }
}
