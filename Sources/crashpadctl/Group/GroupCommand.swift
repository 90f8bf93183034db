// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadCore
import CrashpadSignatures
import CrashpadSymbolication

enum GroupFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
  case csv
}

extension CrashGroups.Order: ExpressibleByArgument {}

/// The value of `--join`.
enum GroupJoin: String, ExpressibleByArgument, CaseIterable {
  case raw
}

/// A shard, as `I/N`.
struct ShardArgument: ExpressibleByArgument, Sendable {
  let number: Int
  let total: Int

  init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let number = parts[0], let total = parts[1], total <= 65536, number >= 1, number <= total
    else {
      return nil
    }
    self.number = number
    self.total = total
  }
}

/// The value of `--fail-on`, as `new:BASELINE.json`.
struct GroupFailure: ExpressibleByArgument, Sendable {
  let baseline: String

  init?(argument: String) {
    guard argument.hasPrefix("new:"), argument.utf8.count > 4 else { return nil }
    baseline = String(argument.dropFirst(4))
  }
}

struct GroupCommand: Command {
  static let name = "group"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Group crashes by their signatures.",
    discussion: flowing(
      """
      A signature is the kind of crash and the function of the program at fault, the
      same in every run. Directories are searched for dumps; of a Crashpad database
      its reports are read. crashpadctl-group(5) has the rules.

      Examples:
        crashpadctl group --symbols symbols/ artifacts/
        crashpadctl group --since 7d --format csv artifacts/ > groups.csv
        crashpadctl group --explain-signature crash.idump
        crashpadctl group --format json artifacts/ > groups.json
        crashpadctl group --shard 1/4 --partial part1.json artifacts/
        crashpadctl group --index crashes.sqlite artifacts/
      """))

  var inputs: [String] = []
  var symbolOptions = SymbolOptions()
  var by: CrashGroups.Order = .signature
  var join: GroupJoin?
  var since: TimeOrAge?
  var inApp = InAppOption()
  var format: GroupFormat = .text
  var explainSignature = false
  var failOn: GroupFailure?
  var shard: ShardArgument?
  var partial: String?
  var merge = false
  var index: String?
  var page = HTMLOption()
  var inputOptions = InputOptions()
  var reading = ReadingArguments()
  var jobs = JobsOption()
  var clock = ClockOption()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.inputs(
      &inputs, "Dumps, directories or databases; with --merge partial results. - is standard input.", isRequired: false)
    row.group(&symbolOptions)
    row.option(&by, "--by <by>", "Group by signature, or by raw signature: modules and offsets, without symbols.")
    row.option(&join, "--join <what>", "Add crashes without names to the group that has their raw signature.")
    row.option(&since, "--since <time>", "Only crashes at this time or later; an age such as 7d is a time ago.")
    row.group(&inApp)
    row.format(&format, "Print text, one JSON document, or CSV.")
    row.flag(&explainSignature, "--explain-signature", "Print each frame with the rule that took or skipped it.")
    row.option(
      &failOn, "--fail-on <condition>",
      "End with status 1 if a group is not in FILE, the JSON of an earlier run: new:FILE.")
    row.option(&shard, "--shard <i/n>", "Read one of N parts of the inputs, such as 1/4.")
    row.option(&partial, "--partial <file>", "Write a partial result to this file instead of the groups.", .file())
    row.flag(&merge, "--merge", "Read partial results in place of dumps, and put them together.")
    row.option(
      &index, "--index <file>",
      "Keep what was read in this file, a database of SQLite, and read only dumps that are new to it.", .file())
    row.group(&page)
    row.group(&inputOptions)
    row.group(&reading)
    row.group(&jobs)
    row.group(&clock)
    row.group(&color)
  }

  func validate() throws {
    try inputOptions.check(inputs, "inputs")
    if merge, shard != nil { throw ValidationError("--merge and --shard exclude each other.") }
    if merge, explainSignature {
      throw ValidationError("--merge reads no frames that --explain-signature could print.")
    }
    if explainSignature, format == .csv { throw ValidationError("--explain-signature does not go with --format csv.") }
    if merge, since != nil { throw ValidationError("--merge reads no crashes that --since could choose.") }
    if merge, !inApp.patterns.isEmpty || !symbolOptions.symbols.isEmpty {
      throw ValidationError("--merge reads no frames; --symbols and --in-app belong to the runs that made the parts.")
    }
    if index != nil, merge || partial != nil || explainSignature {
      throw ValidationError("--index excludes --merge, --partial and --explain-signature.")
    }
    if index != nil, inputs.contains("-") { throw ValidationError("--index needs files: - has no name to keep.") }
    if shard != nil, partial == nil {
      throw ValidationError("--shard requires --partial, because a shard has only some of the crashes.")
    }
    if page.html == "-" { throw ValidationError("--html takes a file; standard output has the groups.") }
    if page.html != nil, partial != nil { throw ValidationError("--partial has no groups for --html to show.") }
    if partial != nil, failOn != nil || explainSignature {
      throw ValidationError("--partial prints no groups; --fail-on and --explain-signature belong to --merge's run.")
    }
  }

  func run() throws {
    let printer = GroupPrinter(
      format: format, order: by, joinsRaw: join == .raw, explains: explainSignature, partial: partial,
      baseline: failOn?.baseline, html: page.html)
    if merge { Terminal.end(GroupMergeRun(inputs: inputs, printer: printer).run()) }
    let reading = GroupReading(
      list: try inputOptions.crashes(inputs).list,
      places: symbolOptions, inApp: inApp.patterns, architecture: self.reading.architecture,
      jobs: jobs.count, since: since.map { $0.seconds(now: clock.seconds) }, showsProgress: format == .text, page: page)
    let status =
      try index.map { try GroupIndexRun(index: $0, reading: reading, printer: printer).run() }
      ?? GroupRun(reading: reading, shard: shard, printer: printer).run()
    Terminal.end(status)
  }
}
