// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import CrashpadText
import CrashpadView
import Glibc
import CrashpadSymbolication
import SystemPackage

struct SymbolsLookupCommand: Command {
  static let name = "lookup"
  static var documents: [DocumentDescription] { [LookupDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Print function, file and line of addresses in symbol files.",
    discussion: flowing(
      """
      Addresses are those of the file itself, as nm prints them; for a Breakpad
      symbol file, offsets in its module. Without addresses, they are read from
      standard input, one per line. For each address, prints a line with the function
      and a line with file, line and column, for each inlined call and for the
      function itself, and then an empty line. An address of data has the name of the
      variable or table, and how far behind its start it is.

      With a file before an address and a blank between, that file is used for it.

      Separate debug information is searched as by symbolize: in a dSYM bundle next
      to the file, by .gnu_debuglink, and by build id.

      Examples:
        crashpadctl symbols lookup app.debug 0x1139 0x114f
        nm app | awk '{print $1}' | crashpadctl symbols lookup app
      """))

  var file: String = ""
  var addresses: [String] = []
  var symbols: [String] = []
  var servers = SymbolServerArguments()
  var arch: String?
  var section: String?
  var names = NameOptions()
  var noInlines = false
  var format: OutputFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.argument(&file, "<file>", "Symbol file.", .file())
    row.arguments(
      &addresses, "<addresses>", "Hexadecimal addresses, with or without 0x; a file may be before one.",
      isRequired: false)
    row.symbols(&symbols, "Debug file, or directory, to search first. May be repeated.")
    row.group(&servers)
    row.option(
      &arch, "--arch <name>", "The slice of a universal Mach-O file, such as arm64e; without it arm64's, or the first.")
    row.option(
      &section, "--section <name>",
      "Count addresses from the start of a section of an ELF file, such as .init.text. In an object file or kernel module, "
        + "where each section begins at 0, they are those of .text without it.")
    row.group(&names)
    row.flag(&noInlines, "--no-inlines", "Print only the compiled function, with the line of the address.")
    row.format(&format, "Print text, or one JSON document.")
  }

  func validate() throws {
    for address in addresses where LookupQuery(address).address == nil {
      throw ValidationError("\(TextFormat.printable(address)) is not a hexadecimal address.")
    }
  }

  func run() throws {
    try SymbolOptions.checkPaths(symbols)
    let client = try servers.client()
    let files = LookupFiles(try open(file, client), file) { try open($0, client) }
    switch format {
    case .text: writeText(files)
    case .json: writeJSON(files)
    }
    DownloadProgress.shared.clear()
    // Symbols are read on demand, so the findings are complete only now.
    var status: ExitStatus = files.hasFailed ? .partial : .success
    for (name, symbols) in files.opened {
      reportFindings(symbols, name)
      do { try symbols.checkReading() } catch {
        status = Terminal.failure(error, of: displayName(name), creating: false)
      }
    }
    Terminal.end(status)
  }

  /// Opens a file. Prints why one can't be used, and throws the exit status.
  private func open(_ file: String, _ client: (any SymbolServerClient)?) throws -> FileSymbols {
    let symbols: FileSymbols
    do {
      try checkSlices(file)
      symbols = try FileSymbols(
        FilePath(argument: file), paths: self.symbols.map { FilePath(argument: $0) }, architecture: arch,
        servers: client, indexes: servers.indexes, section: section)
    } catch let status as ExitStatus {
      throw status
    } catch {
      throw Terminal.failure(error, of: displayName(file), creating: false)
    }
    guard symbols.symbols.isEmpty else { return symbols }
    DownloadProgress.shared.clear()
    reportFindings(symbols, file)
    do { try symbols.checkReading() } catch { throw Terminal.failure(error, of: displayName(file), creating: false) }
    guard symbols.hasOpenQuestions else {
      Terminal.error("\(displayName(file)): error: has no symbols")
      throw ExitStatus.noData
    }
    Terminal.error(
      "\(displayName(file)): error: has no symbols, and not all places could be asked for those of its build")
    throw ExitStatus.temporaryFailure
  }

  private func reportFindings(_ symbols: FileSymbols, _ file: String) {
    for finding in symbols.symbols.findings { Terminal.error(Sentences.line(finding, input: displayName(file))) }
    for finding in symbols.faults.findings { Terminal.error(Sentences.line(finding)) }
  }

