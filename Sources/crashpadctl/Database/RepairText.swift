// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadText

/// Repairs of a database in words.
enum RepairText {
  static func text(_ fact: DatabaseRepair.Fact) -> String {
    let target = TextFormat.printable(fact.target ?? "")
    switch fact.action {
    case .madeDirectory: return "made"
    case .endedSession: return "removed; what the run had begun is ended"
    case .replacedSettings:
      return "new settings, with uploads disabled" + (target.isEmpty ? "" : "; the old ones are kept as \(target)")
    case .removedLock: return "removed"
    case .madeMetadata: return "new metadata, created \(TextFormat.date(fact.creationTime ?? 0)) as its file was"
    case .tookAttributes: return "metadata of its attributes, created \(TextFormat.date(fact.creationTime ?? 0))"
    case .keptAside: return "moved to \(target)"
    case .removedMetadata: return "removed; they say nothing of worth"
    case .renamed: return "renamed to \(target)"
    case .removedDuplicate: return "removed; \(target) has the same bytes"
    case .gaveNewID: return "renamed to \(target); the other report of this id has other bytes"
    case .completedReport: return "moved to \(target), as it was uploaded"
    case .setPermissions: return "permissions \(octal(fact.permissions))"
    }
  }

  static func text(_ obstacle: DatabaseRepair.Obstacle) -> String {
    switch obstacle {
    case .busy: "some program has its lock; try again"
    case .ended: "the run was asked to end before all was examined; the next repair goes on"
    case .file(let failure):
      "\(TextFormat.printable(failure.path)): \(Sentences.failure(failure, creating: true).text)"
    }
  }

  /// Permissions as people write them: 0600.
  static func octal(_ permissions: UInt32?) -> String { "0" + String(permissions ?? 0, radix: 8) }
}
