// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Signals that ask a worker to end.
@Suite("Workers that are asked to end")
struct EndedWorkerTests {
  /// Starts a worker with requests that stay open, runs `script` with its number in `$tool`, and prints how it ended.
  private func run(_ folder: TemporaryFolder, _ options: String, _ script: String) throws -> Tool.Outcome {
    try Tool.shell(
      """
      mkfifo requests.pipe; crashpadctl worker --no-system \(options) < requests.pipe > answers & tool=$!
      exec 3> requests.pipe
      \(script)
      wait $tool; echo $?
      """, in: folder)
  }

  @Test(
    "A worker that is asked to end answers the requests that it has begun, and takes no other",
    arguments: Soak.every(2, of: [("TERM", 1), ("TERM", 2), ("HUP", 4)]))
  func busy(_ signal: String, _ jobs: Int) throws {
    let folder = try TemporaryFolder()
    let dump = Data(SynthDump(SynthParameters()).bytes)
    let ids = (0..<150).map { "\($0)" }
    try ids.reduce(Data()) { $0 + WorkerClient.request($1, "symbolize", dump) }.write(to: folder.url("requests"))
    let result = try run(
      folder, "--jobs \(jobs)",
      """
      cat requests >&3 2> none & while [ ! -s answers ]; do sleep 0.01; done; kill -\(signal) $tool
      """)
    #expect(result.text == "75\n", "\(result.errorText)")
    let (answers, rest) = try WorkerClient.answers(in: Data(folder.bytes(of: "answers")))
    #expect(rest.isEmpty)
    #expect(!answers.isEmpty && answers.count < ids.count, "\(answers.count)")
    #expect(answers.map(\.id) == ids.prefix(answers.count).map { $0 })
    #expect(answers.allSatisfy { $0.status == "done" })
  }

  @Test("A worker without a request ends at once")
  func idle() throws {
    let folder = try TemporaryFolder()
    try WorkerClient.request("one", "version", Data()).write(to: folder.url("requests"))
    let start = Date()
    let result = try run(
      folder, "", "cat requests >&3; while [ ! -s answers ]; do sleep 0.01; done; kill -TERM $tool")
    #expect(result.text == "75\n" && result.errorText.isEmpty, "\(result.errorText)")
    #expect(Date().timeIntervalSince(start) < 10)
    #expect(try WorkerClient.answers(in: Data(folder.bytes(of: "answers"))).answers.map(\.id) == ["one"])
  }

  @Test("A payload of several diagnostics in a request is read by its first crash, as no path can ask for the others")
  func payload() throws {
    let payload = """
      {"hangDiagnostics": [{"diagnosticMetaData": {"hangDuration": "7 sec"}}],
      "crashDiagnostics": [{"diagnosticMetaData": {"exceptionType": 1, "exceptionCode": 1, "signal": 11}}]}
      """
    let request = WorkerClient.request("one", "explain", Data(payload.utf8))
    let folder = try TemporaryFolder()
    try request.write(to: folder.url("requests"))
    let answer = try Tool.shell("crashpadctl worker --no-system < requests", in: folder)
    #expect(answer.status == 0)
    #expect(answer.text.contains("EXC_BAD_ACCESS"), "\(answer.text)")
  }

  @Test("A worker in the middle of a request that does not come waits for the grace, or for a second signal")
  func half() throws {
    let folder = try TemporaryFolder()
    let request = WorkerClient.request("two", "version", Data([1, 2, 3]))
    try (WorkerClient.request("one", "version", Data()) + request.dropLast(2)).write(to: folder.url("requests"))
    let script = "cat requests >&3; while [ ! -s answers ]; do sleep 0.01; done; sleep 0.1; kill -TERM $tool"
    let killed = try run(folder, "", "\(script); sleep 0.2; kill -TERM $tool")
    #expect(killed.text == "143\n", "\(killed.text)")
    guard Soak.isOn else { return }
    _ = try Tool.shell("rm requests.pipe answers", in: folder)
    let given = try run(folder, "--grace 0s", script)
    #expect(given.text == "75\n" && given.errorText.contains("what was in progress is not done"))
  }
}
