// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadJSON
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView

/// The forms in which `symbolize` prints one dump.
struct SymbolizePrinter {
  let format: SymbolizeFormat
  let part: SymbolizeDocument.Part
  /// Nil for the threads of the format.
  let threads: ThreadChoice?
  /// The number of frames to print of each stack; nil for all.
  let frames: Int?
  let showsAddresses: Bool

  /// The threads to symbolize. Apple's text form of a report has all threads.
  func threads(of snapshot: ProcessSnapshot) -> Symbolization.Threads {
    threads?.threads ?? (format == .crash && snapshot.report != nil ? .all : .crashed)
  }

  /// The text without the modules to request, each of which is printed once for all dumps.
  func text(_ view: CrashView, _ input: InputList.Input, in list: InputList) -> String {
    if format == .crash {
      guard let report = view.report else { return CrashReportText.text(view, limit: frames) }
      return AppleReportText.text(view, report, limit: frames)
    }
    var text = ""
    // As in inspect, options select the parts to print.
    if threads != nil || part != .modules {
      text = StackText(view: view, limit: frames, style: .output, showsAddresses: showsAddresses)
        .text(name: input.name)
    }
    guard part == .modules else { return text }
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
      SymbolizeDocument.document.write(SymbolizeDocument(dump, view, input: input.argument, part: part), to: &json)
    }
    guard list.inputs.count == 1 else { return JSONWriter.bytes(.compact, write) }
    JSONWriter.standardOutput(list.hasDirectories ? .compact : .indented, write)
    return []
  }

  func failure(_ input: InputList.Input, _ failure: FailureText, in list: InputList) -> [UInt8] {
    JSONWriter.bytes(list.isSingle ? .indented : .compact) {
      SymbolizeDocument.document.write(SymbolizeDocument(failure, input: input.argument), to: &$0)
    }
  }
}
