// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

extension CrashGroups.Order: ExpressibleByArgument {}

/// The value of `--join`.
enum GroupJoin: String, ExpressibleByArgument, CaseIterable {
  case raw
}

/// The value of `--rules` and `--compare`: 1 or 2.
extension RuleVersion: ExpressibleByArgument {
  public init?(argument: String) {
    guard let version = Int(argument).flatMap({ RuleVersion(rawValue: $0) }) else { return nil }
    self = version
  }

  public var defaultValueDescription: String { String(rawValue) }
  public static var allValueStrings: [String] { allCases.map { String($0.rawValue) } }
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
  static var documents: [DocumentDescription] {
    [GroupDocument.document.description, GroupPartDocument.description, GroupComparisonDocument.document.description]
  }
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
        crashpadctl group --rules 2 --compare 1 artifacts/
      """))

  var inputs: [String] = []
  var symbolOptions = SymbolOptions()
  var by: CrashGroups.Order = .signature
  var join: GroupJoin?
  var since: TimeOrAge?
  var inApp = InAppOption()
  var rules = RuleVersion.current
  var compare: RuleVersion?
  var format: GroupFormat = .text
  var explainSignature = false
  var failOn: GroupFailure?
  var shard: ShardArgument?
  var partial: String?
  var merge = false
  var index: String?
  var page = HTMLOption()
  var sessions: String?
  var inputOptions = InputOptions()
  var reading = ReadingArguments()
  var jobs = JobsOption()
  var limits = DumpLimitOptions()
  var ending = EndingOptions()
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
    row.option(&rules, "--rules <version>", "Make signatures by this version of the rules: 1 or 2.")
    row.option(
      &compare, "--compare <version>",
      "Print the signatures by this version of the rules too, and which groups they split or join.")
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
    row.sessions(&sessions)
    row.group(&inputOptions)
    row.group(&reading)
    row.group(&jobs)
    row.group(&limits)
    row.group(&ending)
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
    if limits.limits.isSet, merge || explainSignature || page.html != nil {
      throw ValidationError(
        "--dump-timeout and --memory-limit exclude --merge, --explain-signature and --html, which reads dumps again.")
    }
    if index != nil, merge || partial != nil || explainSignature {
      throw ValidationError("--index excludes --merge, --partial and --explain-signature.")
    }
    if index == nil, ending.isGiven { throw ValidationError("--grace and --max-time go with --index.") }
    if index != nil, inputs.contains("-") { throw ValidationError("--index needs files: - has no name to keep.") }
    if shard != nil, partial == nil {
      throw ValidationError("--shard requires --partial, because a shard has only some of the crashes.")
    }
    if compare != nil, merge || index != nil || partial != nil || page.html != nil || failOn != nil || explainSignature
    {
      throw ValidationError(
        "--compare excludes --merge, --index, --partial, --html, --fail-on and --explain-signature.")
    }
    if page.html == "-" { throw ValidationError("--html takes a file; standard output has the groups.") }
    if sessions != nil, page.html == nil { throw ValidationError("--sessions goes with --html, whose page has rates.") }
    if page.html != nil, partial != nil { throw ValidationError("--partial has no groups for --html to show.") }
    if partial != nil, failOn != nil || explainSignature {
      throw ValidationError("--partial prints no groups; --fail-on and --explain-signature belong to --merge's run.")
    }
  }

  func run() throws {
    let printer = GroupPrinter(
      format: format, order: by, joinsRaw: join == .raw, explains: explainSignature, partial: partial,
      baseline: failOn?.baseline, html: page.html, sessions: try sessions.map { try SessionCounts.opened($0) })
    if merge { Terminal.end(GroupMergeRun(inputs: inputs, printer: printer).run()) }
    let reading = GroupReading(
      list: try inputOptions.crashes(inputs).list,
      places: symbolOptions, inApp: inApp.patterns, architecture: self.reading.architecture,
      jobs: jobs.count, since: since.map { $0.seconds(now: clock.seconds) }, showsProgress: format == .text,
      rules: rules, limits: limits.limits, page: page)
    if let compare { Terminal.end(try GroupComparisonRun(reading: reading, other: compare, format: format).run()) }
    let status =
      try index.map { try GroupIndexRun(index: $0, reading: reading, printer: printer, runEnd: ending.begin()).run() }
      ?? GroupRun(reading: reading, shard: shard, printer: printer).run()
    Terminal.end(status)
  }
}

/// One run of `group` over dumps. They share what is known of symbols and names; of each only its facts are kept.
struct GroupRun {
  let reading: GroupReading
  /// The part of the inputs to read; nil for all.
  let shard: ShardArgument?
  let printer: GroupPrinter

  func run() throws -> ExitStatus {
    let list = reading.list
    if let status = list.refusal() ?? reading.page.conflict(list) ?? list.conflict(with: printer.partial) {
      return status
    }
    let search = try reading.places.search()
    let reader = try reading.reader(search, since: reading.since)
    let chosen = list.inputs.indices.filter { index in
      shard.map { index % $0.total == $0.number - 1 } ?? true
    }
    var part = CrashGroups.Part()
    var explanations: [GroupDocument.Explanation] = []
    let batch = BatchRun(
      list, chosen.map { list.inputs[$0] }, jobs: reading.jobs, showsProgress: reading.showsProgress)
    let status = batch.run(
      work: { reader.read($0) },
      report: { _, result in
        part.add(result)
        if let crash = result.value, printer.explains {
          explanations.append(GroupDocument.Explanation(input: crash.facts.input, signature: crash.signature))
        }
        return true
      })
    // The dumps of a directory that can't be read are not known; one of the parts counts it.
    if shard?.number ?? 1 == 1 { part.failed += list.failures.count }
    reader.reportFaults()
    list.reportSkipped()
    let counted = CrashGroups.Shard(
      run: CrashGroups.digest(list.inputs.map(\.argument)), number: shard?.number ?? 1, total: shard?.total ?? 1)
    return printer.print(
      CrashGroups(counted, part, reading.rules), status, explanations: explanations,
      examples: reading.examples(search), mayGetNames: reader.mayGetNames)
  }
}

/// One run of `group --merge`.
struct GroupMergeRun {
  /// The number of missing parts that are listed.
  private static let listedShards = 20

  let inputs: [String]
  let printer: GroupPrinter

  func run() -> ExitStatus {
    var groups = CrashGroups()
    for argument in inputs {
      do {
        let file = try argument == "-" ? InputFile.standardInput() : InputFile(FilePath(argument: argument))
        try groups.merge(file.withBytes { try CrashGroups($0) })
      } catch {
        return Terminal.failure(error, of: displayName(argument), creating: false)
      }
    }
    let missing = groups.missing(most: Self.listedShards)
    for shard in missing.first {
      Terminal.error(
        "crashpadctl: warning: part \(shard.number)/\(shard.total) is missing; its crashes are not counted")
    }
    if missing.count > missing.first.count {
      Terminal.error("crashpadctl: warning: \(grouped(missing.count - missing.first.count)) more parts are missing")
    }
    let status: ExitStatus = missing.count > 0 ? .partial : groups.failed > 0 ? .findings : .success
    return printer.print(groups, status)
  }
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
