// SPDX-License-Identifier: Apache-2.0
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
    title("Growth: the cost of one unit; a dump with the fewest is subtracted")
    let meter = try Callgrind(workspace)
    let runs = full(15, quick: 5)
    print(
      "  In \(meter == nil ? "nanoseconds from start to end, least of \(runs) runs" : "instructions, one run each").")
    var table = Table("", "units at 1x", "at 1x", "at 10x", "at 100x", "100x to 10x", "")
    for kind in Self.kinds {
      let unit = full(kind.unit, quick: kind.unit / 3)
      let counts = [kind.fewest, unit, unit * 10, unit * 100]
      let costs = try costs(kind, counts, meter, runs)
      let perUnit = (1...3).map { (costs[$0] - costs[0]) / Double(counts[$0] - counts[0]) }
      let ratio = perUnit[2] / perUnit[1]
      // Below half a millisecond, time says nothing; instructions always do.
      let isClear = meter != nil || costs[2] - costs[0] > 500_000
      table.add(
        kind.name, "\(unit)", Text.fixed(perUnit[0], 0), Text.fixed(perUnit[1], 0), Text.fixed(perUnit[2], 0),
        isClear ? Text.ratio(ratio) : "-", isClear ? ratio <= 1.3 ? "linear" : "NOT LINEAR" : "too short to tell")
    }
    table.show()
    print("  Linear: a unit costs at 100x at most 1.3 times what it costs at 10x.")
  }

  /// The time of the conversion of a dump with each of these counts.
  private func costs(_ kind: Kind, _ counts: [Int], _ meter: Callgrind?, _ runs: Int) throws -> [Double] {
    let output = workspace.file("growth.dmp")
    let commands = try counts.map { count in
      let input = try workspace.make(kind.recipe, count, "growth.\(count)")
      let arguments = ["convert", "-q", "-j", "1", "--arch", "arm64", input, "-o", output]
      return Command(meter?.tool ?? workspace.tool, arguments)
    }
    if let meter { return try commands.map { Double(try meter.instructions(of: $0)) } }
    let contenders = commands.map { Contender(kind.name, $0, output: output) }
    return try workspace.interleave(contenders, rounds: runs).map { $0.wall.minimum * 1e9 }
  }
}
