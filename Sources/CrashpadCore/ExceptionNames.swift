public import Snapshot

/// Exceptions in words.
///
/// Sources: XNU, `osfmk/mach/exception_types.h`, `osfmk/mach/kern_return.h`, `osfmk/mach/{arm,i386}/exception.h`,
/// `osfmk/kern/exc_guard.h`, `bsd/sys/signal.h`; Linux, `asm-generic/siginfo.h`; Windows, `ntstatus.h`.
public struct ExceptionDescription: Sendable, Hashable {
  /// "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x10"
  public let title: String
  /// What it means, for people who do not read these names every day; nil where the name says it.
  public let explanation: String?

  public init(_ exception: ExceptionSnapshot, _ system: SystemSnapshot) {
    switch exception.kind {
    case .mach: (title, explanation) = Self.mach(exception, system.architecture)
    case .softSignal:
      let code = exception.codes.count > 2 ? Int32(truncatingIfNeeded: exception.codes[2]) : 0
      (title, explanation) = Self.signal(exception.info, code, exception.address, SignalNames.darwin)
    case .linuxSignal:
      (title, explanation) = Self.signal(
        exception.code, Int32(bitPattern: exception.info), exception.address, SignalNames.linux)
    case .nsException:
      (title, explanation) = ("NSException", "an uncaught Objective-C exception")
    case .windows: (title, explanation) = Self.windows(exception)
    }
  }

  private static func hex(_ value: some BinaryInteger) -> String { "0x" + String(value, radix: 16) }

  // MARK: Mach

  private static let machTypes: [UInt32: String] = [
    1: "EXC_BAD_ACCESS", 2: "EXC_BAD_INSTRUCTION", 3: "EXC_ARITHMETIC", 4: "EXC_EMULATION", 5: "EXC_SOFTWARE",
    6: "EXC_BREAKPOINT", 7: "EXC_SYSCALL", 8: "EXC_MACH_SYSCALL", 9: "EXC_RPC_ALERT", 10: "EXC_CRASH",
    11: "EXC_RESOURCE", 12: "EXC_GUARD", 13: "EXC_CORPSE_NOTIFY", 0x43507378: "Simulated exception",
  ]

  private static let kernelReturns: [UInt32: (name: String, meaning: String)] = [
    1: ("KERN_INVALID_ADDRESS", "an access to memory that is not mapped"),
    2: ("KERN_PROTECTION_FAILURE", "an access that the memory's protection forbids"),
    5: ("KERN_FAILURE", "an access that failed in the kernel"),
    8: ("KERN_NO_ACCESS", "an access that the memory's protection forbids"),
    9: ("KERN_MEMORY_FAILURE", "a page that could not be read in"),
    10: ("KERN_MEMORY_ERROR", "a page that could not be read in"),
    50: ("KERN_CODESIGN_ERROR", "code whose signature is not valid"),
  ]

  private static let arm64BadAccess: [UInt32: (name: String, meaning: String)] = [
    0x101: ("EXC_ARM_DA_ALIGN", "an access at an address that is not aligned"),
    0x102: ("EXC_ARM_DA_DEBUG", "a watchpoint"),
    0x103: ("EXC_ARM_SP_ALIGN", "a stack pointer that is not aligned"),
    0x104: ("EXC_ARM_SWP", "a swap instruction"),
    0x105: ("EXC_ARM_PAC_FAIL", "a pointer whose authentication failed"),
  ]

  private static let resourceTypes: [UInt64: String] = [
    1: "CPU", 2: "WAKEUPS", 3: "MEMORY", 4: "IO", 5: "THREADS", 6: "PORTS",
  ]
  private static let guardTypes: [UInt64: String] = [
    1: "MACH_PORT", 2: "FD", 3: "USER", 4: "VN", 5: "VIRT_MEMORY", 6: "REJECTED_SC",
  ]

