// SPDX-License-Identifier: Apache-2.0
/// A thread of the process.
public struct ThreadSnapshot: Sendable {
  /// The system's id of the thread; nil if unknown.
  public var id: UInt64?
  /// The name in UTF-8; nil if it has none.
  public var name: SnapshotBytes?
  package var suspendCount: Int32?
  package var priority: Int32?
  /// The address of thread-local data (TSD, TLS or TEB).
  package var dataAddress: UInt64?
  /// The registers; nil if they were not captured.
  public var context: CPUContext?
  /// The captured stack; nil if no stack was captured.
  public var stack: Stack?
  /// The way in which the registers were captured, if an in-process handler wrote the dump and recorded it.
  package var capture: Capture?
  /// The stack, the innermost frame first, if the input lists the frames; nil if the stack has to be walked.
  public var frames: [RecordedFrame]?
  /// The label of the dispatch queue that the thread ran.
  public var queue: SnapshotBytes?
  /// The number that a report gives the thread; nil if it is the index in the list.
  public var number: Int?
  /// Frames that a report left out, in the order of the stack.
  public var elided: [ElidedFrames] = []

  /// The capture methods of an in-process Linux handler; the raw values are those in its dump.
  package enum Capture: UInt32, Sendable {
    /// The thread crashed, or requested the dump.
    case own = 1
    case signal = 2
    case ptrace = 3
    /// Only the stack pointer and the instruction pointer, as in /proc; other registers are zero.
    case proc = 4
    /// The thread kept running; no registers were captured.
    case notStopped = 5
  }

  /// A stack and its origin.
  public struct Stack: Sendable {
    /// The captured part of the stack.
    public var region: MemoryRegion
    /// Whether the stack was built from the return addresses of an uncaught NSException and not
    /// captured. Its address is then 0.
    public var isSynthetic: Bool

    package init(region: MemoryRegion, isSynthetic: Bool = false) {
      self.region = region
      self.isSynthetic = isSynthetic
    }
  }

  package init() {}
}

/// The exception or signal that ended the process.
public struct ExceptionSnapshot: Sendable {
  /// The reporter of the crash, which determines the meaning of `code`, `info` and `codes`.
  public enum Kind: Sendable {
    /// A Mach exception: `code` is its type (EXC_*), `codes` the type followed by the kernel's codes.
    case mach
    /// A POSIX signal in Crashpad's form: `code` is EXC_SOFT_SIGNAL 0x10003, `info` the signal, codes[2] si_code.
    case softSignal
    /// An uncaught NSException: `code` is 0x43506e78, "CPnx".
    case nsException
    /// A signal as in Linux minidumps: `code` is the signal, `info` is si_code.
    case linuxSignal
    /// A Windows exception code.
    case windows
  }

  /// The kind, which determines the meaning of the codes.
  public var kind: Kind
  /// The id of the thread that raised it.
  public var threadID: UInt64
  /// The exception type, or the signal's number.
  public var code: UInt32
  package var info: UInt32 = 0
  /// False if the input has no `info`, as a microdump, or may lack it, as a minidump of Breakpad: then it has a signal
  /// without its code.
  package var isInfoKnown = true
  /// False if the input has a signal and no address, as the lines of a console.
  package var isAddressKnown = true
  /// The address of the fault; 0 if the exception has none.
  public var address: UInt64 = 0
  /// Whether the process sent itself a signal, as a handler of the program does that raises it again, and this is the fault before
  /// it: a record of that fault has all registers of the thread.
  package var isRaisedAgain = false
  /// The process that sent the signal; nil if none did, or it is not known.
  public var sender: SignalSender?
  /// All codes of the exception, its type first.
  public var codes: [UInt64] = []
  public var context: CPUContext?
  /// The resulting signal, by Darwin's number, if the input states it.
  package var signal: UInt32?

  /// Whether a program requested the dump without a crash.
  ///
  /// Source: Crashpad, `kMachExceptionSimulated`, `Signals::kSimulatedSigno`, and 0x517a7ed in
  /// client/crashpad_client_win.cc.
  package var isSimulated: Bool {
    switch kind {
    case .mach: code == 0x4350_7378
    case .linuxSignal: code == .max
    case .softSignal: info == .max
    case .windows: code == 0x0517_a7ed
    case .nsException: false
    }
  }

  package init(kind: Kind, threadID: UInt64, code: UInt32) {
    self.kind = kind
    self.threadID = threadID
    self.code = code
  }
}
