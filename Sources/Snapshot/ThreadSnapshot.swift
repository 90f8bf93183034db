public struct ThreadSnapshot: Sendable {
  public var id: UInt64?
  public var name: Content?
  public var suspendCount: Int32?
  public var priority: Int32?
  /// Address of the thread's own data (TSD, TLS or TEB).
  public var dataAddress: UInt64?
  public var context: CPUContext?
  public var stack: Stack?
  /// How its registers were got, if a handler within the process wrote the dump and says so.
  public var capture: Capture?
  /// The stack where the input lists its frames, the innermost first; nil where it has to be walked.
  package var frames: [RecordedFrame]?
  /// Label of the dispatch queue that it ran.
  package var queue: Content?

  /// The ways of a handler within a Linux process, by their numbers in its dump.
  public enum Capture: UInt32, Sendable {
    /// The thread crashed, or asked for the dump.
    case own = 1
    case signal = 2
    case ptrace = 3
    /// Only the stack pointer and the instruction pointer, as /proc has them; other registers are zero.
    case proc = 4
    /// It went on; no registers.
    case notStopped = 5
  }

  /// A stack, and where it came from.
  public struct Stack: Sendable {
    public var region: MemoryRegion
    /// Made from the return addresses of an uncaught NSException, not captured. Its address is 0.
    public var isSynthetic: Bool

    package init(region: MemoryRegion, isSynthetic: Bool = false) {
      self.region = region
      self.isSynthetic = isSynthetic
    }
  }

  package init() {}
}

public struct ExceptionSnapshot: Sendable {
  /// Who reported the crash. It decides how `code`, `info` and `codes` read.
  public enum Kind: Sendable {
    /// A Mach exception: `code` is its type (EXC_*), `codes` the type and then the codes of the kernel.
    case mach
    /// A POSIX signal in Crashpad's form: `code` is EXC_SOFT_SIGNAL 0x10003, `info` the signal, codes[2] si_code.
    case softSignal
    /// An uncaught NSException: `code` is 0x43506e78, "CPnx".
    case nsException
    /// A signal as Linux minidumps carry it: `code` is the signal, `info` si_code.
    case linuxSignal
    /// A Windows exception code.
    case windows
  }

  public var kind: Kind
  public var threadID: UInt64
  public var code: UInt32
  public var info: UInt32
  public var address: UInt64
  public var codes: [UInt64]
  public var context: CPUContext?
  /// The signal that the system made of it, by Darwin's number, if the input says so.
  package var signal: UInt32?

  package init(kind: Kind, threadID: UInt64, code: UInt32) {
    self.kind = kind
    self.threadID = threadID
    self.code = code
    info = 0
    address = 0
    codes = []
  }
}
