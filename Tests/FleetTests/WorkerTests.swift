// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// `crashpadctl worker`: what it answers is what the commands print.
struct WorkerTests {
  /// Two dumps of one form, as commands then print one line for each.
  private static func dumps(_ name: String, _ folder: TemporaryFolder) throws -> [String] {
    var parameters = SynthParameters()
    parameters.seed = 7
    let dump = SynthDump(parameters).bytes
    switch name {
    case "intermediate dump": try folder.write(dump, to: "a.idump")
    case "damaged": try folder.write(Array(dump.prefix(dump.count / 2)), to: "a.idump")
    case "text": try folder.write(Array("hello".utf8), to: "a.idump")
    case "nothing": try folder.write([], to: "a.idump")
    case "minidump":
      try folder.write(dump, to: "x.idump")
      _ = try Tool.shell("crashpadctl convert x.idump -o a.dmp", in: folder)
    case "compressed":
      try folder.write(dump, to: "x.idump")
      _ = try Tool.shell("gzip -c x.idump > a.idump.gz", in: folder)
    case "json":
      try folder.write(dump, to: "x.idump")
      _ = try Tool.shell("crashpadctl convert --to json x.idump -o a.json", in: folder)
    default: try folder.write(SynthReport().bytes, to: "a.ips")
    }
    let first = try FileManager.default.contentsOfDirectory(atPath: folder.work.path).first { $0.hasPrefix("a.") }
    return [try #require(first), "b.idump"]
  }

  @Test(
    arguments: Soak.some(
      4, of: ["intermediate dump", "damaged", "text", "nothing", "minidump", "compressed", "json", "report"]))
  func `An answer has the document that the command prints`(form: String) throws {
    let folder = try TemporaryFolder()
    let names = try Self.dumps(form, folder)
    try folder.write(SynthDump(SynthParameters()).bytes, to: "b.idump")
    let dump = try Data(contentsOf: folder.url(names[0]))
    let input = ",\"input\":\"\(names[0])\""
    let commands = [
      "symbolize": "symbolize --no-system --format json", "explain": "explain --no-system --format json",
      "validate": "validate --format json",
    ]
    let requests = commands.keys.sorted().map { WorkerClient.request($0, $0, dump, input) }.reduce(Data(), +)
    let result = try WorkerClient.run("", in: folder, requests)
    #expect(result.status == 0 && result.rest.isEmpty && result.errors.isEmpty)
    #expect(result.answers.map(\.id) == commands.keys.sorted())
    for answer in result.answers {
      let command = try #require(answer.id.flatMap { commands[$0] })
      let printed = try Tool.shell("crashpadctl \(command) \(names.joined(separator: " "))", in: folder)
      #expect(answer.document == printed.outputLines.first.map(String.init), "\(command)")
      let alone = try Tool.shell("crashpadctl \(command) \(names[0])", in: folder)
      #expect(answer.json["exit_status"].int == Int(alone.status), "\(command)")
    }
  }

  @Test(
    arguments: Soak.some(3, of: ["intermediate dump", "damaged", "text", "minidump", "compressed", "json", "report"]))
  func `convert and redact give the bytes and documents of the commands`(form: String) throws {
    let folder = try TemporaryFolder()
    let name = try Self.dumps(form, folder)[0]
    let dump = try Data(contentsOf: folder.url(name))
    let input = ",\"input\":\"\(name)\""
    let result = try WorkerClient.run(
      "", in: folder,
      WorkerClient.request("c", "convert", dump, input)
        + WorkerClient.request("j", "convert", dump, input + #","to":"json""#)
        + WorkerClient.request("r", "redact", dump, input)
        + WorkerClient.request("n", "redact", dump, input + #","dry_run":true,"keep_annotation":["ver*"]"#))
    try #require(result.answers.count == 4 && result.rest.isEmpty)
    let commands = [
      "convert -o -", "convert --to json -o -", "redact -o -", "redact -n --keep-annotation 'ver*' --format json",
    ]
    for (answer, command) in zip(result.answers, commands) {
      let printed = try Tool.shell("crashpadctl \(command) \(name)", in: folder)
      #expect(answer.json["exit_status"].int == Int(printed.status), "\(command)")
      if command.contains("-n") {
        #expect(answer.document.map { $0 + "\n" } == printed.text)
        #expect(answer.made == nil)
      } else {
        #expect((answer.made ?? Data()) == printed.output, "\(command)")
      }
    }
  }

  @Test(arguments: ["seed", "otel", "sentry-session"])
  func `events gives the lines of the command`(mapping: String) throws {
    let folder = try TemporaryFolder()
    let name = try Self.dumps("intermediate dump", folder)[0]
    let dump = try Data(contentsOf: folder.url(name))
    let options = #","input":"\#(name)","mapping":"\#(mapping)""#
    let answers = try WorkerClient.run("", in: folder, WorkerClient.request("e", "events", dump, options)).answers
    let printed = try Tool.shell("crashpadctl events --no-system --mapping \(mapping) \(name)", in: folder)
    try #require(answers.count == 1 && printed.status == 0 && !printed.output.isEmpty)
    #expect(answers[0].made == printed.output)
    #expect(answers[0].json["document"]["lines"].int == printed.outputLines.count - 1)
  }

  /// Dumps of different programs, in `dumps`.
  static func writeDumps(_ count: Int, to folder: TemporaryFolder) throws {
    for seed in 1...count {
      try folder.write(SynthDump(SynthParameters(seed: UInt64(seed))).bytes, to: "dumps/d\(seed).idump")
    }
  }

  @Test func `raw and signature give what group counts`() throws {
    let folder = try TemporaryFolder()
    var requests = Data()
    for seed in 1...6 {
      var parameters = SynthParameters()
      parameters.seed = UInt64(seed)
      let dump = SynthDump(parameters).bytes
      try folder.write(dump, to: "d\(seed).idump")
      for operation in ["raw", "signature"] {
        requests += WorkerClient.request("d\(seed).idump", operation, Data(dump))
      }
    }
    let answers = try WorkerClient.run("", in: folder, requests).answers
    let groups = try JSONDocument(
      Tool.shell("crashpadctl group --no-system --explain-signature --format json d*.idump", in: folder).output)
    let explained = groups["explanations"].array
    try #require(explained.count == 6 && answers.count == 12)
    for (index, answer) in answers.enumerated() {
      let expected = explained[index / 2]["signature"]
      let document = answer.json["document"]
      #expect(document["schema"].string == "crashpadctl-signature/1")
      for member in ["id", "text", "raw"] { #expect(document["signature"][member].string == expected[member].string) }
      #expect((document["key"].string?.count == 32) == (index % 2 == 0))
      #expect(document["crash"]["seconds"].int != nil && document["crash"]["pid"].int != nil)
      #expect(document["crash"]["role"].string == "captured" && document["crash"]["process"].string != nil)
      #expect(document["crash"]["debug_id"].string?.count == 33)
    }
    let keys = Set(answers.compactMap { $0.json["document"]["key"].string })
    #expect(keys.count == 6)
    #expect(try WorkerClient.run("", in: folder, requests).answers.map(\.text) == answers.map(\.text))
  }

  @Test func `Answers come in the order of requests, or each when it is ready`() throws {
    let folder = try TemporaryFolder()
    let dump = Data(SynthDump(SynthParameters()).bytes)
    let ids = (0..<60).map { "\($0)" }
    // Large and small ones in turn.
    let requests = ids.map { WorkerClient.request($0, Int($0)! % 7 == 0 ? "symbolize" : "version", dump) }
    let input = requests.reduce(Data(), +)
    let ordered = try WorkerClient.run("--jobs 4", in: folder, input)
    #expect(ordered.answers.map(\.id) == ids)
    let free = try WorkerClient.run("--jobs 4 --any-order", in: folder, input)
    #expect(Set(free.answers.compactMap(\.id)) == Set(ids) && free.answers.count == ids.count)
    #expect(Set(free.answers.map(\.text)) == Set(ordered.answers.map(\.text)))
    let announced = try WorkerClient.run("--started", in: folder, requests[0] + requests[1])
    #expect(announced.answers.map(\.status) == ["started", "done", "started", "done"])
  }

  @Test func `A limit that is no duration is answered by durations`() throws {
    let result = try Tool.shell("crashpadctl worker --dump-timeout 1x < /dev/null", in: TemporaryFolder())
    #expect(result.status == 64)
    #expect(result.errorText.contains("Please provide a duration such as 500ms"), "\(result.errorText)")
  }
}
