// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import CrashpadText
import Glibc
import CrashpadSymbolication
import SystemPackage

struct SymbolsLookupCommand: Command {
  static let name = "lookup"
  static var documents: [DocumentDescription] { [LookupDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Print function, file and line of addresses in one file.",
    discussion: flowing(
      """
      Addresses are those of the file itself, as nm prints them; for a Breakpad
      symbol file, offsets in its module. Without addresses, they are read from
      standard input, one per line. For each address, prints a line with the function
      and a line with file, line and column, for each inlined call and for the
      function itself, and then an empty line.

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
  var names = NameOptions()
  var noInlines = false
  var format: OutputFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.argument(&file, "<file>", "Symbol file.", .file())
    row.arguments(&addresses, "<addresses>", "Hexadecimal addresses, with or without 0x.", isRequired: false)
    row.symbols(&symbols, "Debug file, or directory, to search first. May be repeated.")
    row.group(&servers)
    row.option(
      &arch, "--arch <name>", "The slice of a universal Mach-O file, such as arm64e; without it arm64's, or the first.")
    row.group(&names)
    row.flag(&noInlines, "--no-inlines", "Print only the compiled function, with the line of the address.")
    row.format(&format, "Print text, or one JSON document.")
  }

  func validate() throws {
    for address in addresses where Self.parse(address) == nil {
      throw ValidationError("\(TextFormat.printable(address)) is not a hexadecimal address.")
    }
  }

  private static func parse(_ text: some StringProtocol) -> UInt64? {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
    guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-") else { return nil }
    return UInt64(digits, radix: 16)
  }

  func run() throws {
    try SymbolOptions.checkPaths(symbols)
    let symbols: FileSymbols
    do {
      try checkSlices()
      symbols = try FileSymbols(
        FilePath(argument: file), paths: self.symbols.map { FilePath(argument: $0) }, architecture: arch,
        servers: try servers.client(), indexes: servers.indexes)
    } catch let status as ExitStatus {
      throw status
    } catch {
      throw Terminal.failure(error, of: displayName(file), creating: false)
    }
    guard !symbols.symbols.isEmpty else {
      Terminal.error("\(displayName(file)): error: has no symbols")
      throw ExitStatus.noData
    }
    switch format {
    case .text: writeText(symbols)
    case .json: writeJSON(symbols)
    }
    DownloadProgress.shared.clear()
    // Symbols are read on demand, so the findings are complete only now.
    for finding in symbols.symbols.findings {
      Terminal.error(Sentences.line(finding, input: displayName(file)))
    }
    for finding in symbols.faults.findings { Terminal.error(Sentences.line(finding)) }
    do { try symbols.checkReading() } catch {
      throw Terminal.failure(error, of: displayName(file), creating: false)
    }
    Terminal.end(.success)
  }

  /// Checks that the chosen slice exists. Without a choice, prints which slice is used, because an address belongs
  /// to different functions in each.
  private func checkSlices() throws {
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

  private func frames(_ line: String, _ symbols: FileSymbols) -> (found: SymbolizedAddress?, [SymbolizedAddress.Frame])
  {
    guard let address = Self.parse(line), let found = symbols.symbols.symbolize(address &- symbols.imageBase) else {
      return (nil, [])
    }
    guard noInlines, let last = found.frames.last else { return (found, found.frames) }
    return (found, [SymbolizedAddress.Frame(function: last.function, location: found.frames[0].location)])
  }

  private func name(_ frame: SymbolizedAddress.Frame, _ demangler: inout Demangler) -> String? {
    frame.function.map { demangler.name($0) }
  }

  // MARK: Text

  private func writeText(_ symbols: FileSymbols) {
    // A program that queries through a pipe waits for each answer.
    let answersAtOnce = addresses.isEmpty && isatty(0) == 0 && Self.isPipe(0)
    var text: [UInt8] = []
    text.reserveCapacity(128 * 1024)
    var demangler = Demangler(names.form(isText: format == .text))
    forEachAddress { line in
      answer(line, symbols, &demangler, &text)
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

  private func answer(_ line: String, _ symbols: FileSymbols, _ demangler: inout Demangler, _ text: inout [UInt8]) {
    let (found, frames) = frames(line, symbols)
    if frames.isEmpty { text += "??\n??:0:0\n".utf8 }
    for frame in frames {
      text += (name(frame, &demangler) ?? "??").utf8
      if found?.isNearest == true { text += " (nearest symbol)".utf8 }
      text.append(UInt8(ascii: "\n"))
      text += (frame.location?.file ?? "??").utf8
      text.append(UInt8(ascii: ":"))
      text += String(frame.location?.line ?? 0).utf8
      text.append(UInt8(ascii: ":"))
      text += String(frame.location?.column ?? 0).utf8
      text.append(UInt8(ascii: "\n"))
    }
    text.append(UInt8(ascii: "\n"))
  }

  // MARK: JSON

  private func writeJSON(_ symbols: FileSymbols) {
    let demangler = LookupDocument.Names(Demangler(names.form(isText: format == .text)))
    let document = LookupDocument(file: file) { write in
      forEachAddress { line in
        let (found, frames) = frames(line, symbols)
        write(
          LookupDocument.Answer(
            line: line, address: Self.parse(line), found: found, imageBase: symbols.imageBase, frames: frames,
            names: demangler))
      }
    }
    LookupDocument.document.print(document)
  }
}
