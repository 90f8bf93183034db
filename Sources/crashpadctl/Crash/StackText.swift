// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import CrashpadView

/// Stacks as text: one line per frame, the function first.
struct StackText {
  let view: CrashView
  /// The number of lines to print per stack; nil for all.
  let limit: Int?
  var style = TextStyle.plain
  /// Whether each line has its address, and the way in which the frame was found.
  var showsAddresses = false
  /// The hint on how to print the frames beyond the limit.
  var hint = "--frames all prints them"

  /// The minimum width at which lines without free space name the module beside the function.
  private static let moduleFrom = 60
  /// Longer function names push the module to the right on their own line.
  private static let widestPlace = 72

  /// The dump's header, the stacks, and the missing symbols.
  func text(name: String) -> String {
    var text = OverviewText(view: view, name: name, style: style).text(.head)
    for stack in view.stacks { text += "\n" + self.text(stack) }
    let modules = view.modulesWithFrames
    let missing = modules.count(where: \.lacksSymbols)
    if missing > 0 {
      let open = modules.count(where: \.mayHaveSymbols)
      let lack =
        open == 0
        ? "\(missing == 1 ? "has" : "have") no symbols"
        : "\(missing == 1 ? "is" : "are") without symbols, and a symbol server that may have them could not be asked"
      let note =
        "\(grouped(missing)) of \(TextFormat.count(modules.count, "module")) in these stacks "
        + "\(lack); --missing lists \(missing == 1 ? "it" : "them")"
      let lines = style.width.map { DisplayWidth.wrapped(note, to: $0) } ?? [note]
      text += "\n" + lines.joined(separator: "\n") + "\n"
    }
    return text
  }

  /// One stack with a heading.
  func text(_ stack: CrashView.Stack) -> String {
    let (first, leftOut, last) = stack.rows(limit: limit)
    let rows = Array(first) + Array(last)
    let lines = view.lines(rows, of: stack).map { StackLine($0, showsAddress: showsAddresses) }
    let columns = Columns(lines, style.width)
    // Built as bytes, because there may be hundreds of thousands of lines.
    var text = Array((heading(stack) + "\n").utf8)
    text.reserveCapacity(lines.count * 100)
    for (index, line) in lines.enumerated() {
      if leftOut > 0, index == first.count { append(leftOut, columns, to: &text) }
      append(line, columns.places[index], columns, to: &text)
    }
    if let end = stack.end.sentence(frames: stack.frames.count) {
      let indent = String(repeating: " ", count: columns.number + 2)
      let parts = style.width.map { DisplayWidth.wrapped(end, to: $0 - indent.utf8.count) } ?? [end]
      for part in parts { text.append(contentsOf: (indent + part + "\n").utf8) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The widths of the parts of a stack's lines, in columns.
  private struct Columns {
    let number: Int
    /// The function of each line, with its location.
    let places: [String]
    /// The column at which the module begins, unless the function is too long.
    let place: Int
    /// The width of the module; 0 if it is left out.
    let module: Int
    let moduleLimit: Int?

    init(_ lines: [StackLine], _ width: Int?) {
      let number = (lines.last.map { $0.number.utf8.count } ?? 1) + 1
      self.number = number
      let widestModule = lines.map { DisplayWidth.cells($0.module) }.max() ?? 0
      let origin = lines.map { $0.origin.utf8.count }.max() ?? 0
      guard let width else {
        places = lines.map { $0.place(nil) }
        moduleLimit = nil
        module = widestModule
        place = min(StackText.widestPlace, places.map { DisplayWidth.cells($0) }.max() ?? 0)
        return
      }
      let room = width - number - 2 - (origin > 0 ? origin + 2 : 0)
      let hasModules = room >= StackText.moduleFrom && widestModule > 0
      module = hasModules ? min(widestModule, room / 3) : 0
      let limit = max(8, room - (hasModules ? module + 2 : 0))
      places = lines.map { $0.place(limit) }
      moduleLimit = module
      place = places.map { DisplayWidth.cells($0) }.max() ?? 0
    }
  }

  private func append(_ line: StackLine, _ place: String, _ columns: Columns, to text: inout [UInt8]) {
    func add(_ part: String) { text.append(contentsOf: part.utf8) }
    func addBlanks(_ count: Int) { for _ in 0..<count { text.append(UInt8(ascii: " ")) } }
    // At least one blank precedes the number.
    add(line.isMarked ? ">" : " ")
    addBlanks(columns.number - 1 - line.number.utf8.count)
    add(line.number)
    addBlanks(2)
    add(line.isMarked ? style.colored(place, .bold) : place)
    let isAlone = line.module.isEmpty || columns.module == 0
    if isAlone, line.origin.isEmpty { return text.append(UInt8(ascii: "\n")) }
    addBlanks(max(0, columns.place - DisplayWidth.cells(place)) + 2)
    if !isAlone || columns.module > 0 {
      let module = columns.moduleLimit.map { DisplayWidth.cut(line.module, to: $0, keeping: .tail) } ?? line.module
      add(module)
      if !line.origin.isEmpty { addBlanks(max(0, columns.module - DisplayWidth.cells(module)) + 2) }
    }
    add(line.origin)
    text.append(UInt8(ascii: "\n"))
  }

  private func append(_ leftOut: Int, _ columns: Columns, to text: inout [UInt8]) {
    let note = "… \(TextFormat.count(leftOut, "frame")) left out; \(hint)"
    text.append(contentsOf: (String(repeating: " ", count: columns.number + 2) + note + "\n").utf8)
  }

  private func heading(_ stack: CrashView.Stack) -> String {
    switch stack.owner {
    case .lastException: return style.colored("Last exception backtrace", .error)
    case .exceptionThread(let id):
      return style.colored("Thread of the exception (crashed)", .error) + (id.map { ", id \($0)" } ?? "")
    case .thread(let index):
      let title =
        "Thread \(stack.number ?? index)"
        + (stack.isCrashed ? (stack.isOfNoCrash ? " (highlighted)" : " (crashed)") : "")
      var rest = stack.id.map { ", id \($0)" } ?? ""
      if let name = stack.name { rest += " \"\(name)\"" }
      if let width = style.width { rest = DisplayWidth.cut(rest, to: width - title.utf8.count) }
      return (stack.isCrashed ? style.colored(title, .error) : title) + rest
    }
  }
}
