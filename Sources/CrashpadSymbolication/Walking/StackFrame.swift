// SPDX-License-Identifier: Apache-2.0
/// The method by which a frame was found, from the most to the least reliable. The names are rust-minidump's.
package enum FrameTrust: String, Sendable {
  /// The registers of the thread.
  case context
  /// A list in the dump: the return addresses of an uncaught NSException.
  case prewalked
  /// Rules for this address: DWARF call frame information, STACK CFI, or Apple's compact unwind encoding.
  case callFrameInfo = "cfi"
  /// The chain of frame pointers.
  case framePointer = "frame_pointer"
  /// A word on the stack that looks like a return address.
  case scan
}

/// One frame of a walked stack.
package struct StackFrame: Sendable {
  /// The next instruction of the first frame; for a caller, the return address.
  package let instruction: UInt64
  /// Whether the address follows a call. False for the first frame of a thread and for code interrupted by a signal.
  package let isCaller: Bool
  package let trust: FrameTrust
  /// Nil if unknown.
  package let stackPointer: UInt64?
  /// The index of the module in the snapshot's list.
  package let module: Int?
  /// The offset in that module.
  package let moduleOffset: UInt64?
  /// Whether this is the code to which the kernel makes a signal handler return: its caller was interrupted.
  package internal(set) var isSignalFrame = false

  /// The address for symbol lookup: for a caller, an address inside of the call. The code to which a handler returns is
  /// not called.
  package var lookupAddress: UInt64 { isBehindCall ? instruction &- 1 : instruction }
  /// The same as an offset in the module.
  package var lookupOffset: UInt64? { moduleOffset.map { isBehindCall ? $0 &- 1 : $0 } }

  private var isBehindCall: Bool { isCaller && !isSignalFrame }
}

/// The reason why a walk ended.
package enum WalkEnd: String, Sendable {
  /// The outermost frame was reached.
  case done
  /// No method found a caller.
  case noCaller = "no-caller"
  /// The memory at the caller's place in the stack was not captured.
  case missingMemory = "missing-memory"
  /// The stack pointer did not advance, or a frame was repeated: the stack is corrupt.
  case noProgress = "no-progress"
  /// The maximum number of frames was reached.
  case tooManyFrames = "too-many-frames"
  /// The thread has no registers, or none of a supported architecture.
  case noRegisters = "no-registers"
}

/// A module of the process, with the data for stack walking.
package struct WalkedModule: Sendable {
  /// The index in the snapshot's list.
  package let index: Int
  package let address: UInt64
  /// The size in bytes.
  package let size: UInt64
  private let lazy: LazySymbols?

  /// Searched when the first frame is in this module.
  var symbols: ModuleSymbols? { lazy?.symbols }

  package init(index: Int, address: UInt64, size: UInt64, symbols: LazySymbols?) {
    self.index = index
    self.address = address
    self.size = size
    lazy = symbols
  }
}
