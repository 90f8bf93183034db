// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSignatures
internal import CrashpadSnapshot
internal import CrashpadText
internal import CrashpadView

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
  /// All captured memory, by address.
  let ranges: [CrashView.MemoryRange]
  let stacks: PageStacks

  var view: CrashView { page.view }

  init(_ page: CrashPage) {
    self.page = page
    ranges = page.view.memory
    stacks = PageStacks(page)
  }

  mutating func document() -> [UInt8] {
    sections.add("what", "What happened", explanation())
    // The exception that was thrown says more than who ended the process for it.
    let missing = missingSymbols()
    let hasThrown = !stacks.lastException.isEmpty
    if hasThrown {
      sections.add("exception", "Last exception", "\(missing)\(stack(stacks.lastException, id: "e"))")
    }
    let crashed = crashedStack()
    sections.add(
      "stack", view.hasCrash ? "Crashed thread" : "Thread at fault", hasThrown ? crashed : "\(missing)\(crashed)")
    sections.add("messages", "Messages", entries(view.messages, "Messages"))
    sections.add("facts", "Process and system", facts())
    sections.add("instruction", "Instruction", instruction())
    sections.add("registers", "Registers", registers())
    sections.add("threads", "Other threads", otherStacks())
    sections.add("annotations", "Annotations", entries(view.annotationEntries, "Annotations"))
    sections.add("capture", "Capture", Page.list(view.captureNotes.map { texts.place($0, limit: 2000) }))
    sections.add("modules", "Modules", modules())
    sections.add("memory", "Memory", memory())
    sections.add("findings", "Findings", findings())
    // On paper these would be pages of what stands above already.
    sections.add("tree", page.tree.map { HTML($0.title) } ?? "", tree(), " data-screen")
    sections.add("text", "As text", plainText(), " data-screen")
    sections.add("texts", "Long texts", texts.wholes)
    let title = page.title
    let subtitle = "\(page.name): \(view.kind)"
    let isDamaged = !view.isWhole || view.hasErrors
    let damaged: HTML = isDamaged ? "<p class=\"note\">The dump is not whole: \(subtitle)</p>" : ""
    return Document(
      title: title.unicodeScalars.count > PageTexts.limit
        ? String(String.UnicodeScalarView(title.unicodeScalars.prefix(PageTexts.limit))) + "…" : title,
      skipLabel: "Skip to the crash",
      header: """
        <h1>\(texts.place(name: title))</h1>
        \(fault())\(headFacts())<p class="sub">\(texts.place(subtitle))</p>
        \(damaged)
        """,
      sections: sections, footer: "Made by \(page.options.generator)", data: nil
    ).bytes()
  }

  // MARK: Head

  /// The name of the fault, where a title stands in its place.
  private mutating func fault() -> HTML {
    guard page.options.title != nil, let fault = page.fault else { return "" }
    return "<p class=\"fault\">\(texts.place(name: fault))</p>\n"
  }

  private mutating func headFacts() -> HTML {
    var items = HTML()
    for fact in view.headFacts {
      items += "<div><dt>\(fact.label)</dt><dd>\(texts.place(fact.value, limit: 120))</dd></div>\n"
    }
    return items.isEmpty ? "" : "<dl class=\"head\">\n\(items)</dl>\n"
  }

  // MARK: Explanation and facts

  /// Steps that a page shows at once.
  private static let steps = 2

  private mutating func explanation() -> HTML {
    let explanation = page.explanation
    var html: HTML = "<p class=\"\(explanation.isCrash ? "summary crash" : "summary" as HTML)\">"
    html += "\(texts.place(page.summary, limit: 2000))</p>\n<dl class=\"parts\">\n"
    add("Certainty", [explanation.certainty.words], to: &html)
    add("Ended by", explanation.endedBy, to: &html)
    if !explanation.evidence.isEmpty {
      var items: [HTML] = []
      for evidence in explanation.evidence { items.append(item(evidence)) }
      html += "<dt>Evidence</dt><dd>\(Page.list(items))</dd>\n"
    }
    add("To do", explanation.advice, to: &html, shown: Self.steps)
    add("Beware", explanation.cautions, to: &html)
    add("Not known", explanation.notKnown, to: &html)
    html += "</dl>\n"
    if !explanation.sources.isEmpty {
      html += "<p class=\"sub\">Sources: \(explanation.sources.joined(separator: "; "))</p>\n"
    }
    return html
  }

  /// - Parameter shown: the sentences that do not fold.
  private mutating func add(_ label: HTML, _ sentences: [String], to html: inout HTML, shown: Int = .max) {
    var items: [HTML] = []
    for text in sentences where !text.isEmpty { items.append(texts.place(TextFormat.printable(text), limit: 2000)) }
    if items.isEmpty { return }
    let rest = Array(items.dropFirst(shown))
    let more: HTML = rest.isEmpty ? "" : Page.fold("\(grouped(rest.count)) more", Page.list(rest))
    html += "<dt>\(label)</dt><dd>\(Page.list(Array(items.prefix(shown))))\(more)</dd>\n"
  }

  private mutating func item(_ evidence: Explanation.Evidence) -> HTML {
    var html = texts.place(TextFormat.printable(evidence.text), limit: 2000)
    if let place = evidence.place.map({ TextFormat.printable($0) }) {
      if let thread = evidence.thread, let frame = evidence.frame, stacks.shows(thread: thread, frame: frame) {
        html += " <a href=\"#t\(thread)f\(frame)\">\(texts.place(place))</a>"
      } else {
        html += " (\(texts.place(place)))"
      }
    }
    return html
  }

  private mutating func facts() -> HTML {
    // These have sections of their own.
    let elsewhere: Set = ["Summary", "Messages", "Annotations"]
    var facts: [(label: String, values: [String])] = []
    // With names: the frame, the evidence and the place are of one function.
    for line in CrashFactList(page.named, .all).lines {
      if line.label.isEmpty, !facts.isEmpty {
        facts[facts.count - 1].values.append(line.text)
      } else {
        facts.append((line.label, [line.text]))
      }
    }
    facts.removeAll { elsewhere.contains($0.label) }
    if let signature = view.signature {
      facts.append(("Signature", ["\(signature.id)  \(TextFormat.printable(signature.text))"]))
    }
    if facts.isEmpty { return "" }
    var html: HTML = "<dl class=\"facts\">\n"
    for fact in facts {
      html += "<dt>\(fact.label)</dt>"
      for value in fact.values { html += "<dd>\(texts.place(value))</dd>" }
      html += "\n"
    }
    html += "</dl>\n"
    return html
  }

  private mutating func entries(_ entries: [CrashView.Entry], _ title: HTML) -> HTML {
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

  // MARK: Findings and the rest

  /// Findings that a page lists; a damaged dump may have a thousand.
  private static let listedFindings = 200

  private mutating func findings() -> HTML {
    let all = view.allFindings
    let shown = all.mostSevere(Self.listedFindings)
    let dropped = all.count - shown.count + all.droppedCount
    if shown.isEmpty, dropped == 0 { return "" }
    var rows = HTML()
    for index in shown {
      let finding = all[index]
      let severity: HTML =
        finding.severity == .error ? "<b class=\"error\">error</b>" : HTML(finding.severity.rawValue)
      let offset = finding.offset.map { "0x" + hexadecimal(UInt64($0)) } ?? "-"
      rows += """
        <tr><td>\(severity)</td><td class="whole"><code>\(offset)</code></td>\
        <td>\(texts.place(TextFormat.printable(finding.sentence)))</td><td><code>\(finding.rule.code)</code></td></tr>

        """
    }
    let table = Page.table(
      "Findings", of: "findings", ["Severity", "Byte", "Finding", "Code"], rows: rows)
    let more: HTML =
      dropped > 0 ? "<p>\(grouped(dropped)) more; crashpadctl validate counts them.</p>\n" : ""
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
