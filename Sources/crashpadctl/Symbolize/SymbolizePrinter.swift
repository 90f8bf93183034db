// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView

enum SymbolizeFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
  case crash
}

/// The options that choose what `symbolize` prints, and in which form.
struct SymbolizeForm: OptionTable {
  var threads: ThreadChoice?
  var addresses = false
  var format: SymbolizeFormat = .text
  var output: String?
  var frames: FrameLimit = .standard
  var modules = false
  var missing = false

  mutating func rows(_ row: inout OptionRows) {
    // Without a value, all: the option was once a flag.
    row.option(
      &threads, "-t, --threads <which>",
      "Stacks to print: crashed, all, or a thread's number; all for a dump without a crash. (default: crashed)",
      ThreadChoice.completion, bare: "all")
    row.flag(&addresses, "--addresses", "Add each frame's address and how it was found.")
    row.format(&format, "Print text, a JSON document (one per line for several dumps), or an Apple crash report.")
    row.output(&output, "Write to this file; - is standard output.")
    row.option(&frames, "--frames <n>", "Number of frames to print of each stack, the first and the last; or all.")
    row.flag(&modules, "--modules", "List the modules and their symbol files instead of the stacks.")
    row.flag(&missing, "--missing", "List the symbol files to request from a symbol server instead of the stacks.")
  }

  var part: SymbolizeDocument.Part { missing ? .missing : modules ? .modules : .stacks }
}

/// The forms in which `symbolize` prints one dump.
struct SymbolizePrinter {
  let form: SymbolizeForm

  /// The threads to symbolize. Apple's text form of a report has all threads.
  func threads(of snapshot: ProcessSnapshot) -> Symbolization.Threads {
    form.threads?.threads ?? (form.format == .crash && snapshot.report != nil ? .all : .crashed)
  }

  /// The text without the modules to request, each of which is printed once for all dumps.
  func text(_ view: CrashView, _ input: InputList.Input, in list: InputList) -> String {
    if form.format == .crash {
      guard let report = view.report else { return CrashReportText.text(view, limit: form.frames.count) }
      return AppleReportText.text(view, report, limit: form.frames.count)
    }
    var text = ""
    // As in inspect, options select the parts to print.
    if form.threads != nil || form.part != .modules {
      text = StackText(view: view, limit: form.frames.count, style: .output, showsAddresses: form.addresses)
        .text(name: input.name)
    }
    guard form.part == .modules else { return text }
    let table = ModuleSymbolText.table(view.symbolizedModules, view, style: .output)
    if !text.isEmpty { return text + "\n" + table }
    return list.inputs.count > 1 ? "\(input.name)\n\(table)" : table
  }

  /// The document of one of many dumps. That of a single one is printed at once and is not returned: it needs no buffer,
  /// and with an endless recursion it is large.
  func document(
    _ dump: Dump, _ view: CrashView?, _ input: InputList.Input, in list: InputList
  ) -> [UInt8] {
    func write(_ json: inout JSONWriter) {
      SymbolizeDocument.document.write(SymbolizeDocument(dump, view, input: input.argument, part: form.part), to: &json)
    }
    guard list.inputs.count == 1 else { return JSONWriter.bytes(.compact, write) }
    JSONWriter.standardOutput(list.isAlone(input) ? .indented : .compact, write)
    return []
  }

  func failure(_ input: InputList.Input, _ failure: FailureText, in list: InputList) -> [UInt8] {
    JSONWriter.bytes(list.isAlone(input) ? .indented : .compact) {
      SymbolizeDocument.document.write(SymbolizeDocument(failure, input: input.argument), to: &$0)
    }
  }
}
