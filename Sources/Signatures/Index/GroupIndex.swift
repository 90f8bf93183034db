package import FileSystem
package import SystemPackage

/// What is known of dumps that were read before, in a file that grows: each dump is read once.
///
/// crashpadctl-group(5) documents the tables. A dump whose file is gone goes on being counted, unless another file took its
/// place: its report, converted or moved.
package final class GroupIndex {
  private let file: SQLiteFile

  /// - Parameter inApp: patterns that take part in signatures; an index keeps those that it was made with.
  package init(_ path: FilePath, inApp: [String]) throws {
    file = try SQLiteFile(path)
    try prepare(["rules": String(SignatureRule.version), "in-app": inApp.sorted().joined(separator: "\n")])
  }

  // MARK: Tables

  /// "cpgi", in the file's header.
  private static let applicationID = 0x6370_6769
  private static let version = 1

  private static let tables = """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE signatures (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL, text TEXT NOT NULL, raw TEXT NOT NULL, named INTEGER NOT NULL,
      flags TEXT NOT NULL, UNIQUE (id, text, raw, named, flags));
    CREATE TABLE dumps (
      path TEXT PRIMARY KEY, inode INTEGER NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
      failed INTEGER NOT NULL, signature INTEGER REFERENCES signatures (number), report TEXT, time INTEGER,
      program TEXT, version TEXT, device TEXT, system TEXT, client TEXT, pid INTEGER, quick INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX dumps_by_report ON dumps (report) WHERE report IS NOT NULL;
    CREATE INDEX dumps_by_inode ON dumps (inode);
    CREATE VIEW crashes AS
      SELECT path, id, text, raw, datetime(time, 'unixepoch') AS time, program, version, device, system, client, report
      FROM dumps JOIN signatures ON signature = number;
    CREATE VIEW groups AS
      SELECT id, text, count(*) AS count, min(time) AS first, max(time) AS last FROM crashes GROUP BY id;
    """

  private func prepare(_ settings: [String: String]) throws {
    if try number("PRAGMA application_id") == 0, try number("SELECT count(*) FROM sqlite_schema") == 0 {
      try file.transaction {
        // Another process may have made them since.
        guard try number("PRAGMA application_id") == 0 else { return }
        try file.run(Self.tables)
        try file.run("PRAGMA application_id = \(Self.applicationID); PRAGMA user_version = \(Self.version)")
        let insert = try file.prepare("INSERT INTO settings VALUES (?, ?)")
        for (name, value) in settings { try insert.run([.text(name), .text(value)]) }
      }
    }
    guard try number("PRAGMA application_id") == Self.applicationID else {
      throw SQLiteFailure(.foreign, "is a database of another program")
    }
    guard try number("PRAGMA user_version") == Self.version else {
      throw SQLiteFailure(.foreign, "was made by another version of crashpadctl")
    }
    let select = try file.prepare("SELECT value FROM settings WHERE name = ?")
    for (name, value) in settings {
      try select.bind([.text(name)])
      guard try select.step(), select.text(0) == value else {
        throw SQLiteFailure(
          .foreign, name == "rules" ? "was made with another version of the rules" : "was made with another --in-app")
      }
    }
  }

  private func number(_ sql: String) throws -> Int {
    let statement = try file.prepare(sql)
    guard try statement.step() else { return 0 }
    return Int(statement.number(0) ?? 0)
  }

  // MARK: What is known

  /// The files that need not be read again, by their paths.
  package func known() throws -> [String: FileStamp] {
    var known: [String: FileStamp] = [:]
    known.reserveCapacity(try number("SELECT count(*) FROM dumps"))
    let select = try file.prepare("SELECT path, inode, size, modified FROM dumps")
    while try select.step() {
      guard let path = select.text(0), let inode = select.number(1), let size = select.number(2),
        let modified = select.number(3)
      else { continue }
      known[path] = FileStamp(inode: inode, size: size, modified: modified)
    }
    return known
  }

  /// What came of a file that was read.
  package struct Entry: Sendable {
    /// Absolute.
    package let path: String
    package let stamp: FileStamp
    package var crash: (signature: Signature, facts: CrashFacts)?
    package var hasFailed: Bool

    package init(
      path: String, stamp: FileStamp, crash: (signature: Signature, facts: CrashFacts)?, hasFailed: Bool
    ) {
      self.path = path
      self.stamp = stamp
      self.crash = crash
      self.hasFailed = hasFailed
    }
  }

  /// Adds files in one transaction.
  package func add(_ entries: [Entry]) throws {
    if entries.isEmpty { return }
    try file.transaction {
      let adding = try Adding(file)
      for entry in entries { try adding.add(entry) }
    }
  }

  /// The crashes of the index.
  ///
  /// - Parameter since: seconds since 1970; crashes before it or without a time are left out.
  package func part(since: Int64?) throws -> CrashGroups.Part {
    var part = CrashGroups.Part()
    let condition = since.map { "time >= \($0) AND" } ?? ""
    part.failed = try number("SELECT count(*) FROM dumps WHERE failed")
    var keys: [Int64: GroupCell.Key] = [:]
    let signatures = try file.prepare("SELECT number, id, text, raw, named, flags FROM signatures")
    while try signatures.step() {
      keys[signatures.number(0) ?? 0] = GroupCell.Key(
        id: signatures.text(1) ?? "", text: signatures.text(2) ?? "", raw: signatures.text(3) ?? "",
        isNamed: signatures.number(4) == 1,
        flags: (signatures.text(5) ?? "").split(separator: " ").map(String.init))
    }
    var cells: [Int64: GroupCell] = [:]
    let select = try file.prepare(
      """
      SELECT signature, path, report, time, program, version, device, system, client, pid, quick FROM dumps
      WHERE \(condition) signature IS NOT NULL
      """)
    while try select.step() {
      let path = select.text(1) ?? ""
      var facts = CrashFacts(id: select.text(2) ?? path, input: path)
      facts.time = select.number(3)
      facts.program = select.text(4)
      facts.version = select.text(5)
      facts.device = select.text(6)
      facts.system = select.text(7)
      facts.client = select.text(8)
      facts.processID = select.number(9)
      facts.isQuick = select.number(10) == 1
      cells[select.number(0) ?? 0, default: GroupCell()].add(facts)
    }
    for (number, cell) in cells {
      guard let key = keys[number] else { continue }
      part.cells[key, default: GroupCell()].add(cell)
    }
    return part
  }
}

