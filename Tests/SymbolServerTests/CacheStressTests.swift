// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The cache and its indexes when runs are killed, when there are several at once, and on full disks.
@Suite("The cache of symbols under stress")
struct CacheStressTests {
  /// A dump, a tree with symbol files of other modules, and a server that has those of one module.
  private struct Stage {
    let folder: TemporaryFolder
    let server: FileServer
    /// The path of the file on the server and in the cache, and its bytes.
    let path: String
    let symbols: [UInt8]

    init(lines: Int) throws {
      folder = try TemporaryFolder()
      var parameters = SynthParameters(architecture: .arm64, seed: 1)
      parameters.exception = .badAccess
      try folder.write(SynthDump(parameters).bytes, to: "crash.idump")
      let missing = try Tool.run(["symbolize", "--missing", "crash.idump"], in: folder)
      let words = try #require(missing.outputLines.first).split(separator: "\t").map(String.init)
      path = "/" + words[3]
      let more = (0..<lines).map { "PUBLIC \(String(0x100000 + $0 * 16, radix: 16)) 0 function_\($0)\n" }
      symbols = Array(
        ("MODULE mac arm64 \(words[1]) \(words[0])\nPUBLIC 0 0 from_a_server\n" + more.joined()).utf8)
      server = try FileServer { [path, symbols] asked in
        usleep(5000)
        return asked == path ? .marked(symbols, tag: "\"one\"", most: symbols.count) : .status(404)
      }
      for number in 0..<300 {
        let id = "11223344000000000000000000" + String(format: "%06X0", number)
        try folder.write(Array("MODULE mac arm64 \(id) M\n".utf8), to: "tree/\(number % 7)/\(number)")
      }
    }

    var command: String {
      "crashpadctl symbolize crash.idump --no-system --symbols tree --symbols-cache cache --symbols-url \(server.url)"
    }

    /// Each file of the cache is whole.
    func check() {
      let all = FileManager.default.enumerator(atPath: folder.url("cache").path)?.allObjects as? [String] ?? []
      for file in all where file.hasSuffix(".sym") && !file.hasPrefix(".crashpadctl") {
        #expect("/" + file == path)
        #expect([UInt8]((try? Data(contentsOf: folder.url("cache/" + file))) ?? Data()) == symbols)
      }
      let parts =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.url("cache/.crashpadctl/parts").path)) ?? []
      // A part with its mark for each of the files that were asked for at once; none without an end.
      #expect(parts.count <= 64, "\(parts)")
    }
  }

  @Test("Runs that are killed at any moment leave no file that is not whole, and the next one ends their work")
  func kills() throws {
    let stage = try Stage(lines: 20_000)
    let expected = try Tool.shell(stage.command.replacing("cache cache", with: "cache whole"), in: stage.folder)
    try #require(expected.text.contains("from_a_server"), "\(expected.errorText)")
    // Indexes are kept of what is older than this.
    if Soak.isOn { Thread.sleep(forTimeInterval: 3.2) }
    for round in 0..<Soak.times(300, or: 6) {
      let time = Double(Int.random(in: 1...90)) / 1000
      _ = try Tool.shell("timeout -s KILL \(time) \(stage.command) > /dev/null 2>&1", in: stage.folder)
      stage.check()
      guard round % 6 == 5 else { continue }
      let outcome = try Tool.shell(stage.command, in: stage.folder)
      #expect(outcome.text == expected.text && outcome.errorText == expected.errorText, "\(outcome.errorText)")
      _ = try Tool.shell("rm -rf cache", in: stage.folder)
    }
  }

  @Test(
    "Eight runs at once with one cache have the same results, and make one index",
    .enabled(if: Soak.isOn, "only in soak"))
  func together() throws {
    let stage = try Stage(lines: 2000)
    let expected = try Tool.shell(stage.command.replacing("cache cache", with: "cache whole"), in: stage.folder)
    Thread.sleep(forTimeInterval: 3.2)
    for _ in 0..<20 {
      let script = """
        rm -rf cache; for i in 1 2 3 4 5 6 7 8; do \(stage.command) > out.$i 2> err.$i & done; wait
        cat err.*; cat out.* | sort | uniq -c | awk '{ print $1 % 8 }' | sort -u
        find cache/.crashpadctl/indexes -type f | wc -l
        """
      let outcome = try Tool.shell(script, in: stage.folder)
      #expect(
        outcome.text == String(repeating: expected.errorText, count: 8) + "0\n1\n", "\(outcome.text)")
      #expect(try String(contentsOf: stage.folder.url("out.3"), encoding: .utf8) == expected.text)
      stage.check()
    }
  }

  @Test(
    "On a full disk a run says so, leaves nothing there, and has the names that it can have",
    .enabled(if: Machine.canMount, "no rights to mount"))
  func fullDisk() throws {
    let stage = try Stage(lines: 40_000)
    func run(_ size: String) throws -> Tool.Outcome {
      let script = """
        mkdir -p cache; mount -t tmpfs -o mode=755,size=\(size) none cache && { \(stage.command); du -s cache | cut -f 1; }
        """
      return try Tool.shell("unshare --mount \(Machine.mapping) sh -c '\(script)'", in: stage.folder)
    }
    let small = try run("400k")
    #expect(small.errorText.contains("No space left on device"), "\(small.errorText)")
    #expect(!small.text.contains("from_a_server") && small.text.contains("Thread 0"))
    let used = try #require(small.outputLines.last { !$0.isEmpty }.flatMap { Int($0) })
    #expect(used < 200, "\(used) KiB of 400 are still used")
    let large = try run("8m")
    #expect(large.text.contains("from_a_server"), "\(large.errorText)")
  }
}
