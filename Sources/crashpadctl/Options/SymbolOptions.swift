// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// The options for finding symbols, shared by several commands.
struct SymbolOptions: OptionTable {
  var symbols: [String] = []
  var noSystem = false
  var debuginfod = false

  mutating func rows(_ row: inout OptionRows) {
    row.symbols(&symbols, "Symbol file or directory to search first. May be repeated.")
    row.flag(&noSystem, "--no-system", "Do not search this machine's own binaries and debug files.")
    row.flag(&debuginfod, "--debuginfod", "Also ask the servers in DEBUGINFOD_URLS; needs libdebuginfod.")
  }

  /// Ends the command if a named path does not exist.
  func search() throws -> SymbolSearch {
    try Self.checkPaths(symbols)
    let obstacle = debuginfod ? Self.debuginfodObstacle : nil
    if let obstacle { Terminal.warning(Sentences.noEffect("--debuginfod", obstacle)) }
    return SymbolSearch(
      paths: symbols.map { FilePath(argument: $0) }, looksInSystem: !noSystem, debuginfod: debuginfod && obstacle == nil
    )
  }

  /// The reason why no server can be asked here; nil if one can.
  private static var debuginfodObstacle: String? {
    if Environment.text("DEBUGINFOD_URLS") == nil { return "DEBUGINFOD_URLS is not set" }
    return SymbolSearch.hasDebuginfod ? nil : "libdebuginfod is not installed"
  }

  /// Warns about files and directories that can't be read, and a symbol server that failed. Otherwise their modules
  /// would look like modules without symbols.
  ///
  /// - Parameter reported: the files of which findings were printed already.
  static func reportFaults(_ search: SymbolSearch, except reported: Set<FilePath> = []) {
    for finding in search.faults.findings where !reported.contains(finding.file) {
      Terminal.error(Sentences.line(finding))
    }
    if let failure = search.serverFailure { Terminal.warning(Sentences.noAnswer(failure)) }
  }

  /// Ends the command if a path does not exist. One that can't be read is reported when it is searched.
  static func checkPaths(_ paths: [String]) throws {
    for path in paths {
      do {
        _ = try FileKind(at: FilePath(argument: path), followingLink: true)
      } catch Errno.permissionDenied, Errno.ioError, Errno.tooManySymbolicLinkLevels {
        continue
      } catch {
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