/// The statements of one transaction.
private struct Adding {
  private let find: SQLiteFile.Statement
  private let others: SQLiteFile.Statement
  private let remove: SQLiteFile.Statement
  private let insert: SQLiteFile.Statement
  private let addSignature: SQLiteFile.Statement
  private let findSignature: SQLiteFile.Statement

  init(_ file: SQLiteFile) throws {
    find = try file.prepare("SELECT inode, size, modified FROM dumps WHERE path = ?")
    // Of a dump that was copied many times only some are looked at: each of them is one that is there.
    others = try file.prepare(
      """
      SELECT path FROM (SELECT path FROM dumps WHERE report = ?1 LIMIT 8)
      UNION SELECT path FROM (SELECT path FROM dumps WHERE inode = ?2 AND size = ?3 AND modified = ?4 LIMIT 8)
      """)
    remove = try file.prepare("DELETE FROM dumps WHERE path = ?")
    insert = try file.prepare("INSERT INTO dumps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    addSignature = try file.prepare(
      "INSERT OR IGNORE INTO signatures (id, text, raw, named, flags) VALUES (?, ?, ?, ?, ?)")
    findSignature = try file.prepare(
      "SELECT number FROM signatures WHERE id = ? AND text = ? AND raw = ? AND named = ? AND flags = ?")
  }

  func add(_ entry: GroupIndex.Entry) throws {
    let stamp = entry.stamp
    try find.bind([.text(entry.path)])
    let isThere = try find.step()
    // A run beside this one may have added it.
    if isThere, find.number(0) == stamp.inode, find.number(1) == stamp.size, find.number(2) == stamp.modified {
      return
    }
    let facts = entry.crash?.facts
    try others.bind([.init(facts?.report), .number(stamp.inode), .number(stamp.size), .number(stamp.modified)])
    var gone = isThere ? [entry.path] : []
    while try others.step() {
      if let path = others.text(0), path != entry.path, FileStamp.isGone(path) { gone.append(path) }
    }
    for path in gone { try remove.run([.text(path)]) }
    try insert.run([
      .text(entry.path), .number(stamp.inode), .number(stamp.size), .number(stamp.modified),
      .number(entry.hasFailed ? 1 : 0), .init(try entry.crash.flatMap { try number($0.signature) }),
      .init(facts?.report), .init(facts?.time), .init(facts?.program), .init(facts?.version), .init(facts?.device),
      .init(facts?.system), .init(facts?.client), .init(facts?.processID), .number(facts?.isQuick == true ? 1 : 0),
    ])
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
