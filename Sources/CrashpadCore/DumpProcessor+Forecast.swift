// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadDatabase
public import CrashpadFiles
internal import CrashpadSnapshot

extension DumpProcessor {
  /// Reports what `run` would do; changes nothing. Other runs may change the database meanwhile.
  public func forecast(_ onEvent: (Event) -> Void) throws(FileFailure) {
    let dumps = try plan(onEvent)
    onEvent(.begins(count: dumps.count))
    var seen: [UUIDBytes: PendingDump] = [:]
    parallelMapInOrder(count: dumps.count, jobs: options.jobs, work: { forecast(dumps[$0]) }) { _, result in
      guard case .processed(let id, _, _) = result.outcome else {
        onEvent(.result(result))
        return true
      }
      if let first = seen[id] {
        onEvent(.result(forecast(result.dump, behind: first, id)))
      } else {
        seen[id] = result.dump
        onEvent(.result(result))
      }
      return true
    }
  }

  /// The result of a dump behind another one with its id: the report will be there by then.
  private func forecast(_ dump: PendingDump, behind first: PendingDump, _ id: UUIDBytes) -> DumpResult {
    do {
      guard let own = try input(of: first), let other = try input(of: dump) else { return DumpResult(dump, .gone) }
      let isSame =
        own.contentID == other.contentID
        || Dump(own).snapshot.flatMap { own in Dump(other).snapshot.map { own.isSameState(as: $0) } } == true
      return isSame ? DumpResult(dump, .repeated(id)) : try predictConversion(of: other, dump, other.contentID)
    } catch {
      return DumpResult(dump, .failed(error))
    }
  }

  private func input(of dump: PendingDump) throws -> DumpInput? {
    try database.open(dump).map { DumpInput(dump: try InputFile($0)) }
  }

  private func forecast(_ dump: PendingDump) -> DumpResult {
    do {
      return try predict(dump)
    } catch ReportChangeFailure.busy(let state) {
      return DumpResult(dump, .busy(state))
    } catch {
      return DumpResult(dump, .failed(error))
    }
  }

  private func predict(_ dump: PendingDump) throws -> DumpResult {
    let decision = try decide(dump) { id, _ -> Void? in
      guard let state = try database.lockState(id, in: .pending), state != .abandoned else { return () }
      throw ReportChangeFailure.busy(state)
    }
    switch decision {
    case .gone: return DumpResult(dump, .gone)
    case .empty: return DumpResult(dump, .empty)
    case .repeated(let id, _): return DumpResult(dump, .repeated(id))
    case .convert(let id, let crash): return try predictConversion(of: crash.input, dump, id)
    }
  }

  private func predictConversion(of input: DumpInput, _ dump: PendingDump, _ id: UUIDBytes) throws -> DumpResult {
    let result = try conversion(reportID: id, clientID: .zero).convert(input, to: CountedOutput(nil))
    let outcome: Outcome =
      switch result.outcome {
      case .rejected: .rejected(keptAs: dump.unlockedName)
      case .converted, .incomplete:
        .processed(id, byteCount: result.byteCount, isComplete: result.outcome == .converted)
      }
    return DumpResult(dump, outcome, findings: result.findings)
  }
}
