/// How a frame was found, from the surest to the least sure. The names are rust-minidump's.
package enum FrameTrust: String, Sendable {
  /// The registers of the thread.
  case context
  /// The dump itself lists it: the return addresses of an uncaught NSException.
  case prewalked
  /// Rules for just this address: DWARF's call frame information, STACK CFI, or Apple's compact unwind encoding.
  case callFrameInfo = "cfi"
  /// The chain of frame pointers.
  case framePointer = "frame_pointer"
  /// A word on the stack that looks like a return address.
  case scan
}

/// One frame of a walked stack.
package struct StackFrame: Sendable {
  /// Where the program was: of the first frame the next instruction, of a caller the one behind the call.
  package let instruction: UInt64
  /// Whether it is behind a call. It is not where a thread stood, or was interrupted by a signal.
  package let isCaller: Bool
  package let trust: FrameTrust
  /// Nil if it is not known.
  package let stackPointer: UInt64?
  /// Index of the module that it lies in, in the snapshot's list.
  package let module: Int?
  /// Where it lies in that module.
  package let moduleOffset: UInt64?
  /// Whether it is what the kernel had a signal handler return to: its caller was interrupted.
  package internal(set) var isSignalFrame = false

  /// What to look symbols up for: of a caller an address inside of the call. No call leads to what a handler returns to.
  package var lookupAddress: UInt64 { isBehindCall ? instruction &- 1 : instruction }
  /// The same in the module.
  package var lookupOffset: UInt64? { moduleOffset.map { isBehindCall ? $0 &- 1 : $0 } }

  private var isBehindCall: Bool { isCaller && !isSignalFrame }
}

/// Why a walk ended.
package enum WalkEnd: String, Sendable {
  /// The outermost frame.
  case done
  /// Nothing led to a caller.
  case noCaller = "no-caller"
  /// The stack's memory was not captured where the caller would be.
  case missingMemory = "missing-memory"
  /// The stack pointer did not move on, or a frame came again: the stack is corrupt.
  case noProgress = "no-progress"
  /// There are more frames than are walked.
  case tooManyFrames = "too-many-frames"
  /// The thread has no registers that can be walked from.
  case noRegisters = "no-registers"
}

/// A module of the process, as far as walking needs it.
package struct WalkedModule: Sendable {
  /// In the snapshot's list.
  package let index: Int
  package let address: UInt64
  /// In bytes.
  package let size: UInt64
  private let lazy: LazySymbols?

  /// Looked for when the first frame lies in it.
  var symbols: ModuleSymbols? { lazy?.symbols }

  package init(index: Int, address: UInt64, size: UInt64, symbols: LazySymbols?) {
    self.index = index
    self.address = address
    self.size = size
    lazy = symbols
  }
}
