// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Many crashes, one after the other, of all kinds and with threads of all kinds.
@Suite("Crashes in a row")
struct SeriesTests {
  /// `CRASHPADCTL_CRASHES` says how many.
  private static let count =
    ProcessInfo.processInfo.environment["CRASHPADCTL_CRASHES"].flatMap { Int($0) } ?? Soak.times(200, or: 16)
  private static let seed =
    ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)

  private static let kinds: [(name: String, signal: Int32)] = [
    ("null", SIGSEGV), ("wild", SIGSEGV), ("jump-null", SIGSEGV), ("stack-overflow", SIGSEGV), ("bus", SIGBUS),
    ("double-free", SIGABRT), ("abort", SIGABRT), ("assert", SIGABRT), ("cxx-exception", SIGABRT), ("fpe", SIGFPE),
    ("illegal", SIGILL), ("raise --signal 11", SIGSEGV), ("fatal-error", swiftTrap), ("bounds", swiftTrap),
    ("overflow", swiftTrap),
  ]

  /// The signals with which Swift ends a program.
  #if arch(x86_64)
    private static let swiftTrap = SIGILL
  #else
    private static let swiftTrap = SIGTRAP
  #endif

  @Test("Each leaves a whole dump with all threads, and the status that it has without the handler")
  func series() throws {
    var random = SplitMix64(seed: Self.seed)
    print("crashes: \(Self.count), seed \(Self.seed)")
    let crasher = try Crasher()
    for number in 0..<Self.count {
      let kind = Self.kinds.randomElement(using: &random)!
      let threads = random.between(1, random.oneIn(8) ? 60 : 8)
      let spinning = random.below(3)
      let place = random.oneIn(2) ? "main" : "other"
      let arguments = "\(kind.name) --threads \(threads) --spinning \(spinning) --in \(place)"
      let comment = Comment("\(number): \(arguments)")
      let result = try crasher.run(arguments, database: "db\(number)")
      #expect(result.status == 128 + kind.signal, comment)
      let dump = try crasher.dump(database: "db\(number)")
      #expect(dump.isComplete && dump.signal == UInt64(kind.signal), comment)
      let expected = threads + spinning + (place == "other" ? 1 : 0)
      // All of a thread with a stack was captured, and no thread is missing.
      #expect(dump.threads.count == expected && dump.wholeThreads.count == expected, comment)
      #expect(dump.notes.isEmpty, comment)
      try FileManager.default.removeItem(at: crasher.folder.url("db\(number)"))
    }
  }
}
