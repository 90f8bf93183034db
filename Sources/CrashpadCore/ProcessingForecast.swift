// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadDatabase
public import CrashpadFiles
internal import CrashpadSnapshot

extension Processing {
  /// Tells what `run` would do, by reading alone. Other runs may make it otherwise meanwhile.
  public func forecast(_ tell: (Event) -> Void) throws(FileFailure) {
    let dumps = try plan(tell)
    tell(.begins(count: dumps.count))
    var seen: Set<UUIDBytes> = []
    inOrder(count: dumps.count, jobs: options.jobs, work: { forecast(dumps[$0]) }) { _, result in
      if case .processed(let id, _, _) = result.outcome, !seen.insert(id).inserted {
        tell(.result(DumpResult(result.dump, .repeated(id))))
      } else {
        tell(.result(result))
      }
      return true
    }
  }

  private func forecast(_ dump: PendingDump) -> DumpResult {
    do {
      return try foresee(dump)
    } catch ReportChangeFailure.busy(let state) {
      return DumpResult(dump, .busy(state))
    } catch {
      return DumpResult(dump, .failed(error))
    }
  }

  private func foresee(_ dump: PendingDump) throws -> DumpResult {
    let decision = try decide(dump) { id, _ -> Void? in
      guard let state = try database.lockState(id, in: .pending), state != .abandoned else { return () }
      throw ReportChangeFailure.busy(state)
    }
    switch decision {
    case .gone: return DumpResult(dump, .gone)
    case .cleanExit: return DumpResult(dump, .cleanExit)
    case .repeated(let id, _): return DumpResult(dump, .repeated(id))
    case .convert(let id, let crash): return try foresee(crash.input, dump, id)
    }
  }

  private func foresee(_ input: DumpInput, _ dump: PendingDump, _ id: UUIDBytes) throws -> DumpResult {
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
