// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// One run of `group --index`: dumps that the index does not have are read and added, and its crashes are grouped.
struct GroupIndexRun {
  let index: String
  let reading: GroupReading
  let printer: GroupPrinter

  /// The number of dumps that are read at once.
  private static let batch = 256
  /// Dumps are added by many at once, as each transaction writes the pages of all indices: after so many, or so much time,
  /// with which a run that is killed begins again.
  private static let added = 10_000
  private static let interval = Duration.seconds(2)

  /// A file to read.
  private struct File: Sendable {
    let input: InputList.Input
    /// Nil if it is gone since the directory was listed.
    let identity: FileIdentity?
  }

  func run() throws -> ExitStatus {
    let list = reading.list
    list.reportFailures()
    // An index may have crashes of which all dumps were removed since.
    if list.inputs.isEmpty, !list.failures.isEmpty { return list.statusOfNone }
    if let status = reading.page.conflict(list) ?? refusal() { return status }
    do {
      let index = try GroupIndex(FilePath(argument: index), inApp: reading.inApp, rules: reading.rules)
      let search = try reading.places.search()
      let status = try update(index, list, search)
      list.reportSkipped()
      let part = try reading.since.map { try index.part(since: $0) } ?? index.part(hasDays: printer.html != nil)
      let shard = CrashGroups.Shard(run: "index", number: 1, total: 1)
      return printer.print(CrashGroups(shard, part, reading.rules), status, examples: reading.examples(search))
    } catch let failure as SQLiteFailure {
      return Terminal.failure(failure, of: displayName(index), creating: true)
    }
  }

  /// The status if the index is a directory, a device or a FIFO, of which SQLite says nothing that helps.
  private func refusal() -> ExitStatus? {
    let reason: InputFile.NotReadable.Reason
    switch try? FileKind(at: FilePath(argument: index), followingLink: true) {
    case .regular, nil: return nil
    case .directory: reason = .directory
    case .symbolicLink, .other: reason = .notAFile
    }
    _ = Terminal.failure(InputFile.NotReadable(reason: reason), of: displayName(index), creating: true)
    return .cannotCreate
  }

  /// Reads what is new. Of files that were not read in whole each is reported once.
  private func update(_ index: GroupIndex, _ list: InputList, _ search: SymbolSearch) throws -> ExitStatus {
    var status = list.initialStatus
    let files = try newFiles(list, index)
    if files.isEmpty { return status }
    let cache = SymbolCache(search, names: .mangled)
    // An index has crashes of all times.
    let reader = reading.reader(cache, since: nil)
    let progress = Progress(total: files.count, isShown: reading.showsProgress)
    var entries: [GroupIndexEntry] = []
    var last = ContinuousClock.now
    for start in stride(from: 0, to: files.count, by: Self.batch) {
      let batch = files[start..<min(start + Self.batch, files.count)]
      parallelMapInOrder(
        count: batch.count, jobs: reading.jobs, work: { reader.read(batch[start + $0].input) },
        report: { number, outcome in
          progress.clear()
          for message in outcome.messages { Terminal.error(message) }
          if list.isSingle { status = outcome.status } else { status.add(outcome.status) }
          let file = batch[start + number]
          if let identity = file.identity {
            entries.append(
              GroupIndexEntry(
                path: file.input.argument, identity: identity, crash: outcome.value.map { ($0.signature, $0.facts) },
                hasFailed: outcome.status != .success))
          }
          progress.advance()
          return true
        })
      if entries.count >= Self.added || ContinuousClock.now - last >= Self.interval {
        try index.add(entries)
        entries = []
        last = .now
      }
    }
    try index.add(entries)
    progress.clear()
    SymbolOptions.reportFaults(cache.search)
    return status
  }

  private func newFiles(_ list: InputList, _ index: GroupIndex) throws -> [File] {
    let folder = try FilePath.workingDirectory()
    let candidates = list.inputs.map { input in
      let path = FilePath(argument: input.argument)
      return GroupIndex.Candidate(path: input.absoluteArgument(path, from: folder), identity: FileIdentity(at: path))
    }
    return try index.unknown(candidates).map { number in
      let (input, candidate) = (list.inputs[number], candidates[number])
      let named = InputList.Input(
        name: input.name, argument: candidate.path, relativePath: input.relativePath, isFound: input.isFound)
      return File(input: named, identity: candidate.identity)
    }
  }
}

extension SQLiteFailure: ExplainedError {
  var explanation: FailureText {
    switch reason {
    case .notInstalled:
      FailureText(
        "needs SQLite: libsqlite3.so.0 is not installed; on Debian and Ubuntu it is in the package libsqlite3-0",
        .ioError)
    case .busy:
      FailureText("is locked by another program, which did not give it up within 60 s; try again", .temporaryFailure)
    case .notADatabase: FailureText("is not an index of crashpadctl group: \(message)", .noData)
    case .foreign: FailureText(message, .noData)
    case .cannotOpen, .readOnly: FailureText(message, .cannotCreate)
    case .full, .unreadable, .other: FailureText(message, .ioError)
    }
  }
}
