// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// A program whose threads allocate, jump, change masks, start threads and children, and load libraries when it crashes.
@Suite("Crashes at random moments of a busy program", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct BusyTests {
  /// `CRASHPADCTL_CRASHES` says how many.
  private static let count =
    ProcessInfo.processInfo.environment["CRASHPADCTL_CRASHES"].flatMap { Int($0) } ?? Soak.times(2000, or: 24)
  private static let seed =
    ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { Int($0) } ?? .random(in: 0..<1_000_000)
  private static let signals = [SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  @Test("Each ends by its own signal, and leaves one whole dump with all threads")
  func moments() throws {
    print("busy program: \(Self.count) crashes, seed \(Self.seed)")
    let folder = try TemporaryFolder()
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Programs/busy.c").path
    let script = """
      ulimit -c 0
      export \(HandlerLibrary.variable)='\(try HandlerLibrary.path())'
      '\(HandlerLibrary.compiler ?? "clang")' -std=gnu17 -w -O1 -pthread '\(source)' -o busy -ldl || exit 9
      # Half of them as the child of a program that runs.
      for number in $(seq \(Self.count)); do
        if [ $((number % 2)) = 0 ]; then
          crashpadctl run --quiet --database db -- ./busy $((\(Self.seed) + number))
        else
          crashpadctl run --quiet --database db -- sh -c './busy "$0"; exit $?' $((\(Self.seed) + number))
        fi
        echo $?
      done 2>/dev/null
      """
    let result = try Tool.shell(script, in: folder, limit: 3000)
    let statuses = result.text.split(separator: "\n").compactMap { Int32($0) }
    #expect(statuses.count == Self.count)
    let others = statuses.filter { !Self.signals.contains($0 - 128) }
    #expect(others.isEmpty, "seed \(Self.seed): \(others)")
    let place = "db/pending-serialized-ios-dump"
    let names = try folder.names(in: place)
    #expect(names.count == Self.count && names.allSatisfy { !$0.hasSuffix(".locked") }, "seed \(Self.seed): \(names)")
    let validation = try Tool.run(["validate", place], in: folder)
    #expect(validation.status == 0, "seed \(Self.seed): \(validation.text)\(validation.errorText)")
    let inspection = try Tool.run(["inspect", "--format", "json", place], in: folder)
    for line in inspection.output.split(separator: UInt8(ascii: "\n")) {
      let dump = CapturedDump(json: try JSONDocument(line))
      let isWhole = dump.isComplete && dump.wholeThreads.count >= 7
      #expect(isWhole, "seed \(Self.seed): \(dump.json["input"].string ?? ""), \(dump.notes)")
    }
  }
}
