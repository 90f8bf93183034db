// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText
internal import CrashpadView
internal import SystemPackage

/// Modules, registers and memory.
extension CrashPageWriter {
  // MARK: Modules

  mutating func modules() -> HTML {
    let modules = view.symbolizedModules
    if modules.isEmpty { return unloadedModules() }
    var rows = HTML()
    // The program's own come first.
    for module in modules.filter({ page.isOfApp[$0.index] }) + modules.filter({ !page.isOfApp[$0.index] }) {
      let recorded = view.module(module.index)
      let own: HTML = page.isOfApp[module.index] ? " class=\"own\"" : ""
      let state = module.symbolState
      let isLacking = state == .missing || state == .refused
      let mark: HTML = isLacking ? "<b>\(state.rawValue)</b>" : HTML(state.rawValue)
      rows += """
        <tr\(own)><th scope="row">\(texts.place(view.moduleName(module.index), limit: 120))</th><td>\(mark)</td>\
        <td class="whole"><code>\(recorded.address.map(view.fullAddress) ?? "-")</code></td>\
        <td class="whole"><code>\(recorded.end.map(view.fullAddress) ?? "-")</code></td><td>\(recorded.typeName ?? "-")</td><td>\
        \(texts.place(recorded.version ?? "", limit: 60))</td><td>\
        <code>\(texts.place(recorded.identity ?? "", limit: 120))</code></td><td>\
        <code>\(module.identity.debugID?.text ?? "-")</code></td><td>\(texts.place(recorded.path?.line ?? ""))</td>\
        <td>\(texts.place(symbols(of: module)))\(onServer(module))</td></tr>

        """
    }
    let states = Symbolization.Module.SymbolState.allCases.compactMap { state -> String? in
      let count = modules.count { $0.symbolState == state }
      return count == 0 ? nil : "\(grouped(count)) \(state.rawValue)"
    }
    let table = Page.table(
      "Modules", of: "modules",
      ["Module", "Symbols", "Start", "End", "Type", "Version", "Identity", "Debug id", "Path", "Symbol files"],
      rows: rows)
    return """
      <p class="sub">\(counted(modules.count, "module")); symbols: \(states.joined(separator: ", "))</p>
      \(Page.fold("All modules", table))
      \(unloadedModules())
      """
  }

  /// Unloaded modules that a page lists.
  private static let listedUnloaded = 1000

  private mutating func unloadedModules() -> HTML {
    let modules = view.unloadedModules
    if modules.isEmpty { return "" }
    var rows = HTML()
    for module in modules.prefix(Self.listedUnloaded) {
      rows += """
        <tr><th scope="row">\(texts.place(module.name?.line ?? "-", limit: 120))</th><td class="whole">\
        <code>\(view.fullAddress(module.address))</code></td><td class="whole"><code>\(view.fullAddress(module.end))</code></td>\
        <td><code>\(texts.place(module.codeID, limit: 80))</code></td></tr>

        """
    }
    let table = Page.table(
      "Unloaded modules", of: "unloaded modules", ["Module", "Start", "End", "Code id"], rows: rows)
    let more: HTML =
      modules.count > Self.listedUnloaded
      ? "<p>\(grouped(modules.count - Self.listedUnloaded)) more; crashpadctl inspect --modules prints all.</p>\n" : ""
    return Page.fold("\(counted(modules.count, "module")) that had been unloaded", "\(table)\(more)")
  }

  /// The place in which a server would have the symbols that are missing.
  private mutating func onServer(_ module: Symbolization.Module) -> HTML {
    guard module.lacksSymbols, module.symbols != nil, let path = SymbolRequest(module.identity).path else { return "" }
    return "<br>on a server: <code>\(texts.place(TextFormat.printable(path), limit: 200))</code>"
  }

  func symbols(of module: Symbolization.Module) -> String {
    guard let search = module.symbols?.search else { return "" }
    guard page.options.isRedacted else { return module.symbolLine }
    return (search.files.map(\.path) + search.refused.map(\.path)).compactMap { $0.lastComponent?.string }.map {
      TextFormat.printable($0)
    }.joined(separator: ", ")
  }

  // MARK: Memory

  /// Ranges that a page lists.
  private static let listedRanges = 400

  func memory() -> HTML {
    if ranges.isEmpty { return "" }
    let listed = ranges.prefix(Self.listedRanges)
    var html = map(listed)
    var rows = HTML()
    for range in listed {
      rows += """
        <tr><td class="whole"><code>\(view.fullAddress(range.address))</code></td><td class="whole">\
        <code>\(end(of: range))</code></td>\
        <td class="number" data-value="\(range.count)">\(grouped(range.count))</td><td>\(range.owner)</td></tr>

        """
    }
    let table = Page.table(
      "Captured ranges of memory", of: "ranges", ["Start", "End", .number("Bytes"), "What"], rows: rows)
    let more: HTML =
      ranges.count > listed.count
      ? "<p>\(grouped(ranges.count - listed.count)) more; crashpadctl inspect --memory-list prints all.</p>\n" : ""
    html += "\(Page.fold("All ranges", "\(table)\(more)"))\n"
    for dump in dumps {
      html += "\(Page.fold("\(dump.title)", Page.block("\(dump.title)", "\(dump.text)")))\n"
    }
    return html
  }

  /// Each range as a bar, as wide as its share of all captured bytes, in order of the addresses.
  private func map(_ listed: ArraySlice<CrashView.MemoryRange>) -> HTML {
    let total = listed.reduce(0) { $0 + $1.count }
    let label: HTML =
      "\(counted(ranges.count, "range")) with \(grouped(ranges.reduce(0) { $0 + $1.count })) bytes"
    if total == 0 || listed.count < 2 { return "<p>\(label)</p>\n" }
    var bars = HTML()
    var place = 0
    for (index, range) in listed.prefix(200).enumerated() {
      let x = place * 1000 / total
      let end = (place + range.count) * 1000 / total
      bars += "<rect x=\"\(x)\" y=\"0\" width=\"\(max(1, end - x))\" height=\"20\" class=\"c\(index % 2)\">"
      bars +=
        "<title>\(view.fullAddress(range.address)), \(counted(range.count, "byte")), \(range.owner)</title></rect>"
      place += range.count
    }
    return """
      <p>\(label), in order of their addresses; the table below lists them.</p>
      <svg class="map" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label="Map of \(label)">\(bars)</svg>

      """
  }
  private func end(of range: CrashView.MemoryRange) -> String { range.end.map(view.fullAddress) ?? "beyond 2^64" }

  /// The memory around the fault, the instruction and the stack pointer.
  private var dumps: [CrashPage.Listing] {
    guard let context = crashedContext else { return [] }
    var dumps: [CrashPage.Listing] = []
    func add(_ title: String, _ address: UInt64, before: UInt64, count: Int) {
      // A range that begins behind that place is shown from its start on.
      let start = [address &- before, address].first { view.memory(at: $0, count: 1) != nil }
      guard let start, let bytes = view.memory(at: start, count: count) else { return }
      dumps.append(
        CrashPage.Listing(
          title: "\(title), \(view.fullAddress(address))", text: unsafe HexDump.text(bytes.span.bytes, address: start)))
    }
    if let address = view.exception?.address, address != 0, address != context.instructionPointer {
      add("At the address of the fault", address, before: 64, count: 256)
    }
    add("At the instruction", context.instructionPointer, before: 64, count: 160)
    add("Stack from the stack pointer", context.stackPointer, before: 0, count: 1024)
    return dumps
  }
}
