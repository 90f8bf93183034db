// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadText
import CrashpadView
import Glibc
import CrashpadJSON
import CrashpadSnapshot
import CrashpadSymbolication

struct SymbolsCheckCommand: Command {
  static let name = "check"
  static var documents: [DocumentDescription] { [SymbolsCheckCommand.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Check that the modules of dumps have symbols.",
    discussion: flowing(
      """
      For CI: the exit status is 0 if all modules have symbols, 1 if some have none,
      and 75 if servers or files could not be asked for those that are missing. The
      kernel's module and modules without an id need none.

      Examples:
        crashpadctl symbols check --symbols symbols/ --module Example crash.idump
      """))

  var dumps: [String] = []
  var symbolOptions = SymbolOptions()
  var inputOptions = InputOptions()
  var pipes = PipeOption()
  var module: [String] = []
  var format: OutputFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.dumps(&dumps, isRequired: false)
    row.group(&symbolOptions)
    row.group(&inputOptions)
    row.group(&pipes)
    row.option(
      &module, "--module <pattern>", "Check only modules of this name; * and ? are wildcards. May be repeated.")
    row.format(&format, "Print text, or a JSON document (one per line for several dumps).")
  }

  func validate() throws {
    try inputOptions.check(dumps)
    try checkText("--module", module)
  }

  /// The totals for all dumps.
  private struct Tally {
    var checked = 0
    var missing = 0
    /// Missing ones of which not all places could be asked.
    var unknown = 0
    /// Modules that no file can have the symbols of.
    var exempt = 0
    var said: Set<SymbolFileFinding> = []
  }

  func run() throws {
    let cache = SymbolCache(try symbolOptions.search())
    let list = try inputOptions.list(dumps, InputFormat.withMeaning)
    if list.inputs.isEmpty, list.failures.isEmpty { throw list.statusOfNone }
    var tally = Tally()
    list.reportFailures()
    let status = BatchRun(list, showsProgress: false).each { input, _ in
      check(input, cache, isSingle: list.isAlone(input), &tally)
    }
    SymbolOptions.reportFaults(cache.search, except: Set(tally.said.map(\.file)))
    if tally.checked == 0 {
      if status != .success { throw status }
      throw Terminal.failure(nothingToCheck(tally), .noData)
    }
    let modules = TextFormat.count(tally.checked, "module")
    if tally.missing > tally.unknown, format == .text {
      Terminal.error("crashpadctl: FAILED: \(grouped(tally.missing - tally.unknown)) of \(modules) without symbols")
    }
    if tally.unknown > 0 {
      Terminal.failure(
        "not all places could be asked for \(grouped(tally.unknown)) of \(modules): whether they have symbols is not known",
        .temporaryFailure)
    }
    guard status == .success, tally.missing > 0 else { throw status }
    throw tally.missing > tally.unknown ? ExitStatus.findings : .temporaryFailure
  }

  private func nothingToCheck(_ tally: Tally) -> String {
    if module.isEmpty { return tally.exempt > 0 ? "the dumps have no modules with ids" : "the dumps have no modules" }
    let names = module.map { "'\(TextFormat.printable($0))'" }.joined(separator: " or ")
    return tally.exempt > 0 ? "no module with an id matches \(names)" : "no module matches \(names)"
  }

  private func check(
    _ input: InputList.Input, _ cache: SymbolCache, isSingle: Bool, _ tally: inout Tally
  ) -> ExitStatus {
    let dump: Dump
    do {
      dump = Dump(try DumpInput.open(input.argument), architecture: nil)
    } catch {
      return Terminal.failure(error, of: input.name, creating: false)
    }
    for line in dump.lines(input.name) { Terminal.error(line) }
    guard let snapshot = dump.snapshot else { return .noData }
    let view = CrashView(dump, snapshot)
    let modules = ModuleStates(snapshot, dump.file, cache) { isChecked(view.moduleName($0)) }.modules
    for finding in modules.fileFindings where tally.said.insert(finding).inserted {
      Terminal.error(Sentences.line(finding))
    }
    let missing = modules.count(where: \.lacksSymbols)
    let exempt = modules.count { $0.symbols?.isFound != true && !$0.lacksSymbols }
    tally.checked += modules.count - exempt
    tally.exempt += exempt
    tally.missing += missing
    tally.unknown += modules.count(where: \.mayHaveSymbols)
    if modules.isEmpty, format == .text { return .success }
    write(modules, view, input, isSingle: isSingle, isComplete: missing == 0)
    return .success
  }

  private func isChecked(_ name: String) -> Bool {
    module.isEmpty || module.contains { unsafe fnmatch($0, name, 0) == 0 }
  }

  private func write(
    _ modules: [Symbolization.Module], _ view: CrashView, _ input: InputList.Input, isSingle: Bool,
    isComplete: Bool
  ) {
    switch format {
    case .text:
      let table = ModuleSymbolText.table(modules, view, style: .output)
      Terminal.output(isSingle ? table : "\(input.name)\n\(table)")
    case .json:
      Self.document.print((input.argument, isComplete, modules, view), isSingle ? .indented : .compact)
    }
  }

  private static let module = Record<ModuleRecord>(
    .members(of: ModuleRecord.record) { $0 },
    .flag("needs_symbols", "False for the kernel's own module and for one without an id.") {
      $0.module.identity.symbolObstacle == nil
    })

  static let document = Document<
    (input: String, isComplete: Bool, modules: [Symbolization.Module], view: CrashView)
  >(
    "crashpadctl-symbols-check/1", "Output of `crashpadctl symbols check --format json`.",
    .argument("input", "The name of the dump.") { $0.input },
    .flag("ok", "Whether all checked modules have symbols.") { $0.isComplete },
    .list("modules", module, "The checked modules, as in `crashpadctl-symbolize/1`.") { check in
      check.modules.map { ModuleRecord($0, check.view) }
    })
}
