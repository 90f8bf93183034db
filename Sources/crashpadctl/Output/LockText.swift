import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot

/// Descriptions of why a pending dump keeps or loses its lock, as text and JSON.
enum LockText {
  /// - Parameter isTaken: whether the dump is processed despite a lock that has not expired.
  /// - Returns: such as "unlocked: 3 d old, and its bundle's locks expire after 24 h".
  static func decision(
    _ decision: PendingDumpLock.Decision, _ dump: PendingDump, now: Int64, isTaken: Bool = false,
    isDryRun: Bool = false
  ) -> String {
    let age = Wording.age(now - dump.modified)
    let stays = isTaken ? "locked, but taken because of --include-locked" : "stays locked"
    switch decision {
    case .notLocked: return "not locked"
    case .owned: return "stays locked: its program is running and holds it"
    case .expired(let rule): return "\(isDryRun ? "would be unlocked" : "unlocked"): \(age) old; \(ruleText(rule))"
    case .locked(let rule, let until):
      return "\(stays): \(age) old; \(ruleText(rule)): \(Wording.date(until))"
    case .fromFuture(let rule, let until):
      return
        "\(stays): changed in the future, at \(Wording.date(dump.modified)); \(ruleText(rule)): \(Wording.date(until))"
    }
  }

  private static func ruleText(_ rule: PendingDumpLock.Rule) -> String {
    switch rule {
    case .matchingBundle: "locks of its bundle expire after 24 h"
    case .anyBundle: "every lock expires after 60 d"
    }
  }

  /// Writes the JSON members for a locked dump.
  static func write(
    _ dump: PendingDump, _ decision: PendingDumpLock.Decision, now: Int64, to json: inout JSONWriter
  ) {
    json.member("name", Wording.printable(dump.name.bytes))
    json.member("bundle_id", dump.bundleID)
    json.member("uuid", dump.uuid?.text)
    json.member("bytes", dump.size)
    json.member("modified", Wording.rfc3339(dump.modified))
    json.member("age_seconds", now - dump.modified)
    let (name, rule, until) = parts(decision)
    json.member("decision", name)
    json.member("rule", rule?.rawValue)
    json.member("expires", until.flatMap { Wording.rfc3339($0) })
  }

  private static func parts(_ decision: PendingDumpLock.Decision) -> (String, PendingDumpLock.Rule?, Int64?) {
    switch decision {
    case .notLocked: ("not-locked", nil, nil)
    case .owned: ("held", nil, nil)
    case .expired(let rule): ("expired", rule, nil)
    case .locked(let rule, let until): ("locked", rule, until)
    case .fromFuture(let rule, let until): ("from-future", rule, until)
    }
  }

  /// A description of the holder of a report's lock.
  static func holder(_ state: LockState, now: Int64) -> String {
    switch state {
    case .held(let since):
      return "another program works on its report" + (since.map { ", since \(Wording.date($0))" } ?? "")
    case .abandoned: return "the lock of its report was left by a program that ended"
    case .unknown(let since):
      let taken = "the lock of its report was taken at \(Wording.date(since)) by a program of which nothing is known"
      return LockExpiry.isExpired(since: since, now: now)
        ? "\(taken), and expired: crashpadctl prune --clean removes it" : "\(taken); it counts three days"
    }
  }
}
