// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSignatures
internal import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText
internal import CrashpadView

/// Stacks: lists of frames, of which the runtimes' fold.
extension CrashPageWriter {
  mutating func crashedStack() -> HTML {
    guard let stack = stacks.crashed else { return stacks.others.isEmpty ? "" : "<p>No thread crashed.</p>\n" }
    let owner = stack.owners[0]
    return """
      <p class="thread" id="t\(owner.thread ?? -1)">\(title(owner))</p>
      \(blockers(owner))\(facts(owner))\(frames(of: stack))
      """
  }

  mutating func otherStacks() -> HTML {
    if stacks.others.isEmpty { return "" }
    let threads = stacks.others.reduce(0) { $0 + $1.owners.count }
    var html: HTML = """
      <p class="sub">\(counted(threads, "thread")), \(counted(stacks.others.count, "stack")): threads with the same stack stand \
      together. What a thread waits for is concluded from the names of its frames.</p>
      <div data-filter="threads">

      """
    for stack in stacks.others { html += other(stack) }
    html += "</div>\n"
    return html
  }

  private mutating func other(_ stack: PageStacks.Group) -> HTML {
    let first = stack.owners[0]
    let count: HTML = stack.owners.count > 1 ? "<b>\(grouped(stack.owners.count)) ×</b> " : ""
    let top: HTML =
      (stack.frames.first { $0.isOwn } ?? stack.frames.first).map {
        "<small>\(PageTexts.cut(FunctionParts($0.line.name).withoutArguments, to: 120))</small>"
      } ?? ""
    let wait: HTML = stack.wait.map { "<em>\($0.words)</em> " } ?? ""
    var html: HTML = """
      <details open data-fold id="t\(first.thread ?? -1)"><summary>\(count)\(summary(first)) \(wait)\(top)</summary>

      """
    let isCut = [first.name, first.queue].contains { $0.map { PageTexts.cut($0, to: Self.nameLimit) != $0 } ?? false }
    if isCut { html += "<p>\(title(first))</p>\n" }
    if stack.owners.count > 1 {
      html += "<ul class=\"same\">"
      for owner in stack.owners.dropFirst() { html += "<li id=\"t\(owner.thread ?? -1)\">\(title(owner))</li>" }
      html += "</ul>\n"
    }
    for owner in stack.owners { html += blockers(owner) }
    html += frames(of: stack)
    html += details(stack.owners)
    html += "</details>\n"
    return html
  }

  /// Characters of a thread's name.
  private static let nameLimit = 120

  private mutating func title(_ stack: CrashView.Stack) -> HTML {
    title(
      stack, name: stack.name.map { texts.place($0, limit: Self.nameLimit) },
      queue: stack.queue.map { texts.place($0, limit: Self.nameLimit) })
  }

  /// The same without links.
  private func summary(_ stack: CrashView.Stack) -> HTML {
    title(
      stack, name: stack.name.map { HTML(PageTexts.cut($0, to: Self.nameLimit)) },
      queue: stack.queue.map { HTML(PageTexts.cut($0, to: Self.nameLimit)) })
  }

  private func title(_ stack: CrashView.Stack, name: HTML?, queue: HTML?) -> HTML {
    var html: HTML = (stack.number ?? stack.thread).map { "<b>Thread \($0)</b>" } ?? "<b>Thread of the exception</b>"
    if let id = stack.id { html += ", id \(id)" }
    if let name { html += ", <q>\(name)</q>" }
    if let queue { html += ", queue \(queue)" }
    return html
  }

  // MARK: Threads

  /// The objects that the thread waits for, and their holders, as the report states them.
  private mutating func blockers(_ stack: CrashView.Stack) -> HTML {
    guard let thread = stack.thread else { return "" }
    var html = HTML()
    for blocker in view.blockers(of: thread) {
      html += "<p class=\"note\">The report says that thread \(view.threadNumber(thread)) waits: "
      html += texts.place(TextFormat.printable(blocker.text))
      if let holder = blocker.holder, stacks.shows(thread: holder) {
        html += ", held by <a href=\"#t\(holder)\">thread \(view.threadNumber(holder))</a>"
      } else if let process = blocker.process {
        html += ", held by \(texts.place(TextFormat.printable(process)))"
      }
      html += "</p>\n"
    }
    return html
  }

  /// Threads whose registers a page has; a dump may have ten thousand.
  private static let listedThreads = 256

  private mutating func facts(_ stack: CrashView.Stack) -> HTML {
    guard let index = stack.thread else { return "" }
    let facts = view.thread(index).facts
    return facts.isEmpty ? "" : "<p class=\"sub where\">\(texts.place(facts.joined(separator: ", ")))</p>\n"
  }

  /// The facts and registers of threads with one stack.
  private mutating func details(_ owners: [CrashView.Stack]) -> HTML {
    var html = HTML()
    for owner in owners {
      guard let index = owner.thread, index < Self.listedThreads else { continue }
      let thread = view.thread(index)
      let facts = thread.facts.joined(separator: ", ")
      let registers = thread.context.map { page.named.registerText($0) } ?? ""
      if facts.isEmpty, registers.isEmpty { continue }
      let title: HTML = owners.count > 1 ? "Thread \(thread.number): " : ""
      html += "<p class=\"sub\">\(title)\(texts.place(facts))</p>\n"
      if !registers.isEmpty { html += Page.block("Registers of thread \(thread.number)", "\(registers)") }
    }
    if html.isEmpty { return "" }
    // On paper these would be many pages.
    return "<div data-screen>\(Page.fold("Registers and stack pointer", html))</div>\n"
  }

