// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSymbolication
import CrashpadText
import Glibc
import SystemPackage

/// One run of `group --index`: dumps that the index does not have are read and added, and its crashes are grouped.
struct GroupIndexRun {
  let index: String
  let reading: GroupReading
  let printer: GroupPrinter
  let runEnd: RunEnd

  /// The number of dumps that are read at once.
  private static let batch = 256
  /// Dumps are added by many at once, as each transaction writes the pages of all indices: after so many, or so much time,
  /// with which a run that is killed begins again.
  private static let added = 10_000
  private static let interval = Duration.seconds(10)

  /// A file to read.
  private struct File: Sendable {
    let input: InputList.Input
    /// Nil if it is gone since the directory was listed, or could not be examined.
    let identity: FileIdentity?
  }

  private struct Update {
    var status: ExitStatus
    var readCount = 0
    /// Whether symbols could not be looked up.
    var mayGetNames = false
    /// The number of files that could not be examined.
    var notExamined = 0
    /// Whether the run was asked to end before all were read.
    var hasEnded = false
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
      let update = try update(index, list, search)
      let status = update.status
      if update.hasEnded {
        Terminal.error("crashpadctl: stopped before all dumps were read; the next run reads the rest")
        return EndSignals.status(status, isPartial: true)
      }
      list.reportSkipped()
      var part =
        try reading.since.map { try index.part(since: $0) }
        ?? index.part(hasDays: printer.html != nil, hasInstallations: printer.html != nil || printer.format != .text)
      part.failed += update.notExamined + list.failures.count
      if reading.since != nil, case let count = try index.undatedCount(), count > 0 {
        Terminal.error(
          "crashpadctl: not counted: \(TextFormat.count(count, "crash", "crashes")) without a time, as --since asks for one"
        )
      }
      let shard = CrashGroups.Shard(run: "index", number: 1, total: 1)
      return printer.print(
        CrashGroups(shard, part, reading.rules), status, examples: reading.examples(search),
        mayGetNames: update.mayGetNames)
    } catch let failure as SQLiteFailure where [.cannotOpen, .readOnly].contains(failure.reason) {
      // SQLite does not say why.
      if let errno = Self.obstacle(FilePath(argument: index)) {
        return Terminal.failure(errno, of: displayName(index), creating: true)
      }
      return Terminal.failure(failure, of: displayName(index), creating: true)
    } catch let failure as SQLiteFailure {
      return Terminal.failure(failure, of: displayName(index), creating: true)
    }
  }

  /// Why a file, or one beside it, can't be written; nil if there is no reason to be seen.
  private static func obstacle(_ path: FilePath) -> Errno? {
    let folder = path.removingLastComponent()
    for place in [path, folder.isEmpty ? "." : folder] {
      let result = unsafe place.withPlatformString { unsafe access($0, W_OK) }
      if result != 0, errno != ENOENT || place != path { return Errno(rawValue: errno) }
    }
    return nil
  }

  /// The status if the index is a directory, a device or a FIFO, of which SQLite says nothing that helps.
  private func refusal() -> ExitStatus? {
    let reason: InputFile.NotReadable.Reason
    switch hint({ try FileKind(at: FilePath(argument: index), followingLink: true) }) {
    case .regular, nil: return nil
    case .directory: reason = .directory
    case .symbolicLink, .other: reason = .notAFile
    }
    _ = Terminal.failure(InputFile.NotReadable(reason: reason), of: displayName(index), creating: true)
    return .cannotCreate
  }

  /// Reads what is new. Of files whose content is at fault each is reported once. Those that could not be examined are
  /// not kept: the next run reads them again.
  ///
  private func update(_ index: GroupIndex, _ list: InputList, _ search: SymbolSearch) throws -> Update {
    var update = Update(status: list.initialStatus)
    let files = try newFiles(list, index)
    if files.isEmpty { return update }
    // An index has crashes of all times.
    let reader = try reading.reader(search, since: nil)
    let progress = Progress(total: files.count, isShown: reading.showsProgress)
    var writer = GroupIndexWriter(index, isAlone: reading.jobs == 1)
    var entries: [GroupIndexEntry] = []
    var last = Duration.sinceBoot
    for start in stride(from: 0, to: files.count, by: Self.batch) {
      let batch = files[start..<min(start + Self.batch, files.count)]
      parallelMapInOrder(
        count: batch.count, jobs: reading.jobs, work: { reader.read(batch[start + $0].input) },
        report: { number, outcome in
          progress.clear()
          var outcome = outcome
          if let entry = Self.entry(of: batch[start + number], &outcome) {
            entries.append(entry)
          } else {
            update.notExamined += 1
          }
          for message in outcome.messages { Terminal.error(message) }
          if list.isSingle { update.status = outcome.status } else { update.status.add(outcome.status) }
          update.readCount += 1
          progress.advance()
          return !runEnd.isRequested
        })
      if !reader.isWhole {
        for index in entries.indices where entries[index].crash?.signature.isNamed == false {
          entries[index].isProvisional = true
        }
      }
      if entries.count >= Self.added || .sinceBoot - last >= Self.interval {
        try writer.add(entries)
        entries = []
        last = .sinceBoot
      }
      if runEnd.isRequested { break }
    }
    try writer.add(entries)
    try writer.finish()
    progress.clear()
    reader.reportFaults()
    update.mayGetNames = reader.mayGetNames
    update.hasEnded = update.readCount < files.count
    return update
  }

  /// Nil for a file that could not be examined.
  private static func entry(of file: File, _ outcome: inout BatchResult<CrashReader.Crash>) -> GroupIndexEntry? {
    guard outcome.isOfContent else { return nil }
    let path = FilePath(argument: file.input.argument)
    let identity: FileIdentity
    switch file.identity.map({ .found($0) }) ?? FileIdentity.look(at: path) {
    case .found(let found): identity = found
    case .absent:
      outcome = BatchResult(FileFailure(path, .noSuchFileOrDirectory), of: file.input)
      return nil
    case .failed(let failure):
      outcome = BatchResult(failure, of: file.input)
      return nil
    }
    var entry = GroupIndexEntry(
      path: file.input.argument, identity: identity, crash: outcome.value.map { ($0.signature, $0.facts) },
      hasFailed: outcome.status != .success)
    // The file may have changed after it was read.
    entry.isProvisional = file.identity == nil
    return entry
  }

  private func newFiles(_ list: InputList, _ index: GroupIndex) throws -> [File] {
    let folder = try FilePath.workingDirectory()
    let candidates = list.inputs.map { input -> GroupIndex.Candidate in
      let path = FilePath(argument: input.argument)
      let absolute = input.absoluteArgument(path, from: folder)
      switch FileIdentity.look(at: path) {
      case .found(let identity): return GroupIndex.Candidate(path: absolute, identity: identity)
      case .absent, .failed: return GroupIndex.Candidate(path: absolute, identity: nil)
      }
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
    case .damaged:
      FailureText(
        "is damaged: \(message); without it, the next run reads all dumps that are there again", .noData)
    case .foreign: FailureText(message, .noData)
    case .cannotOpen, .readOnly: FailureText(message, .cannotCreate)
    case .full, .unreadable, .other: FailureText(message, .ioError)
    }
  }
}
