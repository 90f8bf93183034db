// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import Glibc
import CrashpadJSON
import CrashpadSnapshot
import SystemPackage

/// A report, named by its id or the beginning of its id.
struct ReportArgument: ExpressibleByArgument {
  let text: String
  let prefix: ReportPrefix

  init?(argument: String) {
    guard let prefix = ReportPrefix(text: argument) else { return nil }
    text = argument
    self.prefix = prefix
  }
}

extension OptionRows {
  mutating func reports(_ value: inout [ReportArgument], isRequired: Bool = false) {
    arguments(
      &value, "<reports>", "Reports: ids, or at least four digits that begin one.", ReportArgument.completion,
      isRequired: isRequired)
  }
}

extension ReportArgument {
  /// The ids of the named reports, each once; nil for a beginning that fits no report, which is printed as an error.
  ///
  /// Ends the tool if an argument fits several reports, before anything is changed.
  ///
  /// - Parameter includesRemains: whether they may name what a deletion left of a report.
  static func resolve(
    _ arguments: [ReportArgument], in database: CrashDatabase, includingRemains includesRemains: Bool = false
  ) throws -> [UUIDBytes?] {
    let prefixes = arguments.map(\.prefix).filter { $0.id == nil }
    var all: [UUIDBytes]?
    var resolved: [UUIDBytes?] = []
    var isAmbiguous = false
    for argument in arguments {
      if let id = argument.prefix.id {
        if !resolved.contains(id) { resolved.append(id) }
        continue
      }
      do {
        if all == nil {
          all =
            try database.reportIDs { id in prefixes.contains { $0.matches(id) } }
            + (includesRemains ? database.remains() : [])
        }
      } catch {
        Terminal.error(Sentences.databaseFailure(error, database.path))
        throw Sentences.failure(error, creating: false).status
      }
      let candidates = (all ?? []).filter(argument.prefix.matches)
      switch candidates.count {
      case 0:
        Terminal.error("\(argument.text): error: no report has an id that begins with this")
        resolved.append(nil)
      case 1: if !resolved.contains(candidates[0]) { resolved.append(candidates[0]) }
      default:
        isAmbiguous = true
        Terminal.error(
          "\(argument.text): error: the ids of \(grouped(candidates.count)) reports begin with this:")
        for id in candidates.prefix(20) { Terminal.error("  \(id.text)") }
        if candidates.count > 20 { Terminal.error("  and \(grouped(candidates.count - 20)) more") }
      }
    }
    if isAmbiguous { throw ExitStatus.usage }
    return resolved
  }

  /// Completes report ids in a shell, from the database named on the command line.
  static let completion = CompletionKind.custom { arguments, _, prefix in
    var path = unsafe getenv("CRASHPADCTL_DATABASE").map { unsafe FilePath(platformString: $0) }
    for (index, argument) in arguments.enumerated() {
      if argument == "-d" || argument == "--database", index + 1 < arguments.count {
        path = FilePath(argument: arguments[index + 1])
      }
      if argument.hasPrefix("--database=") {
        path = FilePath(argument: String(argument.dropFirst("--database=".count)))
      }
    }
    guard let path, let ids = hint({ try CrashDatabase(path).reportIDs() }) else { return [] }
    return ids.map(\.text).filter { $0.hasPrefix(prefix) }
  }
}

extension ExitStatus {
  /// The exit status for several inputs: the status of a single input, else 1 if not all succeeded, or 75 if all
  /// failures may pass with a retry.
  static func combined(_ statuses: [ExitStatus]) -> ExitStatus {
    if statuses.count == 1 { return statuses[0] }
    let failures = statuses.filter { $0 != .success }
    if failures.isEmpty { return .success }
    return failures.allSatisfy { $0 == .temporaryFailure } ? .temporaryFailure : .findings
  }
}
