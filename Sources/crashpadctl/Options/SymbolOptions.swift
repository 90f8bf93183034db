// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// The options for finding symbols, shared by several commands.
struct SymbolOptions: OptionTable {
  var symbols: [String] = []
  var noSystem = false
  var debuginfod = false
  var servers = SymbolServerArguments()

  mutating func rows(_ row: inout OptionRows) {
    row.symbols(&symbols, "Symbol file or directory to search first. May be repeated.")
    row.flag(&noSystem, "--no-system", "Do not search this machine's own binaries and debug files.")
    row.flag(&debuginfod, "--debuginfod", "Also ask the servers in DEBUGINFOD_URLS.")
    row.group(&servers)
  }

  /// Ends the command if a named path does not exist.
  func search() throws -> SymbolSearch {
    try Self.checkPaths(symbols)
    return SymbolSearch(
      paths: symbols.map { FilePath(argument: $0) }, looksInSystem: !noSystem,
      servers: try servers.client(debuginfod: debuginfod), indexes: servers.indexes)
  }

  /// Warns about files and directories that can't be read. Otherwise their modules would look like modules without symbols.
  ///
  /// - Parameter reported: the files of which findings were printed already.
  static func reportFaults(_ search: SymbolSearch, except reported: Set<FilePath> = []) {
    DownloadProgress.shared.clear()
    for finding in search.faults.findings where !reported.contains(finding.file) {
      Terminal.error(Sentences.line(finding))
    }
  }

  /// Ends the command if a path does not exist. One that can't be read is reported when it is searched.
  static func checkPaths(_ paths: [String]) throws {
    for path in paths {
      do {
        _ = try FileKind(at: FilePath(argument: path), followingLink: true)
      } catch Errno.permissionDenied, Errno.ioError, Errno.tooManySymbolicLinkLevels {
        continue
      } catch {
        if path.containsBytes("://") {
          throw Terminal.failure("--symbols takes files and directories; --symbols-url takes a server.", .usage)
        }
        throw Terminal.failure(error, of: displayName(path), creating: false)
      }
    }
  }
}

/// The number of stack frames to print.
struct FrameLimit: ExpressibleByArgument {
  /// Nil for all frames.
  let count: Int?

  static let standard = FrameLimit(count: 512)

  init(count: Int?) { self.count = count }

  init?(argument: String) {
    if argument == "all" {
      count = nil
      return
    }
    guard let number = Int(argument), number > 0 else { return nil }
    count = number
  }

  var defaultValueDescription: String { count.map { String($0) } ?? "all" }
}
