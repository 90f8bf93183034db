// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Questions 1 and 2: how far conversion is from copying.
extension Bench {
  func large() throws {
    let size = full(40_000_000, quick: 10_000_000)
    let rounds = full(15, quick: 7)
    try large("large records: 80 threads, 400 modules", .large, size, rounds, goal: 1.5)
    try large("many threads, 24 regions of 512 bytes each", .manyThreads, size, rounds, goal: 1.5)
    try large("regions of 64 KiB", .largeRegions, size, rounds, goal: 1.3)
    try large("small records: 64-byte regions, annotations", .smallRecords, size, rounds, goal: nil)
  }

  private func large(_ what: String, _ recipe: Recipe, _ size: Int, _ rounds: Int, goal: Double?) throws {
    let input = try workspace.make(recipe, size, "large")
    let bytes = try workspace.size(input)
    title("Convert one dump of \(Text.grouped(bytes)) bytes, \(what); \(rounds) runs")
    let (copied, converted, theirs) = (workspace.file("copy"), workspace.file("large.dmp"), workspace.file("peer.dmp"))
    var contenders = [
      Contender("cp", Command(try need("cp"), [input, copied]), output: copied),
      Contender("convert", Command(workspace.tool, ["convert", "-q", input, "-o", converted]), output: converted),
    ]
    // Not for small records: the peer reads each property by four system calls, and there is no goal.
    if goal != nil, let peer = peer("arm64") {
      contenders.append(Contender("peer", peerCommand(peer, input, theirs), output: theirs))
    }
    let results = try workspace.interleave(contenders, rounds: rounds)
    var table = Table(
      "", "median ms", "min ms", "to cp", "to cp, min", "user ms", "system ms", "MB/s", "peak MiB", "beyond input MiB")
    for result in results {
      table.add(
        columns(result, results[0]) + [
          Text.fixed(Double(bytes) / 1e6 / result.wall.median, 0),
          // The memory of cp is less than where the count starts: see `Measurement.peakBytes`.
          result.name == "cp" ? "" : Text.mebibytes(result.peakBytes),
          result.name == "cp" ? "" : Text.mebibytes(result.peakBytes - bytes),
        ])
    }
    table.show()
    let ratio = results[1].wall.median / results[0].wall.median
    if let goal {
      let beyond = results[1].peakBytes - bytes
      print("  \(judged("\(goal)x cp", ratio <= goal)); \(Text.goal("16 MiB beyond the input", beyond <= 16 << 20))")
    } else {
      print("  No goal: every record costs, and a copy has none.")
    }
    try workspace.remove(input)
  }

  func directory() throws {
    let count = full(2000, quick: 400)
    let rounds = full(7, quick: 5)
    let input = try workspace.make(.directory, count, "pending")
    let bytes = try workspace.total(input)
    title("Convert a directory of \(count) dumps of 30 to 90 KB, \(Text.grouped(bytes)) bytes; \(rounds) runs")
    let (copied, all, one) = (workspace.file("copies"), workspace.file("all"), workspace.file("one"))
    let results = try workspace.interleave(
      [
        Contender("cp -r", Command(try need("cp"), ["-r", input, copied]), output: copied),
        Contender("convert", Command(workspace.tool, ["convert", "-q", input, "-o", all]), output: all),
        Contender(
          "convert -j 1", Command(workspace.tool, ["convert", "-q", "-j", "1", input, "-o", one]), output: one),
      ], rounds: rounds)
    var table = Table("", "median ms", "min ms", "to cp", "to cp, min", "user ms", "system ms", "dumps/s")
    for result in results {
      table.add(
        columns(result, results[0]) + [Text.fixed(Double(count) / result.wall.median, 0)])
    }
    table.show()
    print("  " + judged("2x cp -r", results[1].wall.median <= 2 * results[0].wall.median))
    try workspace.remove(input)
  }

  /// With `--quick`, a command that takes as long as a start is measured by its start.
  private func judged(_ text: String, _ isMet: Bool) -> String {
    options.isQuick ? "goal \(text): only judged without --quick" : Text.goal(text, isMet)
  }

  func columns(_ result: Timing, _ base: Timing) -> [String] {
    [
      result.name, Text.milliseconds(result.wall.median), Text.milliseconds(result.wall.minimum),
      Text.ratio(result.wall.median / base.wall.median), Text.ratio(result.wall.minimum / base.wall.minimum),
      Text.milliseconds(result.user.median), Text.milliseconds(result.system.median),
    ]
  }

  func need(_ name: String) throws -> String {
    guard let path = Command.find(name) else { throw BenchError(text: "there is no \(name) on the PATH") }
    return path
  }
}
