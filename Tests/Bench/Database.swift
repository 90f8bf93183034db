// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// How far the work on a database is from what the shell's tools take for as many bytes and files.
extension Bench {
  func database() throws {
    try processing()
    try listing()
  }

  private func processing() throws {
    let count = full(10_000, quick: 1000)
    let rounds = full(7, quick: 3)
    let input = try workspace.make(.directory, count, "dumps")
    let bytes = try workspace.total(input)
    title("Process \(Text.grouped(count)) pending dumps, \(Text.grouped(bytes)) bytes; \(rounds) runs")
    let (copied, database, single) = (workspace.file("copies"), workspace.file("database"), workspace.file("single"))
    let sh = try need("sh")
    /// Every run needs its dumps again, as they are taken away, and finds them on the disk already. Copies, because
    /// `process` refuses files that have another name.
    func filled(_ database: String) -> () throws -> Void {
      {
        try FileManager.default.createDirectory(atPath: database, withIntermediateDirectories: true)
        let pending = "\(database)/pending-serialized-ios-dump"
        try workspace.run(Command(sh, ["-c", "cp -r \"$0\" \"$1\" && sync -f \"$1\"", input, pending]))
      }
    }
    func process(_ database: String, _ options: [String]) -> Command {
      Command(workspace.tool, ["process", "-q", "--database", database] + options)
    }
    let results = try workspace.interleave(
      [
        Contender(
          "cp -r, sync", Command(sh, ["-c", "cp -r \"$0\" \"$1\" && sync -f \"$1\"", input, copied]), output: copied),
        Contender("process", process(database, []), output: database, prepare: filled(database)),
        Contender("process -j 1", process(single, ["-j", "1"]), output: single, prepare: filled(single)),
      ], rounds: rounds)
    show(results, per: "dumps/s", count)
    print("  " + databaseGoal("2.5x cp -r and sync", results, 2.5))
    try workspace.remove(input)
  }

  private func listing() throws {
    let count = full(100_000, quick: 5000)
    let rounds = full(7, quick: 3)
    let database = try workspace.make(.reports, count, "reports")
    title("List \(Text.grouped(count)) reports; \(rounds) runs")
    let script = "ls -l \"$0/pending\" && find \"$0/pending\" -name '*.meta' -exec cat {} +"
    let results = try workspace.interleave(
      [
        Contender("ls -l, cat *.meta", Command(try need("sh"), ["-c", script, database])),
        Contender("list", Command(workspace.tool, ["database", "list", "--database", database])),
        Contender(
          "list --format json",
          Command(workspace.tool, ["database", "list", "--format", "json", "--database", database])),
      ], rounds: rounds)
    show(results, per: "reports/s", count)
    print("  " + databaseGoal("1.5x ls -l and cat", results, 1.5))
    try workspace.remove(database)
  }

  private func databaseGoal(_ text: String, _ results: [Timing], _ factor: Double) -> String {
    options.isQuick
      ? "goal \(text): only judged without --quick"
      : Text.goal(text, results[1].wall.median <= factor * results[0].wall.median)
  }

  private func show(_ results: [Timing], per unit: String, _ count: Int) {
    var table = Table("", "median ms", "min ms", "ratio", "ratio, min", "user ms", "system ms", unit, "peak MiB")
    for result in results {
      table.add(
        columns(result, results[0]) + [
          Text.fixed(Double(count) / result.wall.median, 0), Text.mebibytes(result.peakBytes),
        ])
    }
    table.show()
  }
}
