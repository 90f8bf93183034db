// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadSQLite
internal import SystemPackage

/// A database of SQLite. Not for several threads at once.
///
/// SQLite's own library: GRDB has it as a shared library too, adds 3 MB, and is made for much more than two tables.
@safe final class SQLiteFile {
  private let connection: sqlite_connection

  /// Opens the file, or makes it. Locks of other processes are waited for, for 60 s.
  init(_ path: FilePath) throws(SQLiteFailure) {
    guard sqlite_load() else { throw SQLiteFailure(.notInstalled, "") }
    var connection: sqlite_connection?
    let result = unsafe path.withPlatformString { unsafe sqlite_open($0, &connection) }
    guard let connection = unsafe connection else { throw SQLiteFailure(.other, "out of memory") }
    unsafe self.connection = unsafe connection
    try check(result)
  }

  deinit { unsafe sqlite_close(connection) }

  /// Statements without results.
  func run(_ sql: String) throws(SQLiteFailure) { try check(unsafe sqlite_execute(connection, sql)) }

  func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
    var statement: sqlite_statement?
    let result = unsafe sqlite_prepare(connection, sql, &statement)
    guard result == 0, let statement = unsafe statement else { throw failure(result) }
    return unsafe Statement(self, statement)
  }

  /// Runs `body` in a transaction that has the file for itself; an error undoes what it did.
  func transaction(_ body: () throws -> Void) throws {
    try run("BEGIN IMMEDIATE")
    do {
      try body()
      try run("COMMIT")
    } catch {
      try? run("ROLLBACK")
      throw error
    }
  }

  /// Runs `body`, which sees the file as it is at one moment.
  func reading(_ body: () throws -> Void) throws {
    try run("BEGIN")
    defer { try? run("COMMIT") }
    try body()
  }

  fileprivate func check(_ result: Int32) throws(SQLiteFailure) { if result != 0 { throw failure(result) } }

  fileprivate func failure(_ result: Int32) -> SQLiteFailure {
    let reason: SQLiteFailure.Reason =
      switch result & 0xff {
      case 5, 6: .busy
      case 11: .damaged
      case 26: .notADatabase
      case 14: .cannotOpen
      case 13: .full
      case 8: .readOnly
      case 10: .unreadable
      default: .other
      }
    return SQLiteFailure(reason, unsafe String(cString: sqlite_message(connection)))
  }

  /// A statement that may be run many times.
  @safe final class Statement {
    private let file: SQLiteFile
    private let statement: sqlite_statement

    fileprivate init(_ file: SQLiteFile, _ statement: sqlite_statement) {
      self.file = file
      unsafe self.statement = unsafe statement
    }

    deinit { unsafe sqlite_finalize(statement) }

    /// Begins anew, with these parameters.
    func bind(_ values: [SQLiteValue]) throws(SQLiteFailure) {
      _ = unsafe sqlite_reset(statement)
      for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    }

    /// Whether there is a row.
    func step() throws(SQLiteFailure) -> Bool {
      let result = unsafe sqlite_step(statement)
      switch result {
      case 100: return true
      case 101:
        _ = unsafe sqlite_reset(statement)
        return false
      default:
        _ = unsafe sqlite_reset(statement)
        throw file.failure(result)
      }
    }

    /// Runs a statement without results.
    func run(_ values: [SQLiteValue]) throws(SQLiteFailure) {
      try bind(values)
      while try step() {}
    }

    private func bind(_ value: SQLiteValue, at parameter: Int32) throws(SQLiteFailure) {
      switch value {
      case .number(let number): try file.check(unsafe sqlite_bind_number(statement, parameter, number))
      case .nothing: try file.check(unsafe sqlite_bind_nothing(statement, parameter))
      case .text(let text):
        try file.check(unsafe sqlite_bind_string(statement, parameter, text, Int32(clamping: text.utf8.count)))
      }
    }

    func number(_ column: Int32) -> Int64? {
      unsafe sqlite_is_null(statement, column) ? nil : sqlite_number(statement, column)
    }

    /// Negative if the bytes of a column come before those of `text`, 0 if they are the same.
    func compare(_ column: Int32, _ text: String) -> Int {
      var count: Int32 = 0
      guard let bytes = unsafe sqlite_string(statement, column, &count) else { return -1 }
      var text = text
      return text.withUTF8 { other in
        let common = min(Int(count), other.count)
        for index in 0..<common where unsafe bytes[index] != other[index] {
          return unsafe bytes[index] < other[index] ? -1 : 1
        }
        return Int(count) - other.count
      }
    }

    func text(_ column: Int32) -> String? {
      var count: Int32 = 0
      guard let bytes = unsafe sqlite_string(statement, column, &count) else { return nil }
      return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }
  }
}

/// The value of a column.
enum SQLiteValue {
  case number(Int64)
  case text(String)
  case nothing

  init(_ text: String?) { self = text.map { .text($0) } ?? .nothing }
  init(_ number: Int64?) { self = number.map { .number($0) } ?? .nothing }
}

/// Why an index can't be used.
package struct SQLiteFailure: Error {
  package enum Reason: Sendable {
    case notInstalled
    /// Another process had it locked for too long.
    case busy
    case notADatabase
    /// Its pages contradict each other.
    case damaged
    case cannotOpen
    case full
    case readOnly
    case unreadable
    /// A database of another program, or of another version of the rules.
    case foreign
    case other
  }
  package let reason: Reason
  /// In SQLite's words.
  package let message: String

  init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }
}
