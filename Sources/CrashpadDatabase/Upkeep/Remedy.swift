// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadFiles

/// One kind of repair: the rules whose faults it repairs, and how.
struct Remedy: Sendable {
  let rules: [Rule]
  /// Gets the faults of its rules. In a dry run of the pass it reports the changes without making them.
  let apply: @Sendable (RepairPass, [Fault]) -> Void

  private init(_ rules: Rule..., apply: @escaping @Sendable (RepairPass, [Fault]) -> Void) {
    self.rules = rules
    self.apply = apply
  }

  /// All of them, in the order in which a repair applies them: each leaves what the later ones need.
  static let all: [Remedy] = [
    // The session of the repair has repaired these when it began.
    Remedy(DatabaseRules.missingDirectory, DatabaseRules.deadRun) { $0.reportOpening($1) },
    // While the files have the names that the user knows.
    Remedy(DatabaseRules.writableByOthers, DatabaseRules.readableByOthers) { $0.repairPermissions($1) },
    Remedy(DatabaseRules.settingsDamaged) { pass, _ in pass.repairSettings() },
    Remedy(DatabaseRules.abandonedLock, DatabaseRules.expiredLock, DatabaseRules.damagedLock) { $0.repairLocks($1) },
    Remedy(
      DatabaseRules.missingMetadata, DatabaseRules.truncatedMetadata, DatabaseRules.unknownMetadataVersion,
      DatabaseRules.metadataInAttributes, DatabaseRules.upperCaseName
    ) { pass, faults in
      for state in ReportState.allCases { pass.repairReports(state, faults) }
    },
    Remedy(DatabaseRules.duplicateReport) { pass, _ in pass.repairDuplicates() },
    Remedy(DatabaseRules.uploadedInPending) { pass, _ in pass.repairUploaded() },
    Remedy(DatabaseRules.metadataWithoutReport) { pass, _ in
      for state in ReportState.allCases { pass.repairLoneMetadata(state) }
    },
    // Directories of attachments; reports were renamed above.
    Remedy(DatabaseRules.upperCaseName) { $0.repairAttachments($1) },
  ]
}

extension DatabaseRules {
  /// The rules that `DatabaseRepair` repairs.
  package static let repairable: Set<Rule> = Set(Remedy.all.flatMap { $0.rules })
}
