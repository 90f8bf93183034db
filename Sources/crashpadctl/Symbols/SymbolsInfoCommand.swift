// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

struct SymbolsInfoCommand: Command {
  static let name = "info"
  static var documents: [DocumentDescription] { [SymbolContentsDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Show ids and contents of symbol files.",
    discussion: flowing(
      """
      Prints the ids by which dumps identify a module, and which of symbol tables,
      debug information and frame rules a file has.

      Examples:
        crashpadctl symbols info app app.debug app.sym
        crashpadctl symbols info --format json app
      """))

  var files: [String] = []
  var format: OutputFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(&files, "<files>", "Symbol files.", .file())
    row.format(&format, "Print text, or one line of JSON per file.")
  }

  func run() throws {
    var failures: [ExitStatus] = []
    let layout: JSONWriter.Layout = files.count == 1 ? .indented : .compact
    for file in files {
      let contents: SymbolContents
      do {
        contents = try SymbolContents(FilePath(argument: file))
      } catch {
        failures.append(Terminal.failure(error, of: displayName(file), creating: false))
        if format == .json {
          let document = SymbolContentsDocument(file: file, failure: FailureText(error, creating: false))
          SymbolContentsDocument.document.print(document, layout)
        }
        continue
      }
      switch format {
      case .text:
        Terminal.beginPart()
        Terminal.output(SymbolContentsText.text(contents, displayName(file)))
      case .json:
        SymbolContentsDocument.document.print(SymbolContentsDocument(file: file, contents: contents), layout)
      }
    }
    throw files.count == 1 ? failures.first ?? .success : ExitStatus(of: failures)
  }
}

/// The contents of a symbol file as text.
enum SymbolContentsText {
  static func text(_ contents: SymbolContents, _ name: String) -> String {
    switch contents {
    case .elf(let elf): text(elf, name)
    case .breakpad(let file): text(file, name)
    case .pe(let file): text(file, name)
    case .machO(let slices): slices.map { text($0, name) }.joined(separator: "\n")
    case .sharedCache(let cache): text(cache, name)
    }
  }

  private static func text(_ cache: SymbolContents.Cache, _ name: String) -> String {
    let locals =
      switch cache.localSymbols {
      case .none: "none"
      case .found: "found"
      case .missing: "missing"
      }
    let rows =
      [
        ("UUID", cache.uuid), ("Images", grouped(cache.images)),
        ("Sub-caches", cache.parts > 0 ? grouped(cache.parts) : "none"), ("Locals", locals),
      ] + cache.problems.map { ("Problem", Sentences.line($0.place)) }
    return lines("\(name): dyld shared cache, \(TextFormat.printable(cache.architecture))", rows)
  }

  private static func text(_ file: SymbolContents.PE, _ name: String) -> String {
    let rows = [
      ("Code id", file.module.codeID),
      ("Debug id", file.module.debugID.isEmpty ? "none" : file.module.debugID),
      ("Exports", file.exports > 0 ? TextFormat.count(file.exports, "function") : "none"),
      ("Frames", file.functions > 0 ? ".pdata for \(TextFormat.count(file.functions, "function"))" : "none"),
    ]
    return lines("\(name): Windows \(file.module.architecture)", rows)
  }

