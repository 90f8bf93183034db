// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// The method by which a frame was found. rust-minidump's names are used where it has the method.
package enum FrameTrust: String, Sendable, CaseIterable {
  /// The registers of the thread.
  case context
  /// A list in the dump: the frames of a report, or the return addresses of an uncaught NSException.
  case prewalked
  /// Rules for this address: DWARF call frame information, STACK CFI, STACK WIN, or Apple's compact unwind encoding.
  case callFrameInfo = "cfi"
  /// The chain of frame pointers.
  case framePointer = "frame_pointer"
  /// The link register of a function that has called nothing yet.
  case linkRegister = "link_register"
  /// The word at the stack pointer of a function that has pushed nothing yet, or nothing any more, after the call to it; the
  /// one above the frame pointer that it has just pushed; or the one to which its code leads, up to the return.
  case returnAddress = "return_address"
  /// A word on the stack, or in the link register, that looks like a return address.
  case scan
}

/// The conclusions that a walk may draw from a frame, by the method that found it. Everything else is a guess, and is marked as one.
///
/// Sources: "The Stack Frame" in the psABI of x86-64, which lets code use `rbp` as a general register, and sets it to 0 before
/// the outermost frame; "The Frame Pointer" in the AAPCS64, which ends the chain with an address of 0.
extension FrameTrust {
  /// Whether the frame pointer is known to be one: then 0 ends the chain. After all other methods the register has what the
  /// program left there.
  var knowsFramePointer: Bool { self == .framePointer }

  /// Whether the caller's address is as sure as that of the callee: then it may also be in code of no module. A word that was
  /// found by chance must be in a module.
  var leadsOutOfModules: Bool {
    switch self {
    case .callFrameInfo, .framePointer, .linkRegister, .returnAddress, .context: true
    case .scan, .prewalked: false
    }
  }
}

/// One frame of a walked stack.
package struct StackFrame: Sendable {
  /// The next instruction of the first frame; for a caller, the return address.
  package let instruction: UInt64
  /// Whether the address follows a call. False for the first frame of a thread and for code interrupted by a signal.
  package internal(set) var isCaller: Bool
  package let trust: FrameTrust
  /// Nil if unknown.
  package let stackPointer: UInt64?
  /// The index of the module in the snapshot's list.
  package let module: Int?
  /// The offset in that module.
  package let moduleOffset: UInt64?
  /// Whether this is the code to which the kernel makes a signal handler return: its caller was interrupted.
  package internal(set) var isSignalFrame = false
  /// Whether such a frame interrupted a system call: the signal is no fault of an instruction.
  package internal(set) var interruptsSystemCall = false
  /// The fault for which the kernel called that handler; nil for any other frame or signal.
  package internal(set) var handled: HandledFault?
  /// The number of words of the stack that the scan for this frame passed over; nil if it was not found by a scan.
  package internal(set) var skippedWords: Int?

  /// The address for symbol lookup: for a caller, an address inside of the call. The code to which a handler returns is
  /// not called.
  package var lookupAddress: UInt64 { isBehindCall ? instruction &- 1 : instruction }
  /// The same as an offset in the module.
  package var lookupOffset: UInt64? { moduleOffset.map { isBehindCall ? $0 &- 1 : $0 } }

  private var isBehindCall: Bool { isCaller && !isSignalFrame }
}

/// The reason why a walk ended.
package enum WalkEnd: String, Sendable, CaseIterable {
  /// The last frame is known to be the outermost one: its rules say so, or it is a system's function that starts a program
  /// or a thread.
  case done
  /// The input lists the frames, and no more of them.
  case recorded
  /// The chain of frame pointers ends with 0, as before the outermost frame.
  case endOfChain = "end-of-chain"
  /// The return address is 0: the frame is the outermost one, or the stack was overwritten.
  case nullReturnAddress = "null-return-address"
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
  /// Whether the kernel maps it: its code is in the dump, or nowhere.
  private let isOfKernel: Bool
  /// Whether its code can't be had, and calls no function of the program: a word that points there is no return address.
  var callsNobody: Bool { isOfKernel && symbols?.isFound != true }

  /// Searched when the first frame is in this module.
  var symbols: ModuleSymbols? { lazy?.symbols }

  package init(index: Int, address: UInt64, size: UInt64, symbols: LazySymbols?, isOfKernel: Bool = false) {
    self.isOfKernel = isOfKernel
    self.index = index
    self.address = address
    self.size = size
    lazy = symbols
  }
}
