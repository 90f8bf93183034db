// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot
import CrashpadText

/// Descriptions of why a pending dump keeps or loses its lock, as text and JSON.
enum LockText {
  /// - Parameter isTaken: whether the dump is processed despite a lock that has not expired.
  /// - Returns: such as "unlocked: 3 d old, and its bundle's locks expire after 24 h".
  static func decision(
    _ decision: PendingDumpLock.Decision, _ dump: PendingDump, now: Int64, isTaken: Bool = false,
    isDryRun: Bool = false
  ) -> String {
    let age = TextFormat.age(now - dump.modified)
    let stays = isTaken ? "locked, but taken because of --include-locked" : "stays locked"
    switch decision {
    case .notLocked: return "not locked"
    case .owned: return "stays locked: its program is running and holds it"
    case .expired(let rule): return "\(isDryRun ? "would be unlocked" : "unlocked"): \(age) old; \(ruleText(rule))"
    case .locked(let rule, let until):
      return "\(stays): \(age) old; \(ruleText(rule)): \(TextFormat.date(until))"
    case .fromFuture(let rule, let until):
      return
        "\(stays): changed in the future, at \(TextFormat.date(dump.modified)); \(ruleText(rule)): \(TextFormat.date(until))"
    }
  }

  private static func ruleText(_ rule: PendingDumpLock.Rule) -> String {
    switch rule {
    case .matchingBundle: "locks of its bundle expire after 24 h"
    case .anyBundle: "every lock expires after 60 d"
    }
  }

  /// A description of the holder of a report's lock.
  static func holder(_ state: LockState, now: Int64) -> String {
    switch state {
    case .held(let since):
      return "another program works on its report" + (since.map { ", since \(TextFormat.date($0))" } ?? "")
    case .abandoned: return "the lock of its report was left by a program that ended"
    case .unknown(let since):
      let taken = "the lock of its report was taken at \(TextFormat.date(since)) by a program of which nothing is known"
      return LockExpiry.isOver(since: since, now: now)
        ? "\(taken), and expired: crashpadctl prune --clean removes it" : "\(taken); it counts three days"
    }
  }
}

/// A locked dump in JSON, with the decision on its lock.
struct LockRecord {
  let dump: PendingDump
  let decision: PendingDumpLock.Decision
  /// The time of the run, in seconds since 1970.
  let now: Int64

  static let record = Record<LockRecord>(
    .fileName("name", "The name of the dump.", .always) { $0.dump.name.bytes },
    .text("bundle_id", "The bundle id in its name.") { $0.dump.bundleID },
    .uuid("uuid", "The UUID in its name.") { $0.dump.uuid },
    .number("bytes", "Its size.", .always) { $0.dump.size },
    .time("modified", "The time of the last change.") { $0.dump.modified },
    .number("age_seconds", "Its age.", .always) { $0.now - $0.dump.modified },
    .word(
      "decision", of: ["not-locked", "held", "expired", "locked", "from-future"],
      "`expired`; `locked`; `held`, by a running program; or `from-future`: it was changed after `now`.", .always
    ) { parts($0.decision).word },
    .word(
      "rule", of: ["matching-bundle", "any-bundle"],
      "`matching-bundle` (24 hours) or `any-bundle` (60 days); null if the lock is held."
    ) { parts($0.decision).rule?.rawValue },
    .time("expires", "The time at which its lock expires; null if it has expired or is held.") {
      parts($0.decision).until
    })

  private static func parts(
    _ decision: PendingDumpLock.Decision
  ) -> (word: String, rule: PendingDumpLock.Rule?, until: Int64?) {
    switch decision {
    case .notLocked: ("not-locked", nil, nil)
    case .owned: ("held", nil, nil)
    case .expired(let rule): ("expired", rule, nil)
    case .locked(let rule, let until): ("locked", rule, until)
    case .fromFuture(let rule, let until): ("from-future", rule, until)
    }
  }
}
