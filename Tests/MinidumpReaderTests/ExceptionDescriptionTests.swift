// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import CrashpadMeaning
import CrashpadSnapshot
import Testing

/// An exception and its title.
struct Described: Sendable, CustomTestStringConvertible {
  var kind = ExceptionSnapshot.Kind.mach
  var architecture = CPUArchitecture.arm64
  var code: UInt32
  var info: UInt32 = 0
  var codes: [UInt64] = []
  var address: UInt64 = 0
  let title: String

  var testDescription: String { title }

  var description: ExceptionDescription {
    var exception = ExceptionSnapshot(kind: kind, threadID: 1, code: code)
    exception.info = info
    exception.codes = codes
    exception.address = address
    return ExceptionDescription(exception, SystemSnapshot(architecture: architecture, operatingSystem: .unknown))
  }

  /// As Crashpad has it: the type in front of the kernel's codes.
  static func mach(
    _ type: UInt32, _ code: UInt64, at subcode: UInt64 = 0, _ title: String, _ architecture: CPUArchitecture
  )
    -> Described
  {
    Described(
      architecture: architecture, code: type, info: UInt32(truncatingIfNeeded: code),
      codes: [UInt64(type), code, subcode], address: subcode, title: title)
  }

  static func both(_ type: UInt32, _ code: UInt64, at subcode: UInt64 = 0, _ title: String) -> [Described] {
    [mach(type, code, at: subcode, title, .arm64), mach(type, code, at: subcode, title, .x86_64)]
  }

  static func darwin(_ signal: UInt32, _ code: UInt32, at address: UInt64 = 0x10, _ title: String) -> Described {
    Described(
      kind: .softSignal, code: 0x10003, info: signal, codes: [0x10003, UInt64(signal), UInt64(code)], address: address,
      title: title)
  }

  static func linux(
    _ signal: UInt32, _ code: Int32, at address: UInt64 = 0x10, on architecture: CPUArchitecture = .arm64,
    _ title: String
  ) -> Described {
    Described(
      kind: .linuxSignal, architecture: architecture, code: signal, info: UInt32(bitPattern: code), address: address,
      title: title)
  }

  static func windows(_ code: UInt32, with parameters: [UInt64] = [], _ title: String) -> Described {
    Described(kind: .windows, architecture: .x86_64, code: code, codes: parameters, title: title)
  }
}

@Suite("ExceptionDescription")
struct ExceptionDescriptionTests {
  static let mach: [Described] = badAccess + ofProcessors + otherTypes

