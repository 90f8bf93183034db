// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Apple's reports: how far an explanation is from reading the JSON, and how many a minute takes.
extension Bench {
  func appleReports() throws {
    try oneAppleReport()
    try manyAppleReports()
  }

  private func oneAppleReport() throws {
    let rounds = full(100, quick: 30)
    let input = try workspace.make(.appleReport, 150_000, "large.ips")
    title("Explain one .ips of \(Text.grouped(try workspace.size(input))) bytes; \(rounds) runs")
    guard let jq = Command.find("jq") else { return print("  not measured: jq is not installed") }
    let results = try workspace.interleave(
      [
        Contender("jq empty", Command(jq, ["empty", input])),
        Contender("explain", Command(workspace.tool, ["explain", input])),
        Contender("inspect", Command(workspace.tool, ["inspect", input])),
        Contender("symbolize", Command(workspace.tool, ["symbolize", input])),
      ], rounds: rounds)
    var table = Table("", "median ms", "min ms", "to jq", "to jq, min", "user ms", "system ms")
    for result in results { table.add(columns(result, results[0])) }
    table.show()
    print("  " + Text.goal("1.5x jq for explain", results[1].wall.median <= 1.5 * results[0].wall.median))
    try workspace.remove(input)
  }

  private func manyAppleReports() throws {
    let count = full(10_000, quick: 1000)
    let rounds = full(3, quick: 2)
    let few = try workspace.make(.appleReports, 100, "few")
    let many = try workspace.make(.appleReports, count, "many")
    title("\(Text.grouped(count)) .ips of about 30 KB in a directory, by the processor's time; \(rounds) runs")
    var table = Table("", "user ms", "system ms", "reports/minute of one core", "peak MiB", "of 100, peak MiB")
    var isFast = true
    var isFlat = true
    for command in ["explain", "inspect", "symbolize", "group"] {
      let results = try workspace.interleave(
        [
          Contender("100", Command(workspace.tool, [command, few])),
          Contender("all", Command(workspace.tool, [command, many])),
        ], rounds: rounds)
      let rate = Double(count) / (results[1].user.median + results[1].system.median) * 60
      isFast = isFast && rate >= 20_000
      isFlat = isFlat && results[1].peakBytes <= results[0].peakBytes + (16 << 20)
      table.add(
        command, Text.milliseconds(results[1].user.median), Text.milliseconds(results[1].system.median),
        Text.grouped(Int(rate)), Text.mebibytes(results[1].peakBytes), Text.mebibytes(results[0].peakBytes))
    }
    table.show()
    print("  \(Text.goal("20,000 a minute", isFast)); \(Text.goal("16 MiB beyond those of 100", isFlat))")
    try workspace.remove(few)
    try workspace.remove(many)
  }
}
