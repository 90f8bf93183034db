import ArgumentParser
import CrashDatabase
import FileSystem
import Glibc
import Snapshot
import SystemPackage

/// `--database`, for every command that works on one.
struct DatabaseOption: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The database directory. Without it, $CRASHPADCTL_DATABASE.", valueName: "dir"),
    completion: .directory)
  var database: String?

  /// The option's, or the environment's. If there is neither, says so and ends the tool: only now, as a misspelt option is
  /// better called misspelt than missing.
  func path() throws -> FilePath {
    if let database, !database.isEmpty { return FilePath(database) }
    let variable = unsafe getenv("CRASHPADCTL_DATABASE").map { unsafe FilePath(platformString: $0) }
    guard let variable, !variable.isEmpty else {
      Terminal.error("Error: Missing --database; $CRASHPADCTL_DATABASE is not set either.")
      throw ExitCode(ExitStatus.usage.rawValue)
    }
    return variable
  }

  /// Opens the database; if that fails, says why and ends the tool.
  func open() throws -> CrashDatabase {
    let path = try path()
    do { return try CrashDatabase(path) } catch {
      Terminal.error(Sentences.databaseFailure(error, path))
      throw ExitCode(Sentences.failure(error, creating: false).status.rawValue)
    }
  }
}

/// `--now`, for every command that goes by the time.
struct ClockOption: ParsableArguments {
  @Option(name: .long, help: ArgumentHelp("The time to go by: RFC 3339, or seconds since 1970.", valueName: "time"))
  var now: TimeArgument?

  /// Seconds since 1970: the option's, or the clock's.
  var seconds: Int64 { now?.seconds ?? TimeArgument.now }
}

/// A point in time: `now`, seconds since 1970, or RFC 3339 (`2026-11-21`, `2026-11-21T08:30:00Z`, `…+01:00`); with a blank for
/// the T too, and without a zone or with ` UTC` behind it in UTC.
struct TimeArgument: ExpressibleByArgument, Sendable, Equatable {
  /// Seconds since 1970.
  let seconds: Int64

  init(seconds: Int64) { self.seconds = seconds }

  init?(argument: String) {
    if argument.lowercased() == "now" {
      self.init(seconds: Self.now)
    } else if let seconds = Int64(argument) {
      // Beyond, there is no date for it, nor for what comes some days later.
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

  /// A time of day without a zone, or with its name, is in UTC.
  private static func inUTC(_ text: String) -> String {
    for zone in [" UTC", " GMT"] where text.hasSuffix(zone) { return text.dropLast(zone.count) + "Z" }
    return text + "Z"
  }

  /// The clock's, in seconds since 1970: once for the whole run.
  static let now = Int64(time(nil))
}

/// A duration: a number with `s`, `m`, `h`, `d` or `w` behind it, several of them in a row (`1d12h`), or seconds.
struct DurationArgument: ExpressibleByArgument, Sendable, Equatable {
  let seconds: Int64

  init(seconds: Int64) { self.seconds = seconds }

  init?(argument: String) {
    if let seconds = Int64(argument), seconds >= 0 {
      self.init(seconds: seconds)
      return
    }
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400]
    var total: Int64 = 0
    var digits = ""
    for character in argument {
      if character.isASCII, character.isNumber {
        digits.append(character)
        continue
      }
      guard let unit = units[character], let number = Int64(digits) else { return nil }
      let (product, overflow) = number.multipliedReportingOverflow(by: unit)
      let (sum, tooMuch) = total.addingReportingOverflow(product)
      guard !overflow, !tooMuch else { return nil }
      total = sum
      digits = ""
    }
    guard digits.isEmpty, !argument.isEmpty else { return nil }
    self.init(seconds: total)
  }

  var defaultValueDescription: String { Wording.shortDuration(seconds) }
}

/// A size: a number with `KiB`, `MiB`, `GiB`, `TiB` behind it (also `K`, `M`, `G`, `T`), or bytes.
struct SizeArgument: ExpressibleByArgument, Sendable, Equatable {
  /// Bytes.
  let bytes: UInt64

  init(bytes: UInt64) { self.bytes = bytes }

  init?(argument: String) {
    let digits = argument.prefix { $0.isASCII && $0.isNumber }
    let unit = argument.dropFirst(digits.count)
    let shifts: [String: UInt64] = [
      "": 0, "B": 0, "KiB": 10, "K": 10, "MiB": 20, "M": 20, "GiB": 30, "G": 30, "TiB": 40, "T": 40,
    ]
    guard let number = UInt64(digits), let shift = shifts[String(unit)] else { return nil }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
    guard !overflow else { return nil }
    self.init(bytes: bytes)
  }

  var defaultValueDescription: String { Wording.size(bytes) }
}
