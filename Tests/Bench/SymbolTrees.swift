// SPDX-License-Identifier: Apache-2.0
import Glibc

extension Bench {
  /// The dSYM of a module among many, beside a program that reads the load commands of each.
  func trees() throws {
    let count = full(10_000, quick: 1000)
    let rounds = full(9, quick: 3)
    let tree = try workspace.make(.bundles, count, "bundles")
    let present = try workspace.make(.bundleDump, count / 2, "present.idump")
    let absent = try workspace.make(.bundleDump, -1, "absent.idump")
    // An index is kept of what is older than three seconds.
    usleep(3_200_000)
    title("The dSYM of a module among \(Text.grouped(count)); \(rounds) runs")
    let (first, later) = (workspace.file("first-cache"), workspace.file("later-cache"))
    func check(_ dump: String, _ cache: String) -> Command {
      Command(
        workspace.tool,
        ["symbols", "check", "--no-system", "--symbols", tree, "--symbols-cache", cache, dump], accepting: [0, 1])
    }
    let results = try workspace.interleave(
      [
        Contender("read load commands", Command(workspace.program, [TreeRecipe.option, tree])),
        Contender("first use", check(present, first), output: first),
        Contender("later, found", check(present, later)), Contender("later, 20 absent", check(absent, later)),
        Contender("look at each", Command(workspace.program, [TreeRecipe.lookOption, tree, "\(count)"])),
      ], rounds: rounds)
    showProcessorTime(results)
    print("  " + Text.goal("1.5x reading load commands", results[1].processor <= 1.5 * results[0].processor))
    print("  " + Text.goal("20 ms for one that is there", results[2].wall.median <= 0.02))
    print("  " + Text.goal("20 ms for those that are not", results[3].wall.median <= 0.02))
    // A file that was written to in place, or added to a bundle, shows in its own times and in those of its directory alone.
    let looks = results[4].wall.median + results[2].wall.median
    print("  " + Text.goal("1.1x one that is there and a look at each file", results[3].wall.median <= 1.1 * looks))
    try workspace.remove(tree)
  }
}
