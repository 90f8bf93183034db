/// Question 5: whether ten times as much costs ten times as much.
extension Bench {
  private struct Kind {
    let name: String
    let recipe: Recipe
    /// How many there are at 1x, and in the dump that is subtracted.
    let unit: Int
    let fewest: Int
  }

  private static let kinds = [
    Kind(name: "threads", recipe: .threads, unit: 30, fewest: 1),
    Kind(name: "modules", recipe: .modules, unit: 100, fewest: 1),
    Kind(name: "modules with a memory region", recipe: .moduleRegions, unit: 100, fewest: 1),
    Kind(name: "module annotations, both kinds", recipe: .annotations, unit: 100, fewest: 0),
    Kind(name: "process annotations", recipe: .processAnnotations, unit: 100, fewest: 0),
    Kind(name: "memory regions in order", recipe: .regions, unit: 100, fewest: 2),
    Kind(name: "memory regions overlapping, shuffled", recipe: .shuffledRegions, unit: 100, fewest: 1),
  ]

  func growth() throws {
    let meter = try Callgrind(workspace)
    let runs = full(15, quick: 5)
    let what = meter == nil ? "nanoseconds of user time, least of \(runs) runs" : "instructions, one run each"
    title("Growth: the cost of one unit in \(what); a dump with the fewest is subtracted")
    var table = Table("", "units at 1x", "at 1x", "at 10x", "at 100x", "100x to 10x", "")
    for kind in Self.kinds {
      let unit = full(kind.unit, quick: kind.unit / 3)
      let base = try cost(kind, kind.fewest, meter, runs)
      let costs = try [1, 10, 100].map { factor in
        try (cost(kind, unit * factor, meter, runs) - base) / Double(unit * factor - kind.fewest)
      }
      let ratio = costs[2] / costs[1]
      table.add(
        kind.name, "\(unit)", Text.fixed(costs[0], 0), Text.fixed(costs[1], 0), Text.fixed(costs[2], 0),
        Text.ratio(ratio), ratio <= 1.3 ? "linear" : "NOT LINEAR")
    }
    table.show()
    print("  Linear: a unit costs at 100x at most 1.3 times what it costs at 10x.")
  }

  private func cost(_ kind: Kind, _ count: Int, _ meter: Callgrind?, _ runs: Int) throws -> Double {
    let input = try workspace.make(kind.recipe, count, "growth.idump")
    let output = workspace.file("growth.dmp")
    let arguments = ["convert", "-q", "-j", "1", "--arch", "arm64", input, "-o", output]
    if let meter { return Double(try meter.instructions(of: Command(meter.tool, arguments))) }
    let results = try workspace.interleave(
      [Contender(kind.name, Command(workspace.tool, arguments), output: output)], rounds: runs)
    return results[0].user.minimum * 1e9
  }
}
