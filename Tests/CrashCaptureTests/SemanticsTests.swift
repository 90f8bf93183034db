// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Signals, masks, stacks, limits and descriptors are those of a program without the handler, and its crashes leave
/// whole dumps.
@Suite("Semantics of signals", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct SemanticsTests {
  /// One run of a program in each of several ways, with the handler and without, each with a database of its own.
  private struct Runs {
    let pair: HandlerTests.Pair

    /// - Parameter link: how the client is linked into the program; nil for `crashpadctl run`.
    init(program: String, link: InstalledClient.Link? = nil, _ ways: String) throws {
      let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Programs").path
      let compile = "'\(HandlerLibrary.compiler ?? "clang")' -std=gnu17 -O0 -w '\(sources)/\(program).c' -pthread"
      var setup = "\(compile) -o \(program)"
      if let link {
        setup += "\n\(compile) '\(sources)/start.c' -o linked-\(program) \(try InstalledClient.options(link))"
      }
      pair = try HandlerTests.Pair(
        setup: setup,
        """
        top=$PWD
        \(ways) | while read -r way; do
          HOME="$top/homes/$(echo $way | tr ' ' -)"
          mkdir -p "$HOME"
          cd "$HOME"
          echo "== $way"
          handled "$top/\(program)" $way </dev/null 2>&1
          echo "status $?"
          cd "$top"
        done 2>/dev/null
        """, limit: 600, handled: link == nil ? nil : #"p=$1; shift; "${p%/*}/linked-${p##*/}" "$@""#)
    }

    /// The output of each way with the handler, and without it.
    func outputs() -> [(way: String, with: String, without: String)] {
      let with = Self.split(pair.with.text)
      let without = Self.split(pair.without.text)
      return with.map { ($0.key, $0.value, without[$0.key] ?? "") }.sorted { $0.way < $1.way }
    }

    private static func split(_ text: String) -> [String: String] {
      var outputs: [String: String] = [:]
      for part in text.components(separatedBy: "== ").dropFirst() {
        let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        outputs[String(lines[0])] = lines.count > 1 ? String(lines[1]) : ""
      }
      return outputs
    }

    /// The paths of the dumps of one way, locked ones too. The client keeps a list of runs beside them.
    func dumps(_ way: String) throws -> [String] {
      let place = "homes/\(way.replacing(" ", with: "-"))/db/pending-serialized-ios-dump"
      guard pair.folder.exists(place) else { return [] }
      return try pair.folder.names(in: place).filter { !$0.hasSuffix(".runs") }.map { "\(place)/\($0)" }
    }
  }

  /// Whether a program ended by a signal that leaves a dump.
  private static func crashed(_ output: String) -> Bool {
    let status = output.split(separator: "\n").last.flatMap { Int($0.replacing("status ", with: "")) } ?? 0
    return status > 128 && status != 128 + SIGKILL
  }

  /// Under `crashpadctl run`, and with the client linked.
  private static let ways: [InstalledClient.Link?] =
    [nil] + (InstalledClient.canBeBuilt ? InstalledClient.Link.allCases : [])

  @Test(
    "Programs see the same, end the same way, and leave a whole dump for each crash",
    arguments: Soak.some(2, of: ways))
  func modes(_ link: InstalledClient.Link?) throws {
    let runs = try Runs(program: "semantics", link: link, "./semantics list")
    let outputs = runs.outputs()
    #expect(outputs.count > 40)
    // The limit of file sizes cuts the first, and leaves no room for the second; no call is left to the third.
    let exceptions = ["small_files": 1, "no_files": 0, "strict_filter": 0]
    for output in outputs {
      #expect(output.with == output.without, "\(output.way)")
      let dumps = try runs.dumps(output.way).filter { !$0.hasSuffix(".locked") }
      let isException = exceptions[output.way] != nil
      let hasCrashed = Self.crashed(output.with) || output.with.contains("the child ended by 11\n")
      let expected = exceptions[output.way] ?? (hasCrashed ? 1 : 0)
      #expect(isException || dumps.count == expected, "\(output.way): \(dumps)")
      for dump in dumps where !isException {
        let validation = try Tool.run(["validate", dump], in: runs.pair.folder)
        #expect(validation.status == 0, "\(output.way): \(validation.text)\(validation.errorText)")
        let bytes = try Data(contentsOf: runs.pair.folder.url(dump))
        #expect(bytes.range(of: Data("foreign bytes".utf8)) == nil, "\(output.way)")
      }
    }
  }

  private static let handlers = [
    "none", "ends", "ends-full", "ends-onstack", "ends-once", "logs", "logs-onstack", "jumps", "jumps-onstack",
    "crashes", "crashes-full", "own-ends-onstack", "own-logs-onstack", "own-jumps-onstack", "own-crashes-full",
  ]

  @Test(
    "Each kind of crash ends as without the handler, whatever handler the program has, and leaves one whole dump",
    arguments: Soak.some(1, of: ways))
  func fates(_ link: InstalledClient.Link?) throws {
    // The main thread with every handler; a thread and a child of fork with those that differ most.
    let isFull = ProcessInfo.processInfo.environment["CRASHPADCTL_MATRIX"] != nil
    let handlers = isFull ? Self.handlers : Soak.some(6, of: Self.handlers)
    let few = isFull ? "" : "[ $place = main ] || case $kind in segv|abort|deep) ;; *) continue ;; esac"
    let runs = try Runs(
      program: "fates", link: link,
      """
      for kind in segv abort bus fpe ill trap sys deep raise; do
        for place in main thread child; do
          \(few)
          for handler in \(handlers.joined(separator: " ")); do
            echo $kind $place $handler
          done
        done
      done
      """)
    let outputs = runs.outputs()
    #expect(outputs.count >= 15 * handlers.count)
    for output in outputs {
      #expect(output.with == output.without, "\(output.way)")
      // A program that ends by _exit leaves an empty file, which `run` removes at its end, and the client at its next start.
      let dumps = try runs.dumps(output.way).filter { link == nil || !$0.hasSuffix(".locked") }
      let isOfChild = output.way.contains(" child ")
      let status = output.with.split(separator: "\n").last.flatMap { Int($0.replacing("status ", with: "")) } ?? 0
      let crashed = isOfChild ? status < 100 : status > 128
      #expect(dumps.count == (crashed ? 1 : 0), "\(output.way): \(dumps)")
    }
    let all = try outputs.flatMap { try runs.dumps($0.way) }.filter { !$0.hasSuffix(".locked") }
    let validation = try Tool.run(["validate"] + all, in: runs.pair.folder)
    #expect(validation.status == 0, "\(validation.text)\(validation.errorText)")
  }

  @Test("The cause of a fault survives a handler that restores the default action and raises the signal")
  func cause() throws {
    let runs = try Runs(
      program: "fates",
      """
      for place in main thread child; do
        for handler in ends ends-full ends-once ends-inside ends-inside-onstack own-ends-inside-onstack; do
          echo segv $place $handler
        done
      done
      """)
    let outputs = runs.outputs()
    #expect(outputs.count == 18)
    for output in outputs {
      let dumps = try runs.dumps(output.way)
      let inspection = try Tool.run(["inspect", "--format", "json"] + dumps, in: runs.pair.folder)
      let exception = try JSONDocument(inspection.output)["exception"]
      #expect(exception["address"].hex == 16, "\(output.way): \(inspection.text)")
    }
  }

  @Test("A library that was loaded by a relative name has its absolute path, wherever the program has gone since")
  func relativeLibrary() throws {
    let compiler = HandlerLibrary.compiler ?? "clang"
    let pair = try HandlerTests.Pair(
      setup: """
        mkdir plugins
        echo 'int value = 1;' | '\(compiler)' -shared -fPIC -x c - -o plugins/plugin.so
        cat >load.c <<'END'
        #include <dlfcn.h>
        #include <unistd.h>
        int main(void) { if (dlopen("./plugins/plugin.so", RTLD_NOW) && chdir("/") == 0) *(volatile int *)8 = 1; }
        END
        '\(compiler)' -w load.c -ldl -o load
        """, "handled ./load")
    pair.expectSame()
    let dump = try #require(try pair.dumps().first)
    let names = dump.json["modules"].array.compactMap { $0["name"].string }
    #expect(names.contains { $0.hasPrefix("/") && $0.hasSuffix("/plugins/plugin.so") }, "\(names)")
  }

  @Test(
    "A shell's own descriptors are its own, and its files get what it writes there", arguments: [10, 49, 50, 51, 63])
  func shell(_ descriptor: Int) throws {
    let pair = try HandlerTests.Pair(
      setup: "true",
      """
      handled bash -c 'exec \(descriptor)>log; echo "order 1 paid" >&\(descriptor); exec \(descriptor)>&-; cat log
        ls /proc/self/fd | wc -l'
      """)
    pair.expectSame()
    #expect(pair.with.text.hasPrefix("order 1 paid\n"))
    #expect(try pair.dumps().isEmpty)
  }
}
