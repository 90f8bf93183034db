// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot
internal import CrashpadText
internal import CrashpadView

/// Writes lists of frames, of which runs of the system's and the rounds of a recursion fold.
struct FrameWriter {
  var texts: PageTexts
  /// Whether runs of the system's fold.
  var folds = true
  /// Whether the source of a frame was shown: that of others folds.
  private var hasSource = false

  /// The shortest run of frames of the system that folds.
  private static let foldedRun = 3

  init(texts: PageTexts, folds: Bool = true) {
    self.texts = texts
    self.folds = folds
  }

  mutating func stack(_ frames: [CrashPage.Frame], id: HTML) -> HTML {
    if frames.isEmpty { return "" }
    var html: HTML = "<ol class=\"stack\">\n"
    let hasOwn = frames.contains { $0.isOwn }
    var index = 0
    while index < frames.count {
      if let rounds = FrameRounds(frames, at: index) {
        for item in frames[index..<index + rounds.period] { html += frame(item, id: id) }
        html += again(frames, rounds, at: index, id: id)
        index += rounds.count
        continue
      }
      var end = index
      while folds, hasOwn, end < frames.count, !frames[end].isOwn { end += 1 }
      guard end - index >= Self.foldedRun else {
        html += frame(frames[index], id: id)
        index += 1
        continue
      }
      let run = frames[index..<end]
      html += fold(run, summary(run), kind: "system", id: id)
      index = end
    }
    html += "</ol>\n"
    return html
  }

  private mutating func fold(_ run: ArraySlice<CrashPage.Frame>, _ summary: HTML, kind: HTML, id: HTML) -> HTML {
    var html: HTML = "<li class=\"\(kind)\"><details open data-fold><summary>\(summary)</summary><ol class=\"stack\">\n"
    for item in run { html += frame(item, id: id) }
    html += "</ol></details></li>\n"
    return html
  }

  private func summary(_ run: ArraySlice<CrashPage.Frame>) -> HTML {
    let first = run.first?.line.number ?? 0
    let names = run.prefix(3).map { FunctionParts($0.line.name).withoutArguments }
    var html: HTML = "Frames \(first) to \(run.last?.line.number ?? first), of the system: "
    for (index, name) in names.enumerated() {
      if index > 0 { html += ", " }
      html += "<code>\(PageTexts.cut(name, to: 60))</code>"
    }
    if run.count > names.count { html += " …" }
    return html
  }

  /// The further rounds of a recursion.
  private mutating func again(_ frames: [CrashPage.Frame], _ rounds: FrameRounds, at index: Int, id: HTML) -> HTML {
    let run = frames[index + rounds.period..<index + rounds.count]
    let first = frames[index].line.number
    let numbers = "\(run[run.startIndex].line.number) to \(run[run.endIndex - 1].line.number)"
    let repeated =
      rounds.period == 1 ? "frame \(first)" : "frames \(first) to \(frames[index + rounds.period - 1].line.number)"
    let times = run.count / rounds.period
    return fold(run, "<b>× \(grouped(times))</b> Frames \(numbers) repeat \(repeated)", kind: "again", id: id)
  }

  // MARK: A frame

  private mutating func frame(_ frame: CrashPage.Frame, id: HTML) -> HTML {
    let line = frame.line
    let kind: HTML =
      line.mark != nil
      ? (frame.isOwn ? " class=\"own first\"" : " class=\"first\"") : frame.isOwn ? " class=\"own\"" : ""
    var html: HTML = """
      <li id="\(id)\(line.number)"\(kind)><a href="#\(id)\(line.number)">\(line.number)</a>\
      <span class="in">\(line.moduleName.map { texts.place($0, limit: 60) } ?? "")</span>\
      <span class="at"><code>\(name(line.name))</code>\(line.offset)\(tags(line))</span>
      """
    if let location = line.shortLocation { html += " <span class=\"src\">\(place(location, frame.link))</span>" }
    html += " <small class=\"where\">\(whereabouts(frame).map { texts.place($0, limit: 200) }.joined(" · "))</small>"
    if let source = frame.source { html += self.source(source, frame) }
    html += "</li>\n"
    return html
  }

  /// A line of a source file, as a link if it has an address.
  private mutating func place(_ location: String, _ address: String?) -> HTML {
    guard let address else { return texts.place(location, limit: 80) }
    // A link can't have another one in it; the whole path stands with the addresses.
    return "<a href=\"\(address)\">\(PageTexts.cut(location, to: 80))</a>"
  }

  /// The name, in which what stands in brackets is quiet.
  private mutating func name(_ name: String) -> HTML {
    guard name.utf8.count <= PageTexts.frameLimit else { return texts.place(name, limit: PageTexts.frameLimit) }
    return
      "\(FunctionParts(name).parts.map { part -> HTML in part.isArgument ? "<i>\(HTML(name: part.text))</i>" : HTML(name: part.text) })"
  }

  private func tags(_ line: CrashView.Line) -> HTML {
    var html = HTML()
    if let reason = line.withoutFrame { html += " <em>\(reason)</em>" }
    if line.moduleName == nil, line.module == "perf map" { html += " <em>inferred: perf map</em>" }
    if line.isGuess { html += " <em>guess: found by scanning the stack</em>" }
    switch line.mark {
    case .anchor: html += " <strong>the crash is grouped by this function</strong>"
    case .firstOwn: html += " <strong>first frame of the program</strong>"
    case nil: break
    }
    return html
  }

  /// The places of the frame: the whole path of its source, its place in the module, its address, and how it was found.
  private func whereabouts(_ frame: CrashPage.Frame) -> [String] {
    let line = frame.line
    let path = frame.location == line.shortLocation ? nil : frame.location
    let place = line.place == line.name ? nil : line.place
    return [path, place, line.withoutFrame == nil ? line.address : nil, line.withoutFrame == nil ? line.trust : nil]
      .compactMap { $0 }
  }

  private mutating func source(_ source: CrashPage.Source, _ frame: CrashPage.Frame) -> HTML {
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
    let block = Page.block("Source of frame \(frame.line.number)", lines, " class=\"source\"")
    defer { hasSource = true }
    return hasSource ? "\n\(Page.fold("Source", block))" : "\n\(block)"
  }
}

/// Frames that repeat: one round of a recursion and those like it that follow at once.
struct FrameRounds {
  /// The number of frames in a round.
  let period: Int
  /// The number of frames in all whole rounds.
  let count: Int

  /// The longest round that is looked for, and the fewest rounds that fold.
  private static let longest = 24
  private static let fewest = 3

  /// Nil if the frames from `index` on do not repeat.
  init?(_ frames: [CrashPage.Frame], at index: Int) {
    for period in 1...Self.longest {
      if index + period * Self.fewest > frames.count { return nil }
      var end = index + period
      while end < frames.count, Self.areAlike(frames[end], frames[end - period]) { end += 1 }
      let count = (end - index) / period * period
      if count >= period * Self.fewest, count > period + 2 {
        (self.period, self.count) = (period, count)
        return
      }
    }
    return nil
  }

  /// Whether frames are of one function. The innermost one of a recursion stands at another place than the others.
  private static func areAlike(_ one: CrashPage.Frame, _ other: CrashPage.Frame) -> Bool {
    one.line.name == other.line.name && one.line.moduleName == other.line.moduleName
      && one.line.withoutFrame == other.line.withoutFrame && one.line.mark == nil
  }
}
