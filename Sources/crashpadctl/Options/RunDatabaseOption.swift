// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSupervision
import CrashpadText
import SystemPackage

/// `--database` for commands that capture crashes.
struct RunDatabaseOption: OptionTable {
  var database: String?

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &database, "-d, --database <dir>",
      "Database directory; by default $CRASHPAD_HANDLER_DATABASE, $CRASHPADCTL_DATABASE, or crashpad in $XDG_STATE_HOME or ~/.local/state.",
      .directory)
  }

  /// The named directory, or the default one, as an absolute path.
  func path() throws -> FilePath {
    if let database, !database.isEmpty { return FilePath(argument: database).absolute }
    for name in ["CRASHPAD_HANDLER_DATABASE", "CRASHPADCTL_DATABASE"] {
      if let path = Environment.path(name) { return path.absolute }
    }
    return try Self.standardPath()
  }

  /// The same for a program that creates the database. Makes the parents of the default one; those of another have to exist, as
  /// a mistyped path would become a new tree.
  func place() throws -> FilePath {
    let path = try path()
    let parent = path.removingLastComponent()
    if database?.isEmpty ?? true, path == hint({ try Self.standardPath() }) {
      // If this fails, the handler can't create the database either, and reports it.
      try? createDirectories(parent)
    } else if Self.lacksDirectory(path) {
      throw Terminal.failure(
        Errno.noSuchFileOrDirectory, of: "\(TextFormat.printable(path)): its directory \(TextFormat.printable(parent))",
        creating: true)
    }
    return path
  }

  /// Whether neither a database nor the directory in which it would be made is there.
  static func lacksDirectory(_ path: FilePath) -> Bool {
    let parent = path.removingLastComponent()
    return !parent.isEmpty && hint({ try FileKind(at: parent, followingLink: true) }) == nil
      && hint({ try FileKind(at: path, followingLink: true) }) == nil
  }

  /// Whether the option or the environment names the database. Its parents are not made, as those of the default one.
  var isNamed: Bool {
    database?.isEmpty == false || hint({ try path() != Self.standardPath() }) ?? true
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
