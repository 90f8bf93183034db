// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func fastFail(_ number: UInt64, _ name: String, _ event: String, _ advice: String...) -> CodeMeaning {
    CodeMeaning(
      .fastFail, "FAST_FAIL_" + name, [Number(value: number, platform: .any)], event,
      endedBy: "the program itself, with __fastfail: no handler of exceptions runs",
      advice: advice.isEmpty ? ["Look at the crashed thread's stack."] : advice, .file("Windows", "winnt.h"))
  }
  private static let overrunAdvice =
    "Look for a write behind an array in the function of the first frame of the program, and its callees."
  private static let memoryAdvice =
    "Run with Application Verifier or Address Sanitizer: the stack shows the discovery, not the error."
  private static let abortAdvice =
    "Look in the stack for the function that called abort(), and in the log for its message."
  private static let boundsAdvice =
    "Look in the first frame of the program for the index, and where it comes from."
  private static let cfgAdvice =
    "Look in the caller for the pointer: a freed object, a wrong cast, or a DLL that was unloaded."
  private static let countAdvice =
    "Look for an object that is released twice, or used after its release."
  private static let lockAdvice =
    "Look for a lock that another thread releases, or that is released twice."

  /// The reasons of __fastfail, which are the first parameter of 0xc0000409.
  static let fastFails: [CodeMeaning] = [
    fastFail(0, "LEGACY_GS_VIOLATION", "a stack cookie that was overwritten", overrunAdvice),
    fastFail(1, "VTGUARD_CHECK_FAILURE", "a damaged table of virtual functions (VTGuard)"),
    fastFail(2, "STACK_COOKIE_CHECK_FAILURE", "a stack cookie that was overwritten", overrunAdvice),
    fastFail(3, "CORRUPT_LIST_ENTRY", "a linked list whose entries do not point at each other", memoryAdvice),
    fastFail(4, "INCORRECT_STACK", "a stack pointer outside the stack of the thread"),
    fastFail(5, "INVALID_ARG", "an argument that is not valid, found by a runtime check", abortAdvice),
    fastFail(6, "GS_COOKIE_INIT", "the stack cookie could not be made"),
    fastFail(7, "FATAL_APP_EXIT", "the program ended itself: abort(), std::terminate or a runtime error", abortAdvice),
    fastFail(8, "RANGE_CHECK_FAILURE", "an index out of bounds, found by a check of the compiler", boundsAdvice),
    fastFail(9, "UNSAFE_REGISTRY_ACCESS", "an access to the registry that is not safe"),
    fastFail(
      10, "GUARD_ICALL_CHECK_FAILURE",
      "an indirect call to an address that is no function (Control Flow Guard)", cfgAdvice),
    fastFail(11, "GUARD_WRITE_CHECK_FAILURE", "a write to memory that is guarded", cfgAdvice),
    fastFail(12, "INVALID_FIBER_SWITCH", "a switch to a fiber that is not valid"),
    fastFail(13, "INVALID_SET_OF_CONTEXT", "registers that a thread may not be given"),
    fastFail(
      14, "INVALID_REFERENCE_COUNT",
      "a reference count that is not valid: released too often, or overflowed", countAdvice),
    fastFail(18, "INVALID_JUMP_BUFFER", "a longjmp() whose buffer is damaged"),
    fastFail(19, "MRDATA_MODIFIED", "data that the loader protects was changed"),
    fastFail(20, "CERTIFICATION_FAILURE", "a certification failed"),
    fastFail(21, "INVALID_EXCEPTION_CHAIN", "a chain of exception handlers that is damaged"),
    fastFail(22, "CRYPTO_LIBRARY", "an error in the library for cryptography"),
    fastFail(
      23, "INVALID_CALL_IN_DLL_CALLOUT", "a call that is not allowed while a DLL is told of threads and processes"),
    fastFail(24, "INVALID_IMAGE_BASE", "a base address of an image that is not valid"),
    fastFail(25, "DLOAD_PROTECTION_FAILURE", "memory of the delay loader could not be protected"),
    fastFail(26, "UNSAFE_EXTENSION_CALL", "a call of an extension that is not safe"),
    fastFail(27, "DEPRECATED_SERVICE_INVOKED", "a service of the system that no longer exists"),
    fastFail(28, "INVALID_BUFFER_ACCESS", "an access outside a buffer"),
    fastFail(29, "INVALID_BALANCED_TREE", "a balanced tree whose nodes do not point at each other", memoryAdvice),
    fastFail(30, "INVALID_NEXT_THREAD", "a next thread of the scheduler that is not valid"),
    fastFail(
      31, "GUARD_ICALL_CHECK_SUPPRESSED",
      "an indirect call to a function that may not be called so (Control Flow Guard)", cfgAdvice),
    fastFail(32, "APCS_DISABLED", "APCs that are disabled where they must not be"),
    fastFail(33, "INVALID_IDLE_STATE", "an idle state that is not valid"),
    fastFail(34, "MRDATA_PROTECTION_FAILURE", "data of the loader could not be protected"),
    fastFail(35, "UNEXPECTED_HEAP_EXCEPTION", "an exception within the heap that nothing expected", memoryAdvice),
    fastFail(
      36, "INVALID_LOCK_STATE",
      "a lock in a state that is not valid: released by a thread that does not hold it", lockAdvice),
    fastFail(37, "GUARD_JUMPTABLE", "a jump through a table that is damaged"),
    fastFail(
      38, "INVALID_LONGJUMP_TARGET", "a longjmp() to a place that is not allowed (Control Flow Guard)", cfgAdvice),
    fastFail(39, "INVALID_DISPATCH_CONTEXT", "a damaged context of an exception that is handled"),
    fastFail(40, "INVALID_THREAD", "a thread that is not valid"),
    fastFail(41, "INVALID_SYSCALL_NUMBER", "a number of a system call that is not valid"),
    fastFail(42, "INVALID_FILE_OPERATION", "an operation on a file that is not valid"),
    fastFail(43, "LPAC_ACCESS_DENIED", "an access that a sandboxed program does not have"),
    fastFail(44, "GUARD_SS_FAILURE", "a shadow stack that does not match (Return Flow Guard)"),
    fastFail(45, "LOADER_CONTINUITY_FAILURE", "a damaged list of the loader"),
    fastFail(
      46, "GUARD_EXPORT_SUPPRESSION_FAILURE", "a call of an export that is suppressed (Control Flow Guard)", cfgAdvice),
    fastFail(47, "INVALID_CONTROL_STACK", "a shadow stack that is not valid"),
    fastFail(48, "SET_CONTEXT_DENIED", "registers that may not be set (Control Flow Guard)"),
    fastFail(49, "INVALID_IAT", "a damaged import table"),
    fastFail(50, "HEAP_METADATA_CORRUPTION", "damaged data of the heap", memoryAdvice),
    fastFail(51, "PAYLOAD_RESTRICTION_VIOLATION", "a restriction of code was violated"),
    fastFail(52, "LOW_LABEL_ACCESS_DENIED", "an access that a program of low integrity does not have"),
    fastFail(53, "ENCLAVE_CALL_FAILURE", "a call into an enclave failed"),
    fastFail(54, "UNHANDLED_LSS_EXCEPTON", "an exception in a subsystem that was not handled"),
    fastFail(55, "ADMINLESS_ACCESS_DENIED", "an access that only administrators have"),
    fastFail(56, "UNEXPECTED_CALL", "a call that nothing expected", cfgAdvice),
    fastFail(
      57, "CONTROL_INVALID_RETURN_ADDRESS",
      "a return to another address than the caller's (shadow stack of the processor)"),
    fastFail(58, "UNEXPECTED_HOST_BEHAVIOR", "a host that behaves in an unexpected way"),
    fastFail(59, "FLAGS_CORRUPTION", "damaged flags of the processor"),
    fastFail(60, "VEH_CORRUPTION", "a damaged list of vectored exception handlers"),
    fastFail(61, "ETW_CORRUPTION", "damaged data of event tracing"),
    fastFail(62, "RIO_ABORT", "registered input and output was aborted"),
    fastFail(63, "INVALID_PFN", "a page number that is not valid"),
    fastFail(
      64, "GUARD_ICALL_CHECK_FAILURE_XFG",
      "an indirect call to a function of another type (Control Flow Guard, XFG)", cfgAdvice),
    fastFail(65, "CAST_GUARD", "a cast to a class that the object does not have (Cast Guard)", cfgAdvice),
    fastFail(66, "HOST_VISIBILITY_CHANGE", "a host that changed the visibility of memory"),
    fastFail(67, "KERNEL_CET_SHADOW_STACK_ASSIST", "a shadow stack that the kernel could not assist"),
    fastFail(68, "PATCH_CALLBACK_FAILED", "a callback of a patch failed"),
    fastFail(69, "NTDLL_PATCH_FAILED", "a patch of ntdll failed"),
    fastFail(70, "INVALID_FLS_DATA", "damaged data of fiber-local storage"),
    fastFail(71, "ASAN_ERROR", "a fault that Address Sanitizer found"),
    fastFail(72, "CLR_EXCEPTION_AOT", "a .NET exception that was not handled, in a program compiled ahead of time"),
    fastFail(73, "POINTER_AUTH_INVALID_RETURN_ADDRESS", "a return address whose authentication failed"),
    fastFail(74, "INVALID_THREAD_STATE", "a thread in a state that is not valid"),
    fastFail(75, "CORRUPT_WOW64_STATE", "damaged state of a 32-bit program"),
    fastFail(76, "INVALID_EXTENDED_STATE", "extended registers that are not valid"),
  ]
}