  /// Checks that the chosen slice exists. Without a choice, prints which slice is used, because an address belongs
  /// to different functions in each.
  private func checkSlices(_ file: String) throws {
    let slices = try SymbolFiles.slices(of: FilePath(argument: file))
    let list = slices.map { TextFormat.printable($0) }.joined(separator: ", ")
    if let arch, !slices.contains(arch) {
      let has = slices.isEmpty ? "it is not a Mach-O file" : "it has \(list)"
      Terminal.error("\(displayName(file)): error: no slice for \(TextFormat.printable(arch)): \(has)")
      throw ExitStatus.noData
    }
    if arch == nil, slices.count > 1 {
      let used = slices.first { $0.hasPrefix("arm64") } ?? slices[0]
      Terminal.error(
        "\(displayName(file)): note: slices \(list); \(TextFormat.printable(used)) is used, --arch chooses another")
    }
  }

  /// Passes each queried address to `body`.
  private func forEachAddress(_ body: (String) -> Void) {
    if addresses.isEmpty {
      while let line = readLine() { body(line) }
    } else {
      addresses.forEach(body)
    }
  }

  /// The answer to one query.
  private struct Found {
    var base: UInt64 = 0
    var symbol: SymbolizedAddress?
    var frames: [SymbolizedAddress.Frame] = []
    var data: DataSymbol?
    /// The place in the module.
    var offset: UInt64 = 0
  }

  private func found(_ query: LookupQuery, _ files: LookupFiles) -> Found {
    guard let address = query.address, let file = files.symbols(query) else { return Found() }
    var found = Found(base: file.imageBase, offset: address &- file.imageBase)
    found.symbol = file.symbols.symbolize(found.offset)
    if found.symbol == nil || found.symbol?.isNearest == true {
      found.data = file.symbols.dataSymbol(at: found.offset)
      // Data that has the address is known; the nearest function is not.
      if found.data?.isNearest == true, found.symbol != nil { found.data = nil }
      if found.data != nil { found.symbol = nil }
    }
    found.frames = found.symbol?.frames ?? []
    if noInlines, let last = found.frames.last {
      found.frames = [SymbolizedAddress.Frame(function: last.function, location: found.frames[0].location)]
    }
    return found
  }

  private func name(_ frame: SymbolizedAddress.Frame, _ demangler: inout Demangler) -> String? {
    frame.function.map { demangler.name($0) }
  }

  // MARK: Text

  private func writeText(_ files: LookupFiles) {
    // A program that queries through a pipe waits for each answer.
    let answersAtOnce = addresses.isEmpty && isatty(0) == 0 && Self.isPipe(0)
    var text: [UInt8] = []
    text.reserveCapacity(128 * 1024)
    var demangler = Demangler(names.form(isText: format == .text))
    forEachAddress { line in
      answer(LookupQuery(line), files, &demangler, &text)
      if answersAtOnce || text.count > 64 * 1024 {
        Terminal.output(text)
        text.removeAll(keepingCapacity: true)
      }
    }
    Terminal.output(text)
  }

  private static func isPipe(_ descriptor: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }

  private func answer(_ query: LookupQuery, _ files: LookupFiles, _ demangler: inout Demangler, _ text: inout [UInt8]) {
    let found = found(query, files)
    if let data = found.data {
      let line = data.named(demangler.name(data.symbol)).line(at: found.offset)
      text += (TextFormat.printable(line) + "\n??:0:0\n").utf8
    } else if found.frames.isEmpty {
      text += "??\n??:0:0\n".utf8
    }
    for frame in found.frames {
      // A name with a line feed would be two lines of an answer.
      text += TextFormat.printable(name(frame, &demangler) ?? "??").utf8
      if found.symbol?.isNearest == true { text += " (nearest symbol)".utf8 }
      text.append(UInt8(ascii: "\n"))
      text += TextFormat.printable(frame.location?.file ?? "??").utf8
      text.append(UInt8(ascii: ":"))
      text += String(frame.location?.line ?? 0).utf8
      text.append(UInt8(ascii: ":"))
      text += String(frame.location?.column ?? 0).utf8
      text.append(UInt8(ascii: "\n"))
    }
    text.append(UInt8(ascii: "\n"))
  }

  // MARK: JSON

  private func writeJSON(_ files: LookupFiles) {
    let demangler = LookupDocument.Names(Demangler(names.form(isText: format == .text)))
    let document = LookupDocument(file: file) { write in
      forEachAddress { line in
        let query = LookupQuery(line)
        let found = found(query, files)
        write(
          LookupDocument.Answer(
            query: query, found: found.symbol, data: found.data, imageBase: found.base, frames: found.frames,
            names: demangler))
      }
    }
    LookupDocument.document.print(document)
  }
}
