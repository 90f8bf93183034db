// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// MongoDB's stacks in JSON: those of its log from version 4.4 on, where each line is an object, and those that stand in the text of older
/// logs.
///
/// Source: MongoDB, src/mongo/util/stacktrace_json.cpp.
enum MongoLog {
  /// The text of an object of the log, in the form of the older logs; nil if it has no part in a crash.
  struct Words {
    /// Whether the object is the first of those that a process writes at its end.
    var isFatal = false
    var lines: [String] = []
    var isStack = false
    var isFrame = false
  }

  /// - Returns: nil if the object is of another log.
  static func words(of object: JSONValue) -> Words? {
    guard let attributes = object["attr"], object["ctx"] != nil, let message = object["msg"]?.string else { return nil }
    var words = Words(isFatal: object["s"]?.string == "F")
    if let stack = attributes["bt"]?["backtrace"]?.elements ?? attributes["backtrace"]?.elements, !stack.isEmpty {
      words.lines = ["----- BEGIN BACKTRACE -----"] + stack.compactMap(line) + ["-----  END BACKTRACE  -----"]
      words.isStack = true
    } else if let frame = attributes["frame"] {
      words.lines = line(frame).map { [$0] } ?? []
      words.isFrame = true
    } else {
      words.lines = (attributes["message"]?.string ?? message).split(separator: "\n").map(String.init)
    }
    return words
  }

  private static func line(_ frame: JSONValue) -> String? {
    guard let address = frame["a"]?.string ?? frame["o"]?.string else { return nil }
    let name = frame["C"]?.string ?? frame["s"]?.string ?? ""
    let distance = frame["s+"]?.string ?? "0"
    return name.isEmpty ? "(+0x\(frame["o"]?.string ?? "0")) [0x\(address)]" : "(\(name)+0x\(distance)) [0x\(address)]"
  }

  /// The frames of `{"backtrace":[{"b":"5561B6CD8000","o":"203B4CA","s":"_ZN5mongo15printStackTraceERSo"},…`, of which the end may be
  /// cut.
  static func frames(of line: TextBytes) -> [RecordedFrame]? {
    guard let list = line.after("\"backtrace\":[") else { return nil }
    var frames: [RecordedFrame] = []
    for part in list.prefix(while: { $0 != UInt8(ascii: "]") }).split(separator: UInt8(ascii: "{")) {
      let bytes = [UInt8(ascii: "{")] + part.prefix { $0 != UInt8(ascii: "}") } + [UInt8(ascii: "}")]
      let tree = unsafe JSONTree(bytes.span.bytes)
      guard tree.failure == nil, let root = tree.root else { break }
      let number = { (key: StaticString) in root[key]?.string.flatMap { Array($0.utf8)[...].hexadecimal } }
      let base = number("b") ?? 0
      var frame = RecordedFrame(address: number("a") ?? base &+ (number("o") ?? 0))
      frame.function = root["C"]?.string ?? root["s"]?.string
      frame.functionOffset = frame.function == nil ? nil : number("s+")
      frames.append(frame)
    }
    return frames.isEmpty ? nil : frames
  }
}
