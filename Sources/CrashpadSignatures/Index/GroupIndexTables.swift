// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The tables of an index, and what makes one of another version into one of this.
enum GroupIndexTables {
  /// "cpgi", in the file's header.
  static let applicationID = 0x6370_6769
  static let version = 4

  static let settings = """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE signatures (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL, text TEXT NOT NULL, raw TEXT NOT NULL, named INTEGER NOT NULL,
      flags TEXT NOT NULL, UNIQUE (id, text, raw, named, flags));
    """

  /// Triggers keep the sums, so that they hold when any program deletes rows of `dumps`. Rows are added by `GroupIndexAdding`,
  /// which adds to the sums once for all dumps of a transaction.
  static let dumps = """
    CREATE TABLE dumps (
      path TEXT PRIMARY KEY, inode INTEGER NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
      failed INTEGER NOT NULL, signature INTEGER REFERENCES signatures (number), report TEXT, time INTEGER,
      program TEXT, version TEXT, device TEXT, system TEXT, client TEXT, pid INTEGER, quick INTEGER NOT NULL,
      role TEXT, process TEXT, since INTEGER, separate INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE sums (
      fact TEXT NOT NULL, signature INTEGER NOT NULL, name TEXT NOT NULL, part TEXT NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (fact, signature, name, part)) WITHOUT ROWID;
    CREATE INDEX dumps_by_report ON dumps (report) WHERE report IS NOT NULL;
    CREATE INDEX dumps_by_file ON dumps (inode, path, size, modified);
    CREATE INDEX dumps_by_time ON dumps (signature, time) WHERE signature IS NOT NULL AND NOT separate;
    CREATE INDEX dumps_by_name ON dumps (signature, coalesce(report, path), path)
      WHERE signature IS NOT NULL AND NOT separate;
    CREATE INDEX dumps_by_process ON dumps (pid, role) WHERE pid IS NOT NULL AND role IS NOT NULL;
    CREATE INDEX dumps_quick ON dumps (signature, client, time)
      WHERE quick AND NOT separate AND signature IS NOT NULL AND client IS NOT NULL AND time IS NOT NULL;
    CREATE INDEX dumps_failed ON dumps (path) WHERE failed;
    CREATE INDEX dumps_separate ON dumps (path) WHERE separate;
    CREATE TRIGGER dump_separated AFTER UPDATE OF separate ON dumps
    WHEN OLD.signature IS NOT NULL AND NOT OLD.separate AND NEW.separate BEGIN
      \(sum("OLD", "-"))
      \(removal)
    END;
    CREATE TRIGGER dump_removed AFTER DELETE ON dumps WHEN OLD.signature IS NOT NULL AND NOT OLD.separate BEGIN
      \(sum("OLD", "-"))
      \(removal)
    END;
    CREATE VIEW crashes AS
      SELECT path, id, text, raw, datetime(time, 'unixepoch') AS time, program, version, device, system, client, report
      FROM dumps JOIN signatures ON signature = number;
    CREATE VIEW groups AS
      SELECT id, text, count(*) AS count, min(time) AS first, max(time) AS last FROM crashes GROUP BY id;
    """

  /// The statements that make tables, indexes and triggers, as SQLite keeps them.
  static let statements: Set<String> = {
    var statements: Set<String> = []
    var statement = ""
    // A statement ends in front of the next CREATE, as those of triggers have semicolons in them.
    for line in (settings + "\n" + dumps + "\nCREATE ").split(separator: "\n") {
      if line.hasPrefix("CREATE ") {
        statements.insert(statement[...].trimmedEnd)
        statement = ""
      }
      statement += (statement.isEmpty ? "" : "\n") + line
    }
    return statements
  }()

  /// The names of tables, indexes and triggers in all versions.
  static let names: Set<String> = [
    "settings", "signatures", "dumps", "sums", "dumps_by_report", "dumps_by_inode", "dumps_by_file", "dumps_by_time",
    "dumps_by_name", "dumps_by_process", "dumps_quick", "dumps_failed", "dumps_separate", "dump_added",
    "dump_separated", "dump_removed",
  ]

  private static let removal = """
    DELETE FROM sums WHERE count = 0
        AND fact IN ('crash', 'version', 'device', 'system', 'day', 'unversioned') AND signature = OLD.signature;
    """

  /// The number of sums of the rows that the table of sums does not have.
  static let wrongSums = """
    WITH counted AS (SELECT * FROM dumps WHERE signature IS NOT NULL AND NOT separate)
    SELECT count(*) FROM (
      SELECT fact, signature, name, part, count(*) FROM (
        SELECT 'crash' AS fact, signature, '' AS name, '' AS part FROM counted
        UNION ALL SELECT 'version', signature, version, coalesce(program, '') FROM counted
        UNION ALL SELECT 'device', signature, device, '' FROM counted
        UNION ALL SELECT 'system', signature, system, '' FROM counted
        UNION ALL SELECT iif(version IS NULL, 'unversioned', 'day'), signature, \(day("counted")), coalesce(version, '')
          FROM counted)
      WHERE name IS NOT NULL GROUP BY fact, signature, name, part
      EXCEPT SELECT fact, signature, name, part, count FROM sums)
    """

  /// Adds a row to the sums, or takes it away.
  private static func sum(_ row: String, _ sign: String) -> String {
    """
    INSERT INTO sums
        SELECT column1, \(row).signature, column2, column3, 1 FROM (VALUES
          ('crash', '', ''),
          ('version', \(row).version, coalesce(\(row).program, '')),
          ('device', \(row).device, ''),
          ('system', \(row).system, ''),
          (iif(\(row).version IS NULL, 'unversioned', 'day'), \(day(row)), coalesce(\(row).version, '')))
        WHERE column2 IS NOT NULL
        ON CONFLICT DO UPDATE SET count = count \(sign) 1;
    """
  }

  /// Null of a time that no clock should have.
  private static func day(_ row: String) -> String {
    let days = GroupCounts.knownDays
    return "iif(\(row).time >= \(days.lowerBound * 86400) AND \(row).time < \(days.upperBound * 86400), "
      + "CAST(\(row).time / 86400 AS TEXT), NULL)"
  }

  /// The third version had the sums of added rows from a trigger.
  static let migrationOfThird = "DROP TRIGGER dump_added;"

  /// Keeps the crashes of an older version: most of their dumps may be gone. Files that are there are read again.
  static let migration = """
    DROP VIEW crashes;
    DROP VIEW groups;
    \(["report", "inode", "file", "time", "name"].map { "DROP INDEX IF EXISTS dumps_by_\($0);" }.joined())
    \(["quick", "failed"].map { "DROP INDEX IF EXISTS dumps_\($0);" }.joined())
    \(["added", "removed"].map { "DROP TRIGGER IF EXISTS dump_\($0);" }.joined())
    DROP TABLE IF EXISTS sums;
    ALTER TABLE dumps RENAME TO older;
    \(dumps)
    CREATE TRIGGER dump_added AFTER INSERT ON dumps WHEN NEW.signature IS NOT NULL AND NOT NEW.separate BEGIN
      \(sum("NEW", "+"))
    END;
    INSERT INTO dumps
      SELECT path, inode, size, -1, failed, signature, report, time, program, version, device, system, client, pid, quick,
        NULL, NULL, NULL, 0
      FROM older;
    DROP TABLE older;
    \(migrationOfThird)
    """
}

extension Substring {
  fileprivate var trimmedEnd: String {
    var text = self
    while let last = text.last, last == ";" || last.isWhitespace { text.removeLast() }
    return String(text)
  }
}
