import ArgumentParser
import FileSystem
import Glibc
import Symbolication
import SystemPackage

/// Where symbols are looked for: options of several commands.
struct SymbolOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Symbol file or directory to search first. May be repeated.", valueName: "path"),
    completion: .file())
  var symbols: [String] = []

  @Flag(name: .customLong("no-system"), help: "Do not search this machine's own binaries and debug files.")
  var noSystem = false

  @Flag(name: .long, help: "Also ask the servers in DEBUGINFOD_URLS; needs libdebuginfod.")
  var debuginfod = false

  var places: SymbolPlaces { SymbolPlaces(symbols: symbols, noSystem: noSystem, debuginfod: debuginfod) }

  /// Ends the command if a path that was named is not there.
  func search() throws -> SymbolSearch { try places.search() }
}

/// Where symbols are looked for, apart from how the command line says it.
struct SymbolPlaces {
  var symbols: [String] = []
  var noSystem = false
  var debuginfod = false

  /// Ends the command if a path that was named is not there.
  func search() throws -> SymbolSearch {
    try Self.checkPaths(symbols)
    if debuginfod {
      if unsafe getenv("DEBUGINFOD_URLS").map({ unsafe $0.pointee == 0 }) ?? true {
        Terminal.error("crashpadctl: warning: --debuginfod has no effect: DEBUGINFOD_URLS is not set")
      } else if !SymbolSearch.hasDebuginfod {
        Terminal.error("crashpadctl: warning: --debuginfod has no effect: libdebuginfod is not installed")
      }
    }
    return SymbolSearch(paths: symbols.map { FilePath(argument: $0) }, looksInSystem: !noSystem, debuginfod: debuginfod)
  }

  /// A module whose symbols no server was asked for looks like one that no server has.
  static func reportServerFailure(_ search: SymbolSearch) {
    guard let failure = search.serverFailure else { return }
    Terminal.error("crashpadctl: warning: a server of DEBUGINFOD_URLS gave no answer: \(failure)")
  }

  static func checkPaths(_ paths: [String]) throws {
    for path in paths {
      do {
        _ = try FileKind(at: FilePath(argument: path), followingLink: true)
      } catch {
        let (text, status) = Sentences.failure(error, creating: false)
        Terminal.error("\(displayName(path)): error: \(text)")
        throw ExitCode(status.rawValue)
      }
    }
  }
}

/// How many frames of a stack are printed.
struct FrameLimit: ExpressibleByArgument {
  /// Nil is all.
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
