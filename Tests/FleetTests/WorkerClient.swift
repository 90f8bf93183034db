// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolRunner

/// Requests for `crashpadctl worker`, and its answers.
struct WorkerClient {
  struct Answer {
    /// The document as it was written, with the line feed.
    let text: String
    let json: JSONDocument
    /// The dump that was made.
    let made: Data?

    var id: String? { json["id"].string }
    var status: String? { json["status"].string }
    /// The text of the command's own document.
    var document: String? {
      guard let range = text.range(of: "\"document\":"), text.hasSuffix("}\n") else { return nil }
      return String(text[range.upperBound...].dropLast(2))
    }
  }

  struct Outcome {
    let answers: [Answer]
    let errors: String
    let status: Int32
    /// The bytes behind the last whole answer.
    let rest: Data
  }

  static func length(_ count: Int) -> Data { Data((0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }) }

  static func request(_ head: String, _ dump: Data) -> Data {
    length(head.utf8.count) + Data(head.utf8) + length(dump.count) + dump
  }

  static func request(_ id: String, _ operation: String, _ dump: Data, _ options: String = "") -> Data {
    request(#"{"id":"\#(id)","op":"\#(operation)"\#(options)}"#, dump)
  }

  /// Runs a worker on `input`; a shell stands before it, with `setting` as its variables.
  static func run(
    _ options: String, setting: String = "", in folder: TemporaryFolder, _ input: Data, reader: String = "cat"
  ) throws -> Outcome {
    try input.write(to: folder.url("requests"))
    // The output goes through a pipe, as limits of files would count for it; the shell has no variable for its first status.
    let result = try Tool.shell(
      "{ ( \(setting) crashpadctl worker --no-system \(options) < requests ); echo $? > status; } | \(reader)",
      in: folder)
    let status = try String(contentsOf: folder.url("status"), encoding: .utf8)
    let (answers, rest) = try answers(in: result.output)
    return Outcome(
      answers: answers, errors: result.errorText, status: Int32(status.filter(\.isNumber)) ?? -1, rest: rest)
  }

  /// The whole answers in an output, and the bytes behind them.
  static func answers(in output: Data) throws -> (answers: [Answer], rest: Data) {
    var rest = output
    var answers: [Answer] = []
    while let (answer, left) = try first(in: rest) {
      answers.append(answer)
      rest = left
    }
    return (answers, rest)
  }

  private static func first(in data: Data) throws -> (Answer, Data)? {
    guard let (text, behind) = part(of: data) else { return nil }
    let json = try JSONDocument(text)
    guard json["bytes"].int != nil else {
      return (Answer(text: String(decoding: text, as: UTF8.self), json: json, made: nil), behind)
    }
    guard let (made, end) = part(of: behind) else { return nil }
    return (Answer(text: String(decoding: text, as: UTF8.self), json: json, made: made), end)
  }

  private static func part(of data: Data) -> (Data, Data)? {
    let data = Data(data)
    guard data.count >= 4 else { return nil }
    let count = data.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard data.count >= 4 + count else { return nil }
    return (Data(data[4..<4 + count]), Data(data[(4 + count)...]))
  }
}
