import CrashpadCore
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText

/// The shared state of all output formats of one symbolized dump.
struct SymbolizedView {
  let view: DumpView
  let result: Symbolization
  /// Nil if no signature was requested.
  var signature: Signature?

  /// The thread that crashed.
  var crashed: Symbolization.Thread? { result.threads.first(where: \.isCrashed) }

  /// One line of a stack: a frame, or a call inlined into one.
  struct Row {
    let number: Int
    let frame: Symbolization.Frame
    /// Nil without symbols.
    let function: SymbolizedAddress.Frame?
    let isInlined: Bool
  }

  /// The rows of a stack. Inlined calls come before the frame that contains them, and are numbered like frames.
  static func rows(_ frames: [Symbolization.Frame]) -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(frames.count)
    for frame in frames {
      let functions = frame.symbol?.frames ?? []
      for function in functions.dropLast() {
        rows.append(Row(number: rows.count, frame: frame, function: function, isInlined: true))
      }
      rows.append(Row(number: rows.count, frame: frame, function: functions.last, isInlined: false))
    }
    return rows
  }

  /// The rows to print: if there are more than `limit`, the first and the last.
  static func shown(_ rows: [Row], limit: Int?) -> (first: ArraySlice<Row>, leftOut: Int, last: ArraySlice<Row>) {
    guard let limit, rows.count > limit else { return (rows[...], 0, []) }
    return (rows.prefix(limit - limit / 2), rows.count - limit, rows.suffix(limit / 2))
  }

  /// The module's name without directories; nil for a frame outside all modules.
  func moduleName(_ frame: Symbolization.Frame) -> String? { frame.frame.module.map { view.moduleName($0) } }

  static func name(_ function: SymbolizedAddress.Frame?) -> String? {
    function.flatMap { $0.name ?? $0.function }.map { Wording.printable($0) }
  }

  /// Such as "/src/main.cpp:42".
  static func location(_ function: SymbolizedAddress.Frame?) -> (file: String, line: UInt64)? {
    guard let location = function?.location, let file = location.file else { return nil }
    return (Wording.printable(file), location.line)
  }

  /// The offset of a frame from the first instruction of its function, in bytes.
  static func functionOffset(_ frame: Symbolization.Frame, of offset: UInt64?) -> UInt64? {
    guard let symbol = frame.symbol, let offset, offset >= symbol.functionAddress else { return nil }
    return offset - symbol.functionAddress
  }

  /// The program's own module.
  var mainModule: Int? { view.snapshot.executableIndex }

  /// The index of the first frame in the executable.
  func firstOwn(_ rows: [Row]) -> Int? {
    guard let main = mainModule else { return nil }
    return rows.firstIndex { $0.frame.frame.module == main && !$0.frame.frame.isSignalFrame }
  }

  /// The modules that contain frames.
  var modulesWithFrames: [Symbolization.Module] {
    let used = Set(result.threads.flatMap { $0.frames.compactMap(\.frame.module) })
    return result.modules.filter { used.contains($0.index) }
  }

  /// The threads in the order of the dump.
  var threadsInOrder: [Symbolization.Thread] { result.threads.sorted { ($0.index ?? -1) < ($1.index ?? -1) } }

  func threadName(_ thread: Symbolization.Thread) -> String? {
    thread.index.flatMap { view.text(view.snapshot.threads[$0].name) }
  }
}

extension SymbolizedView {
  /// Walks stacks of a dump that has a snapshot, and names their frames.
  ///
  /// - Parameters:
  ///   - allModules: whether symbols are searched for modules without frames too.
  ///   - signatures: nil for no signature.
  init(
    _ dump: Dump, _ snapshot: ProcessSnapshot, _ cache: SymbolCache,
    threads: Symbolization.Threads = .crashed, allModules: Bool = false, signatures: SignatureOptions?
  ) {
    view = DumpView(dump, snapshot)
    result = Symbolization(snapshot, dump.file, cache, threads: threads, allModules: allModules)
    signature = signatures.map { [result] in Signature(snapshot, dump.file, result, $0) }
  }
}

extension [Symbolization.Module] {
  /// The findings about their symbol files.
  var fileFindings: [SymbolFileFinding] { flatMap { $0.symbols?.fileFindings ?? [] } }
}
