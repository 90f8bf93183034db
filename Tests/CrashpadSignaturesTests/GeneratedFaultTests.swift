// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Signatures of faults that no rule was written for: `Faults/Quality/measure` makes them from a seed.
@Suite("Generated faults")
struct GeneratedFaultTests {
  private static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

  @Test(.enabled(if: hasPython, "no /usr/bin/python3, which makes the reports"))
  func `Signatures of reports tell generated faults apart in every language`() throws {
    let seeds = Soak.isOn ? (0..<10).map { _ in UInt64.random(in: 0..<1_000_000_000) } : [20_261_125]
    let measure = Capture.folder.appending(path: "Quality/measure").path
    for seed in seeds {
      let result = try Tool.shell(
        "exec python3 '\(measure)' '\(Tool.path)' \(seed) --reports-only --programs 2 --precision 0.97 --recall 0.92",
        in: TemporaryFolder())
      print(result.text)
      #expect(result.status == 0, "seed \(seed): \(result.text)\(result.errorText)")
    }
  }
}
