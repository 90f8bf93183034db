// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
internal import SystemPackage

/// The result of a file that was read.
package struct GroupIndexEntry: Sendable {
  /// Absolute.
  package let path: String
  package let identity: FileIdentity
  package var crash: (signature: Signature, facts: CrashFacts)?
  package var hasFailed: Bool
  /// Whether the next run reads the file again, because this one could not examine all that the crash rests on.
  package var isProvisional = false

  /// No file has this time.
  fileprivate var modified: Int64 { isProvisional ? -1 : identity.modified }

  package init(
    path: String, identity: FileIdentity, crash: (signature: Signature, facts: CrashFacts)?, hasFailed: Bool
  ) {
    self.path = path
    self.identity = identity
    self.crash = crash
    self.hasFailed = hasFailed
  }
}

/// The statements of one transaction.
struct GroupIndexAdding {
  private let find: SQLiteFile.Statement
  private let others: SQLiteFile.Statement
  private let remove: SQLiteFile.Statement
  private let insert: SQLiteFile.Statement
  private let addSignature: SQLiteFile.Statement
  private let findSignature: SQLiteFile.Statement
  private let partners: SQLiteFile.Statement
  private let separate: SQLiteFile.Statement
  private let addSum: SQLiteFile.Statement
  /// The changes of the sums by added rows, which are not made yet.
  private var sums: [Sum: Int64] = [:]

  /// Names are bytes, which the index compares: texts that are equal in Swift may differ in them.
  private struct Sum: Hashable {
    let fact: String
    let signature: Int64
    let name: [UInt8]
    let part: [UInt8]
  }

  init(_ file: SQLiteFile) throws {
    find = try file.prepare("SELECT inode, size, modified FROM dumps WHERE path = ?")
    // If a dump was copied many times, only some copies are examined: each of them exists.
    others = try file.prepare(
      """
      SELECT path, role IS ?5 FROM (SELECT path, role FROM dumps WHERE report = ?1 LIMIT 8)
      UNION SELECT path, 0 FROM (SELECT path FROM dumps WHERE inode = ?2 AND size = ?3 AND modified = ?4 LIMIT 8)
      """)
    remove = try file.prepare("DELETE FROM dumps WHERE path = ?")
    insert = try file.prepare("INSERT INTO dumps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)")
    addSignature = try file.prepare(
      "INSERT OR IGNORE INTO signatures (id, text, raw, named, flags) VALUES (?, ?, ?, ?, ?)")
    findSignature = try file.prepare(
      "SELECT number FROM signatures WHERE id = ? AND text = ? AND raw = ? AND named = ? AND flags = ?")
    // Two ranges of an index, as the number of processes with one id and one role has no bound.
    let near = """
      signature IS NOT NULL AND time >= ?3 - \(CrashAccount.tolerance)
        AND min(coalesce(since, time), time) <= ?4 + \(CrashAccount.tolerance)
      """
    partners = try file.prepare(
      """
      SELECT path FROM dumps WHERE pid = ?1 AND role < ?2 AND \(near)
      UNION ALL SELECT path FROM dumps WHERE pid = ?1 AND role > ?2 AND \(near)
      """)
    separate = try file.prepare("UPDATE dumps SET separate = 1 WHERE path = ? AND NOT separate")
    addSum = try file.prepare(
      "INSERT INTO sums VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count")
  }

  mutating func add(_ entry: GroupIndexEntry) throws {
    let identity = entry.identity
    try find.bind([.text(entry.path)])
    let isThere = try find.step()
    // A run beside this one may have added it.
    if isThere, find.number(0) == identity.inode, find.number(1) == identity.size, find.number(2) == identity.modified {
      return
    }
    let facts = entry.crash?.facts
    try others.bind([
      .init(facts?.report), .number(identity.inode), .number(identity.size), .number(identity.modified),
      .init(facts?.role?.rawValue),
    ])
    var gone = isThere ? [entry.path] : []
    var forms: [String] = []
    while try others.step() {
      guard let path = others.text(0), path != entry.path else { continue }
      if FileIdentity.isGone(path) { gone.append(path) } else if others.number(1) == 1 { forms.append(path) }
    }
    // The triggers take rows out of the sums, so that these have to be there.
    if !gone.isEmpty { try finish() }
    for path in gone { try remove.run([.text(path)]) }
    let signature = try entry.crash.flatMap { try number($0.signature) }
    try insert.run([
      .text(entry.path), .number(identity.inode), .number(identity.size), .number(entry.modified),
      .number(entry.hasFailed ? 1 : 0), .init(signature),
      .init(facts?.report), .init(facts?.time), .init(facts?.program), .init(facts?.version), .init(facts?.device),
      .init(facts?.system), .init(facts?.client), .init(facts?.processID), .number(facts?.isQuick == true ? 1 : 0),
      .init(facts?.role?.rawValue), .init(facts?.process), .init(facts?.periodStart),
    ])
    if let signature, let facts { add(facts, signature) }
    try separate(entry, from: forms)
  }

  /// Writes the counts of the rows that were added since the last call.
  mutating func finish() throws {
    for (sum, count) in sums {
      let (name, part) = (String(decoding: sum.name, as: UTF8.self), String(decoding: sum.part, as: UTF8.self))
      try addSum.run([.text(sum.fact), .number(sum.signature), .text(name), .text(part), .number(count)])
    }
    sums.removeAll(keepingCapacity: true)
  }

  /// Counts a crash in the same sums from which the triggers take it.
  private mutating func add(_ facts: CrashFacts, _ signature: Int64) {
    func add(_ fact: String, _ name: String, _ part: String = "") {
      let sum = Sum(fact: fact, signature: signature, name: Array(name.utf8), part: Array(part.utf8))
      sums[sum, default: 0] += 1
    }
    add("crash", "")
    if let version = facts.version { add("version", version, facts.program ?? "") }
    if let device = facts.device { add("device", device) }
    if let system = facts.system { add("system", system) }
    if let day = facts.time.map({ Int($0 / 86400) }), GroupCounts.knownDays.contains(day) {
      add(facts.version == nil ? "unversioned" : "day", String(day), facts.version ?? "")
    }
  }

  /// Takes a dump, and those that may be of the same crash, out of the sums.
  ///
  /// - Parameter forms: the dumps with the same id.
  private mutating func separate(_ entry: GroupIndexEntry, from forms: [String]) throws {
    guard let facts = entry.crash?.facts else { return }
    let account = CrashAccount(facts)
    var paths = facts.mayBeForm || account != nil ? forms : []
    if let account {
      try partners.bind([
        .number(account.processID), .text(account.role.rawValue), .number(account.start), .number(account.end),
      ])
      while try partners.step() { if let path = partners.text(0) { paths.append(path) } }
    }
    if paths.isEmpty { return }
    try finish()
    for path in paths + [entry.path] { try separate.run([.text(path)]) }
  }

  private func number(_ signature: Signature) throws -> Int64? {
    let values: [SQLiteValue] = [
      .text(signature.id), .text(signature.text), .text(signature.raw), .number(signature.isNamed ? 1 : 0),
      .text(signature.flags.map(\.rawValue).joined(separator: " ")),
    ]
    try addSignature.run(values)
    try findSignature.bind(values)
    return try findSignature.step() ? findSignature.number(0) : nil
  }
}