  // MARK: Missing symbols

  /// Modules that a page names in front of a stack.
  private static let listedModules = 4

  /// The modules of the first stacks that have no symbols, and how to get them.
  ///
  /// A report may have names all the same: then lines and inlined calls are missing alone, which folds.
  mutating func missingSymbols() -> HTML {
    let lacking = view.symbolizedModules.filter(\.lacksSymbols)
    // In the order of the stack.
    var all: [Symbolization.Module] = []
    var unnamed: Set<Int> = []
    for frame in stacks.lastException + (stacks.crashed?.frames ?? []) {
      guard let index = frame.module, let module = lacking.first(where: { $0.index == index }) else { continue }
      if !frame.isNamed { unnamed.insert(index) }
      if !all.contains(where: { $0.index == index }) { all.append(module) }
    }
    let missing = unnamed.isEmpty ? all : all.filter { unnamed.contains($0.index) }
    if missing.isEmpty { return "" }
    let own = missing.filter { page.isOfApp[$0.index] }
    let list = own + missing.filter { !page.isOfApp[$0.index] }
    let isOwn = !own.isEmpty && !unnamed.isEmpty
    let lack: HTML =
      unnamed.isEmpty
      ? "the names are those of the report, and lines and inlined calls may be missing"
      : isOwn ? "names of the program are missing" : "names of the system are missing"
    let isOpen = missing.contains(where: \.mayHaveSymbols)
    let found: HTML =
      isOpen
      ? "\(missing.count == 1 ? "is" : "are") without symbols, and a symbol server that may have them could not be asked"
      : "\(missing.count == 1 ? "has" : "have") no symbols"
    let title: HTML = "\(counted(missing.count, "module")) of this stack \(found): \(lack)"
    var items = HTML()
    for module in list.prefix(Self.listedModules) { items += item(module) }
    if list.count > Self.listedModules { items += "<li>\(grouped(list.count - Self.listedModules)) more</li>\n" }
    let content: HTML = "<ul>\(items)</ul>\n\(commands(list))"
    // Without the program's own names a stack says little, so that this is what to do first.
    return isOwn
      ? "<div class=\"missing\"><p><b>\(title)</b></p>\n\(content)</div>\n" : "\(Page.fold(title, content))\n"
  }

  private mutating func item(_ module: Symbolization.Module) -> HTML {
    let recorded = view.module(module.index)
    let kind: HTML = recorded.isBuildID ? "build id" : "UUID"
    let id: HTML = recorded.identity.map { " \(kind) <code>\(texts.place($0, limit: 80))</code>" } ?? ""
    let own: HTML = page.isOfApp[module.index] ? " class=\"own\"" : ""
    let state: HTML = module.symbolState == .refused ? ", \(texts.place(symbols(of: module), limit: 200)) refused" : ""
    return "<li\(own)><b>\(texts.place(view.moduleName(module.index), limit: 80))</b>\(id)\(state)</li>\n"
  }

  private func commands(_ missing: [Symbolization.Module]) -> HTML {
    var html = HTML()
    if let commands = page.options.commands {
      html += """
        <p>With their files in DIR, names and lines are on this page: <code>\(commands.again)</code></p>
        <p>What a symbol server needs to have: <code>\(commands.missing)</code></p>

        """
    }
    let uuids = missing.compactMap { view.module($0.index) }.filter { !$0.isBuildID && $0.uuid != nil }
    if let uuid = uuids.first?.uuid, [.ios, .macos].contains(view.system.operatingSystem) {
      html += """
        <p>On the Mac that built it: <code>mdfind "com_apple_xcode_dsym_uuids == \(uuid.text.uppercased())"</code></p>

        """
    }
    return html
  }

  // MARK: Frames

  private mutating func frames(of stack: PageStacks.Group) -> HTML {
    var html = HTML()
    let id: HTML = "t\(stack.owners[0].thread ?? -1)f"
    let isFirst = stack.owners[0].owner == stacks.crashed?.owners[0].owner
    if stack.leftOut > 0 {
      html += self.stack(Array(stack.frames[..<stack.leftOutAt]), id: id, folds: isFirst)
      html += "<p class=\"left-out\">… \(counted(stack.leftOut, "frame")) left out; crashpadctl symbolize --frames all "
      html += "prints them.</p>\n"
      html += self.stack(Array(stack.frames[stack.leftOutAt...]), id: id, folds: isFirst)
    } else {
      html += self.stack(stack.frames, id: id, folds: isFirst)
    }
    if let end = stack.owners[0].end.sentence(frames: stack.owners[0].frames.count) {
      html += "<p class=\"sub\">\(end)</p>\n"
    }
    return html
  }

  mutating func stack(_ frames: [CrashPage.Frame], id: HTML, folds: Bool = true) -> HTML {
    var writer = FrameWriter(texts: texts, folds: folds)
    defer { texts = writer.texts }
    return writer.stack(frames, id: id)
  }
}
