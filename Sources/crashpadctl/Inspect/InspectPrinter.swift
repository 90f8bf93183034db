// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import CrashpadView

/// Prints one dump as text: an overview, or the parts that options select.
struct InspectPrinter {
  let parts: InspectParts
  let cache: SymbolCache
  /// Whether symbols were requested.
  let hasSymbols: Bool

  /// The number of stack frames to print. With the text above them, they fill a screen.
  private static let frames = 10
  /// The number of findings to print above the overview.
  private static let findings = 8

  /// Prints the most severe findings; a damaged dump may have a thousand.
  func printFindings(_ dump: Dump, _ name: String) {
    let findings = dump.findings
    let shown = findings.mostSevere(Self.findings).sorted()
    for index in shown { Terminal.error(Sentences.line(findings[index], input: name)) }
    let more = findings.count - shown.count + findings.droppedCount
    if more > 0 { Terminal.error("\(name): note: \(grouped(more)) more; crashpadctl validate lists them") }
  }

  /// Prints what was requested. Returns false if a part is missing.
  func printText(_ dump: Dump, _ view: CrashView?, _ item: InputList.Input) -> Bool {
    var hasAll = true
    if let view {
      if parts.isEmpty { printOverview(view, item) }
      hasAll = printParts(view, item.name)
    }
    if parts.tree, !printTree(dump, item.name) { hasAll = false }
    if parts.hex {
      dump.file.withBytes { bytes in
        for start in stride(from: 0, to: bytes.byteCount, by: 4096) {
          let part = bytes.extracting(start..<min(start + 4096, bytes.byteCount))
          Terminal.output(HexDump.text(part, address: UInt64(start)))
        }
      }
    }
    return hasAll
  }

  static func reportMissing(_ memory: AddressArgument, _ name: String) {
    Terminal.error("\(name): error: \(TextFormat.hex(memory.address)) was not captured; --memory-list lists what was")
  }

  private func printOverview(_ view: CrashView, _ item: InputList.Input) {
    // Among many inputs, a dump's stack is printed only if symbols were requested. A single dump always has one,
    // with the symbols on this system.
    let hasStack = (!item.isFound || hasSymbols) && view.hasCrashedStack
    let view = hasStack ? view.walkingCrashedThread(cache) : view
    let overview = OverviewText(view: view, name: item.name, style: .output)
    Terminal.output(overview.text(item.isFound ? .short : .all, summary: view.summary))
    printStacks(view)
  }

  private func printParts(_ view: CrashView, _ name: String) -> Bool {
    var hasAll = true
    if let threads = parts.threads {
      if let failure = threads.failure(view.threadCount) {
        Terminal.error("\(name): error: \(failure)")
        hasAll = false
      } else {
        Terminal.output(DetailText.threads(view, threads, style: .output))
      }
    }
    if parts.modules { Terminal.output(DetailText.modules(view, style: .output)) }
    if parts.annotations { Terminal.output(AnnotationText.text(view)) }
    if parts.registers { Terminal.output(DetailText.registers(view, parts.threads ?? .all)) }
    if parts.memoryList { Terminal.output(DetailText.memory(view, style: .output)) }
    if let memory = parts.memory {
      if let text = DetailText.memory(view, at: memory.address, count: parts.memoryLength) {
        Terminal.output(text)
      } else {
        Self.reportMissing(memory, name)
        hasAll = false
      }
    }
    return hasAll
  }

  /// Prints where an exception was thrown that was not caught, and the stack of the crashed thread.
  private func printStacks(_ view: CrashView) {
    // Records the symbol files that the stack used or rejected, so that they are reported with the others.
    view.lookAtModulesOfStacks()
    let text = StackText(
      view: view, limit: Self.frames, style: .output, hint: "crashpadctl symbolize prints them")
    let stacks = [view.lastException, view.crashedStack].compactMap { $0 }
    for stack in stacks where !stack.frames.isEmpty || view.exception != nil {
      Terminal.output("\n" + text.text(stack))
    }
  }

  private func printTree(_ dump: Dump, _ name: String) -> Bool {
    guard let tree = dump.tree else {
      let kind = FormatRow.of(dump.format).title
      Terminal.error("\(name): error: --tree shows intermediate dumps; this is a \(kind)")
      return false
    }
    var block = ""
    dump.file.withBytes { bytes in
      TreeText.write(tree, bytes) { line in
        block += line
        if block.utf8.count > 64 * 1024 {
          Terminal.output(block)
          block = ""
        }
        return true
      }
    }
    Terminal.output(block)
    return true
  }
}
