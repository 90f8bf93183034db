// SPDX-License-Identifier: Apache-2.0
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
  }

  func add(_ entry: GroupIndexEntry) throws {
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
    for path in gone { try remove.run([.text(path)]) }
    try insert.run([
      .text(entry.path), .number(identity.inode), .number(identity.size), .number(entry.modified),
      .number(entry.hasFailed ? 1 : 0), .init(try entry.crash.flatMap { try number($0.signature) }),
      .init(facts?.report), .init(facts?.time), .init(facts?.program), .init(facts?.version), .init(facts?.device),
      .init(facts?.system), .init(facts?.client), .init(facts?.processID), .number(facts?.isQuick == true ? 1 : 0),
      .init(facts?.role?.rawValue), .init(facts?.process), .init(facts?.periodStart),
    ])
    try separate(entry, from: forms)
  }

  /// Takes a dump, and those that may be of the same crash, out of the sums.
  ///
  /// - Parameter forms: the dumps with the same id.
  private func separate(_ entry: GroupIndexEntry, from forms: [String]) throws {
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
