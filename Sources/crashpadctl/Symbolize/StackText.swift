import CrashpadCore
import Snapshot
import Symbolication

/// Stacks for people: a line for each frame, the function first.
struct StackText {
  let symbolized: SymbolizedView
  /// How many lines of a stack are printed; nil is all.
  let limit: Int?
  var style = TextStyle.plain
  /// Whether each line has its address, and how the frame was found.
  var showsAddresses = false
  /// What prints the frames that the limit leaves out.
  var hint = "--frames all prints them"

  /// From this width on, lines without space to spare name the module beside the function.
  private static let moduleFrom = 60
  /// Functions with longer names push the module to the right on their own line.
  private static let widestPlace = 72

  /// The dump's head, the stacks, and what is missing.
  func text(name: String) -> String {
    var text = OverviewText.head(
      symbolized.view, name: name, signature: symbolized.signature, style: style)
    for thread in symbolized.result.threads { text += "\n" + self.text(thread) }
    let modules = symbolized.modulesWithFrames
    let missing = modules.count { $0.symbols?.isFound != true }
    if missing > 0 {
      let note =
        "\(Wording.grouped(missing)) of \(Wording.count(modules.count, "module")) in these stacks "
        + "\(missing == 1 ? "has" : "have") no symbols; --missing lists \(missing == 1 ? "it" : "them")"
      let lines = style.width.map { DisplayWidth.wrapped(note, to: $0) } ?? [note]
      text += "\n" + lines.joined(separator: "\n") + "\n"
    }
    return text
  }

  /// One thread with a heading.
  func text(_ thread: Symbolization.Thread) -> String {
    let rows = SymbolizedView.rows(thread.frames)
    let (first, leftOut, last) = SymbolizedView.shown(rows, limit: limit)
    var lines = (Array(first) + Array(last)).map { StackLine($0, symbolized, showsAddress: showsAddresses) }
    if thread.isCrashed, let own = symbolized.firstOwn(Array(first) + Array(last)) { lines[own].isMarked = true }
    let columns = Columns(lines, style.width)
    // Bytes: there may be hundreds of thousands of lines.
    var text = Array((heading(thread) + "\n").utf8)
    text.reserveCapacity(lines.count * 100)
    for (index, line) in lines.enumerated() {
      if leftOut > 0, index == first.count { append(leftOut, columns, to: &text) }
      append(line, columns, to: &text)
    }
    if let end = Self.sentence(thread) {
      let indent = String(repeating: " ", count: columns.number + 2)
      let parts = style.width.map { DisplayWidth.wrapped(end, to: $0 - indent.utf8.count) } ?? [end]
      for part in parts { text.append(contentsOf: (indent + part + "\n").utf8) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// How wide the parts of a stack's lines are, in cells.
  private struct Columns {
    let number: Int
    /// The most that a function with its place may take; nil for no limit.
    let placeLimit: Int?
    /// Where the module begins in lines that leave it there.
    let place: Int
    /// 0 for no modules.
    let module: Int
    let moduleLimit: Int?

    init(_ lines: [StackLine], _ width: Int?) {
      let number = (lines.last.map { $0.number.utf8.count } ?? 1) + 1
      self.number = number
      let widestModule = lines.map { DisplayWidth.cells($0.module) }.max() ?? 0
      let origin = lines.map { $0.origin.utf8.count }.max() ?? 0
      guard let width else {
        placeLimit = nil
        moduleLimit = nil
        module = widestModule
        place = min(StackText.widestPlace, lines.map { DisplayWidth.cells($0.place(nil)) }.max() ?? 0)
        return
      }
      let room = width - number - 2 - (origin > 0 ? origin + 2 : 0)
      let hasModules = room >= StackText.moduleFrom && widestModule > 0
      module = hasModules ? min(widestModule, room / 3) : 0
      let limit = max(8, room - (hasModules ? module + 2 : 0))
      placeLimit = limit
      moduleLimit = module
      place = lines.map { DisplayWidth.cells($0.place(limit)) }.max() ?? 0
    }
  }

  private func append(_ line: StackLine, _ columns: Columns, to text: inout [UInt8]) {
    func add(_ part: String) { text.append(contentsOf: part.utf8) }
    func addBlanks(_ count: Int) { for _ in 0..<count { text.append(UInt8(ascii: " ")) } }
    // There is a blank at least before the number.
    add(line.isMarked ? ">" : " ")
    addBlanks(columns.number - 1 - line.number.utf8.count)
    add(line.number)
    addBlanks(2)
    let place = line.place(columns.placeLimit)
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
    let note = "… \(Wording.count(leftOut, "frame")) left out; \(hint)"
    text.append(contentsOf: (String(repeating: " ", count: columns.number + 2) + note + "\n").utf8)
  }

  private func heading(_ thread: Symbolization.Thread) -> String {
    guard let index = thread.index else {
      let id = symbolized.view.snapshot.exception.map { ", id \($0.threadID)" } ?? ""
      return style.colored("Thread of the exception (crashed)", .error) + id
    }
    let title = "Thread \(index)" + (thread.isCrashed ? " (crashed)" : "")
    var rest = symbolized.view.snapshot.threads[index].id.map { ", id \($0)" } ?? ""
    if let name = symbolized.threadName(thread) { rest += " \"\(name)\"" }
    if let width = style.width { rest = DisplayWidth.cut(rest, to: width - title.utf8.count) }
    return (thread.isCrashed ? style.colored(title, .error) : title) + rest
  }

  /// " (/src/main.cpp:42)", or nothing.
  private static func location(_ function: SymbolizedAddress.Frame?) -> String {
    guard let (file, line) = SymbolizedView.location(function) else { return "" }
    return line > 0 ? " (\(file):\(line))" : " (\(file))"
  }

  /// What lies at an offset in a module: "main + 12 (/src/main.cpp:42)"; of inlined calls the innermost. Nil without a name.
  static func name(_ symbol: SymbolizedAddress, _ offset: UInt64) -> String? {
    guard let name = SymbolizedView.name(symbol.frames.first) else { return nil }
    let distance = symbol.frames.count == 1 && offset >= symbol.functionAddress ? offset - symbol.functionAddress : nil
    return name + (distance.map { " + \($0)" } ?? "") + location(symbol.frames.first)
  }

  /// Why the walk ended; nil of a whole stack.
  static func sentence(_ thread: Symbolization.Thread) -> String? {
    switch thread.end {
    case .done: nil
    case .noCaller: "The walk ends here: nothing leads to a caller."
    case .missingMemory: "The walk ends here: the dump does not have the stack's memory from here on."
    case .noProgress: "The walk ends here: the stack is corrupt and leads back to itself."
    case .tooManyFrames: "The walk ends here: no more than \(Wording.grouped(thread.frames.count)) frames are walked."
    case .noRegisters: "No stack: the thread has no registers that can be walked from."
    }
  }
}
