import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// One run of `group` over dumps. They share what is known of symbols and names; of each only its facts are kept.
struct GroupRun {
  let command: GroupCommand

  func run() throws -> ExitStatus {
    let list = InputList(DatabaseInputs(command.inputs).arguments, accepting: InputFormat.withMeaning)
    if let refusal = list.refusal() { return refusal }
    if let conflict = command.page.conflict(list) { return conflict }
    let cache = SymbolCache(try command.symbolOptions.search(), names: .mangled)
    let reader = command.reader(cache, since: command.earliest)
    let chosen = list.inputs.indices.filter { index in
      command.shard.map { index % $0.total == $0.number - 1 } ?? true
    }
    var part = CrashGroups.Part()
    var explanations: [GroupOutput.Explanation] = []
    let batch = BatchRun(
      list, chosen.map { list.inputs[$0] }, jobs: command.jobs.count, showsProgress: command.format == .text)
    let status = batch.run(
      work: { reader.read($0) },
      report: { _, result in
        part.add(result)
        if let crash = result.value, command.explainSignature {
          explanations.append(GroupOutput.Explanation(input: crash.facts.input, signature: crash.signature))
        }
        return true
      })
    SymbolPlaces.reportFaults(cache.search)
    list.reportSkipped()
    let shard = CrashGroups.Shard(
      run: CrashGroups.digest(list.inputs.map(\.argument)), number: command.shard?.number ?? 1,
      total: command.shard?.total ?? 1)
    let output = GroupOutput(
      command: command, groups: CrashGroups(shard, part), explanations: explanations,
      examples: command.examples(list, cache.search))
    return try output.write(status)
  }
}

extension GroupCommand {
  /// Seconds since 1970; nil for all crashes.
  var earliest: Int64? { since.map { $0.seconds(now: clock.seconds) } }

  func reader(_ cache: SymbolCache, since: Int64?) -> CrashReader {
    CrashReader(
      signatures: SignatureOptions(cache, inApp: inApp.globs), architecture: reading.architecture, since: since)
  }

  /// The examples that a page shows; nil if there is to be none.
  func examples(_ list: InputList, _ search: SymbolSearch) -> GroupExamples? {
    if page.html == nil { return nil }
    let cache = SymbolCache(search, names: .simplified)
    let maker = CrashPageMaker(
      cache: cache, signatures: SignatureOptions(cache, inApp: inApp.globs))
    return GroupExamples(list, maker, architecture: reading.architecture, jobs: jobs.count)
  }
}

/// One run of `group --merge`.
struct GroupMergeRun {
  let command: GroupCommand

  func run() throws -> ExitStatus {
    var groups = CrashGroups()
    for argument in command.inputs {
      do {
        let file = try argument == "-" ? InputFile.standardInput() : InputFile(FilePath(argument: argument))
        try groups.merge(file.withBytes { try CrashGroups($0) })
      } catch {
        return Terminal.failure(Self.failure(error), of: displayName(argument), creating: false)
      }
    }
    for shard in groups.missing {
      Terminal.error(
        "crashpadctl: warning: part \(shard.number)/\(shard.total) is missing; its crashes are not counted")
    }
    let failed = groups.parts.values.reduce(0) { $0 + $1.failed }
    let status: ExitStatus = failed == 0 && groups.missing.isEmpty ? .success : .findings
    return try GroupOutput(command: command, groups: groups, explanations: []).write(status)
  }

  private static func failure(_ error: any Error) -> any Error {
    switch error {
    case let error as CrashGroups.NotAPart: FailureText(error.reason, .noData)
    case let error as CrashGroups.Conflict:
      FailureText("part \(error.shard.number)/\(error.shard.total) is there twice with different content", .noData)
    default: error
    }
  }
}
