import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

struct SymbolsInfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show ids and contents of symbol files.",
    discussion: """
      Prints the ids by which dumps identify a module, and which of symbol tables,
      debug information and frame rules a file has.

      Examples:
        crashpadctl symbols info app app.debug app.sym
        crashpadctl symbols info --format json app
      """)

  @Argument(help: "Symbol files.", completion: .file())
  var files: [String]

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Print text, or one line of JSON per file.", valueName: "form")
  )
  var format: OutputFormat = .text

  func run() throws {
    var failures: [ExitStatus] = []
    var isFirst = true
    for file in files {
      let contents: SymbolContents
      do {
        contents = try SymbolContents(FilePath(argument: file))
      } catch {
        failures.append(Terminal.failure(error, of: displayName(file), creating: false))
        if format == .json {
          JSONWriter.standardOutput(files.count == 1 ? .indented : .compact) {
            SymbolContentsText.writeFailure(file, FailureText(error, creating: false), to: &$0)
          }
        }
        continue
      }
      switch format {
      case .text:
        Terminal.output((isFirst ? "" : "\n") + SymbolContentsText.text(contents, displayName(file)))
        isFirst = false
      case .json:
        JSONWriter.standardOutput(files.count == 1 ? .indented : .compact) {
          SymbolContentsText.write(contents, file, to: &$0)
        }
      }
    }
    let status = files.count == 1 ? failures.first ?? .success : failures.isEmpty ? .success : .findings
    throw status
  }
}

/// The contents of a symbol file, as text and JSON.
enum SymbolContentsText {
  static func text(_ contents: SymbolContents, _ name: String) -> String {
    switch contents {
    case .elf(let elf): text(elf, name)
    case .breakpad(let file): text(file, name)
    case .machO(let slices): slices.map { text($0, name) }.joined(separator: "\n")
    }
  }

  private static func text(_ file: SymbolContents.MachO, _ name: String) -> String {
    var frames: [String] = []
    if file.compactUnwinds > 0 { frames.append("compact for \(Wording.count(file.compactUnwinds, "range"))") }
    if file.exceptionFrames > 0 { frames.append("__eh_frame for \(Wording.count(file.exceptionFrames, "function"))") }
    var debugInfo = "none"
    if file.units > 0 {
      let versions = file.dwarfVersions.map(String.init).joined(separator: " and ")
      debugInfo = "DWARF \(versions), \(Wording.count(file.units, "unit")), "
      debugInfo += Wording.count(file.functions, "function")
    }
    var rows = [
      ("Debug id", file.hasUUID ? file.module.debugID : "none"),
      ("Platform", file.platform ?? "unknown"),
      ("Symbols", file.symbols > 0 ? Wording.count(file.symbols, "entry", "entries") : "none"),
      ("Functions", file.functionStarts > 0 ? Wording.count(file.functionStarts, "start") : "none"),
      ("Debug info", debugInfo),
      ("Frames", frames.isEmpty ? "none" : frames.joined(separator: ", ")),
    ]
    if file.isEncrypted { rows.append(("Encrypted", "yes")) }
    return lines("\(name): Mach-O \(file.kind), \(Wording.printable(file.module.architecture))", rows)
  }

  private static func lines(_ heading: String, _ rows: [(String, String)]) -> String {
    let width = 13
    return heading + "\n\n"
      + rows.map { $0.0 + String(repeating: " ", count: width - $0.0.count) + $0.1 + "\n" }.joined()
  }

  private static func text(_ elf: SymbolContents.Elf, _ name: String) -> String {
    var rows = [
      ("Build id", elf.buildID.isEmpty ? "none" : hexadecimalDigits(elf.buildID)),
      ("Debug id", elf.module.debugID),
      ("Symbols", elf.symbols > 0 ? Wording.count(elf.symbols, "entry", "entries") : "none"),
      ("Dynamic", elf.dynamicSymbols > 0 ? Wording.count(elf.dynamicSymbols, "entry", "entries") : "none"),
      ("Debug info", debugInfo(elf)),
    ]
    var frames: [String] = []
    if elf.exceptionFrames > 0 { frames.append(".eh_frame for \(Wording.count(elf.exceptionFrames, "function"))") }
    if elf.debugFrames > 0 { frames.append(".debug_frame for \(Wording.count(elf.debugFrames, "function"))") }
    rows.append(("Frames", frames.isEmpty ? "none" : frames.joined(separator: ", ")))
    if elf.hasMiniDebugInfo { rows.append(("Mini", "a symbol table in .gnu_debugdata")) }
    if let link = elf.debugLink {
      rows.append(("Debug link", "\(Wording.printable(link.name)), CRC \(Wording.hex(UInt64(link.checksum)))"))
    }
    if let file = elf.sharedFile {
      rows.append(("Shared with", "\(Wording.printable(file.name)), \(file.isFound ? "found" : "not found")"))
    }
    var kind = "ELF \(elf.kind), \(elf.module.architecture)"
    if !elf.hasCode { kind += ", without code" }
    if elf.isStripped { kind += ", stripped" }
    return lines("\(name): \(kind)", rows)
  }

