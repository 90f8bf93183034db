// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// The way in which `group` reads crashes.
struct GroupReading {
  let list: InputList
  let places: SymbolOptions
  /// Patterns of modules that belong to the program too.
  let inApp: [String]
  /// Nil to guess.
  let architecture: CPUArchitecture?
  /// The number of dumps to read at once; nil for one per CPU.
  let jobs: Int?
  /// Earlier crashes are left out; seconds since 1970.
  let since: Int64?
  let showsProgress: Bool
  /// The page that is written as well.
  let page: HTMLOption

  func reader(_ cache: SymbolCache, since: Int64?) -> CrashReader {
    CrashReader(signatures: signatures(cache), architecture: architecture, since: since)
  }

  private func signatures(_ cache: SymbolCache) -> SignatureOptions {
    SignatureOptions(cache, inApp: inApp.map { Glob($0) })
  }

  /// The examples that a page shows; nil if there is to be none.
  func examples(_ search: SymbolSearch) -> GroupExamples? {
    if page.html == nil { return nil }
    let cache = SymbolCache(search, names: .simplified)
    let maker = CrashPageMaker(cache: cache, signatures: signatures(cache))
    return GroupExamples(list, maker, architecture: architecture, jobs: jobs)
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
    if let status = list.refusal() ?? reading.page.conflict(list) { return status }
    let cache = SymbolCache(try reading.places.search(), names: .mangled)
    let reader = reading.reader(cache, since: reading.since)
    let chosen = list.inputs.indices.filter { index in
      shard.map { index % $0.total == $0.number - 1 } ?? true
    }
    var part = CrashGroups.Part()
    var explanations: [GroupPrinter.Explanation] = []
    let batch = BatchRun(
      list, chosen.map { list.inputs[$0] }, jobs: reading.jobs, showsProgress: reading.showsProgress)
    let status = batch.run(
      work: { reader.read($0) },
      report: { _, result in
        part.add(result)
        if let crash = result.value, printer.explains {
          explanations.append(GroupPrinter.Explanation(input: crash.facts.input, signature: crash.signature))
        }
        return true
      })
    SymbolOptions.reportFaults(cache.search)
    list.reportSkipped()
    let counted = CrashGroups.Shard(
      run: CrashGroups.digest(list.inputs.map(\.argument)), number: shard?.number ?? 1, total: shard?.total ?? 1)
    return printer.print(
      CrashGroups(counted, part), status, explanations: explanations, examples: reading.examples(cache.search))
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

extension CrashGroups.NotAPart: ExplainedError {
  var explanation: FailureText { FailureText(reason, .noData) }
}

extension CrashGroups.Conflict: ExplainedError {
  var explanation: FailureText {
    FailureText("part \(shard.number)/\(shard.total) is there twice with different content", .noData)
  }
}
