// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolServers
import CrashpadSymbolication
import CrashpadText
import SystemPackage

struct SymbolsIndexCommand: Command {
  static let name = "index"
  static var documents: [DocumentDescription] { [SymbolsIndexDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Find symbol files and organize them by id.",
    discussion: flowing(
      """
      Looks through directories with all that is below them, and prints each file
      with symbols and its id. With -o, they are linked into a store in which
      --symbols, debuggers and Breakpad's tools find them by that id. What is in the
      store already stays. With --prepare, the indexes of large files and directories
      are made that other commands would make when they need them.

      Examples:
        crashpadctl symbols index build/
        crashpadctl symbols index --prepare build/
        crashpadctl symbols index build/ -o symbols/
        crashpadctl symbols index --copy --dry-run build/ -o symbols/
      """))

  var directories: [String] = []
  var output: String?
  var copy = false
  var dryRun = false
  var prepare = false
  var cache: String?
  var format: OutputFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(&directories, "<directories>", "Directories to search, or files.", .directory)
    row.option(&output, "-o, --output <dir>", "Symbol store to add the files to.", .directory)
    row.flag(&copy, "--copy", "Copy the files instead of creating symbolic links.")
    row.dryRun(&dryRun, "Print what would be added to the store; change nothing.")
    row.flag(&prepare, "--prepare", "Make the indexes of large files and directories in the cache now.")
    row.symbolsCache(&cache)
    row.format(&format, "Print text, or one JSON document.")
  }

  func validate() throws {
    if cache != nil, !prepare { throw ValidationError("--symbols-cache goes with --prepare.") }
    if output == nil, copy || dryRun { throw ValidationError("--copy and --dry-run go with -o.") }
    if prepare, dryRun { throw ValidationError("--prepare does not go with --dry-run.") }
  }

  private typealias Outcome = SymbolsIndexDocument.Outcome
  private typealias Row = SymbolsIndexDocument.Row

  func run() throws {
    var outcome = Outcome()
    let preparation = try prepare ? IndexPreparation(ServerCache(SymbolServerArguments.folder(cache)).indexes) : nil
    switch format {
    case .text: writeText(&outcome, preparation)
    case .json: writeJSON(&outcome, preparation)
    }
    let failed = directories.count == 1 && outcome.files == 0 ? outcome.failures.first : nil
    // The place is the reason, and not some of several files.
    if outcome.added + outcome.present + outcome.taken == 0, output != nil, let first = outcome.failures.first,
      first == .cannotCreate || first == .ioError, outcome.failures.allSatisfy({ $0 == first })
    {
      throw first
    }
    throw failed ?? ExitStatus(of: outcome.failures + (outcome.taken == 0 ? [] : [.findings]))
  }

  private func forEachFile(_ outcome: inout Outcome, _ preparation: IndexPreparation?, _ body: (Row) -> Void) {
    var store = output.map { SymbolStore(FilePath(argument: $0), copies: copy, isDryRun: dryRun) }
    for directory in directories {
      do {
        if preparation?.prepare(directory: FilePath(argument: directory)) == true { outcome.indexes += 1 }
        let (files, failures) = (outcome.files, outcome.failures.count)
        try SymbolStore.forEachFile(below: FilePath(argument: directory)) { path, error in
          outcome.failures.append(Terminal.failure(error, of: TextFormat.printable(path), creating: false))
        } _: { file in
          outcome.files += 1
          if file.debugIDs.isEmpty { outcome.withoutID += 1 }
          let places = store?.places(of: file) ?? []
          var row: [(FilePath, SymbolStore.Outcome)] = []
          for place in places { row.append((place, store?.add(file, at: place) ?? .present)) }
          for (place, result) in row { count(result, file, place, &outcome) }
          let isIndexed = preparation?.prepare(file: file.path)
          if isIndexed == true { outcome.indexes += 1 }
          body(Row(file: file, places: row, isIndexed: isIndexed))
        }
        if outcome.files == files, outcome.failures.count == failures {
          outcome.failures.append(Sentences.noSymbolFiles(directory))
        }
      } catch {
        outcome.failures.append(Terminal.failure(error, of: displayName(directory), creating: false))
      }
    }
  }

  private func count(
    _ result: SymbolStore.Outcome, _ file: SymbolStore.File, _ place: FilePath, _ outcome: inout Outcome
  ) {
    switch result {
    case .added: outcome.added += 1
    case .present: outcome.present += 1
    case .taken:
      outcome.taken += 1
      Terminal.error(
        "\(TextFormat.printable(file.path)): warning: another file has its place, \(TextFormat.printable(place))")
    case .failed(let errno):
      Terminal.error("\(TextFormat.printable(place)): error: \(errno)")
      outcome.failures.append(ExitStatus(errno, creating: true))
    }
  }

  /// The build ID, which is complete, or else the ids by which dumps identify the module.
  private func id(_ file: SymbolStore.File) -> String {
    if !file.buildID.isEmpty { return hexadecimalDigits(file.buildID) }
    return file.debugIDs.isEmpty ? "-" : file.debugIDs.map(\.text).joined(separator: ",")
  }

  private func writeText(_ outcome: inout Outcome, _ preparation: IndexPreparation?) {
    var table = TextTable([("id", .left), ("format", .left), ("path", .left)])
    table.elastic = ["path": .tail]
    table.droppable = ["format", "id"]
    forEachFile(&outcome, preparation) { row in
      table.add([id(row.file), row.file.format.rawValue, TextFormat.printable(row.file.path)])
    }
    if outcome.files > 0 { Terminal.output(table.text(.output)) }
    var parts = ["\(TextFormat.count(outcome.files, "file")) with symbols"]
    if outcome.withoutID > 0 { parts.append("\(grouped(outcome.withoutID)) without an id") }
    if output != nil {
      let verb = dryRun ? "would be \(copy ? "copied" : "linked")" : copy ? "copied" : "linked"
      parts.append("\(grouped(outcome.added)) \(verb)")
      if outcome.present > 0 { parts.append("\(grouped(outcome.present)) there already") }
      if outcome.taken > 0 { parts.append("\(grouped(outcome.taken)) left out") }
    }
    if prepare { parts.append("\(TextFormat.count(outcome.indexes, "index", "indexes")) in the cache") }
    Terminal.error("crashpadctl: " + parts.joined(separator: ", "))
  }

  private func writeJSON(_ outcome: inout Outcome, _ preparation: IndexPreparation?) {
    // The document takes the counts out of the closure, which can't change `outcome`.
    let result = SymbolsIndexDocument(store: output, isDryRun: dryRun) { write in
      var outcome = Outcome()
      forEachFile(&outcome, preparation, write)
      return outcome
    }
    SymbolsIndexDocument.document.print(result)
    outcome = result.outcome ?? outcome
  }
}
