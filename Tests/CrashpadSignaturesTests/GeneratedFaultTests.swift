// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Signatures of faults that no rule was written for: `Faults/Quality/measure` makes them from a seed.
@Suite("Generated faults")
struct GeneratedFaultTests {
  private static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

  private static let measure = Capture.folder.appending(path: "Quality/measure").path

  private static func seeds(_ count: Int) -> [UInt64] {
    (0..<count).map { _ in UInt64.random(in: 0..<1_000_000_000) }
  }

  private static func check(_ seed: UInt64, _ options: String) throws {
    let result = try Tool.shell(
      "exec python3 '\(measure)' '\(Tool.path)' \(seed) --programs 2 --precision 0.97 --recall 0.92 \(options)",
      in: TemporaryFolder())
    print(result.text)
    #expect(result.status == 0, "seed \(seed): \(result.text)\(result.errorText)")
  }

  @Test(.enabled(if: hasPython, "no /usr/bin/python3, which makes the reports"))
  func `Signatures of reports tell generated faults apart in every language`() throws {
    for seed in Soak.isOn ? Self.seeds(10) : [20_261_125] { try Self.check(seed, "--reports-only") }
  }

  /// Programs of each language that has a compiler. Compilers put instructions of one function into another, so that a seed
  /// may be below the mark for recall now and then.
  @Test(.enabled(if: hasPython && Soak.isOn, "compiles for minutes; CRASHPADCTL_SOAK=1 runs it"))
  func `Signatures of programs tell generated faults apart in every language`() throws {
    let library = try HandlerLibrary.path()
    for seed in Self.seeds(10) { try Self.check(seed, "--library '\(library)'") }
  }
}