  private static func mach(_ exception: ExceptionSnapshot, _ architecture: CPUArchitecture) -> (String, String?) {
    let type = machTypes[exception.code] ?? "Mach exception \(hex(exception.code))"
    let code = exception.info
    let first = exception.codes.count > 1 ? exception.codes[1] : UInt64(code)
    switch exception.code {
    case 1:
      let isI386Fault = architecture == .x86_64 && (code == 13 || code == 5)
      if isI386Fault {
        let name = code == 13 ? "EXC_I386_GPFLT" : "EXC_I386_BOUNDFLT"
        return ("\(type) / \(name)", code == 13 ? "an address that no pointer can have" : "an index out of bounds")
      }
      let known = kernelReturns[code] ?? (architecture == .arm64 ? arm64BadAccess[code] : nil)
      let name = known?.name ?? "code \(hex(code))"
      return ("\(type) / \(name) at \(hex(exception.address))", known?.meaning)
    case 2:
      let name =
        architecture == .x86_64 && code == 1 ? "EXC_I386_INVOP" : code == 1 ? "EXC_ARM_UNDEFINED" : "code \(hex(code))"
      return ("\(type) / \(name)", "an instruction that the processor does not know, or a trap of the compiler")
    case 3:
      let name = code == 1 && architecture == .x86_64 ? "EXC_I386_DIV" : "code \(hex(code))"
      return ("\(type) / \(name)", "a division by zero, or another arithmetic error")
    case 6:
      let name =
        switch (architecture, code) {
        case (.x86_64, 1): "EXC_I386_SGL"
        case (.x86_64, 2): "EXC_I386_BPT"
        case (.arm64, 1): "EXC_ARM_BREAKPOINT"
        default: "code \(hex(code))"
        }
      return ("\(type) / \(name)", "a breakpoint, or a trap of the compiler (a Swift runtime failure, __builtin_trap)")
    case 10:
      // The signal and the exception that it came from are packed into the first code.
      let signal = UInt32(first >> 24 & 0xff)
      let original = UInt32(first >> 20 & 0xf)
      var title = type
      if signal != 0 { title += " (\(SignalNames.darwin.name(of: signal)))" }
      if let name = machTypes[original] { title += " from \(name)" }
      return (title, signal == 6 ? "abort(), or a failed assertion" : nil)
    case 11:
      return (
        "\(type) / \(resourceTypes[first >> 61 & 7] ?? "type \(first >> 61 & 7)")",
        "more of a resource than the system allows"
      )
    case 12:
      return ("\(type) / \(guardTypes[first >> 61 & 7] ?? "type \(first >> 61 & 7)")", "a guarded resource was misused")
    case 0x43507378: return (type, "a dump without a crash (DumpWithoutCrash)")
    default:
      return (exception.codes.count > 1 ? "\(type) / code \(hex(first))" : type, nil)
    }
  }

  // MARK: Signals

  private static func signal(_ number: UInt32, _ code: Int32, _ address: UInt64, _ names: SignalNames) -> (
    String, String?
  ) {
    var title = names.name(of: number)
    if number == 0xffff_ffff { return ("Simulated exception", "a dump without a crash (DumpWithoutCrash)") }
    let codeName = names.codeName(code, of: number)
    if let codeName { title += " / \(codeName)" } else if code != 0 { title += " / code \(code)" }
    if names.hasAddress(number), names.isFault(code) { title += " at \(hex(address))" }
    return (title, names.meaning(of: number))
  }

  // MARK: Windows

  private static let windowsCodes: [UInt32: (name: String, meaning: String?)] = [
    0x8000_0003: ("EXCEPTION_BREAKPOINT", "a breakpoint"),
    0x8000_0004: ("EXCEPTION_SINGLE_STEP", nil),
    0xc000_0005: ("EXCEPTION_ACCESS_VIOLATION", "an access to memory that is not mapped or not allowed"),
    0xc000_0006: ("EXCEPTION_IN_PAGE_ERROR", "a page that could not be read in"),
    0xc000_0008: ("EXCEPTION_INVALID_HANDLE", nil),
    0xc000_0017: ("STATUS_NO_MEMORY", "out of memory"),
    0xc000_001d: ("EXCEPTION_ILLEGAL_INSTRUCTION", "an instruction that the processor does not know"),
    0xc000_0094: ("EXCEPTION_INT_DIVIDE_BY_ZERO", "a division by zero"),
    0xc000_0095: ("EXCEPTION_INT_OVERFLOW", nil),
    0xc000_00fd: ("EXCEPTION_STACK_OVERFLOW", "the stack is full"),
    0xc000_0374: ("STATUS_HEAP_CORRUPTION", "the heap is damaged"),
    0xc000_0409: ("STATUS_STACK_BUFFER_OVERRUN", "a buffer overrun, or fail fast"),
    0xe06d_7363: ("Unhandled C++ exception", nil),
    0x0517_a7ed: ("Simulated exception", "a dump without a crash (DumpWithoutCrash)"),
  ]

  private static func windows(_ exception: ExceptionSnapshot) -> (String, String?) {
    let known = windowsCodes[exception.code]
    var title = known?.name ?? "Exception \(hex(exception.code))"
    if exception.code == 0xc000_0005, exception.codes.count >= 2 {
      title += exception.codes[0] == 1 ? " / WRITE" : exception.codes[0] == 8 ? " / EXECUTE" : " / READ"
      title += " at \(hex(exception.codes[1]))"
    }
    return (title, known?.meaning)
  }
}
