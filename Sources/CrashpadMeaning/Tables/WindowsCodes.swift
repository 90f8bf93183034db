// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func windows(
    _ number: UInt64, _ name: String, _ event: String, causes: [String] = [], advice: [String] = standard,
    aliases: [String] = [], myth: String? = nil, _ source: Source = .file("Windows", "ntstatus.h")
  ) -> CodeMeaning {
    CodeMeaning(
      .windows, name, [Number(value: number, platform: .any)], aliases: aliases, event,
      endedBy: "Windows, for an exception that the program did not handle", causes: causes, advice: advice, myth: myth,
      source)
  }
  private static let standard = ["Look at the crashed thread's stack."]

  /// Exception codes of Windows.
  static let windowsCodes: [CodeMeaning] = [
    windows(
      1, "ERROR_INVALID_FUNCTION", "the program raised the error of a function that the device does not have",
      .file("Windows", "winerror.h")),
    windows(
      2, "ERROR_FILE_NOT_FOUND", "the program raised the error of a file that was not found",
      .file("Windows", "winerror.h")),
    windows(
      5, "ERROR_ACCESS_DENIED", "the program raised the error of an access that was denied",
      .file("Windows", "winerror.h")),
    windows(
      14, "ERROR_OUTOFMEMORY", "the program raised the error of memory that was not available",
      .file("Windows", "winerror.h")),
    windows(
      0x4000_001f, "STATUS_WX86_BREAKPOINT", "a breakpoint in a 32-bit program",
      causes: ["A failed assertion (__debugbreak), or a debugger's breakpoint."]),
    windows(
      0x4001_0005, "DBG_CONTROL_C", "Ctrl-C was pressed while a debugger was attached",
      advice: ["Nothing: this is no crash."]),
    windows(0x8000_0001, "EXCEPTION_GUARD_PAGE", "an access to a guard page", aliases: ["STATUS_GUARD_PAGE_VIOLATION"]),
    windows(0x8000_0002, "EXCEPTION_DATATYPE_MISALIGNMENT", "an access at an address that is not aligned"),
    windows(
      0x8000_0003, "EXCEPTION_BREAKPOINT", "a breakpoint",
      causes: ["A failed assertion (__debugbreak), or a debugger's breakpoint."]),
    windows(0x8000_0004, "EXCEPTION_SINGLE_STEP", "a single step", causes: ["A debugger."]),
    windows(0xc000_0002, "STATUS_NOT_IMPLEMENTED", "a function that does not exist on this system was called"),
    windows(
      0xc000_0005, "EXCEPTION_ACCESS_VIOLATION", "an access to memory that is not mapped or not allowed",
      causes: ["A null or freed pointer, a buffer overrun."],
      advice: ["The first parameter is 0 for a read, 1 for a write, 8 for an execution; the second is the address."],
      aliases: ["STATUS_ACCESS_VIOLATION"]),
    windows(
      0xc000_0006, "EXCEPTION_IN_PAGE_ERROR", "a page that could not be read in",
      causes: ["A network share or a removable disk went away while a program or mapped file was used."],
      advice: ["The third parameter is the status of the read."]),
    windows(
      0xc000_0008, "EXCEPTION_INVALID_HANDLE", "a handle that is not valid", causes: ["A handle was closed twice."]),
    windows(
      0xc000_000d, "STATUS_INVALID_PARAMETER", "an argument that is not valid, found by the system or a runtime",
      causes: ["A function of the C runtime, or a check of a library, that raises an exception for it."]),
    windows(0xc000_0017, "STATUS_NO_MEMORY", "out of memory"),
    windows(
      0xc000_001d, "EXCEPTION_ILLEGAL_INSTRUCTION", "an instruction that the processor does not know",
      causes: ["A trap of the compiler (ud2): Swift's and Rust's checks.", "An instruction of a newer processor."]),
    windows(
      0xc000_0025, "EXCEPTION_NONCONTINUABLE_EXCEPTION", "a handler went on after an exception that does not allow it"),
    windows(0xc000_0026, "EXCEPTION_INVALID_DISPOSITION", "a handler returned a value that is not allowed"),
    windows(0xc000_008c, "EXCEPTION_ARRAY_BOUNDS_EXCEEDED", "an index out of bounds, checked by the processor"),
    windows(0xc000_008d, "EXCEPTION_FLT_DENORMAL_OPERAND", "a denormal floating-point operand"),
    windows(0xc000_008e, "EXCEPTION_FLT_DIVIDE_BY_ZERO", "a floating-point division by zero"),
    windows(0xc000_008f, "EXCEPTION_FLT_INEXACT_RESULT", "an inexact floating-point result"),
    windows(0xc000_0090, "EXCEPTION_FLT_INVALID_OPERATION", "an invalid floating-point operation"),
    windows(0xc000_0091, "EXCEPTION_FLT_OVERFLOW", "a floating-point overflow"),
    windows(0xc000_0092, "EXCEPTION_FLT_STACK_CHECK", "an overflow of the floating-point stack"),
    windows(0xc000_0093, "EXCEPTION_FLT_UNDERFLOW", "a floating-point underflow"),
    windows(0xc000_0094, "EXCEPTION_INT_DIVIDE_BY_ZERO", "a division by zero"),
    windows(0xc000_0095, "EXCEPTION_INT_OVERFLOW", "an integer overflow"),
    windows(0xc000_0096, "EXCEPTION_PRIV_INSTRUCTION", "an instruction for the kernel alone"),
    windows(
      0xc000_00fd, "EXCEPTION_STACK_OVERFLOW", "the stack is full",
      causes: ["Endless recursion, or large local variables."],
      advice: ["Look for functions that repeat in the stack."]),
    windows(
      0xc000_012d, "STATUS_COMMITMENT_LIMIT", "the system has no memory left that it can promise",
      causes: ["Programs that take too much memory, or a paging file that is too small or full."],
      advice: ["Look at the memory of all processes at that time."]),
    windows(0xc000_0135, "STATUS_DLL_NOT_FOUND", "a DLL that the program needs was not found"),
    windows(0xc000_0139, "STATUS_ENTRYPOINT_NOT_FOUND", "a function that the program needs is not in its DLL"),
    windows(
      0xc000_013a, "STATUS_CONTROL_C_EXIT", "the program was ended with Ctrl-C", advice: ["Nothing: this is no crash."]),
    windows(0xc000_0142, "STATUS_DLL_INIT_FAILED", "a DLL could not be initialized"),
    windows(0xc000_0194, "EXCEPTION_POSSIBLE_DEADLOCK", "a critical section was waited for too long"),
    windows(0xc000_0353, "STATUS_PORT_NOT_SET", "a port of messages that is not set"),
    windows(
      0xc000_0374, "STATUS_HEAP_CORRUPTION", "the heap is damaged",
      causes: ["A buffer overrun, a double free, use after free: before this point."],
      advice: ["Run with Application Verifier or Address Sanitizer: the stack shows the discovery, not the error."]),
    windows(
      0xc000_0409, "STATUS_STACK_BUFFER_OVERRUN", "a buffer overrun, or fail fast",
      causes: [
        "__fastfail: a failed check of a runtime, abort(), std::terminate.", "A stack cookie that was overwritten.",
      ],
      advice: ["The first parameter is the reason of __fastfail: 2 is the stack cookie, 7 is abort()."],
      myth: "It is mostly no buffer overrun: abort() and failed checks use the same code."),
    windows(0xc000_0417, "STATUS_INVALID_CRUNTIME_PARAMETER", "an invalid argument to a function of the C runtime"),
    windows(
      0xc000_041d, "STATUS_FATAL_USER_CALLBACK_EXCEPTION", "an exception in a function that the kernel called back",
      causes: ["A window procedure or a hook: the stack below it shows the first exception."],
      advice: ["Look in the stack for the exception that came first, below KiUserCallbackDispatcher."]),
    windows(0xc000_0420, "STATUS_ASSERTION_FAILURE", "an assertion failed"),
    windows(0xc000_0602, "STATUS_FAIL_FAST_EXCEPTION", "the program ended itself (RaiseFailFastException)"),
    windows(
      0xc000_0604, "STATUS_DYNAMIC_CODE_BLOCKED", "code made at run time, which a policy of the process forbids"),
    windows(
      0xc000_0710, "STATUS_CALLBACK_RETURNED_WHILE_IMPERSONATING",
      "a callback of a thread pool returned while its thread impersonated a user"),
    windows(
      0xc06d_007e, "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND", "a DLL that is loaded on demand was not found",
      advice: ["Look in the stack for the function that needs the DLL, and whether the DLL is installed."],
      .file("Microsoft", "delayimp.h")),
    windows(
      0xc06d_007f, "FACILITY_VISUALCPP / ERROR_PROC_NOT_FOUND", "a function is not in the DLL that is loaded on demand",
      advice: ["Look in the stack for the function, and for an older version of its DLL."],
      .file("Microsoft", "delayimp.h")),
    windows(
      0xe000_0008, "Out of memory", "the program had no memory left, and ended itself", aliases: ["OUT_OF_MEMORY"],
      .file("Chromium", "base/process/memory.h")),
    windows(
      0xe06d_7363, "Unhandled C++ exception", "a C++ exception that the program did not handle",
      advice: ["Look in the crashed thread's stack for the throw."], aliases: ["CPP_EXCEPTION"],
      .file("Microsoft", "the code of its C++ runtime, 0xe0 and \"msc\"")),
    windows(
      0xe043_4352, "CLR exception", "a .NET exception that the program did not handle", aliases: ["CLR_EXCEPTION"],
      .file("Microsoft", "the code of its .NET runtime, 0xe0 and \"CCR\"")),
    windows(
      0x0517_a7ed, "Simulated exception", "a dump without a crash (DumpWithoutCrash)", advice: ["Nothing crashed."],
      aliases: ["SIMULATED_EXCEPTION"], .file("Crashpad", "client/crashpad_client_win.cc")),
  ]
}
