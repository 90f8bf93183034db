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
    let report = try workspace.make(.appleReport, 2000, "small.ips")
    let output = workspace.file("small.dmp")
    let reading = ["inspect", "symbolize", "explain", "group"].map {
      Contender("crashpadctl \($0) small.idump", Command(tool, [$0, small]))
    }
    let results = try workspace.interleave(
      [
        Contender("/bin/true", Command("/bin/true", [])),
        Contender("crashpadctl --version", Command(tool, ["--version"])),
        Contender("crashpadctl convert small.idump", Command(tool, ["convert", small, "-o", output]), output: output),
        Contender("crashpadctl inspect small.ips", Command(tool, ["inspect", report])),
      ] + reading, rounds: rounds)
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
