// SPDX-License-Identifier: Apache-2.0
import CrashpadEvents
import CrashpadFiles
import CrashpadText
import SystemPackage

/// The messages of `events` on standard error.
enum EventSentences {
  /// Prints why a run ended, and returns its status.
  static func fail(_ error: any Error, _ argument: String, creating: Bool) -> ExitStatus {
    if argument == "-", error as? Errno == .brokenPipe { Terminal.fail(writing: error) }
    let (text, status) = failure(error, argument, creating: creating)
    Terminal.error(text)
    return status
  }

  private static func failure(_ error: any Error, _ argument: String, creating: Bool) -> (String, ExitStatus) {
    switch error {
    case let failure as EventCursor.Failure: return cursorFailure(failure)
    case let failure as MappingFile.NotAMapping:
      let place = failure.offset.map { ":0x" + String($0, radix: 16) } ?? ""
      return ("\(displayName(argument))\(place): error: \(TextFormat.printable(failure.reason))", .noData)
    case let failure as FileFailure where failure.errno == .wouldBlock:
      let holder = failure.lockHolder.map { "process \($0)" } ?? "another run"
      let text = "is locked by \(holder), which did not give it up within \(EventCursor.lockWait / 1000) s; try again"
      return ("\(TextFormat.printable(failure.path)): error: \(text)", .temporaryFailure)
    case let failure as FileFailure:
      let (text, status) = Sentences.failure(failure, creating: true)
      return ("\(TextFormat.printable(failure.path)): error: \(text)", status)
    default:
      let (text, status) = Sentences.failure(error, creating: creating)
      return ("\(argument == "-" ? "<standard output>" : TextFormat.printable(argument)): error: \(text)", status)
    }
  }

  private static func cursorFailure(_ failure: EventCursor.Failure) -> (String, ExitStatus) {
    switch failure {
    case .notACursor(let path):
      ("\(TextFormat.printable(path)): error: is not a cursor of crashpadctl events, and was not changed", .noData)
    case .laterVersion(let path, let version):
      (
        "\(TextFormat.printable(path)): error: is a cursor of version \(TextFormat.printable(version)), "
          + "which a later crashpadctl has written; this one reads version 1", .noData
      )
    case .damaged(let path, let line):
      (
        "\(TextFormat.printable(path)):\(line): error: the cursor is damaged; without this line the events of its dump "
          + "are written again", .noData
      )
    case .outputChanged(let path, let offset):
      (
        "\(TextFormat.printable(path)):0x\(String(offset, radix: 16)): error: another program has written behind the events "
          + "of a run that was killed; remove the incomplete line there, and the cursor's lines of that run", .noData
      )
    case .noRegularFile(let path): ("\(TextFormat.printable(path)): error: is not a regular file", .cannotCreate)
    }
  }

  /// Reports the result of a run.
  ///
  /// - Parameter unknown: the number of inputs that may be of a crash.
  static func report(_ output: EventOutput, withoutCrash: Int, unknown: Int) {
    if unknown > 0 {
      let text = TextFormat.count(unknown, "input")
      Terminal.error(
        "crashpadctl: warning: \(text) without an exception that can be read: what happened is not known, and there are no events"
      )
    }
    if withoutCrash > 0 {
      let text = TextFormat.count(withoutCrash, "input")
      Terminal.error("crashpadctl: note: \(text) without a crash, of which there are no events")
    }
    if output.unnamed > 0 {
      let text = TextFormat.count(output.unnamed, "crash", "crashes")
      Terminal.error(
        "crashpadctl: note: \(text) without a user or client id, so the dump's id is the distinct_id; the annotation distinct_id names users"
      )
    }
    if output.repeatedCount > 0 {
      let text = TextFormat.count(output.repeatedCount, "dump")
      Terminal.error(
        "crashpadctl: warning: the output was replaced after a run was killed; events of \(text) may be in both files")
    }
  }
}
