import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadText
import CrashpadSnapshot
import CrashpadSupervision
import Glibc
import SystemPackage

/// `--database`, for all commands that work on a database.
struct DatabaseOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Database directory; by default $CRASHPADCTL_DATABASE.", valueName: "dir"),
    completion: .directory)
  var database: String?

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
    do { return try CrashDatabase(path) } catch {
      Terminal.error(Sentences.databaseFailure(error, path))
      let (text, status) = Sentences.failure(error, creating: false)
      report(path, text, status)
      throw status
    }
  }
}

/// `--database` for commands that capture crashes.
struct RunDatabaseOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Database directory; by default $CRASHPAD_HANDLER_DATABASE, $CRASHPADCTL_DATABASE, or crashpad in $XDG_STATE_HOME or ~/.local/state.",
      valueName: "dir"),
    completion: .directory)
  var database: String?

  func path() throws -> FilePath { try Self.path(database) }

  /// The same for a program that creates the database. Makes the parents of the default one; those of another have to exist, as
  /// a mistyped path would become a new tree.
  static func place(_ database: String?) throws -> FilePath {
    let path = try path(database)
    let parent = path.removingLastComponent()
    if database?.isEmpty ?? true, path == (try? standardPath()) {
      // If this fails, the handler can't create the database either, and reports it.
      try? createDirectories(parent)
    } else if !parent.isEmpty, (try? FileKind(at: parent, followingLink: true)) == nil,
      (try? FileKind(at: path, followingLink: true)) == nil
    {
      throw Terminal.failure(
        Errno.noSuchFileOrDirectory, of: "\(Wording.printable(path)): its directory \(Wording.printable(parent))",
        creating: true)
    }
    return path
  }

  /// The named directory, or the default one, as an absolute path.
  static func path(_ database: String?) throws -> FilePath {
    if let database, !database.isEmpty { return HandlerLibrary.absolute(FilePath(argument: database)) }
    for name in ["CRASHPAD_HANDLER_DATABASE", "CRASHPADCTL_DATABASE"] {
      if let path = Environment.path(name) { return HandlerLibrary.absolute(path) }
    }
    return try standardPath()
  }

  /// The directory for what users' programs keep.
  private static func standardPath() throws -> FilePath {
    let state: FilePath
    if let path = Environment.path("XDG_STATE_HOME"), path.isAbsolute {
      state = path
    } else if let home = Environment.path("HOME"), home.isAbsolute {
      state = home.appending(".local/state")
    } else {
      throw Terminal.failure("--database is missing, and $HOME is not set", .usage)
    }
    return state.appending("crashpad")
  }
}

/// `--now`, for all commands that use the time.
struct ClockOption: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("Use this time instead of the clock: RFC 3339, or seconds since 1970.", valueName: "time"))
  var now: TimeArgument?

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

  init?(argument: String) {
    // A number without a unit is seconds since 1970, as in scripts.
    if let time = TimeArgument(argument: argument) {
      kind = .time(time)
    } else if let age = DurationArgument(argument: argument) {
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
