internal import CrashpadSnapshot

/// Stacks: lists of frames, of which the runtimes' fold.
extension CrashPageWriter {
  /// Runs of so many frames of the system fold in the thread that crashed.
  private static let foldedRun = 3

  mutating func crashedStack() -> HTML {
    guard let stack = page.stacks.first(where: \.isCrashed) else {
      return page.stacks.isEmpty ? "" : "<p>No thread crashed.</p>\n"
    }
    let title = self.title(stack.threads[0])
    return "<p class=\"thread\" id=\"t\(stack.threads[0].index ?? -1)\">\(title)</p>\n\(frames(of: stack))"
  }

  mutating func otherStacks() -> HTML {
    let others = page.stacks.filter { !$0.isCrashed }
    if others.isEmpty { return "" }
    let threads = others.reduce(0) { $0 + $1.threads.count }
    var html: HTML = """
      <p class="sub">\(counted(threads, "thread")), \(counted(others.count, "stack")): threads with the same stack stand \
      together.</p>
      <div data-filter="threads">

      """
    for stack in others { html += other(stack) }
    html += "</div>\n"
    return html
  }

  private mutating func other(_ stack: CrashPage.Stack) -> HTML {
    let first = stack.threads[0]
    let more: HTML = stack.threads.count > 1 ? " and \(grouped(stack.threads.count - 1)) more" : ""
    let top: HTML =
      stack.frames.first { $0.isOwn }.map { "<small>\(texts.place($0.name, limit: 120))</small>" }
      ?? stack.frames.first.map { "<small>\(texts.place($0.name, limit: 120))</small>" } ?? ""
    var html: HTML = """
      <details open data-fold id="t\(first.index ?? -1)"><summary>\(title(first))\(more) \(top)</summary>

      """
    if stack.threads.count > 1 {
      html += "<ul class=\"same\">"
      for thread in stack.threads.dropFirst() { html += "<li id=\"t\(thread.index ?? -1)\">\(title(thread))</li>" }
      html += "</ul>\n"
    }
    html += frames(of: stack)
    html += "</details>\n"
    return html
  }

  private mutating func title(_ thread: CrashPage.Thread) -> HTML {
    var html: HTML = thread.index.map { "<b>Thread \($0)</b>" } ?? "<b>Thread of the exception</b>"
    if let id = thread.id { html += ", \(id)" }
    if let name = thread.name { html += ", <q>\(texts.place(name, limit: 120))</q>" }
    if let queue = thread.queue { html += ", queue \(texts.place(queue, limit: 120))" }
    return html
  }

  // MARK: Frames

  private mutating func frames(of stack: CrashPage.Stack) -> HTML {
    var html = HTML()
    let id: HTML = "t\(stack.threads[0].index ?? -1)f"
    if stack.leftOut > 0 {
      html += self.stack(Array(stack.frames[..<stack.leftOutAt]), id: id, folds: stack.isCrashed)
      html += "<p class=\"left-out\">… \(counted(stack.leftOut, "frame")) left out; crashpadctl symbolize --frames all "
      html += "prints them.</p>\n"
      html += self.stack(Array(stack.frames[stack.leftOutAt...]), id: id, folds: stack.isCrashed)
    } else {
      html += self.stack(stack.frames, id: id, folds: stack.isCrashed)
    }
    if let end = stack.end { html += "<p class=\"sub\">\(end)</p>\n" }
    return html
  }

  mutating func stack(_ frames: [CrashPage.Frame], id: HTML, folds: Bool = true) -> HTML {
    if frames.isEmpty { return "" }
    var html: HTML = "<ol class=\"stack\">\n"
    let hasOwn = frames.contains { $0.isOwn }
    var index = 0
    while index < frames.count {
      var end = index
      while folds, hasOwn, end < frames.count, !frames[end].isOwn { end += 1 }
      guard end - index >= Self.foldedRun else {
        html += frame(frames[index], id: id)
        index += 1
        continue
      }
      let run = frames[index..<end]
      html += "<li><details open data-fold><summary>\(summary(run))</summary><ol class=\"stack\">\n"
      for item in run { html += frame(item, id: id) }
      html += "</ol></details></li>\n"
      index = end
    }
    html += "</ol>\n"
    return html
  }

  private mutating func summary(_ run: ArraySlice<CrashPage.Frame>) -> HTML {
    let first = run.first?.number ?? 0
    let names = run.prefix(3).map { $0.name }
    var html: HTML = "Frames \(first) to \(run.last?.number ?? first), of the system: "
    for (index, name) in names.enumerated() {
      if index > 0 { html += ", " }
      html += "<code>\(texts.place(name, limit: 60))</code>"
    }
    if run.count > names.count { html += " …" }
    return html
  }

