// SPDX-License-Identifier: Apache-2.0
/// The member for facts that no `.ips` has a place for. Apple's reports have no member with this name.
enum OwnFacts {
  static let name = "crashpadctl"
  static let key: StaticString = "crashpadctl"
}

/// The notes of texts that the body has as members.
enum IPSNotes {
  static let corpse = "EXC_CORPSE_NOTIFY"
  static let nonFatal = "NON-FATAL CONDITION (this is NOT a crash)"
  static let simulated = "SIMULATED (this is NOT a crash)"
}
