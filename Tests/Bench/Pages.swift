// SPDX-License-Identifier: Apache-2.0
/// The cost of a page about a crash, beside the stacks of the same dump as JSON.
extension Bench {
  func pages() throws {
    let threads = full(500, quick: 100)
    title("A page about a dump of \(threads) threads without symbols; instructions, one run each")
    guard let meter = try Callgrind(workspace) else { return }
    let dump = try workspace.make(.manyStacks, threads, "stacks.idump")
    let page = workspace.file("page.html")
    let stacks = ["symbolize", "--no-system", "--threads", "all", "--format", "json", dump]
    let counts = try [stacks, ["report", "--no-system", dump, "-o", page]].map { arguments in
      try meter.instructions(of: Command(meter.tool, arguments))
    }
    let ratio = Double(counts[1]) / Double(counts[0])
    var table = Table("", "instructions", "to symbolize", "bytes")
    table.add("symbolize --format json", Text.millions(counts[0]), "", "-")
    table.add("report", Text.millions(counts[1]), Text.ratio(ratio), Text.grouped(try workspace.size(page)))
    table.show()
    print("  " + Text.goal("at most twice the instructions of symbolize", ratio <= 2))
    try workspace.remove(page)
  }
}
