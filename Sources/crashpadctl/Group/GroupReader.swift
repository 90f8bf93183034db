// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadSupervision
import CrashpadSymbolication
import CrashpadText
import Synchronization
import SystemPackage

/// Reads crashes in this process, or, where a dump has limits, in others, of which each has one dump at a time.
final class GroupReader: Sendable {
  private let reader: CrashReader
  private let search: SymbolSearch
  private let helpers: HelperProcesses?
  private let limits: DumpLimits

  private struct Heard: Sendable {
    var faults: [String] = []
    var isWhole = true
    var mayGetNames = false
  }
  /// The statements of the other processes about symbols.
  private let heard = Mutex(Heard())

  /// To be made before there are other threads. Throws `Errno`.
  init(_ reader: CrashReader, _ search: SymbolSearch, _ limits: DumpLimits, jobs: Int?) throws(Errno) {
    (self.reader, self.search, self.limits) = (reader, search, limits)
    helpers =
      limits.isSet
      ? try HelperProcesses(
        count: jobs ?? activeProcessorCount(), .init(time: limits.timeout, memory: limits.memory),
        answer: { Self.answer($0, reader, search) }) : nil
  }

  /// Whether all files with symbols could be examined.
  var isWhole: Bool { search.isWhole && heard.withLock { $0.isWhole } }

  /// Whether a later run may find names that this one did not.
  var mayGetNames: Bool { search.hasOpenQuestions || heard.withLock { $0.mayGetNames } }

  func reportFaults() {
    SymbolOptions.reportFaults(search)
    for line in heard.withLock({ $0.faults }) { Terminal.error(line) }
  }

  func read(_ input: InputList.Input) -> BatchResult<CrashReader.Crash> {
    guard let helpers else { return reader.read(input) }
    switch helpers.ask(CrashAnswer.request(input)) {
    case .bytes(let bytes):
      guard let received = CrashAnswer.Received(bytes) else { return failure("has no answer", input) }
      heard.withLock { heard in
        heard.faults += received.faults.filter { !heard.faults.contains($0) }
        heard.isWhole = heard.isWhole && received.isWhole
        heard.mayGetNames = heard.mayGetNames || received.mayGetNames
      }
      return received.result
    case .timeout: return failure("takes more than \(limits.timeout ?? 0) ms, the limit of --dump-timeout", input)
    case .memory:
      return failure(
        "takes more than \(TextFormat.size(limits.memory ?? 0)) of memory, the limit of --memory-limit", input)
    case .killed(let signal): return failure("ended the process that read it with signal \(signal)", input)
    case .lost: return failure("could not be read: the process for it is gone", input)
    }
  }

  private func failure(_ text: String, _ input: InputList.Input) -> BatchResult<CrashReader.Crash> {
    BatchResult(FailureText(text, .temporaryFailure), of: input)
  }

  /// In the other process.
  private static func answer(_ request: [UInt8], _ reader: CrashReader, _ search: SymbolSearch) -> [UInt8] {
    guard let input = CrashAnswer.input(request) else { return [] }
    let result = reader.read(input)
    return CrashAnswer.bytes(
      result, faults: search.faults.findings.map { Sentences.line($0) }, isWhole: search.isWhole,
      mayGetNames: search.hasOpenQuestions)
  }
}
