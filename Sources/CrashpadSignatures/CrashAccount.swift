// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The facts by which two reports about the end of one process are recognized. A process ends once, but several programs may report it:
/// a handler within it, the system that killed it, MetricKit a day later.
package struct CrashAccount: Sendable, Hashable {
  /// In the order of detail, most first. A crash counts with its first role in this order.
  package enum Role: String, Sendable, CaseIterable {
    /// A handler in the process captured the crash.
    case captured
    /// The system reported it.
    case reported
    /// The system killed the process, as it did not respond or did what it must not.
    case killed
    /// MetricKit has the crash among its diagnostics.
    case diagnosed
    case diagnosedKill = "diagnosed-kill"
    /// A process did not respond. It may have gone on, so that this is an account of no crash; only of a kill.
    case hang

    var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    var isKill: Bool { self == .killed || self == .diagnosedKill }
  }

  /// The writer of a report.
  package enum Writer: Sendable {
    case process
    case system
    case metricKit
  }

  let role: Role
  let processID: Int64
  /// The executable's file name.
  let process: String?
  let device: String?
  let version: String?
  /// Seconds since 1970: MetricKit only names a period in which the process ended.
  let start: Int64
  let end: Int64

  /// Between the times of two accounts of one end: a watchdog waits for up to 30 s, and a report is then written.
  static let tolerance: Int64 = 60

  init(
    role: Role, processID: Int64, process: String?, device: String?, version: String?, start: Int64, end: Int64
  ) {
    self.role = role
    self.processID = processID
    self.process = process
    self.device = device
    self.version = version
    self.start = start
    self.end = end
  }

  /// Whether `other` is a more detailed report of the same crash.
  func isTwin(of other: CrashAccount) -> Bool {
    guard other.role.rank < role.rank, role != .hang || other.role.isKill, processID == other.processID,
      distance(to: other) <= Self.tolerance
    else { return false }
    return Self.agree(process, other.process) && Self.agree(device, other.device)
      && Self.haveCommonVersion(version, other.version)
  }

  /// In seconds; 0 where the periods meet.
  func distance(to other: CrashAccount) -> Int64 {
    func gap(_ later: Int64, _ earlier: Int64) -> Int64 {
      let (gap, overflows) = later.subtractingReportingOverflow(earlier)
      return overflows ? (later < earlier ? .min : .max) : gap
    }
    return max(0, gap(other.start, end), gap(start, other.end))
  }

  /// A fact that a report does not have contradicts none.
  private static func agree(_ one: String?, _ other: String?) -> Bool { one == nil || other == nil || one == other }

  /// Handlers are told either number of "2.7 (182)", MetricKit may have the second alone.
  private static func haveCommonVersion(_ one: String?, _ other: String?) -> Bool {
    guard let one, let other else { return true }
    return !numbers(one).isDisjoint(with: numbers(other))
  }

  private static func numbers(_ version: String) -> Set<Substring> {
    Set(version.split { " ()".utf8.contains($0.utf8.first ?? 0) })
  }
}

extension CrashAccount.Role {
  /// Nil if the process did not end, and on systems where only the process itself reports crashes.
  package init?(_ snapshot: ProcessSnapshot, by writer: CrashAccount.Writer) {
    guard [.ios, .macos].contains(snapshot.system.operatingSystem) else { return nil }
    let kind = CrashKind(snapshot).text
    let isCrash = snapshot.outcome.isCrash
    if snapshot.report?.kind == .hang && !isCrash || kind == "simulated" {
      self = .hang
    } else if !isCrash || kind == "none" {
      return nil
    } else {
      let isKill = kind.hasPrefix("killed:")
      switch writer {
      case .process: self = .captured
      case .system: self = isKill ? .killed : .reported
      case .metricKit: self = isKill ? .diagnosedKill : .diagnosed
      }
    }
  }
}
