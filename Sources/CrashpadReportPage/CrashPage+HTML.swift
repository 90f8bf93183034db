internal import CrashpadSnapshot

extension CrashPage {
  /// The page: the same bytes for the same values.
  package func html() -> [UInt8] {
    var writer = CrashPageWriter(self)
    return writer.document()
  }
}

/// Writes the parts of a page in the order in which they are read.
struct CrashPageWriter {
  let page: CrashPage
  var texts = PageTexts()
  private var sections = PageSections()

  init(_ page: CrashPage) { self.page = page }

  mutating func document() -> [UInt8] {
    sections.add("what", "What happened", explanation())
    sections.add("stack", "Crashed thread", crashedStack())
    if !page.lastException.isEmpty { sections.add("exception", "Last exception", stack(page.lastException, id: "e")) }
    sections.add("facts", "Process and system", facts())
    sections.add("messages", "Messages", entries(page.messages, "Messages"))
    sections.add("instruction", "Instruction", instruction())
    sections.add("registers", "Registers", registers())
    sections.add("threads", "Other threads", otherStacks())
    sections.add("annotations", "Annotations", entries(page.annotations, "Annotations"))
    sections.add("modules", "Modules", modules())
    sections.add("memory", "Memory", memory())
    sections.add("findings", "Findings", findings())
    // On paper these would be pages of what stands above already.
    sections.add("tree", page.tree.map { HTML($0.title) } ?? "", tree(), " data-screen")
    sections.add("text", "As text", plainText(), " data-screen")
    sections.add("texts", "Long texts", texts.wholes)
    let title = texts.place(page.title)
    let damaged: HTML = page.isDamaged ? "<p class=\"note\">The dump is not whole: \(page.subtitle)</p>" : ""
    return Document(
      title: page.title.unicodeScalars.count > PageTexts.limit
        ? String(String.UnicodeScalarView(page.title.unicodeScalars.prefix(PageTexts.limit))) + "…" : page.title,
      skipLabel: "Skip to the crash",
      header: "<h1>\(title)</h1>\n<p class=\"sub\">\(texts.place(page.subtitle))</p>\n\(damaged)",
      sections: sections, footer: "Made by \(page.generator)", data: nil
    ).bytes()
  }

  // MARK: Explanation and facts

  private mutating func explanation() -> HTML {
    guard let explanation = page.explanation else { return "" }
    var html: HTML = "<p class=\"\(explanation.isCrash ? "summary crash" : "summary" as HTML)\">"
    html += "\(texts.place(explanation.summary, limit: 2000))</p>\n<dl class=\"parts\">\n"
    for part in explanation.parts where !part.items.isEmpty {
      html += "<dt>\(part.label)</dt><dd>"
      var items: [HTML] = []
      for item in part.items { items.append(self.item(item)) }
      html += "\(Page.list(items))</dd>\n"
    }
    html += "</dl>\n"
    if !explanation.sources.isEmpty {
      html += "<p class=\"sub\">Sources: \(explanation.sources.joined(separator: "; "))</p>\n"
    }
    return html
  }

  private mutating func item(_ item: CrashPage.Explanation.Item) -> HTML {
    var html = texts.place(item.text, limit: 2000)
    if let place = item.place {
      if let frame = item.frame, isShown(frame) {
        html += " <a href=\"#t\(frame.thread)f\(frame.number)\">\(texts.place(place))</a>"
      } else {
        html += " (\(texts.place(place)))"
      }
    }
    return html
  }

  /// Whether a link to the frame leads somewhere.
  private func isShown(_ frame: CrashPage.FrameID) -> Bool {
    page.stacks.contains { stack in
      stack.threads.first?.index == frame.thread && stack.frames.contains { $0.number == frame.number }
    }
  }

  private mutating func facts() -> HTML {
    if page.facts.isEmpty { return "" }
    var html: HTML = "<dl class=\"facts\">\n"
    for fact in page.facts {
      html += "<dt>\(fact.label)</dt>"
      for value in fact.values { html += "<dd>\(texts.place(value))</dd>" }
      html += "\n"
    }
    html += "</dl>\n"
    return html
  }

