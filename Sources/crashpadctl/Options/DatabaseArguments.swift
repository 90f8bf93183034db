// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadText
import CrashpadSnapshot
import CrashpadSupervision
import Glibc
import SystemPackage

/// `--database`, for all commands that work on a database.
struct DatabaseOption: OptionTable {
  var database: String?

  mutating func rows(_ row: inout OptionRows) {
    row.option(&database, "-d, --database <dir>", "Database directory; by default $CRASHPADCTL_DATABASE.", .directory)
  }

  /// The path from the option or the environment. If there is neither, prints an error and ends the tool. This is not
  /// checked during parsing, so that a misspelled option is reported as misspelled and not as missing.
  func path() throws -> FilePath {
    if let database, !database.isEmpty { return FilePath(argument: database) }
    guard let variable = Environment.path("CRASHPADCTL_DATABASE") else {
      throw Terminal.failure("--database is missing, and $CRASHPADCTL_DATABASE is not set", .usage)
    }
    return variable
  }

  /// Opens the database. If that fails, prints the reason, passes it to `report`, and ends the tool.
  func open(
    orReport report: (FilePath, _ text: String, ExitStatus) -> Void = { _, _, _ in }
  ) throws -> CrashDatabase {
    let path = try path()
    do { return try .opened(path) } catch {
      Terminal.error(Sentences.databaseFailure(error, path))
      let (text, status) = Sentences.failure(error, creating: false)
      report(path, text, status)
      throw status
    }
  }
}

extension CrashDatabase {
  /// Opens the database at `path`. Throws `FileFailure`, whose path messages name, or `OpenFailure.notADatabase`.
  static func opened(_ path: FilePath) throws -> CrashDatabase {
    do { return try CrashDatabase(path) } catch { throw error.cause }
  }
}

/// `--now`, for all commands that use the time.
struct ClockOption: OptionTable {
  var now: TimeArgument?

  mutating func rows(_ row: inout OptionRows) {
    row.option(&now, "--now <time>", "Use this time instead of the clock: RFC 3339, or seconds since 1970.")
  }

  /// The time of the option or the clock, in seconds since 1970.
  var seconds: Int64 { now?.seconds ?? TimeArgument.now }
}

/// A point in time: `now`, seconds since 1970, or RFC 3339 (`2026-11-21`, `2026-11-21T08:30:00Z`, `…+01:00`). A blank
/// may replace the T, and a time without a zone or with a trailing ` UTC` is in UTC.
struct TimeArgument: ExpressibleByArgument, Sendable, Equatable {
  /// Seconds since 1970.
  let seconds: Int64

  init(seconds: Int64) { self.seconds = seconds }

  init?(argument: String) {
    if argument.lowercased() == "now" {
      self.init(seconds: Self.now)
    } else if let seconds = Int64(argument) {
      // Later times have no date, and the range leaves room for adding days.
      guard Self.years.contains(seconds) else { return nil }
      self.init(seconds: seconds)
    } else if let seconds = RFC3339.seconds(argument) ?? RFC3339.seconds(Self.inUTC(argument)) {
      self.init(seconds: seconds)
    } else {
      return nil
    }
  }

  /// From the beginning of year 1 to the end of year 9999, in seconds since 1970.
  private static let years: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  /// Appends `Z` to a time of day without a zone, or in place of the zone's name.
  private static func inUTC(_ text: String) -> String {
    for zone in [" UTC", " GMT"] where text.hasSuffix(zone) { return text.dropLast(zone.count) + "Z" }
    return text + "Z"
  }

  /// The time of the clock in seconds since 1970, read once for the whole run.
  static let now = Int64(time(nil))
}

/// A point in time, or an age: `2026-11-21`, or `1d` for a day ago.
struct TimeOrAge: ExpressibleByArgument, Sendable, Equatable {
  private enum Kind: Equatable {
    case time(TimeArgument)
    case age(DurationArgument)
  }
  private let kind: Kind
  /// Two years in minutes; as a time it is in January 1970.
  private static let greatestAge: Int64 = 2 * 366 * 24 * 60

  init?(argument: String) {
    // A number without a unit is seconds since 1970, as in scripts; a small one was meant as an age.
    if let number = Int64(argument), (1...Self.greatestAge).contains(number) { return nil }
    if let time = TimeArgument(argument: argument) {
      kind = .time(time)
    } else if argument.contains(where: \.isLetter), let age = DurationArgument(argument: argument) {
      // A number without a unit is no age, however large: milliseconds since 1970 would be an age of thousands of years.
      kind = .age(age)
    } else {
      return nil
    }
  }

  /// The time in seconds since 1970.
  func seconds(now: Int64) -> Int64 {
    switch kind {
    case .time(let time): time.seconds
    case .age(let age): now.subtractingReportingOverflow(age.seconds).partialValue
    }
  }
}
