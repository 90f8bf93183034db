import CrashpadCore
import CrashpadSnapshot
import CrashpadSymbolication

/// The parts of one stack line. A narrow terminal shows only some of them.
struct StackLine {
  let number: String
  /// Such as "main", or "server + 0x12b0" without symbols, or "<signal handler called>".
  let name: String
  /// Such as " + 12", or empty.
  let offset: String
  /// Such as "/src/main.cpp:42".
  let location: String?
  /// Such as "server + 0x12b0"; empty if that is the name.
  let module: String
  /// The way in which the frame was found and, with `--addresses`, its address.
  let origin: String
  /// Whether this is the most relevant frame: the first one in the program itself.
  var isMarked = false

  init(_ row: SymbolizedView.Row, _ symbolized: SymbolizedView, showsAddress: Bool) {
    number = String(row.number)
    let frame = row.frame.frame
    var offset = ""
    var module = ""
    let place = frame.moduleOffset.map { (symbolized.moduleName(row.frame) ?? "???") + " + 0x" + hexadecimal($0) }
    if frame.isSignalFrame, !row.isInlined {
      name = "<signal handler called>"
      location = nil
    } else if let place {
      if let function = SymbolizedView.name(row.function) {
        name = function
        module = row.isInlined ? "inlined" : place
        if !row.isInlined, let distance = SymbolizedView.functionOffset(row.frame, of: frame.moduleOffset) {
          offset = " + \(distance)" + (row.frame.symbol?.isNearest == true ? " (nearest symbol)" : "")
        }
      } else {
        name = place
      }
      location = SymbolizedView.location(row.function).map { $0.line > 0 ? "\($0.file):\($0.line)" : $0.file }
    } else {
      name = symbolized.view.fullAddress(frame.instruction) + " in no module"
      location = nil
    }
    self.offset = offset
    self.module = module
    if showsAddress {
      let trust = row.isInlined ? "inlined" : frame.trust.rawValue
      origin = symbolized.view.fullAddress(frame.instruction) + "  " + trust
    } else {
      // Only scanned frames are guesses, so only they are marked.
      origin = frame.trust == .scan && !row.isInlined ? "scan" : ""
    }
  }

  /// Such as "main + 12 (/src/main.cpp:42)" in at most `limit` columns: with the file's name alone,
  /// then without arguments, then cut.
  func place(_ limit: Int?) -> String {
    let whole = name + offset + (location.map { " (\($0))" } ?? "")
    guard let limit, DisplayWidth.cells(whole) > limit else { return whole }
    let file = location.map { " (\(lastPathComponent($0)))" } ?? ""
    for text in [name + offset + file, name + file, Self.withoutArguments(name) + file]
    where DisplayWidth.cells(text) <= limit {
      return text
    }
    let room = limit - DisplayWidth.cells(file)
    let short = Self.withoutArguments(name)
    // Half a function name is more useful than half a line number.
    if room >= 12 { return DisplayWidth.cut(short, to: room) + file }
    return DisplayWidth.cut(short, to: limit)
  }

  /// Operators whose names contain brackets, the longer ones first.
  private static let operators = ["<=>", "<<=", ">>=", "->*", "()", "<<", ">>", "<=", ">=", "->", "<", ">"]

  /// Such as "std::vector<…>::push_back(…)"; a name that can't be parsed is returned unchanged.
  static func withoutArguments(_ name: String) -> String {
    var text = ""
    var content = ""
    var depth = 0
    var rest = name[...]
    func add(_ part: some StringProtocol) { if depth == 0 { text += part } else { content += part } }
    while let character = rest.first {
      if rest.hasPrefix("operator") {
        rest = rest.dropFirst("operator".count)
        let symbol = operators.first { rest.hasPrefix($0) } ?? ""
        rest = rest.dropFirst(symbol.count)
        add("operator" + symbol)
        continue
      }
      if rest.hasPrefix("->") {
        rest = rest.dropFirst(2)
        add("->")
        continue
      }
      rest = rest.dropFirst()
      if character == ")" || character == ">" {
        depth -= 1
        if depth < 0 { return name }
        if depth == 0 {
          text += content.isEmpty || content == "anonymous namespace" ? content : "…"
          content = ""
        }
      }
      add(String(character))
      if character == "(" || character == "<" { depth += 1 }
    }
    return depth == 0 ? text : name
  }
}
