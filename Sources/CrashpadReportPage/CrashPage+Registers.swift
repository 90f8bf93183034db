// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText
internal import CrashpadView

/// Registers, and the instruction at the fault.
extension CrashPageWriter {
  /// The registers of the thread that crashed, or of the exception.
  var crashedContext: CPUContext? {
    (view.hasCrash ? view.crashedStack?.context : nil) ?? view.exception?.context
  }

  mutating func registers() -> HTML {
    guard let context = crashedContext else { return "" }
    var rows = HTML()
    for register in context.generalRegisters {
      let isStatus = ["cpsr", "rflags", "cs", "fs", "gs", "eflags"].contains(register.name)
      let (target, content) = isStatus || register.value < 0x1000 ? ("", "") : pointee(register.value)
      rows += """
        <tr><th scope="row">\(register.name)</th><td class="whole"><code>\(view.fullAddress(register.value))</code></td><td>\
        \(texts.place(target))</td><td class="whole"><code>\(texts.place(content))</code></td></tr>

        """
    }
    if context.generalRegisters.isEmpty { return "" }
    let table = Page.table(
      "Registers", ["Register", "Value", "Points to", "Memory there"], rows: rows)
    let thread = view.hasCrash ? view.crashedStack?.thread.map { "thread \(view.threadNumber($0))" } : nil
    return """
      <p class="sub">\(context.architecture.rawValue), of \(thread ?? "the exception")</p>
      \(table)\(otherContext(than: context))
      """
  }

  /// The registers of the exception, or of the thread that crashed, where both are there and differ.
  private func otherContext(than context: CPUContext) -> HTML {
    let contexts: [(HTML, CPUContext?)] = [
      ("Registers of the exception", view.exception?.context),
      ("Registers of the thread that crashed", view.crashedThread.flatMap { view.thread($0).context }),
    ]
    let shown = page.named.registerText(context)
    var html = HTML()
    for (title, other) in contexts {
      guard let text = other.map(page.named.registerText), text != shown else { continue }
      html += Page.fold(title, Page.block(title, "\(text)"))
    }
    return html
  }

  /// The target of an address, and the captured memory there as bytes or as text.
  private func pointee(_ address: UInt64) -> (target: String, content: String) {
    let around = ranges.filter { $0.contains(address) }
    // A stack, rather than the memory around another register that lies in it.
    let range = around.first { !$0.owner.isEmpty } ?? around.first
    let target = page.named.location(address)?.line ?? range.map { $0.owner.isEmpty ? "memory" : $0.owner } ?? ""
    return (target, range.map { content(of: $0, at: address) } ?? "")
  }

  /// Text, if it begins like one; else the first word, or what there is of it.
  private func content(of range: CrashView.MemoryRange, at address: UInt64) -> String {
    let bytes = view.bytes(of: range, at: address, count: 64)
    let text = bytes.prefix { (0x20..<0x7f).contains($0) }
    if text.count >= 4, text.count == bytes.count || bytes[text.count] == 0 {
      return "\"\(String(decoding: text, as: UTF8.self))\""
    }
    return Self.digits(bytes.prefix(16))
  }

  private static func digits(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { hexadecimal(UInt64($0), width: 2) }.joined(separator: " ")
  }

  // MARK: Instruction

  mutating func instruction() -> HTML {
    guard let context = crashedContext else { return "" }
    let address = context.instructionAddress
    guard let code = view.code(around: address, reach: Disassembly.reach, in: ranges), code.before < code.bytes.count
    else { return "" }
    let bytes = Array(code.bytes[code.before...].prefix(16))
    let place: HTML = page.named.location(address).map { " in \(texts.place($0.line))" } ?? ""
    let sentence: HTML = view.instructionSentence.map { "<p><b>\(texts.place($0))</b></p>\n" } ?? ""
    let note: HTML =
      TrapInstruction.note(bytes, context.architecture).map { "<p>\(texts.place($0))</p>\n" } ?? ""
    let hint: HTML =
      Disassembly.isInstalled
      ? "" : "<p class=\"sub\">No disassembly: \(Disassembly.package) is not installed where this page was made.</p>\n"
    let disassembly = Disassembly(
      at: address, in: code.bytes, before: code.before, context.architecture, isThumb: context.isThumb)
    return """
      <p><code>\(view.fullAddress(address))</code>\(place)</p>
      <p>Bytes from there on, of \(code.origin): <code>\(Self.digits(bytes))</code></p>
      \(sentence)\(note)\(disassembly.map { html($0) } ?? "")\(hint)
      """
  }

  private func html(_ disassembly: Disassembly) -> HTML {
    if disassembly.lines.isEmpty { return "" }
    let widest = disassembly.lines.map(\.bytes.count).max() ?? 0
    var text = HTML()
    for (index, line) in disassembly.lines.enumerated() {
      let bytes = Self.digits(line.bytes) + String(repeating: " ", count: (widest - line.bytes.count) * 3)
      let columns: HTML = "\(view.fullAddress(line.address))  \(bytes)  \(line.text ?? "is no instruction")"
      text += index == disassembly.index ? "<mark>&gt; \(columns)</mark>\n" : "  \(columns)\n"
    }
    return Page.block("Disassembly", text, " class=\"source\"")
  }
}
