// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText
internal import CrashpadView

/// Stacks: lists of frames, of which the runtimes' fold.
extension CrashPageWriter {
  mutating func crashedStack() -> HTML {
    guard let stack = stacks.crashed else { return stacks.others.isEmpty ? "" : "<p>No thread crashed.</p>\n" }
    let title = self.title(stack.owners[0])
    return "<p class=\"thread\" id=\"t\(stack.owners[0].thread ?? -1)\">\(title)</p>\n\(frames(of: stack))"
  }

  mutating func otherStacks() -> HTML {
    if stacks.others.isEmpty { return "" }
    let threads = stacks.others.reduce(0) { $0 + $1.owners.count }
    var html: HTML = """
      <p class="sub">\(counted(threads, "thread")), \(counted(stacks.others.count, "stack")): threads with the same stack stand \
      together.</p>
      <div data-filter="threads">

      """
    for stack in stacks.others { html += other(stack) }
    html += "</div>\n"
    return html
  }

  private mutating func other(_ stack: PageStacks.Group) -> HTML {
    let first = stack.owners[0]
    let more: HTML = stack.owners.count > 1 ? " and \(grouped(stack.owners.count - 1)) more" : ""
    let top: HTML =
      (stack.frames.first { $0.isOwn } ?? stack.frames.first).map {
        "<small>\(texts.place($0.line.name, limit: 120))</small>"
      } ?? ""
    var html: HTML = """
      <details open data-fold id="t\(first.thread ?? -1)"><summary>\(title(first))\(more) \(top)</summary>

      """
    if stack.owners.count > 1 {
      html += "<ul class=\"same\">"
      for owner in stack.owners.dropFirst() { html += "<li id=\"t\(owner.thread ?? -1)\">\(title(owner))</li>" }
      html += "</ul>\n"
    }
    html += frames(of: stack)
    html += "</details>\n"
    return html
  }

  private mutating func title(_ stack: CrashView.Stack) -> HTML {
    var html: HTML = stack.thread.map { "<b>Thread \($0)</b>" } ?? "<b>Thread of the exception</b>"
    if let id = stack.id { html += ", id \(id)" }
    if let name = stack.name { html += ", <q>\(texts.place(name, limit: 120))</q>" }
    if let queue = stack.queue { html += ", queue \(texts.place(queue, limit: 120))" }
    return html
  }

  // MARK: Frames

  private mutating func frames(of stack: PageStacks.Group) -> HTML {
    var html = HTML()
    let id: HTML = "t\(stack.owners[0].thread ?? -1)f"
    let isCrashed = stack.owners[0].isCrashed
    if stack.leftOut > 0 {
      html += self.stack(Array(stack.frames[..<stack.leftOutAt]), id: id, folds: isCrashed)
      html += "<p class=\"left-out\">… \(counted(stack.leftOut, "frame")) left out; crashpadctl symbolize --frames all "
      html += "prints them.</p>\n"
      html += self.stack(Array(stack.frames[stack.leftOutAt...]), id: id, folds: isCrashed)
    } else {
      html += self.stack(stack.frames, id: id, folds: isCrashed)
    }
    if let end = stack.owners[0].end.sentence(frames: stack.owners[0].frames.count) {
      html += "<p class=\"sub\">\(end)</p>\n"
    }
    return html
  }

  mutating func stack(_ frames: [CrashPage.Frame], id: HTML, folds: Bool = true) -> HTML {
    var writer = FrameWriter(texts: texts)
    defer { texts = writer.texts }
    return writer.stack(frames, id: id, folds: folds)
  }
}
