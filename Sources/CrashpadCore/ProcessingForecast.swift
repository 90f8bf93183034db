internal import BinaryFormat
internal import CrashDatabase
internal import DumpInterpretation
public import FileSystem
internal import Minidump
internal import Snapshot
internal import SystemPackage

extension Processing {
  /// Tells what `run` would do, by reading alone. Other runs may make it otherwise meanwhile.
  public func forecast(_ tell: (Event) -> Void) throws(FileFailure) {
    let dumps = try plan(tell)
    tell(.begins(count: dumps.count))
    var seen: Set<UUIDBytes> = []
    inOrder(count: dumps.count, jobs: options.jobs, work: { forecast(dumps[$0]) }) { _, result in
      if case .processed(let id, _, _) = result.outcome, !seen.insert(id).inserted {
        tell(.result(Result(result.dump, .repeated(id))))
      } else {
        tell(.result(result))
      }
      return true
    }
  }

  private func forecast(_ dump: PendingDump) -> Result {
    do {
      return try foresee(dump)
    } catch {
      return Result(dump, .failed(error))
    }
  }

  private func foresee(_ dump: PendingDump) throws -> Result {
    guard let file = try database.open(dump) else { return Result(dump, .gone) }
    let status = try file.status()
    guard status.linkCount <= 1 else { throw FileFailure(database.path(of: dump), .tooManyLinks) }
    if status.size == 0 { return Result(dump, .cleanExit) }
    let input = try DumpInput(dump: InputFile(file))
    for id in [dump.uuid, input.contentID].compactMap(\.self) {
      switch try database.lockState(id, in: .pending) {
      case .held(let since): return Result(dump, .busy(.held(since: since)))
      case .unknown(let since): return Result(dump, .busy(.unknown(since: since)))
      case .abandoned, nil: break
      }
      if let existing = try database.reportForClaim(id) {
        if id == input.contentID || isSameCrash(input, existing) { return Result(dump, .repeated(id)) }
        continue
      }
      let output = DiscardingOutput()
      let result = try conversion(reportID: id, clientID: .zero).convert(input, to: output)
      let outcome: Outcome =
        switch result.outcome {
        case .rejected: .rejected(keptAs: dump.unlockedName)
        case .converted, .incomplete:
          .processed(id, byteCount: result.byteCount, isComplete: result.outcome == .converted)
        }
      return Result(dump, outcome, findings: result.findings)
    }
    return Result(dump, .gone)
  }

  func conversion(reportID: UUIDBytes, clientID: UUIDBytes) -> Conversion {
    var interpretation = DumpInterpreter.Options()
    interpretation.annotations = options.annotations
    interpretation.reportID = reportID
    interpretation.clientID = clientID
    // Nothing may stay behind because nobody named an architecture.
    interpretation.guessesArchitecture = true
    return Conversion(to: .minidump, options: interpretation)
  }

  /// Whether a report tells of the same crash as a dump. Both are read: a report that is damaged does not.
  func isSameCrash(_ input: DumpInput, _ report: Report) -> Bool {
    guard let file = try? database.open(report), let minidump = try? InputFile(file),
      let made = minidump.withBytes({ MinidumpReader.read($0).snapshot })
    else { return false }
    let dump = Inspection(input).snapshot
    guard let dump else { return false }
    // What a minidump keeps of the time is 32 bits.
    let times = [dump, made].map { UInt32(truncatingIfNeeded: $0.snapshotTime?.seconds ?? 0) }
    return times[0] == times[1] && dump.threads.count == made.threads.count && dump.modules.count == made.modules.count
      && dump.exception?.code == made.exception?.code && dump.exception?.address == made.exception?.address
  }
}

extension DumpInput {
  /// The id of a dump by its bytes.
  var contentID: UUIDBytes { file.withBytes { ContentID.of($0) } }
}

/// An output that nobody needs.
private final class DiscardingOutput: ByteOutput {
  func write(_ bytes: RawSpan) {}
}