  private static func debugInfo(_ elf: SymbolContents.Elf) -> String {
    guard elf.units > 0 else { return "none" }
    let versions = elf.dwarfVersions.map(String.init).joined(separator: " and ")
    var text = "DWARF \(versions), \(Wording.count(elf.units, "unit")), \(Wording.count(elf.functions, "function"))"
    if elf.isCompressed { text += ", compressed" }
    if elf.splitUnits > 0 {
      text += "; \(grouped(elf.splitUnits)) split, of which \(grouped(elf.foundSplitUnits)) were found"
    }
    return text
  }

  private static func text(_ sym: SymbolContents.Breakpad, _ name: String) -> String {
    lines(
      "\(name): Breakpad symbol file, \(Wording.printable(sym.module.operatingSystem)) "
        + Wording.printable(sym.module.architecture),
      [
        ("Module", Wording.printable(sym.module.name)),
        ("Debug id", Wording.printable(sym.module.debugID)),
        ("Code id", sym.module.codeID.isEmpty ? "none" : Wording.printable(sym.module.codeID)),
        ("Functions", "\(grouped(sym.functions)) with \(Wording.count(sym.lines, "line"))"),
        ("Inlined", Wording.count(sym.inlinedCalls, "call") + " of \(Wording.count(sym.inlineOrigins, "function"))"),
        ("Files", grouped(sym.files)),
        ("Public", grouped(sym.publics)),
        ("Frames", "rules for \(Wording.count(sym.frameRules, "range"))"),
      ] + (sym.findings.findings.isEmpty ? [] : [("Damaged", Wording.count(sym.findings.findings.count, "record"))]))
  }

  // MARK: JSON

  static func writeFailure(_ file: String, _ failure: FailureText, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-symbols-info/1")
      json.member("file", argument: file)
      json.member("format", nil as String?)
      json.member("error", failure.text)
      json.member("status", failure.status.rawValue)
    }
  }

  static func write(_ contents: SymbolContents, _ file: String, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", "crashpadctl-symbols-info/1")
      json.member("file", argument: file)
      switch contents {
      case .elf(let elf): write(elf, to: &json)
      case .breakpad(let file): write(file, to: &json)
      case .machO(let slices):
        json.member("format", "macho")
        json.objects("slices", slices, write)
      }
    }
  }

  private static func write(_ file: SymbolContents.MachO, to json: inout JSONWriter) {
    write(file.module, to: &json)
    json.member("kind", file.kind)
    json.member("platform", file.platform)
    json.member("is_encrypted", file.isEncrypted)
    json.member("symbols", file.symbols)
    json.member("function_starts", file.functionStarts)
    json.object("dwarf") { json in
      json.array("versions") { json in for version in file.dwarfVersions { json.number(version) } }
      json.member("units", file.units)
      json.member("functions", file.functions)
    }
    json.member("compact_unwind_ranges", file.compactUnwinds)
    json.member("eh_frame_functions", file.exceptionFrames)
  }

  private static func write(_ module: BreakpadModule, to json: inout JSONWriter) {
    json.member("os", module.operatingSystem)
    json.member("architecture", module.architecture)
    json.member("debug_id", module.debugID)
    json.member("code_id", module.codeID.isEmpty ? nil : module.codeID)
    json.member("name", module.name)
  }

  private static func write(_ elf: SymbolContents.Elf, to json: inout JSONWriter) {
    json.member("format", "elf")
    write(elf.module, to: &json)
    json.member("kind", elf.kind)
    json.member("build_id", elf.buildID.isEmpty ? nil : hexadecimalDigits(elf.buildID))
    json.member("has_code", elf.hasCode)
    json.member("is_stripped", elf.isStripped)
    json.member("symbols", elf.symbols)
    json.member("dynamic_symbols", elf.dynamicSymbols)
    json.object("dwarf") { json in
      json.array("versions") { json in for version in elf.dwarfVersions { json.number(version) } }
      json.member("units", elf.units)
      json.member("functions", elf.functions)
      json.member("split_units", elf.splitUnits)
      json.member("split_units_found", elf.foundSplitUnits)
      json.member("is_compressed", elf.isCompressed)
    }
    json.member("eh_frame_functions", elf.exceptionFrames)
    json.member("debug_frame_functions", elf.debugFrames)
    json.member("has_mini_debug_info", elf.hasMiniDebugInfo)
    json.object("debug_link", of: elf.debugLink) { link, json in
      json.member("name", link.name)
      json.member("crc", Wording.hex(UInt64(link.checksum)))
    }
    json.object("shared_file", of: elf.sharedFile) { file, json in
      json.member("name", file.name)
      json.member("is_found", file.isFound)
    }
  }

  private static func write(_ sym: SymbolContents.Breakpad, to json: inout JSONWriter) {
    json.member("format", "breakpad")
    write(sym.module, to: &json)
    json.member("files", sym.files)
    json.member("functions", sym.functions)
    json.member("lines", sym.lines)
    json.member("inlined_calls", sym.inlinedCalls)
    json.member("inline_origins", sym.inlineOrigins)
    json.member("publics", sym.publics)
    json.member("frame_rules", sym.frameRules)
    FindingJSON.write(sym.findings, to: &json)
  }
}
