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

struct GroupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "group",
    abstract: "Group crashes by their signatures.",
    discussion: """
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
      """)

  @Argument(
    help: "Dumps, directories or databases; with --merge partial results. - is standard input.", completion: .file())
  var inputs: [String] = []

  @OptionGroup var symbolOptions: SymbolOptions

  @Option(name: .long, help: "Group by signature, or by raw signature: modules and offsets, without symbols.")
  var by: CrashGroups.Order = .signature

  @Option(
    name: .long,
    help: ArgumentHelp("Add crashes without names to the group that has their raw signature.", valueName: "what"))
  var join: GroupJoin?

  @Option(
    name: .long,
    help: ArgumentHelp("Only crashes at this time or later; an age such as 7d is a time ago.", valueName: "time"))
  var since: TimeOrAge?

  @OptionGroup var inApp: InAppOption

  @Option(name: .shortAndLong, help: ArgumentHelp("Print text, one JSON document, or CSV.", valueName: "form"))
  var format: GroupFormat = .text

  @Flag(name: .long, help: "Print each frame with the rule that took or skipped it.")
  var explainSignature = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "End with status 1 if a group is not in FILE, the JSON of an earlier run: new:FILE.", valueName: "condition"))
  var failOn: GroupFailure?

  @Option(name: .long, help: ArgumentHelp("Read one of N parts of the inputs, such as 1/4.", valueName: "i/n"))
  var shard: ShardArgument?

  @Option(
    name: .long, help: ArgumentHelp("Write a partial result to this file instead of the groups.", valueName: "file"),
    completion: .file())
  var partial: String?

  @Flag(name: .long, help: "Read partial results in place of dumps, and put them together.")
  var merge = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Keep what was read in this file, a database of SQLite, and read only dumps that are new to it.",
      valueName: "file"), completion: .file())
  var index: String?

  @OptionGroup var page: HTMLOption

  @OptionGroup var inputOptions: InputOptions

  @OptionGroup var reading: ReadingArguments

  @OptionGroup var jobs: JobsOption

  @OptionGroup var clock: ClockOption

  @OptionGroup var color: ColorOption

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
      places: symbolOptions.places, inApp: inApp.patterns, architecture: self.reading.architecture,
      jobs: jobs.count, since: since.map { $0.seconds(now: clock.seconds) }, showsProgress: format == .text, page: page)
    let status =
      try index.map { try GroupIndexRun(index: $0, reading: reading, printer: printer).run() }
      ?? GroupRun(reading: reading, shard: shard, printer: printer).run()
    Terminal.end(status)
  }
}
