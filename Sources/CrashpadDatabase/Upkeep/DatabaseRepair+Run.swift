// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

extension DatabaseRepair {
  /// Repairs the database; with `isDryRun` only reports the planned changes.
  ///
  /// Throws `FileFailure` if the database can't be changed at all.
  package func run(isDryRun: Bool, _ onEvent: (Event) -> Void) throws(FileFailure) {
    // The length of the path of this file is in the code of the check: builds in two folders would differ.
    #sourceLocation(file:"callback",line:1)
    try withoutActuallyEscaping(onEvent) { onEvent throws(FileFailure) in
      let probe = DatabaseProbe(database, now: now)
      let faults = faults(probe)
      var session: DatabaseSession?
      defer { session?.close() }
      if !isDryRun {
        session = try DatabaseSession(database, now: probe.clock)
        for name in DatabaseLayout.directories where !ignored.contains(DatabaseRules.missingDirectory.code) {
          _ = try database.root.createFolder(ifMissing: name)
        }
      }
      let pass = RepairPass(probe, session, newClientID: newClientID, ignoring: ignored, runEnd, onEvent)
      for remedy in Remedy.all { remedy.apply(pass, faults.filter { remedy.rules.contains($0.rule) }) }
      if !faults.isEmpty { try session?.syncRemovals() }
    }
  }
  #sourceLocation()

  /// The faults to repair. Dead sessions are always repaired: each session does that when it begins.
  private func faults(_ probe: DatabaseProbe) -> [Fault] {
    var faults: [Fault] = []
    let repairable = DatabaseRules.repairable.filter { $0 == DatabaseRules.deadRun || !ignored.contains($0.code) }
    FaultFinder(probe) { if repairable.contains($0.rule) { faults.append($0) } }.findAll()
    return faults
  }
}
