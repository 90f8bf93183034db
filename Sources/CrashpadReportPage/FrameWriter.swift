// SPDX-License-Identifier: Apache-2.0
internal import CrashpadView

/// Writes lists of frames, of which runs of the system's fold.
struct FrameWriter {
  var texts: PageTexts

  /// The shortest run of frames of the system that folds in the thread that crashed.
  private static let foldedRun = 3

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
    let first = run.first?.line.number ?? 0
    let names = run.prefix(3).map { $0.line.name }
    var html: HTML = "Frames \(first) to \(run.last?.line.number ?? first), of the system: "
    for (index, name) in names.enumerated() {
      if index > 0 { html += ", " }
      html += "<code>\(texts.place(name, limit: 60))</code>"
    }
    if run.count > names.count { html += " …" }
    return html
  }

  private mutating func frame(_ frame: CrashPage.Frame, id: HTML) -> HTML {
    let line = frame.line
    let kind: HTML = line.isMarked ? " class=\"own first\"" : frame.isOwn ? " class=\"own\"" : ""
    var html: HTML = "<li id=\"\(id)\(line.number)\"\(kind)><a href=\"#\(id)\(line.number)\">\(line.number)</a> "
    html += "<code>\(texts.place(line.name, limit: 400))</code>\(line.offset)"
    if line.isMarked { html += " <strong>first frame of the program</strong>" }
    if let location = frame.location { html += " <span>\(texts.place(location, limit: 200))</span>" }
    if !line.module.isEmpty { html += " <small>\(texts.place(line.module, limit: 100))</small>" }
    if line.isGuess { html += " <small>(found by scanning the stack)</small>" }
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
    return "\n\(Page.block("Source of frame \(frame.line.number)", lines, " class=\"source\""))"
  }
}
