// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import SystemPackage

/// The facts of dumps that were read before, in a file that grows: each dump is read once.
///
/// crashpadctl-group(5) documents the tables. A dump whose file is gone goes on being counted, unless another file took its
/// place: its report, converted or moved.
///
/// Sendable, as SQLite's connections are for any thread, but only one may use it at a time: the caller sees to that.
package final class GroupIndex: @unchecked Sendable {
  let file: SQLiteFile

  /// - Parameters:
  ///   - inApp: patterns that take part in signatures; an index keeps those that it was made with.
  ///   - rules: the version of the rules that makes signatures, which is kept as well.
  package init(_ path: FilePath, inApp: [String], rules: RuleVersion = .current) throws {
    file = try SQLiteFile(path)
    // Pages that several dumps change are written once for all. 64 MiB hold the inner pages of an index of millions. Statements
    // that triggers make many of are undone from memory: a file for that is written with each of them.
    try file.run("PRAGMA cache_size = -65536; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY")
    try prepare(["rules": String(rules.rawValue), "in-app": inApp.sorted().joined(separator: "\n")])
  }

  // MARK: Tables

  private func prepare(_ settings: [String: String]) throws {
    if try number("PRAGMA application_id") == 0, try number("SELECT count(*) FROM sqlite_schema") == 0 {
      try file.transaction {
        // Another process may have made them since.
        guard try number("PRAGMA application_id") == 0 else { return }
        try file.run(GroupIndexTables.settings + GroupIndexTables.dumps)
        try file.run("PRAGMA application_id = \(GroupIndexTables.applicationID)")
        try setVersion()
        let insert = try file.prepare("INSERT INTO settings VALUES (?, ?)")
        for (name, value) in settings { try insert.run([.text(name), .text(value)]) }
      }
    }
    guard try number("PRAGMA application_id") == GroupIndexTables.applicationID else {
      throw SQLiteFailure(.foreign, "is a database of another program")
    }
    guard try number("PRAGMA user_version") <= GroupIndexTables.version else {
      throw SQLiteFailure(.foreign, "was made by a newer version of crashpadctl")
    }
    try checkTables()
    try check(settings)
    if try number("PRAGMA user_version") < GroupIndexTables.version {
      try migrate()
      // Only the names of an older index were compared.
      try checkTables()
    }
    try checkContent()
  }

  /// The largest index that is checked whole, in bytes: some 30,000 dumps, which takes 0.2 s.
  package static let checkedSize = 16 << 20

  /// Refuses an index whose bytes contradict each other: the rows and those in SQLite's indexes, rows and their sums. A byte that
  /// changed on the disk would otherwise be another count.
  private func checkContent() throws {
    guard try number("PRAGMA page_count") * number("PRAGMA page_size") <= Self.checkedSize else { return }
    var damage: String?
    try file.reading {
      let check = try file.prepare("PRAGMA integrity_check(1)")
      if try check.step(), let text = check.text(0), text != "ok" { damage = text }
      if damage == nil, try number(GroupIndexTables.wrongSums) > 0 { damage = "its sums are not those of its crashes" }
    }
    if let damage { throw SQLiteFailure(.damaged, damage.replacingLineFeeds) }
  }

  /// Refuses tables, indexes and triggers that this program did not make: a trigger runs with each row that is added, and
  /// may fill the disk. Views run only when they are asked for.
  private func checkTables() throws {
    let isOlder = try number("PRAGMA user_version") < GroupIndexTables.version
    let select = try file.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    while try select.step() {
      guard let type = select.text(0), let name = select.text(1), let sql = select.text(2), type != "view",
        // Statistics that ANALYZE makes.
        !name.hasPrefix("sqlite_stat")
      else { continue }
      let isOwn =
        isOlder || type == "table"
        ? GroupIndexTables.names.contains(name) : GroupIndexTables.statements.contains(sql)
      if !isOwn {
        throw SQLiteFailure(.foreign, "has a \(type) that is not of an index of crashpadctl group: \(name.prefix(60))")
      }
    }
  }

  private func check(_ settings: [String: String]) throws {
    let select = try file.prepare("SELECT value FROM settings WHERE name = ?")
    for (name, value) in settings {
      try select.bind([.text(name)])
      guard try select.step(), select.text(0) == value else {
        throw SQLiteFailure(
          .foreign,
          name == "rules"
            ? "was made with version \(select.text(0) ?? "?") of the rules; --rules names it"
            : "was made with another --in-app")
      }
    }
  }

  private func migrate() throws {
    try file.transaction {
      // Another process may have done it since.
      let version = try number("PRAGMA user_version")
      guard version < GroupIndexTables.version else { return }
      try file.run(version == 3 ? GroupIndexTables.migrationOfThird : GroupIndexTables.migration)
      try setVersion()
    }
  }

  private func setVersion() throws { try file.run("PRAGMA user_version = \(GroupIndexTables.version)") }

  private func number(_ sql: String) throws -> Int {
    let statement = try file.prepare(sql)
    guard try statement.step() else { return 0 }
    return Int(statement.number(0) ?? 0)
  }

  func failures() throws -> Int { try number("SELECT count(*) FROM dumps WHERE failed") }

  func signatures() throws -> [Int64: GroupCounts.Key] {
    var keys: [Int64: GroupCounts.Key] = [:]
    let select = try file.prepare("SELECT number, id, text, raw, named, flags FROM signatures")
    while try select.step() {
      keys[select.number(0) ?? 0] = GroupCounts.Key(
        id: select.text(1) ?? "", text: select.text(2) ?? "", raw: select.text(3) ?? "",
        isNamed: select.number(4) == 1,
        flags: (select.text(5) ?? "").split(separator: " ").map(String.init))
    }
    return keys
  }

  // MARK: What is known

  /// A file that may be known.
  package struct Candidate: Sendable {
    /// Absolute.
    package let path: String
    /// Nil if it is gone since the directory was listed, or could not be examined.
    package let identity: FileIdentity?

    package init(path: String, identity: FileIdentity?) {
      self.path = path
      self.identity = identity
    }
  }

  /// The files that have to be read, as indices of `files`: the index does not have them, or has them as they were.
  package func unknown(_ files: [Candidate]) throws -> [Int] {
    var unknown = files.indices.filter { files[$0].identity == nil }
    // One pass over both, in the order of an index that has all that is compared.
    let ordered = files.indices.compactMap { index in files[index].identity.map { (identity: $0, index: index) } }
      .sorted {
        $0.identity.inode == $1.identity.inode
          ? files[$0.index].path.utf8.lexicographicallyPrecedes(files[$1.index].path.utf8)
          : $0.identity.inode < $1.identity.inode
      }
    let select = try file.prepare("SELECT inode, path, size, modified FROM dumps ORDER BY inode, path")
    var isThere = try select.step()
    for (identity, index) in ordered {
      var order = -1
      while isThere {
        order = Self.order(of: select, files[index].path, identity)
        if order >= 0 { break }
        isThere = try select.step()
      }
      if !isThere || order > 0 || select.number(2) != identity.size || select.number(3) != identity.modified {
        unknown.append(index)
      }
    }
    return unknown.sorted()
  }

  /// Negative if the row comes before the file, 0 if it is that of the file.
  private static func order(of row: SQLiteFile.Statement, _ path: String, _ identity: FileIdentity) -> Int {
    let inode = row.number(0) ?? 0
    guard inode == identity.inode else { return inode < identity.inode ? -1 : 1 }
    return row.compare(1, path)
  }

  /// Adds files in one transaction.
  package func add(_ entries: [GroupIndexEntry]) throws {
    if entries.isEmpty { return }
    try file.transaction {
      var adding = try GroupIndexAdding(file)
      for entry in entries { try adding.add(entry) }
      try adding.finish()
    }
  }

  /// The crashes of the index from a time on.
  ///
  /// - Parameter since: seconds since 1970; crashes without a time are left out.
  package func part(since: Int64) throws -> CrashGroups.Part {
    var part = CrashGroups.Part()
    try file.reading {
      part.failed = try failures()
      var cells: [Int64: GroupCounts] = [:]
      let select = try file.prepare(
        "SELECT \(Self.columns) FROM dumps WHERE time >= ? AND signature IS NOT NULL")
      try select.bind([.number(since)])
      while try select.step() { cells[select.number(0) ?? 0, default: GroupCounts()].add(Self.facts(select)) }
      part.add(cells, try signatures())
    }
    return part
  }

  /// The number of crashes of which no dump says when they were.
  package func undatedCount() throws -> Int {
    var count = 0
    try file.reading {
      let select = try file.prepare("SELECT count(*) FROM dumps WHERE time IS NULL AND signature IS NOT NULL")
      if try select.step() { count = Int(clamping: select.number(0) ?? 0) }
    }
    return count
  }

  /// The facts in a row of `columns`.
  static func facts(_ row: SQLiteFile.Statement) -> CrashFacts {
    let path = row.text(1) ?? ""
    var facts = CrashFacts(id: row.text(2) ?? path, input: path)
    facts.report = row.text(2)
    facts.time = row.number(3)
    facts.program = row.text(4)
    facts.version = row.text(5)
    facts.device = row.text(6)
    facts.system = row.text(7)
    facts.client = row.text(8)
    facts.processID = row.number(9)
    facts.isQuick = row.number(10) == 1
    facts.role = row.text(11).flatMap { CrashAccount.Role(rawValue: $0) }
    facts.process = row.text(12)
    facts.periodStart = row.number(13)
    return facts
  }

  static let columns = """
    signature, path, report, time, program, version, device, system, client, pid, quick, role, process, since
    """
}

extension CrashGroups.Part {
  mutating func add(_ cells: [Int64: GroupCounts], _ signatures: [Int64: GroupCounts.Key]) {
    for (number, cell) in cells {
      guard let key = signatures[number] else { continue }
      self.cells[key, default: GroupCounts()].add(cell)
    }
  }
}

extension FileIdentity {
  /// The number of the inode, as a column has it and sorts it.
  var inode: Int64 { Int64(bitPattern: number) }
}

extension String {
  fileprivate var replacingLineFeeds: String { String(map { $0.isNewline ? " " : $0 }) }
}