  private static func text(_ file: SymbolContents.MachO, _ name: String) -> String {
    var frames: [String] = []
    if file.compactUnwinds > 0 { frames.append("compact for \(TextFormat.count(file.compactUnwinds, "range"))") }
    if file.exceptionFrames > 0 {
      frames.append("__eh_frame for \(TextFormat.count(file.exceptionFrames, "function"))")
    }
    var debugInfo = "none"
    if file.units > 0 {
      let versions = file.dwarfVersions.map(String.init).joined(separator: " and ")
      debugInfo = "DWARF \(versions), \(TextFormat.count(file.units, "unit")), "
      debugInfo += TextFormat.count(file.functions, "function")
    }
    var rows = [
      ("Debug id", file.hasUUID ? file.module.debugID : "none"),
      ("Platform", file.platform ?? "unknown"),
      ("Symbols", file.symbols > 0 ? TextFormat.count(file.symbols, "entry", "entries") : "none"),
      ("Functions", file.functionStarts > 0 ? TextFormat.count(file.functionStarts, "start") : "none"),
      ("Debug info", debugInfo),
      ("Frames", frames.isEmpty ? "none" : frames.joined(separator: ", ")),
    ]
    if file.isEncrypted { rows.append(("Encrypted", "yes")) }
    return lines("\(name): Mach-O \(file.kind), \(TextFormat.printable(file.module.architecture))", rows)
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
      ("Symbols", elf.symbols > 0 ? TextFormat.count(elf.symbols, "entry", "entries") : "none"),
      ("Dynamic", elf.dynamicSymbols > 0 ? TextFormat.count(elf.dynamicSymbols, "entry", "entries") : "none"),
      ("Debug info", debugInfo(elf)),
    ]
    var frames: [String] = []
    if elf.exceptionFrames > 0 { frames.append(".eh_frame for \(TextFormat.count(elf.exceptionFrames, "function"))") }
    if elf.debugFrames > 0 { frames.append(".debug_frame for \(TextFormat.count(elf.debugFrames, "function"))") }
    rows.append(("Frames", frames.isEmpty ? "none" : frames.joined(separator: ", ")))
    if elf.hasMiniDebugInfo { rows.append(("Mini", "a symbol table in .gnu_debugdata")) }
    if let link = elf.debugLink {
      rows.append(("Debug link", "\(TextFormat.printable(link.name)), CRC \(TextFormat.hex(UInt64(link.checksum)))"))
    }
    if let file = elf.sharedFile {
      rows.append(("Shared with", "\(TextFormat.printable(file.name)), \(file.isFound ? "found" : "not found")"))
    }
    var kind = "ELF \(elf.kind), \(elf.module.architecture)"
    if !elf.hasCode { kind += ", without code" }
    if elf.isStripped { kind += ", stripped" }
    return lines("\(name): \(kind)", rows)
  }

  private static func debugInfo(_ elf: SymbolContents.Elf) -> String {
    guard elf.units > 0 else { return "none" }
    let versions = elf.dwarfVersions.map(String.init).joined(separator: " and ")
    var text =
      "DWARF \(versions), \(TextFormat.count(elf.units, "unit")), \(TextFormat.count(elf.functions, "function"))"
    if elf.isCompressed { text += ", compressed" }
    if elf.splitUnits > 0 {
      text += "; \(grouped(elf.splitUnits)) split, of which \(grouped(elf.foundSplitUnits)) were found"
    }
    return text
  }

  private static func text(_ sym: SymbolContents.Breakpad, _ name: String) -> String {
    lines(
      "\(name): Breakpad symbol file, \(TextFormat.printable(sym.module.operatingSystem)) "
        + TextFormat.printable(sym.module.architecture),
      [
        ("Module", TextFormat.printable(sym.module.name)),
        ("Debug id", TextFormat.printable(sym.module.debugID)),
        ("Code id", sym.module.codeID.isEmpty ? "none" : TextFormat.printable(sym.module.codeID)),
        ("Functions", "\(grouped(sym.functions)) with \(TextFormat.count(sym.lines, "line"))"),
        (
          "Inlined",
          TextFormat.count(sym.inlinedCalls, "call") + " of \(TextFormat.count(sym.inlineOrigins, "function"))"
        ),
        ("Files", grouped(sym.files)),
        ("Public", grouped(sym.publics)),
        ("Frames", "rules for \(TextFormat.count(sym.frameRules, "range"))"),
      ] + (sym.findings.isEmpty ? [] : [("Damaged", TextFormat.count(sym.findings.count, "record"))]))
  }
}
