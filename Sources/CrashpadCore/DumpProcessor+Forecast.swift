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
    var seen: Set<UUIDBytes> = []
    parallelMapInOrder(count: dumps.count, jobs: options.jobs, work: { forecast(dumps[$0]) }) { _, result in
      if case .processed(let id, _, _) = result.outcome, !seen.insert(id).inserted {
        onEvent(.result(DumpResult(result.dump, .repeated(id))))
      } else {
        onEvent(.result(result))
      }
      return true
    }
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
