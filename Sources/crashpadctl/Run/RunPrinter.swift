// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadDatabase
import CrashpadFiles
import CrashpadJSON
import CrashpadMeaning
import CrashpadSnapshot
import CrashpadSupervision
import CrashpadSymbolication
import CrashpadText
import CrashpadView
import Glibc
import SystemPackage

/// Prints the summary at the end of a program: each dump of the run, with its crash.
struct RunPrinter {
  /// The number of stack frames to print. With the text above them, they fill a screen.
  private static let frames = 16

  let collected: CollectedRun
  /// The symbols that were used, for the command that prints more.
  let symbols: SymbolOptions
  let format: OutputFormat

  /// Prints to standard error.
  func print() {
    Terminal.errorPart(format == .json ? String(decoding: json, as: UTF8.self) : text(.error))
  }

  func write(to path: FilePath) {
    do {
      let file = try OutputFile(path)
      let bytes = format == .json ? json : Array(text(.plain).utf8)
      try unsafe file.write(bytes.span.bytes)
      try file.commit(durable: false)
    } catch {
      Terminal.error("\(TextFormat.printable(path)): error: \(Sentences.failure(error, creating: true).text)")
      // The summary is made only once.
      print()
    }
  }

  private func text(_ style: TextStyle) -> String {
    var text = collected.failure.map { $0 + "\n" } ?? ""
    for dump in collected.dumps { text += "\n" + self.text(dump, style) }
    if collected.dumps.isEmpty, let sentence = missing { text += "crashpadctl: \(sentence)\n" }
    return text
  }

  private func text(_ dump: CollectedRun.CapturedDump, _ style: TextStyle) -> String {
    // If there is a report, the dump no longer exists.
    let file = dump.report ?? dump.path
    let path = TextFormat.printable(file)
    var text = ""
    if let view = dump.view {
      let stack = StackText(
        view: view, limit: Self.frames, style: style, hint: "crashpadctl symbolize prints them")
      // The facts are those of the dump, which became another file.
      let name =
        dump.report == nil ? path : "\(path), made of \(TextFormat.printable(FilePath(bytes: dump.path.lastBytes)))"
      text += OverviewText(view: view, name: name, style: style).text(.head, summary: view.summary)
      for thread in view.threadStacks.prefix(1) { text += "\n" + stack.text(thread) }
      text += "\n"
    } else if let failure = dump.failure {
      text += "\(path): error: \(failure)\n"
    } else {
      for finding in dump.contents?.findings ?? FindingList() where finding.severity > .note {
        text += Sentences.line(finding, input: path) + "\n"
      }
    }
    if let failure = dump.processingFailure { text += "\(path): error: \(failure)\n" }
    return text + "crashpadctl: for all threads: \(command(file))\n"
  }

  /// A command that prints all stacks with the same symbols, quoted for a shell.
  private func command(_ file: FilePath) -> String {
    var words = ["crashpadctl", "symbolize", "--threads", "all"]
    for path in symbols.symbols { words += ["-s", ShellWord.quoted(path)] }
    if symbols.noSystem { words.append("--no-system") }
    if symbols.debuginfod { words.append("--debuginfod") }
    words += symbols.servers.words.map { ShellWord.quoted($0) }
    return (words + [ShellWord.quoted(file)]).joined(separator: " ")
  }

  /// The sentence about a program that was killed without leaving a dump.
  private var missing: String? {
    guard case .killed(let signal) = collected.end.end else { return nil }
    let name = linuxSignalName(signal)
    if [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS].contains(signal) {
      return
        "\(collected.run.name) was killed by \(name) and left no dump; \"crashpadctl doctor -- \(collected.run.name)\" lists possible causes"
    }
    // The kernel writes a core file of all but the first.
    return [SIGKILL, SIGQUIT, SIGXCPU, SIGXFSZ].contains(signal)
      ? "\(collected.run.name) was killed by \(name), which leaves no dump" : nil
  }

  // MARK: JSON

  private var json: [UInt8] {
    JSONWriter.bytes(.indented) { RunDocument.document.write(collected, to: &$0) }
  }
}