  private mutating func frame(_ frame: CrashPage.Frame, id: HTML) -> HTML {
    let kind: HTML = frame.isMarked ? " class=\"own first\"" : frame.isOwn ? " class=\"own\"" : ""
    var html: HTML = "<li id=\"\(id)\(frame.number)\"\(kind)><a href=\"#\(id)\(frame.number)\">\(frame.number)</a> "
    html += "<code>\(texts.place(frame.name, limit: 400))</code>\(frame.offset)"
    if frame.isMarked { html += " <strong>first frame of the program</strong>" }
    if let location = frame.location { html += " <span>\(texts.place(location, limit: 200))</span>" }
    if !frame.module.isEmpty { html += " <small>\(texts.place(frame.module, limit: 100))</small>" }
    if !frame.trust.isEmpty { html += " <small>(\(frame.trust))</small>" }
    if let source = frame.source { html += self.source(source, frame) }
    html += "</li>\n"
    return html
  }

  private func source(_ source: CrashPage.Source, _ frame: CrashPage.Frame) -> HTML {
    var lines = HTML()
    let width = String(source.first + source.lines.count).utf8.count
    for (index, line) in source.lines.enumerated() {
      let number = source.first + index
      let digits = String(number)
      let blanks = String(repeating: " ", count: width - digits.utf8.count)
      let text = HTML(line)
      if number == source.line {
        lines += "<mark>\(blanks)\(digits)&gt; \(text)</mark>\n"
      } else {
        lines += "\(blanks)\(digits)  \(text)\n"
      }
    }
    return "\n\(Page.block("Source of frame \(frame.number)", lines, " class=\"source\""))"
  }

  // MARK: Modules and memory

  mutating func modules() -> HTML {
    if page.modules.isEmpty { return "" }
    var rows = HTML()
    for module in page.modules {
      let own: HTML = module.isOwn ? " class=\"own\"" : ""
      let isLacking = module.state == .missing || module.state == .refused
      let state: HTML = isLacking ? "<b>\(module.state.rawValue)</b>" : HTML(module.state.rawValue)
      rows += """
        <tr\(own)><th scope="row">\(texts.place(module.name, limit: 120))</th><td>\(state)</td>\
        <td class="whole"><code>\(module.start)</code></td><td class="whole"><code>\(module.end)</code></td><td>\
        \(texts.place(module.version, limit: 60))</td><td><code>\(texts.place(module.identity, limit: 120))</code></td>\
        <td>\(texts.place(module.path))</td><td>\(texts.place(module.symbols))</td></tr>

        """
    }
    let states = CrashPage.Module.State.allCases.compactMap { state -> String? in
      let count = page.modules.count { $0.state == state }
      return count == 0 ? nil : "\(grouped(count)) \(state.rawValue)"
    }
    let table = Page.table(
      "Modules", of: "modules", ["Module", "Symbols", "Start", "End", "Version", "Identity", "Path", "Symbol files"],
      rows: rows)
    return """
      <p class="sub">\(counted(page.modules.count, "module")); symbols: \(states.joined(separator: ", "))</p>
      \(Page.fold("All modules", table))
      """
  }

  func memory() -> HTML {
    guard let memory = page.memory else { return "" }
    var html = map(memory)
    var rows = HTML()
    for range in memory.ranges {
      rows += """
        <tr><td class="whole"><code>\(range.start)</code></td><td class="whole"><code>\(range.end)</code></td>\
        <td class="number" data-value="\(range.count)">\(grouped(range.count))</td><td>\(range.what)</td></tr>

        """
    }
    let table = Page.table(
      "Captured ranges of memory", of: "ranges", ["Start", "End", .number("Bytes"), "What"], rows: rows)
    let more: HTML =
      memory.leftOut > 0
      ? "<p>\(grouped(memory.leftOut)) more; crashpadctl inspect --memory-list prints all.</p>\n" : ""
    html += "\(Page.fold("All ranges", "\(table)\(more)"))\n"
    for dump in memory.dumps {
      html += "\(Page.fold("\(dump.title)", Page.block("\(dump.title)", "\(dump.text)")))\n"
    }
    return html
  }

  /// Each range as a bar, as wide as its share of all captured bytes, in order of the addresses.
  private func map(_ memory: CrashPage.Memory) -> HTML {
    let total = memory.ranges.reduce(0) { $0 + $1.count }
    let label: HTML =
      "\(counted(memory.ranges.count + memory.leftOut, "range")) with \(grouped(memory.totalBytes)) bytes"
    if total == 0 || memory.ranges.count < 2 { return "<p>\(label)</p>\n" }
    var bars = HTML()
    var place = 0
    for (index, range) in memory.ranges.prefix(200).enumerated() {
      let x = place * 1000 / total
      let end = (place + range.count) * 1000 / total
      bars += "<rect x=\"\(x)\" y=\"0\" width=\"\(max(1, end - x))\" height=\"20\" class=\"c\(index % 2)\">"
      bars += "<title>\(range.start), \(counted(range.count, "byte")), \(range.what)</title></rect>"
      place += range.count
    }
    return """
      <p>\(label), in order of their addresses; the table below lists them.</p>
      <svg class="map" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label="Map of \(label)">\(bars)</svg>

      """
  }
}
