// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadSymbolication
import CrashpadText
import SystemPackage

struct SymbolsDumpCommand: Command {
  static let name = "dump"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Create Breakpad symbol files.",
    discussion: flowing(
      """
      Reads executables, libraries, their debug files, and dSYM bundles. Without
      --debug, the debug file is searched where the file names it, next to it, and by
      build id below /usr/lib/debug. With --shared-cache, writes a file for each
      library of a system of Apple's.

      Examples:
        crashpadctl symbols dump app -o app.sym
        crashpadctl symbols dump app --debug app.debug -o symbols/
        crashpadctl symbols dump bin/* lib/*.so -o symbols/
        crashpadctl symbols dump --shared-cache dyld_shared_cache_arm64e -o symbols/
      """))

  var files: [String] = []
  var output: String?
  var debug: String?
  var sharedCache: String?
  var name: String?
  var noDemangle = false
  var noInlines = false
  var noCFI = false
  var jobs: Int = 0
  var quiet = false

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(
      &files, "<files>", "Executables, libraries, debug files, or dSYM bundles.", .file(), isRequired: false)
    row.outputPath(
      &output, "Output: a .sym file, - for standard output (the default), or a directory for NAME/ID/NAME.sym files.")
    row.option(&debug, "--debug <file>", "Debug file of the same build.", .file())
    row.option(
      &sharedCache, "--shared-cache <file>",
      "dyld shared cache; its other files are searched beside it. Needs -o with a directory.", .file())
    row.option(&name, "--name <name>", "Module name; by default the file's name.")
    row.flag(&noDemangle, "--no-demangle", "Write mangled names.")
    row.flag(&noInlines, "--no-inlines", "Write no inlined calls, which old readers do not understand.")
    row.flag(&noCFI, "--no-cfi", "Write no stack unwinding rules (STACK CFI).")
    row.jobs(&jobs, "Number of files to read at once; 0 for one per CPU.")
    row.quiet(&quiet)
  }

  /// Whether the output is a directory for the symbols of many modules.
  private var isStore: Bool {
    guard let output, output != "-" else { return false }
    return files.count > 1 || output.hasSuffix("/")
      || hint({ try FileKind(at: FilePath(argument: output), followingLink: true) }) == .directory
      || (!output.hasSuffix(".sym")
        && hint({ try FileKind(at: FilePath(argument: output), followingLink: true) }) == nil)
  }

  func validate() throws {
    try checkText("--name", name.map { [$0] } ?? [])
    try checkJobs(jobs)
    if sharedCache != nil { return try validateSharedCache() }
    if files.isEmpty { throw ValidationError("Missing expected argument '<files> ...'") }
    guard files.count > 1 else { return }
    if debug != nil { throw ValidationError("--debug takes one file.") }
    if name != nil { throw ValidationError("--name takes one file.") }
    guard let output, output != "-" else { throw ValidationError("Several files need -o with a directory.") }
    if output.hasSuffix(".sym"), hint({ try FileKind(at: FilePath(argument: output), followingLink: true) }) == nil {
      let name = displayName(output)
      throw ValidationError("\(name) would be a directory, as there are several files; -o \(name)/ makes it.")
    }
  }

  private func validateSharedCache() throws {
    if !files.isEmpty { throw ValidationError("--shared-cache goes with no other files.") }
    if debug != nil { throw ValidationError("--shared-cache and --debug exclude each other.") }
    if name != nil { throw ValidationError("--shared-cache and --name exclude each other.") }
    if output == nil || output == "-" { throw ValidationError("--shared-cache needs -o with a directory.") }
  }

  private enum Outcome: Sendable {
    case done(path: FilePath?, BreakpadWriter.Counts, hasDebugInfo: Bool)
    case failed(text: String, status: ExitStatus)
  }

  private var options: BreakpadWriter.Options {
    var options = BreakpadWriter.Options()
    options.demangles = !noDemangle
    options.hasInlinedCalls = !noInlines
    options.hasFrameRules = !noCFI
    return options
  }

  func run() throws {
    if let sharedCache, let output {
      throw try SharedCacheDump(sharedCache, options, to: FilePath(argument: output)).run(jobs: jobs, isQuiet: quiet)
    }
    let isStore = isStore
    var failures: [ExitStatus] = []
    parallelMapInOrder(count: files.count, jobs: jobCount(jobs), work: { dump(files[$0], isStore) }) {
      index, outcomes in
      for outcome in outcomes {
        self.report(displayName(files[index]), outcome)
        if case .failed(_, let status) = outcome { failures.append(status) }
      }
      return true
    }
    throw files.count == 1 ? failures.first ?? .success : ExitStatus(of: failures)
  }

  private func dump(_ file: String, _ isStore: Bool) -> [Outcome] {
    do {
      let path = FilePath(argument: file)
      let sources = try BreakpadInput.all(path, debug: debug.map { FilePath(argument: $0) }, name: name)
      guard sources.count == 1 || isStore else {
        return [.failed(text: "has \(sources.count) modules, which need -o with a directory", status: .usage)]
      }
      return sources.map { dump($0, path, isStore) }
    } catch is BreakpadInput.NotElf where isSharedCache(file) {
      return [.failed(text: "is a dyld shared cache, which --shared-cache reads", status: .usage)]
    } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      return [.failed(text: text, status: status)]
    }
  }

  private func isSharedCache(_ file: String) -> Bool {
    hint { try SymbolFileIdentity(FilePath(argument: file)).format } == .sharedCache
  }

  private func dump(_ source: BreakpadInput, _ path: FilePath, _ isStore: Bool) -> Outcome {
    let hasSymbols = source.hasSymbols
    if let failure = notWhole(source, path) { return failure }
    guard hasSymbols else { return .failed(text: "has no symbols", status: .noData) }
    let target =
      output == "-"
      ? nil : output.map { isStore ? source.module.path(below: FilePath(argument: $0)) : FilePath(argument: $0) }
    do {
      guard let target else {
        let counts = try BreakpadWriter.write(source, options, to: StandardOutput())
        if let failure = notWhole(source, path) { return failure }
        return .done(path: nil, counts, hasDebugInfo: source.hasDebugInfo)
      }
      if try isSameFile(path, target) {
        return .failed(text: "would become its own output; -o names another", status: .usage)
      }
      if isStore { try createDirectories(target.removingLastComponent()) }
      let file = try OutputFile(target)
      let counts = try BreakpadWriter.write(source, options, to: file)
      if let failure = notWhole(source, path) { return failure }
      try file.commit(durable: false)
      return .done(path: target, counts, hasDebugInfo: source.hasDebugInfo)
    } catch {
      if target == nil { Terminal.fail(writing: error) }
      let (text, status) = Sentences.failure(error, creating: true)
      return .failed(text: "\(target.map { TextFormat.printable($0) } ?? "<standard output>"): \(text)", status: status)
    }
  }

  private func notWhole(_ source: BreakpadInput, _ path: FilePath) -> Outcome? {
    do { try source.checkReading(of: path) } catch {
      let (text, status) = Sentences.failure(error, creating: false)
      return .failed(text: text, status: status)
    }
    return nil
  }

  private func report(_ name: String, _ outcome: Outcome) {
    switch outcome {
    case .failed(let text, _): Terminal.error("\(name): error: \(text)")
    case .done(let path, let counts, let hasDebugInfo):
      if quiet { return }
      if !hasDebugInfo {
        Terminal.error("\(name): warning: no debug information; there are names, but no files and lines")
      }
      guard let path else { return }
      let parts = [
        TextFormat.count(counts.functions, "function"), TextFormat.count(counts.lines, "line"),
        TextFormat.count(counts.inlinedCalls, "inlined call"), TextFormat.count(counts.publics, "other symbol"),
        TextFormat.count(counts.frameRules, "frame rule"),
      ]
      Terminal.error("\(name): \(parts.joined(separator: ", ")) in \(TextFormat.printable(path))")
    }
  }
}
