// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Requests that are none, and dumps that end the worker.
struct HostileFrameTests {
  private static let good = WorkerClient.request("good", "version", Data())

  @Test(arguments: [
    ("", "the head is not a JSON object"), ("nonsense", "the head is not a JSON object"),
    ("[]", "the head is not a JSON object"),
    (#"{"id":"x","op":"raw"} {}"#, "the head is not a JSON object"), (#"{"op":"raw"}"#, "the head has no id"),
    (#"{"id":"x"}"#, "the head has no op"), (#"{"id":"x","op":"delete"}"#, "the head has no op"),
    (#"{"id":"x","op":"raw","schema":"crashpadctl-worker/2"}"#, "schema"),
    (#"{"id":"x","op":"redact","remove_anotation":["a"]}"#, "redact has no option remove_anotation"),
    (#"{"id":"x","op":"convert","to":"pdf"}"#, "to takes one of"),
    (#"{"id":"x","op":"redact","hide":["*"]}"#, "hide takes"),
    (#"{"id":"x","op":"validate","strict":1}"#, "strict takes"),
    (#"{"id":null,"op":"raw"}"#, "the head has no id"), (#"{"id":{"id":"y"},"op":"raw"}"#, "the head has no id"),
    (#"{"id":1.5,"op":"raw"}"#, "the head has no id"), (#"{"id":"x","op":["raw"]}"#, "the head has no op"),
    (#"{"id":"x","op":"raw","op":"redact"}"#, "the head has op twice"),
    (#"{"id":"x","op":"redact","hide":["a"],"hide":[]}"#, "the head has hide twice"),
    (#"{"id":"x","op":"redact","keep_memory":[]}"#, "keep_memory takes"),
    (#"{"id":"x","op":"convert","annotations":["a"]}"#, "annotations takes"),
    (#"{"id":"x","op":"convert","annotations":{"a":1}}"#, "annotations takes"),
    (#"{"id":"x","op":"convert","report_id":"1"}"#, "report_id takes"),
    (#"{"id":"x","op":"events","received":1e99}"#, "received takes"),
    (#"{"id":"x","op":"symbolize","threads":{}}"#, "threads takes"),
    (#"{"id":"x","op":"raw","input":5}"#, "input takes"), (#"{"id":"x","op":"raw","arch":1}"#, "arch takes"),
  ])
  func `A head that asks for nothing that there is gets an answer, and the next request too`(
    head: String, error: String
  ) throws {
    let folder = try TemporaryFolder()
    let result = try WorkerClient.run("", in: folder, WorkerClient.request(head, Data([1, 2, 3])) + Self.good)
    #expect(result.status == 0 && result.rest.isEmpty)
    try #require(result.answers.count == 2)
    #expect(result.answers[0].status == "refused")
    #expect(result.answers[0].json["error"].string?.contains(error) == true)
    #expect(result.answers[0].id == (head.contains(#""id":"x""#) ? "x" : nil))
    #expect(result.answers[1].status == "done")
  }

  @Test(arguments: ["[", #"{"id":"#])
  func `A head that is nested as deep as it may be long is refused`(part: String) throws {
    let folder = try TemporaryFolder()
    let head = String(repeating: part, count: (1 << 20) / part.utf8.count)
    let result = try WorkerClient.run("", in: folder, WorkerClient.request(head, Data()) + Self.good)
    #expect(result.status == 0)
    #expect(result.answers.map(\.status) == ["refused", "done"])
  }

  @Test func `A head may have 1 MiB, and no byte more`() throws {
    let folder = try TemporaryFolder()
    let head = #"{"id":"x","op":"version"}"#
    let longest = head + String(repeating: " ", count: (1 << 20) - head.utf8.count)
    let result = try WorkerClient.run("", in: folder, WorkerClient.request(longest, Data()) + Self.good)
    #expect(result.status == 0 && result.answers.map(\.status) == ["done", "done"])
    let longer = try WorkerClient.run(
      "", in: folder, Self.good + WorkerClient.request(longest + " ", Data()) + Self.good)
    #expect(longer.status == 65 && longer.answers.map(\.status) == ["done", "refused"])
  }

  @Test func `An id that comes again has an answer of its own`() throws {
    let folder = try TemporaryFolder()
    let dump = Data(SynthDump(SynthParameters()).bytes)
    let requests = ["raw", "version", "raw"].map { WorkerClient.request("x", $0, dump) }.reduce(Data(), +)
    for options in ["", "--jobs 3", "--jobs 3 --any-order"] {
      let result = try WorkerClient.run(options, in: folder, requests)
      #expect(result.status == 0 && result.answers.map(\.id) == ["x", "x", "x"])
      #expect(result.answers.compactMap { $0.json["op"].string }.sorted() == ["raw", "raw", "version"])
    }
  }

  // MARK: Standard streams and options

  @Test(arguments: [
    ("< requests >&-", 74, "standard output"), ("< requests > /dev/full", 74, "standard output"),
    ("< requests | head -c 3 > /dev/null", 128 + 13, ""), ("--jobs 4 --any-order < requests | true", 128 + 13, ""),
    ("<&-", 74, "standard input"), ("< .", 74, "standard input"), ("< /dev/null", 0, ""),
    ("--dump-timeout 0 < requests", 64, "--dump-timeout takes"),
    ("--memory-limit 0 < requests", 64, "--memory-limit takes"),
    ("--jobs=-1 < requests", 64, "--jobs takes"), ("--jobs=1.5 < requests", 64, "--jobs"),
  ])
  func `A stream that is closed, or an option that is wrong, ends the worker`(
    rest: String, status: Int, error: String
  ) throws {
    let folder = try TemporaryFolder()
    let dump = Data(SynthDump(SynthParameters()).bytes)
    let request = WorkerClient.request("x", "symbolize", dump)
    try (0..<50).reduce(Data()) { data, _ in data + request }.write(to: folder.url("requests"))
    let result = try Tool.shell(
      "{ crashpadctl worker --no-system \(rest.split(separator: "|", maxSplits: 1)[0]); echo $? > status; }"
        + (rest.contains("|") ? " |" + rest.split(separator: "|", maxSplits: 1)[1] : ""), in: folder)
    #expect(try String(contentsOf: folder.url("status"), encoding: .utf8) == "\(status)\n")
    #expect(error.isEmpty ? result.errorText.isEmpty : result.errorText.contains(error))
  }

  @Test func `A limit of 0 bytes passes over each dump`() throws {
    let folder = try TemporaryFolder()
    let result = try WorkerClient.run(
      "--max-input-size 0", in: folder, WorkerClient.request("x", "raw", Data([1])) + Self.good)
    #expect(result.status == 0 && result.answers.map(\.status) == ["failed", "done"])
  }

  @Test func `Answers that are read late are whole`() throws {
    let folder = try TemporaryFolder()
    let request = WorkerClient.request("x", "symbolize", Data(SynthDump(SynthParameters()).bytes))
    let input = (0..<100).reduce(Data()) { data, _ in data + request }
    let result = try WorkerClient.run("--jobs 2", in: folder, input, reader: "{ sleep 1; cat; }")
    #expect(result.answers.count == 100 && result.rest.isEmpty)
  }

  @Test func `A length of 4 GiB takes no memory, and ends the worker`() throws {
    let folder = try TemporaryFolder()
    let longest = Data([0xff, 0xff, 0xff, 0xff])
    let head = #"{"id":"x","op":"raw"}"#
    for bytes in [
      longest + Data("x".utf8), WorkerClient.length(head.utf8.count) + Data(head.utf8) + longest + Data("x".utf8),
    ] {
      // 200 MB of address space are less than what the lengths say.
      let result = try WorkerClient.run(
        "--max-input-size 4GiB", setting: "ulimit -d 200000;", in: folder, Self.good + bytes)
      #expect(result.status == 65)
      #expect(result.answers.map(\.status) == ["done", "refused"])
    }
  }

  @Test func `A dump above the limit is passed over`() throws {
    let folder = try TemporaryFolder()
    let dump = Data(repeating: 0x41, count: 5000)
    let result = try WorkerClient.run(
      "--max-input-size 4KiB", in: folder, WorkerClient.request("large", "raw", dump) + Self.good)
    #expect(result.status == 0)
    #expect(result.answers.map(\.status) == ["failed", "done"])
    #expect(result.answers[0].json["error"].string?.contains("--max-input-size") == true)
  }

  @Test func `Standard input that ends within a request gives an answer for it`() throws {
    let folder = try TemporaryFolder()
    let request = WorkerClient.request("cut", "raw", Data([1, 2, 3]))
    for count in 1..<request.count {
      let result = try WorkerClient.run("", in: folder, Self.good + request.prefix(count))
      #expect(result.status == 65, "\(count)")
      #expect(result.answers.map(\.status) == ["done", "refused"], "\(count)")
      // The head is whole from the dump's length on.
      #expect(result.answers.last?.id == (count >= request.count - 7 ? "cut" : nil), "\(count)")
    }
    let none = try WorkerClient.run("", in: folder, Data())
    #expect(none.status == 0 && none.answers.isEmpty)
  }

  // MARK: What can't be survived

  /// Is refused by itself; with the library of Poison.h it ends the worker.
  private static func poison(_ kind: String) -> Data {
    let names = ["POISON-\(kind)-has-a-long-name"] + (0..<600).map { "a-member-with-a-long-name-\($0)" }
    return Data(Packing.zip(names.map { .init($0, [0x78]) }))
  }

  private static let library = "LD_PRELOAD=" + PreloadedLibrary.poison

  @Test(arguments: [("crash", "crashed", 139), ("hang", "timeout", 75), ("memory", "memory", 75)])
  func `A dump that ends the worker is named, and those before it have their answers`(
    kind: String, status: String, exit: Int
  ) throws {
    let folder = try TemporaryFolder()
    let poison = WorkerClient.request("poison", "raw", Self.poison(kind))
    let input = Self.good + poison + Self.good
    let harmless = try WorkerClient.run("", in: folder, input)
    #expect(harmless.answers.map(\.status) == ["done", "failed", "done"])
    let limit = kind == "hang" ? "--dump-timeout 3s" : "--memory-limit 64MiB"
    let result = try WorkerClient.run(limit, setting: Self.library, in: folder, input)
    #expect(result.answers.map(\.status) == ["done", status])
    #expect(result.answers.last?.id == "poison" && result.rest.isEmpty)
    #expect(Int(result.status) == exit)
  }

  @Test func `With several threads, dumps beside one that hangs are interrupted or answered`() throws {
    let folder = try TemporaryFolder()
    let poison = WorkerClient.request("poison", "raw", Self.poison("hang"))
    let result = try WorkerClient.run(
      "--jobs 3 --dump-timeout 3s", setting: Self.library, in: folder, Self.good + poison + poison + Self.good)
    #expect(result.status == 75)
    #expect(result.answers.map(\.status).contains("timeout"))
    #expect(Set(result.answers.compactMap(\.status)).isSubset(of: ["done", "timeout", "interrupted"]))
  }

  @Test func `A large compressed dump is held in memory, not in a file`() throws {
    let folder = try TemporaryFolder()
    try folder.write(SynthDump(SynthParameters()).bytes, to: "a.idump")
    let made = try Tool.shell("(cat a.idump; head -c 20000000 /dev/zero) | gzip -1 > a.gz", in: folder)
    #expect(made.status == 0)
    let request = WorkerClient.request("a", "raw", try Data(contentsOf: folder.url("a.gz")))
    // No file may have a byte: one that is made fails, or ends the worker.
    let result = try WorkerClient.run("", setting: "ulimit -f 0;", in: folder, request)
    #expect(result.answers.map { $0.json["exit_status"].int } == [1])
    #expect(result.answers.first?.text.contains("trailing-bytes") == true)
  }
}
