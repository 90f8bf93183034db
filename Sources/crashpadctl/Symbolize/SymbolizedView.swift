import CrashpadCore
import Signatures
import Snapshot
import Symbolication

/// What the forms of one symbolized dump share.
struct SymbolizedView {
  let view: InspectionView
  let result: Symbolization
  /// Nil where none was asked for.
  var signature: Signature?

  /// One line of a stack: a frame, or a call that was inlined into one.
  struct Row {
    let number: Int
    let frame: Symbolization.Frame
    /// Nil without symbols.
    let function: SymbolizedAddress.Frame?
    let isInlined: Bool
  }

  /// Inlined calls come before the frame that they were inlined into, and are numbered as frames are.
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

  /// Of more rows than `limit` the first and the last.
  static func shown(_ rows: [Row], limit: Int?) -> (first: ArraySlice<Row>, leftOut: Int, last: ArraySlice<Row>) {
    guard let limit, rows.count > limit else { return (rows[...], 0, []) }
    return (rows.prefix(limit - limit / 2), rows.count - limit, rows.suffix(limit / 2))
  }

  /// The module's name without directories; nil of a frame in no module.
  func moduleName(_ frame: Symbolization.Frame) -> String? { frame.frame.module.map { view.moduleName($0) } }

  static func name(_ function: SymbolizedAddress.Frame?) -> String? {
    function.flatMap { $0.name ?? $0.function }.map { Wording.printable($0) }
  }

  /// "/src/main.cpp:42"
  static func location(_ function: SymbolizedAddress.Frame?) -> (file: String, line: UInt64)? {
    guard let location = function?.location, let file = location.file else { return nil }
    return (Wording.printable(file), location.line)
  }

  /// How far behind its function's first instruction a frame is, in bytes.
  static func functionOffset(_ frame: Symbolization.Frame, of offset: UInt64?) -> UInt64? {
    guard let symbol = frame.symbol, let offset, offset >= symbol.functionAddress else { return nil }
    return offset - symbol.functionAddress
  }

  /// The executable. Minidumps list it first; of Apple's systems they say which one it is, and Windows' own libraries say
  /// that they are executables too.
  var mainModule: Int? {
    let modules = view.snapshot.modules
    let isListedFirst = [.minidump, .core].contains(view.inspection.format) && !modules.isEmpty
    if isListedFirst, view.snapshot.system.operatingSystem == .windows { return 0 }
    return modules.firstIndex { $0.fileType == .executable } ?? (isListedFirst ? 0 : nil)
  }

  /// The first frame of the executable.
  func firstOwn(_ rows: [Row]) -> Int? {
    guard let main = mainModule else { return nil }
    return rows.firstIndex { $0.frame.frame.module == main && !$0.frame.frame.isSignalFrame }
  }

  /// The modules that frames lie in.
  var modulesWithFrames: [Symbolization.Module] {
    let used = Set(result.threads.flatMap { $0.frames.compactMap(\.frame.module) })
    return result.modules.filter { used.contains($0.index) }
  }

  /// In the order of the dump.
  var threadsInOrder: [Symbolization.Thread] { result.threads.sorted { ($0.index ?? -1) < ($1.index ?? -1) } }

  func threadName(_ thread: Symbolization.Thread) -> String? {
    thread.index.flatMap { view.text(view.snapshot.threads[$0].name) }
  }
}
