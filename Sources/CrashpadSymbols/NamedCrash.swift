// SPDX-License-Identifier: Apache-2.0
public import CrashpadCore
internal import CrashpadSnapshot
internal import CrashpadSymbolication
public import SystemPackage

/// The stacks of one dump with the names of modules, functions and source files.
public struct NamedCrash: Sendable {
  /// One line of a stack: a function, or a call that was inlined into the one below.
  public struct Frame: Sendable, Hashable {
    /// The module's name without directories; nil if the address is in no module.
    public let module: String?
    /// The demangled name; nil without symbols.
    public let function: String?
    /// The path that the compiler recorded; nil without line tables.
    public let file: String?
    /// The line number, starting at 1; 0 if unknown.
    public let line: Int
    /// The address of the instruction, or the return address of a caller.
    public let address: UInt64
    /// Whether the call was inlined into the next frame.
    public let isInlined: Bool
    /// Whether the function ended with a jump to the frame before, so that the stack itself does not have it. Its address is
    /// that of its caller.
    public var isTailCall = false
  }

  /// A thread with its frames.
  public struct Thread: Sendable, Hashable {
    /// The index in the dump's list of threads; nil if the crashed thread is not in that list.
    public let index: Int?
    /// Whether it is the thread that crashed.
    public let isCrashed: Bool
    /// The frames, innermost first.
    public let frames: [Frame]
  }

  /// The threads, with the crashed one first; empty if the dump can't be interpreted.
  public let threads: [Thread]

  /// Opens the dump at `path`. A damaged dump is read as far as possible.
  ///
  /// - Parameters:
  ///   - path: the path of a dump in any format.
  ///   - symbols: files and directories to search for symbols: dSYM bundles, ELF files, Breakpad files. The directories
  /// in which this system installs debug files are searched too.
  public init(_ path: FilePath, symbols: [FilePath] = []) throws(DumpInputFailure) {
    try self.init(DumpInput(path), symbols: symbols)
  }

  /// Reads and names a dump that is open; see the other initializer.
  public init(_ input: DumpInput, symbols: [FilePath] = []) throws(DumpInputFailure) {
    let dump = Dump(input)
    guard let snapshot = dump.snapshot else {
      threads = []
      return
    }
    var names: [String?] = []
    for module in snapshot.modules { names.append(try dump.name(of: module).map(lastPathComponent)) }
    let cache = SymbolCache(SymbolSearch(paths: symbols))
    threads = Symbolization(snapshot, input.file, cache, threads: .all).threads.map { thread in
      let frames = thread.frames.flatMap { frame in Self.frames(frame, module: frame.frame.module.flatMap { names[$0] })
      }
      return Thread(index: thread.index, isCrashed: thread.isCrashed, frames: frames)
    }
    try dump.checkReading()
  }

  private static func frames(_ frame: Symbolization.Frame, module: String?) -> [Frame] {
    let calls = frame.symbol?.frames ?? []
    let address = frame.frame.instruction
    func named(_ call: SymbolizedAddress.Frame, isInlined: Bool, isTailCall: Bool = false) -> Frame {
      Frame(
        module: module, function: call.name ?? call.function, file: call.location?.file,
        line: Int(clamping: call.location?.line ?? 0), address: address, isInlined: isInlined, isTailCall: isTailCall)
    }
    let jumps = frame.tailCalls.map { named($0.function, isInlined: $0.isInlined, isTailCall: true) }
    guard let function = calls.last else {
      return [Frame(module: module, function: nil, file: nil, line: 0, address: address, isInlined: false)]
    }
    return jumps + calls.dropLast().map { named($0, isInlined: true) } + [named(function, isInlined: false)]
  }
}