  private mutating func entries(_ entries: [CrashPage.Entry], _ title: HTML) -> HTML {
    if entries.isEmpty { return "" }
    if entries.allSatisfy({ $0.name == nil }) {
      var items: [HTML] = []
      for entry in entries {
        let module: HTML = entry.module.map { "<b>\(texts.place($0, limit: 120))</b>: " } ?? ""
        items.append("\(module)<code>\(texts.place(entry.value, limit: 2000))</code>")
      }
      return Page.list(items)
    }
    var rows = HTML()
    for entry in entries {
      rows += """
        <tr><td>\(texts.place(entry.module ?? "process", limit: 120))</td><th scope="row">\
        \(texts.place(entry.name ?? ""))</th><td><code>\(texts.place(entry.value))</code></td></tr>

        """
    }
    return Page.table(
      title, of: "annotations", ["Of", "Name", "Value"], rows: rows)
  }

  // MARK: Registers, findings and the rest

  private mutating func instruction() -> HTML {
    guard let instruction = page.instruction else { return "" }
    let place: HTML = instruction.place.map { " in \(texts.place($0))" } ?? ""
    let note: HTML = instruction.note.map { "<p>\(texts.place($0))</p>\n" } ?? ""
    let hint: HTML = instruction.hint.map { "<p class=\"sub\">\($0)</p>\n" } ?? ""
    return """
      <p><code>\(instruction.address)</code>\(place)</p>
      <p>Bytes from there on, of \(instruction.origin): <code>\(instruction.bytes)</code></p>
      \(note)\(disassembly(instruction.lines))\(hint)
      """
  }

  private func disassembly(_ lines: [CrashPage.Instruction.Line]) -> HTML {
    if lines.isEmpty { return "" }
    var text = HTML()
    for line in lines {
      let columns: HTML = "\(line.address)  \(line.bytes)  \(line.text)"
      text += line.isAt ? "<mark>&gt; \(columns)</mark>\n" : "  \(columns)\n"
    }
    return Page.block("Disassembly", text, " class=\"source\"")
  }

  private mutating func registers() -> HTML {
    if page.registers.isEmpty { return "" }
    var rows = HTML()
    for register in page.registers {
      rows += """
        <tr><th scope="row">\(register.name)</th><td class="whole"><code>\(register.value)</code></td><td>\
        \(texts.place(register.target))</td><td class="whole"><code>\(texts.place(register.content))</code></td></tr>

        """
    }
    let table = Page.table(
      "Registers", ["Register", "Value", "Points to", "Memory there"], rows: rows)
    return "<p class=\"sub\">\(page.registerTitle)</p>\n\(table)"
  }

  private mutating func findings() -> HTML {
    if page.findings.isEmpty, page.droppedFindings == 0 { return "" }
    var rows = HTML()
    for finding in page.findings {
      let severity: HTML = finding.severity == "error" ? "<b class=\"error\">error</b>" : HTML(finding.severity)
      rows += """
        <tr><td>\(severity)</td><td class="whole"><code>\(finding.offset ?? "-")</code></td><td>\(texts.place(finding.text))</td>\
        <td><code>\(finding.code)</code></td></tr>

        """
    }
    let table = Page.table(
      "Findings", of: "findings", ["Severity", "Byte", "Finding", "Code"], rows: rows)
    let more: HTML =
      page.droppedFindings > 0
      ? "<p>\(grouped(page.droppedFindings)) more; crashpadctl validate counts them.</p>\n" : ""
    return "\(table)\(more)"
  }

  private func tree() -> HTML {
    guard let tree = page.tree, !tree.text.isEmpty else { return "" }
    let rest: HTML = tree.rest.map { "<p>The list goes on; \($0) prints all of it.</p>\n" } ?? ""
    let lines = counted(tree.text.utf8.count { $0 == 0x0a }, "line")
    return Page.fold("\(lines)", "\(Page.block("Records", "\(tree.text)"))\(rest)")
  }

  private func plainText() -> HTML {
    if page.text.isEmpty { return "" }
    return Page.fold(
      "The crash as text, for a ticket", Page.block("The crash as text", "\(page.text)", " id=\"plain\""))
  }
}