  private static let badAccess: [Described] = [
    Described.both(1, 1, at: 0x10, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x10"),
    Described.both(1, 2, at: 0xffff_ffff_ffff_fff0, "EXC_BAD_ACCESS / KERN_PROTECTION_FAILURE at 0xfffffffffffffff0"),
    Described.both(1, 9, at: 0x1000, "EXC_BAD_ACCESS / KERN_MEMORY_FAILURE at 0x1000"),
    Described.both(1, 10, at: 0x1000, "EXC_BAD_ACCESS / KERN_MEMORY_ERROR at 0x1000"),
    Described.both(1, 50, at: 0x1000, "EXC_BAD_ACCESS / KERN_CODESIGN_ERROR at 0x1000"),
    Described.both(1, 0x999, at: 0, "EXC_BAD_ACCESS / code 0x999 at 0x0"),
  ].flatMap { $0 }

  private static let ofProcessors: [Described] = [
    .mach(1, 13, "EXC_BAD_ACCESS / EXC_I386_GPFLT", .x86_64),
    // BOUND is EXC_SOFTWARE: the kernel never sends EXC_BAD_ACCESS for it.
    .mach(5, 7, "EXC_SOFTWARE / EXC_I386_BOUND", .x86_64), .mach(5, 7, "EXC_SOFTWARE / code 0x7", .arm64),
    .mach(1, 0x106, at: 0x11, "EXC_BAD_ACCESS / EXC_ARM_MTE_TAGCHECK_FAIL at 0x11", .arm64),
    .mach(2, 2, "EXC_BAD_INSTRUCTION / EXC_ARM_SME_DISALLOWED", .arm64),
    .mach(2, 11, "EXC_BAD_INSTRUCTION / EXC_I386_SEGNPFLT", .x86_64),
    .mach(3, 1, "EXC_ARITHMETIC / EXC_ARM_FP_IO", .arm64), .mach(3, 2, "EXC_ARITHMETIC / EXC_ARM_FP_DZ", .arm64),
    .mach(3, 8, "EXC_ARITHMETIC / EXC_I386_SSEEXTERR", .x86_64),
    .mach(1, 0x101, at: 0x11, "EXC_BAD_ACCESS / EXC_ARM_DA_ALIGN at 0x11", .arm64),
    .mach(1, 0x102, at: 0x11, "EXC_BAD_ACCESS / EXC_ARM_DA_DEBUG at 0x11", .arm64),
    .mach(1, 0x103, at: 0x11, "EXC_BAD_ACCESS / EXC_ARM_SP_ALIGN at 0x11", .arm64),
    .mach(1, 0x105, at: 0x11, "EXC_BAD_ACCESS / EXC_ARM_PAC_FAIL at 0x11", .arm64),
    .mach(1, 0x101, at: 0x11, "EXC_BAD_ACCESS / code 0x101 at 0x11", .x86_64),
    .mach(2, 1, "EXC_BAD_INSTRUCTION / EXC_ARM_UNDEFINED", .arm64),
    .mach(2, 1, "EXC_BAD_INSTRUCTION / EXC_I386_INVOP", .x86_64),
    .mach(3, 1, "EXC_ARITHMETIC / EXC_I386_DIV", .x86_64),
    .mach(6, 1, "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT", .arm64),
    .mach(6, 1, "EXC_BREAKPOINT / EXC_I386_SGL", .x86_64),
  ]

  private static let otherTypes: [Described] = [
    // A signal in bits 24 to 31, what it came from in bits 20 to 23.
    Described.both(10, 0x0600_0000, "EXC_CRASH (SIGABRT)"),
    Described.both(10, 0x0b10_0001, "EXC_CRASH (SIGSEGV) from EXC_BAD_ACCESS"),
    Described.both(10, 0x0560_0001, "EXC_CRASH (SIGTRAP) from EXC_BREAKPOINT"), Described.both(10, 0, "EXC_CRASH"),
    Described.both(11, 1 << 61, "EXC_RESOURCE / CPU"), Described.both(11, 2 << 61, "EXC_RESOURCE / WAKEUPS"),
    Described.both(11, 3 << 61, "EXC_RESOURCE / MEMORY"), Described.both(11, 4 << 61, "EXC_RESOURCE / IO"),
    Described.both(11, 7 << 61, "EXC_RESOURCE / type 7"),
    Described.both(11, 0x1800_0000_0000_03e8, "EXC_RESOURCE / type 0"),
    Described.both(11, 1 << 61 | 2 << 58 | 180 << 7 | 50, at: 60, "EXC_RESOURCE / CPU MONITOR_FATAL"),
    Described.both(12, 2 << 61 | 1 << 32 | 5, "EXC_GUARD / FD CLOSE"),
    Described.both(12, 0x2000_0200_0001_3313, "EXC_GUARD / MACH_PORT INVALID_NAME"),
    Described.both(12, 1 << 61, "EXC_GUARD / MACH_PORT"),
    Described.both(12, 2 << 61, "EXC_GUARD / FD"), Described.both(12, 5 << 61, "EXC_GUARD / VIRT_MEMORY"),
    Described.both(5, 0x99, "EXC_SOFTWARE / code 0x99"), Described.both(7, 3, "EXC_SYSCALL / code 0x3"),
    Described.both(0x4350_7378, 0, "Simulated exception"), Described.both(0x77, 3, "Mach exception 0x77 / code 0x3"),
  ].flatMap { $0 }

  static let signals: [Described] = [
    .darwin(6, 0, "SIGABRT"), .darwin(11, 1, "SIGSEGV / SEGV_MAPERR at 0x10"),
    .darwin(11, 2, "SIGSEGV / SEGV_ACCERR at 0x10"), .darwin(10, 1, "SIGBUS / BUS_ADRALN at 0x10"),
    .darwin(10, 2, "SIGBUS / BUS_ADRERR at 0x10"), .darwin(4, 2, "SIGILL / ILL_ILLTRP at 0x10"),
    .darwin(4, 4, "SIGILL / ILL_ILLOPN at 0x10"), .darwin(5, 1, "SIGTRAP / TRAP_BRKPT at 0x10"),
    .darwin(8, 1, "SIGFPE / FPE_FLTDIV at 0x10"), .darwin(8, 7, "SIGFPE / FPE_INTDIV at 0x10"),
    .darwin(7, 0, "SIGEMT"), .darwin(12, 0, "SIGSYS"), .darwin(6, 0x10001, "SIGABRT / SI_USER"),
    .darwin(15, 0x10001, "SIGTERM / SI_USER"), .darwin(99, 5, "signal 99 / code 5"),
    .linux(6, -6, "SIGABRT / SI_TKILL"), .linux(11, 1, "SIGSEGV / SEGV_MAPERR at 0x10"),
    .linux(11, 2, at: 0xffff_0000_0000_0000, "SIGSEGV / SEGV_ACCERR at 0xffff000000000000"),
    .linux(11, 9, "SIGSEGV / SEGV_MTESERR at 0x10"), .linux(7, 2, "SIGBUS / BUS_ADRERR at 0x10"),
    .linux(7, 4, "SIGBUS / BUS_MCEERR_AR at 0x10"), .linux(4, 2, "SIGILL / ILL_ILLOPN at 0x10"),
    .linux(4, 4, "SIGILL / ILL_ILLTRP at 0x10"), .linux(8, 1, "SIGFPE / FPE_INTDIV at 0x10"),
    .linux(5, 4, "SIGTRAP / TRAP_HWBKPT at 0x10"), .linux(31, 1, "SIGSYS / SYS_SECCOMP"),
    .linux(15, 0, "SIGTERM / SI_USER"), .linux(10, -1, "SIGUSR1 / SI_QUEUE"), .linux(11, 0, "SIGSEGV / SI_USER"),
    .linux(11, -6, "SIGSEGV / SI_TKILL"), .linux(77, 3, "signal 77 / code 3"),
    .linux(0xffff_ffff, 0, "Simulated exception"),
  ]

  static let others: [Described] = [
    .windows(0xc000_0005, with: [0, 0x10], "EXCEPTION_ACCESS_VIOLATION / READ at 0x10"),
    .windows(0xc000_0005, with: [1, 0x10], "EXCEPTION_ACCESS_VIOLATION / WRITE at 0x10"),
    .windows(0xc000_0005, with: [8, 0xffff], "EXCEPTION_ACCESS_VIOLATION / EXECUTE at 0xffff"),
    .windows(
      0xc000_0006, with: [0, 0x10, 0xc000_0185], "EXCEPTION_IN_PAGE_ERROR / READ / STATUS_IO_DEVICE_ERROR at 0x10"),
    .windows(
      0xc000_0006, with: [1, 0x10, 0xc000_00c9], "EXCEPTION_IN_PAGE_ERROR / WRITE / STATUS_NETWORK_NAME_DELETED at 0x10"
    ),
    .windows(0xc000_0006, with: [8, 0x10, 0xcfff_ffff], "EXCEPTION_IN_PAGE_ERROR / EXECUTE / 0xcfffffff at 0x10"),
    .windows(0xc000_0006, with: [0], "EXCEPTION_IN_PAGE_ERROR"),
    .windows(0xc000_0409, with: [7], "STATUS_STACK_BUFFER_OVERRUN / FAST_FAIL_FATAL_APP_EXIT"),
    .windows(0xc000_0409, with: [2, 9], "STATUS_STACK_BUFFER_OVERRUN / FAST_FAIL_STACK_COOKIE_CHECK_FAILURE"),
    .windows(0xc000_0409, with: [76], "STATUS_STACK_BUFFER_OVERRUN / FAST_FAIL_INVALID_EXTENDED_STATE"),
    .windows(0xc000_0409, with: [15], "STATUS_STACK_BUFFER_OVERRUN / reason 15"),
    .windows(0xe06d_7363, with: [0x1993_0520, 0x10, 0x20], "Unhandled C++ exception"),
    .windows(
      0xe043_4352, with: [0x8013_1509, 0, 0, 0, 0x7ff0_0000], "CLR exception / System.InvalidOperationException"),
    .windows(0xe043_4352, with: [0x8888_8888], "CLR exception"), .windows(2, "ERROR_FILE_NOT_FOUND"),
    .windows(14, "ERROR_OUTOFMEMORY"), .windows(1314, "ERROR_PRIVILEGE_NOT_HELD"),
    .windows(0xc000_041d, "STATUS_FATAL_USER_CALLBACK_EXCEPTION"), .windows(0xe000_0008, "Out of memory"),
    .windows(0xc06d_007e, "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND"),
    .windows(0xc000_000d, "STATUS_INVALID_PARAMETER"),
    .windows(0xc000_012d, "STATUS_COMMITMENT_LIMIT"), .windows(0x4001_0005, "DBG_CONTROL_C"),
    .windows(0x4000_001f, "STATUS_WX86_BREAKPOINT"), .windows(0xc000_0002, "STATUS_NOT_IMPLEMENTED"),
    .windows(0xc000_0353, "STATUS_PORT_NOT_SET"), .windows(0xc000_0604, "STATUS_DYNAMIC_CODE_BLOCKED"),
    .windows(0xc000_0710, "STATUS_CALLBACK_RETURNED_WHILE_IMPERSONATING"),
    .windows(0xc000_0022, "STATUS_ACCESS_DENIED"), .windows(0xc06d_0005, "FACILITY_VISUALCPP / ERROR_ACCESS_DENIED"),
    .windows(0xc000_0005, with: [], "EXCEPTION_ACCESS_VIOLATION"), .windows(0x8000_0003, "EXCEPTION_BREAKPOINT"),
    .windows(0x8000_0004, "EXCEPTION_SINGLE_STEP"), .windows(0xc000_001d, "EXCEPTION_ILLEGAL_INSTRUCTION"),
    .windows(0xc000_0094, "EXCEPTION_INT_DIVIDE_BY_ZERO"), .windows(0xc000_0095, "EXCEPTION_INT_OVERFLOW"),
    .windows(0xc000_00fd, "EXCEPTION_STACK_OVERFLOW"), .windows(0xc000_0374, "STATUS_HEAP_CORRUPTION"),
    .windows(0xc000_0409, "STATUS_STACK_BUFFER_OVERRUN"), .windows(0xe06d_7363, "Unhandled C++ exception"),
    .windows(0x0517_a7ed, "Simulated exception"), .windows(0xc000_9999, "Exception 0xc0009999"),
    Described(kind: .nsException, code: 0x4350_6e78, title: "NSException"),
  ]

  /// Names that XNU's headers have: `mach/kern_return.h` (5 KERN_FAILURE, 8 KERN_NO_ACCESS), `mach/i386/exception.h`.
  static let headers: [Described] =
    Described.both(1, 8, at: 0x10, "EXC_BAD_ACCESS / KERN_NO_ACCESS at 0x10") + [
      .mach(1, 5, at: 0x10, "EXC_BAD_ACCESS / KERN_FAILURE at 0x10", .arm64),
      .mach(1, 5, at: 0x10, "EXC_BAD_ACCESS / KERN_FAILURE at 0x10", .x86_64),
      .mach(1, 57, at: 0x10, "EXC_BAD_ACCESS / KERN_INVALID_GUARD_OBJECT_SLOT at 0x10", .arm64),
      .mach(6, 2, "EXC_BREAKPOINT / EXC_I386_BPT", .x86_64),
    ]

  @Test("Mach exceptions have the names of their processor", arguments: mach)
  func machTitle(_ example: Described) { #expect(example.description.title == example.title) }

  @Test("Kernel codes have the names of the kernel's headers", arguments: headers)
  func headerTitle(_ example: Described) { #expect(example.description.title == example.title) }

  @Test("Signals have the names of their system, with an address where it means something", arguments: signals)
  func signalTitle(_ example: Described) { #expect(example.description.title == example.title) }

  @Test("Windows' codes and NSException have their names", arguments: others)
  func otherTitle(_ example: Described) { #expect(example.description.title == example.title) }

  @Test("A signal that a process sent has no address, whatever the field says")
  func sentSignals() {
    for signal: UInt32 in [4, 5, 8, 10, 11] {
      let title = Described.darwin(signal, 0x10001, "").description.title
      #expect(title.hasSuffix("/ SI_USER"), "\(title)")
    }
  }

  @Test("Common exceptions are explained")
  func explanations() throws {
    let explained: [(Described, String)] = [
      (.mach(1, 1, "", .arm64), "an access to memory that is not mapped"),
      (.mach(1, 0x105, "", .arm64), "a pointer whose authentication failed"),
      (.mach(0x4350_7378, 0, "", .arm64), "a dump without a crash (DumpWithoutCrash)"),
      (.mach(10, 0x0600_0000, "", .x86_64), "abort(), or a failed assertion"),
      (.mach(10, 9 << 24, "", .arm64), "the system ended the process; the termination reason says why"),
      (.mach(10, 0x0b10_0001, "", .arm64), "an access to memory that is not mapped"),
      (
        .mach(11, 1 << 61 | 2 << 58 | 180 << 7 | 50, at: 60, "", .arm64),
        "more CPU time than the limit; the process was ended: limit 50 % of a CPU over 180 s, observed 60 %"
      ),
      (
        .mach(12, 2 << 61 | 1 << 32 | 5, at: 9, "", .arm64),
        "a guarded descriptor was closed: file descriptor 5, guard 0x9"
      ),
      (.linux(11, 2, ""), "an access that the memory's protection forbids"),
      (
        .linux(11, 0x80, at: 0, on: .x86_64, ""),
        "a general protection fault, mostly an address that no pointer can have or that the instruction needs aligned"
      ),
      (
        .linux(7, 0x80, at: 0, on: .x86_64, ""),
        "a fault of the stack's segment, mostly an address in the stack or frame pointer that no pointer can have"
      ),
      (.linux(11, 0x80, at: 0, ""), "a fault for which the kernel has no address"),
      (.linux(8, 1, at: 0x1000, ""), "an integer division by zero, or on x86 one whose result is too large"),
      (.darwin(6, 0, ""), "abort(), or a failed assertion"), (.linux(6, -6, ""), "abort(), or a failed assertion"),
      (.linux(0xffff_ffff, 0, ""), "a dump without a crash (DumpWithoutCrash)"),
      (.windows(0xc000_00fd, ""), "the stack is full"),
      (
        .windows(0xc000_0005, with: [0, .max], ""),
        "a general protection fault, mostly an address that no pointer can have or that the instruction needs aligned"
      ),
      (Described(kind: .nsException, code: 0x4350_6e78, title: ""), "an uncaught Objective-C exception"),
    ]
    for (example, text) in explained { #expect(example.description.explanation == text) }
    #expect(Described.windows(0xc000_9999, "").description.explanation == nil)
    #expect(Described.linux(77, 3, "").description.explanation == nil)
  }
}
