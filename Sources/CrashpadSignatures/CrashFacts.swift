// SPDX-License-Identifier: Apache-2.0
/// The facts of one crash that grouping keeps.
package struct CrashFacts: Sendable, Hashable {
  /// The id by which an example is chosen: the report's id, or else the input's name. It does not depend on the order of inputs.
  package var id: String
  /// The input, as it was named.
  package var input: String
  /// The report's own id.
  package var report: String?
  /// Seconds since 1970.
  package var time: Int64?
  /// The process's name, or the product's.
  package var program: String?
  package var processID: Int64?
  /// The executable's file name.
  package var process: String?
  /// Nil if no other report can describe the same crash.
  package var role: CrashAccount.Role?
  /// Seconds since 1970: with this, `time` is the end of a period in which the crash was.
  package var periodStart: Int64?
  /// The program's version, such as "2.1 (341)".
  package var version: String?
  package var device: String?
  package var system: String?
  /// Identifies the installation that it came from.
  package var client: String?
  /// Whether the program ended within seconds of its start.
  package var isQuick = false

  package init(id: String, input: String) {
    self.id = id
    self.input = input
  }

  /// Whether other files may hold the same report, copied or in another form: it has an id.
  var mayBeForm: Bool { report != nil }
}

extension CrashAccount {
  /// Nil if the facts do not suffice to match the crash with other reports.
  init?(_ facts: CrashFacts) {
    guard let role = facts.role, let processID = facts.processID, let time = facts.time else { return nil }
    self.init(
      role: role, processID: processID, process: facts.process, device: facts.device, version: facts.version,
      start: min(facts.periodStart ?? time, time), end: time)
  }
}
