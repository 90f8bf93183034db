// SPDX-License-Identifier: Apache-2.0
/// Question 3: what it costs to be started.
extension Bench {
  func startup() throws {
    let rounds = full(200, quick: 60)
    let small = try workspace.make(.smallShape, 0, "small.idump")
    // The linker leaves a file in the page cache in small pieces, of which a start maps one after the other; users start a
    // file that was copied, as `make install` does: 0.5 ms less.
    let tool = workspace.file("installed")
    try workspace.run(Command("/bin/cp", [workspace.tool, tool]))
    title("Start-up; \(rounds) runs")
    let results = try workspace.interleave(
      [
        Contender("/bin/true", Command("/bin/true", [])),
        Contender("crashpadctl --version", Command(tool, ["--version"])),
        Contender("crashpadctl inspect small.idump", Command(tool, ["inspect", small])),
      ], rounds: rounds)
    let base = results[0].wall
    var table = Table("", "median ms", "min ms", "beyond true ms", "min ms")
    for result in results {
      table.add(
        result.name, Text.milliseconds(result.wall.median), Text.milliseconds(result.wall.minimum),
        Text.fixed((result.wall.median - base.median) * 1000, 2),
        Text.fixed((result.wall.minimum - base.minimum) * 1000, 2))
    }
    table.show()
    print("  " + Text.goal("2 ms beyond /bin/true", results[1...].allSatisfy { $0.wall.median - base.median <= 0.002 }))
  }
}
