import CrashpadCore
import Snapshot
import Symbolication

/// Stacks for people: a line for each frame, in columns.
struct StackText {
  let symbolized: SymbolizedView
  /// How many lines of a stack are printed; nil is all.
  let limit: Int?

  /// The dump's head, the stacks, and what is missing.
  func text(name: String) -> String {
    var text = OverviewText.head(symbolized.view, name: name)
    for thread in symbolized.result.threads { text += "\n" + self.text(thread) }
    let modules = symbolized.modulesWithFrames
    let missing = modules.count { $0.symbols?.isFound != true }
    if missing > 0 {
      text += "\n\(Wording.grouped(missing)) of \(Wording.count(modules.count, "module")) in these stacks "
      text += "without symbols; --missing lists them\n"
    }
    return text
  }

  /// One thread with a heading.
  func text(_ thread: Symbolization.Thread) -> String {
    let rows = SymbolizedView.rows(thread.frames)
    let (first, leftOut, last) = SymbolizedView.shown(rows, limit: limit)
    let shown = Array(first) + Array(last)
    let cells = shown.map { (module: moduleName($0), trust: trust($0)) }
    let widths = (
      number: (shown.last.map { String($0.number).utf8.count } ?? 1) + 1,
      module: cells.map { Wording.width($0.module) }.max() ?? 0, trust: cells.map { $0.trust.utf8.count }.max() ?? 0
    )
    // Bytes: there may be hundreds of thousands of lines.
    var text = Array((heading(thread) + "\n").utf8)
    text.reserveCapacity(shown.count * 100)
    var next = 0
    func add(_ part: String) { text.append(contentsOf: part.utf8) }
    func addBlanks(_ count: Int) { for _ in 0..<max(0, count) { text.append(UInt8(ascii: " ")) } }
    func add(_ rows: ArraySlice<SymbolizedView.Row>) {
      for row in rows {
        let number = String(row.number)
        let cell = cells[next]
        next += 1
        addBlanks(widths.number - number.utf8.count)
        add(number)
        addBlanks(2)
        add(cell.module)
        addBlanks(widths.module - Wording.width(cell.module) + 2)
        add(symbolized.view.fullAddress(row.frame.frame.instruction))
        addBlanks(2)
        add(cell.trust)
        addBlanks(widths.trust - cell.trust.utf8.count + 2)
        addPlace(row, cell.module, &text)
        text.append(UInt8(ascii: "\n"))
      }
    }
    add(first)
    if leftOut > 0 {
      addBlanks(widths.number)
      add("  … \(Wording.count(leftOut, "frame")) left out; --frames all prints them\n")
    }
    add(last)
    if let end = Self.sentence(thread) {
      addBlanks(widths.number + 2)
      add(end + "\n")
    }
    return String(decoding: text, as: UTF8.self)
  }

  private func heading(_ thread: Symbolization.Thread) -> String {
    guard let index = thread.index else {
      let id = symbolized.view.snapshot.exception.map { ", id \($0.threadID)" } ?? ""
      return "Thread of the exception (crashed)\(id)"
    }
    var heading = "Thread \(index)"
    if thread.isCrashed { heading += " (crashed)" }
    if let id = symbolized.view.snapshot.threads[index].id { heading += ", id \(id)" }
    if let name = symbolized.threadName(thread) { heading += " \"\(name)\"" }
    return heading
  }

  private func moduleName(_ row: SymbolizedView.Row) -> String { symbolized.moduleName(row.frame) ?? "???" }

  /// How the frame was found. An inlined call was found with the frame that it is in.
  private func trust(_ row: SymbolizedView.Row) -> String {
    row.isInlined ? "inlined" : row.frame.frame.trust.rawValue
  }

  /// "function + 12 (/src/main.cpp:42)"
  private func addPlace(_ row: SymbolizedView.Row, _ module: String, _ text: inout [UInt8]) {
    func add(_ part: String) { text.append(contentsOf: part.utf8) }
    let frame = row.frame.frame
    if frame.isSignalFrame, !row.isInlined { return add("<signal handler called>") }
    guard let offset = frame.moduleOffset else { return add("in no module") }
    if let name = SymbolizedView.name(row.function) {
      add(name)
      if !row.isInlined, let distance = SymbolizedView.functionOffset(row.frame, of: offset) {
        add(" + ")
        add(String(distance))
        if row.frame.symbol?.isNearest == true { add(" (nearest symbol)") }
      }
    } else {
      add(module)
      add(" + 0x")
      add(hexadecimal(offset))
    }
    add(Self.location(row.function))
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
