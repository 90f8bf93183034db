// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let stack = "The first frame of the app below it is the caller."
  private static let sanitizer = "The stack shows the discovery, not the error: build with Address Sanitizer."
  private static let lastException = "Read the last exception backtrace: it is where the exception was raised."

  static func function(
    _ level: Grounds.Level, _ name: String, _ others: [String] = [], need: Grounds.Need? = nil, _ event: String,
    by endedBy: String, causes: [String] = [], advice: [String], _ source: Source
  ) -> CodeMeaning {
    CodeMeaning(
      .function, name, aliases: others, event, endedBy: endedBy, causes: causes, advice: advice, source,
      grounds: Grounds(level, need: need))
  }

  /// A function that prints a message of `messages`, and means what that does. Advice to read the message is replaced, as a
  /// stack does not have it.
  private static func function(
    _ name: String, _ others: [String] = [], need: Grounds.Need? = nil, printing message: String,
    causes: [String]? = nil, advice: [String]? = nil
  ) -> CodeMeaning {
    let row = self.message(named: message)
    return function(
      row.grounds.level, name, others, need: need, row.event, by: row.endedBy, causes: causes ?? row.causes,
      advice: advice ?? row.advice, row.source)
  }

  /// Functions of runtimes and libraries that end the process. `aliases` are spelled as in stacks. Which of several on a
  /// stack counts is in `EvidenceSearch`, whatever their order here.
  static let functions: [CodeMeaning] =
    together(
      exceptionFunctions, runtimeFunctions, libraryFunctions, cxxFunctions, rustFunctions, goFunctions,
      frameworkFunctions)

  private static let terminated = "the C++ runtime, by abort(): SIGABRT"
  static let uncaught = "abort(), after an exception that was not caught: SIGABRT"

  private static let terminateHandlers = [
    "demangling_terminate_handler", "std::__terminate", "std::terminate", "__verbose_terminate_handler",
  ]

  /// Functions that raise exceptions, and those that end a process because of one.
  private static let exceptionFunctions: [CodeMeaning] = [
    function(
      "doesNotRecognizeSelector:", ["___forwarding___"], need: .objectiveCThrow, printing: "Unrecognized selector",
      advice: [lastException, "Check the type of what comes from JSON and archives."]),
    function(
      .cause, "initWithObjects:forKeys:count:",
      [
        "[__NSPlaceholderArray initWithObjects:count:]", "[__NSDictionaryM setObject:forKey:]",
        "[__NSDictionaryM __setObject:forKey:]", "[__NSDictionaryM setObject:forKeyedSubscript:]",
        "[__NSPlaceholderSet initWithObjects:count:]", "[__NSSetM addObject:]", "[__NSArrayM addObject:]",
        "[NSMutableDictionary setObject:forKey:]",
      ],
      need: .objectiveCThrow, "A collection was given nil", by: uncaught,
      causes: ["A value that is nil on this path only."],
      advice: [lastException], .file("Apple", "CoreFoundation")),
    function(
      "_NSArrayRaiseBoundException",
      [
        "[__NSArrayM objectAtIndexedSubscript:]", "[__NSArrayI objectAtIndexedSubscript:]",
        "[__NSArray0 objectAtIndex:]", "[__NSSingleObjectArrayI objectAtIndex:]", "[__NSArrayM objectAtIndex:]",
        "[__NSArrayI objectAtIndex:]", "[__NSArrayM removeObjectsInRange:]", "[__NSCFString substringWithRange:]",
        "[__NSArray0 objectAtIndexedSubscript:]", "[__NSSingleObjectArrayI objectAtIndexedSubscript:]",
        "[__NSCFString characterAtIndex:]", "[NSString substringWithRange:]", "[NSString substringFromIndex:]",
        "[NSString substringToIndex:]", "[__NSCFString substringFromIndex:]", "[__NSCFString substringToIndex:]",
        "[__NSArrayM exchangeObjectAtIndex:withObjectAtIndex:]", "[NSMutableRLEArray objectAtIndex:effectiveRange:]",
      ],
      need: .objectiveCThrow, printing: "NSRangeException", advice: [lastException]),
    function(
      "__NSFastEnumerationMutationHandler", ["objc_enumerationMutation"], need: .objectiveCThrow,
      printing: "Mutated while enumerated"),
    function(
      .kind, "NSAssertionHandler", ["_NSAssertionHandler"], need: .objectiveCThrow,
      "An assertion of a framework or of the program (NSAssert) does not hold",
      by: uncaught, advice: [lastException, "Read the message in the program's log."], .apple("NSAssertionHandler")),
    function(
      "valueForUndefinedKey:", ["setValue:forUndefinedKey:"], need: .objectiveCThrow, printing: "NSUnknownKeyException"),
    function(
      "objc_exception_throw", ["__exceptionPreprocess", "objc_exception_rethrow"], need: .raised(.objectiveC),
      printing: "Uncaught NSException", causes: [], advice: [lastException]),
    function(
      .general, "[NSApplication _crashOnException:]", need: .raised(.objectiveC),
      "An Objective-C exception was not caught: AppKit ended the app", by: "AppKit, by a trap: SIGTRAP or SIGILL",
      advice: [lastException], .apple("NSApplication, reportException(_:)")),
    function(
      "__cxa_throw", terminateHandlers, need: .raised(.cxx), printing: "Uncaught C++ exception",
      causes: [],
      advice: ["The caller of __cxa_throw threw it: read what it throws."]),
    function(
      .general, "std::terminate", terminateHandlers, need: .raised(.terminated),
      "std::terminate was called by a function; the stack does not show whether an exception was being handled",
      by: terminated,
      causes: [
        "A std::thread that is destroyed or assigned to, and was neither joined nor detached.",
        "Code that handles an exception: a catch block, or unhandled_exception of a coroutine.",
      ],
      advice: [
        "Look for the caller of std::terminate.", "The message on standard error says whether there was an exception.",
      ],
      .file("libsupc++", "vterminate.cc")),
    function(
      .general, "__cxa_rethrow", need: .raised(.rethrown),
      "An exception that was thrown once more (throw;) was not caught, or there was none to throw", by: terminated,
      causes: ["throw; outside of a catch block, or in a function that is called outside of one."],
      advice: [
        "Look at the caller of __cxa_rethrow.", "The message on standard error says whether there was an exception.",
      ],
      .file("libsupc++", "eh_throw.cc")),
    function(
      .unspecific, "_objc_terminate", terminateHandlers, need: .raised(.objectiveCOrCxx),
      "A C++ or Objective-C exception was not caught", by: uncaught,
      causes: ["The stack has no function that threw, which would tell the two apart."],
      advice: ["Look for what threw: symbols of the program may show it.", lastException],
      .file("libc++abi and libsupc++", "terminate handlers")),
    function(
      .kind, "__clang_call_terminate", ["__cxa_call_terminate", "__cxa_call_unexpected"],
      "An exception left a function that must not throw: one that is noexcept, a destructor, or a thread's function",
      by: uncaught, advice: [stack], .file("Itanium C++ ABI", "__cxa_call_terminate")),
    function("__cxa_pure_virtual", printing: "Pure virtual call"),
  ]

  private static let swift = "the Swift runtime, by a trap or abort(): SIGTRAP, SIGILL or SIGABRT"

  private static let runtimeFunctions: [CodeMeaning] = [
    function(
      .cause, "swift_errorInMain", [], "An error reached the top level of the program, where nothing catches it",
      by: swift, advice: ["Read the error that the program printed, and catch it in the main function."],
      .file("Swift", "stdlib/public/core/ErrorType.swift")),
    function(
      .kind, "swift_unexpectedError", [],
      "An error was thrown where try! does not allow one", by: swift, advice: [stack],
      .file("Swift", "stdlib/public/core/ErrorType.swift")),
    function("swift_dynamicCastFailure", printing: "Could not cast"),
    function("swift_abortRetainUnowned", ["swift::swift_abortRetainUnowned"], printing: "Unowned reference"),
    function(
      "swift_task_reportUnexpectedExecutor",
      [
        "swift_task_isCurrentExecutor", "swift_task_isCurrentExecutorWithFlags",
        "swift_task_isCurrentExecutorWithFlagsImpl", "_swift_task_checkIsolatedSwift", "swift_task_checkIsolated",
        "swift_task_checkIsolatedImpl", "_checkExpectedExecutor", "MainActor.assumeIsolated", "Actor.assumeIsolated",
      ],
      printing: "Actor isolation"),
    function(
      "_swift_task_dealloc_specific", ["swift::_swift_task_dealloc_specific"],
      printing: "Order of a task's memory", advice: [stack, "Compare with another version of Swift or of the system."]),
    function(
      .kind, "_assertionFailure", ["_fatalErrorMessage", "_preconditionFailure", "swift::fatalError"],
      "The program stopped itself: fatalError, a precondition, or a check of the Swift library", by: swift,
      causes: ["A nil that was unwrapped, an index out of range, a result that does not fit its type."],
      advice: [stack, "Read the message in the program's log."],
      .file("Swift", "stdlib/public/core/AssertCommon.swift")),
    function(
      "CheckedContinuation.resume", ["CheckedThrowingContinuation.resume"], need: .swiftCheck,
      printing: "Continuation misuse",
      advice: [
        "Resume a continuation once on each path: the first frame of the app below it resumed it again.",
        "The program's log has the function that made it.",
      ]),
    function(
      "Array._checkSubscript",
      [
        "Array._checkIndex", "ArraySlice._checkSubscript", "ArraySlice._checkIndex", "ContiguousArray._checkSubscript",
        "ContiguousArray._checkIndex", "_ArrayBuffer._checkInoutAndNativeTypeCheckedBounds",
        "_ArrayBuffer._checkValidSubscript", "_ContiguousArrayBuffer._checkValidSubscript",
      ],
      need: .swiftCheck, printing: "Index out of range"),
    function("uniqueKeysWithValues:", need: .swiftCheck, printing: "Duplicate keys"),
    function(
      .cause, "KEY_TYPE_OF_DICTIONARY_VIOLATES_HASHABLE_REQUIREMENTS",
      ["ELEMENT_TYPE_OF_SET_VIOLATES_HASHABLE_REQUIREMENTS"],
      "Two equal keys are in one dictionary or set: a key changed while it was in it, or its == and hash(into:) do not agree",
      by: swift, causes: ["A class that changes while it is a key.", "A dictionary that two threads change."],
      advice: [stack, "Compare == and hash(into:) of the key's type; the message names it."],
      .file("Swift", "stdlib/public/core/NativeDictionary.swift")),
    function(
      "rust_begin_unwind", ["core::panicking::panic", "std::panicking::begin_panic"], printing: "Rust panic",
      advice: ["The message on standard error has the line."]),
  ]

  private static let allocator = "malloc, by abort(): SIGABRT"
  private static let trap = "the library, by a trap"

  private static let libraryFunctions: [CodeMeaning] = [
    function(
      .cause, "___BUG_IN_CLIENT_OF_LIBMALLOC_POINTER_BEING_FREED_WAS_NOT_ALLOCATED",
      ["BUG_IN_CLIENT_OF_LIBMALLOC_POINTER_BEING_FREED_WAS_NOT_ALLOCATED"],
      "A pointer was freed that the allocator did not return, or that was freed before", by: allocator,
      causes: ["Memory that was freed twice, a pointer into the middle of memory, or one that was never set."],
      advice: ["The caller of free gave it the pointer: build with Address Sanitizer, which shows both."],
      .file("Apple", "libmalloc, src/malloc.c")),
    function(
      .kind, "malloc_report",
      [
        "malloc_vreport", "malloc_error_break", "malloc_zone_error", "malloc_printerr", "__malloc_assert",
        "szone_error",
        "free_list_checksum_botch", "free_tiny_botch", "free_small_botch", "nanov2_guard_corruption_detected",
        "xzm_malloc_zone_report", "_xzm_xzone_malloc_corruption",
      ],
      "The allocator found that its data are damaged, or that a pointer to be freed was not allocated", by: allocator,
      causes: ["A buffer overrun, memory that was freed twice, or used after it was freed."], advice: [sanitizer],
      .file("Apple and glibc", "malloc")),
    function(
      .kind, "_objc_fatal", ["_objc_fatal(char const*", "_objc_trap", "_objc_fatalv", "_objc_fatal_with_reason"],
      "The runtime of Objective-C found a state that must not be, and ended the process",
      by: "the runtime of Objective-C, by a trap or abort()",
      causes: ["Damaged memory, two classes of one name, or a class that was unloaded."],
      advice: ["Read the runtime's line in the program's log: it begins with objc."],
      .file("Apple", "objc4, runtime/objc-errors.mm")),
    function("__stack_chk_fail", printing: "Stack smashing"),
    function("__chk_fail", printing: "Buffer overflow detected"),
    function(
      .cause, "__chk_fail_overflow", ["__chk_fail_overlap"],
      "A checked function of the C library would write beyond its buffer, or its buffers overlap",
      by: "the C library, by a trap or abort()", causes: ["A text or a count that is longer than the buffer."],
      advice: ["The function below it, such as __strcpy_chk, was called with them: look at its caller."],
      .file("Apple", "Libc, secure/chk_fail.c")),
    function(
      "__assert_rtn", ["__assert_fail", "__assert_perror_fail", "__assert2"], printing: "C assertion",
      advice: ["Standard error has the file, the line and the condition."]),
    function(
      .cause, "_os_unfair_lock_recursive_abort",
      ["_os_unfair_lock_corruption_abort", "_os_unfair_lock_unowned_abort"],
      "A lock was taken twice by one thread, released by another, or its memory is damaged", by: trap,
      causes: ["A function that takes the lock calls itself or a callback.", "A lock that was freed or moved."],
      advice: [stack], .file("Apple", "libplatform, os/lock.c")),
    function(
      .cause, "gpusGenerateCrashLog", [], "The graphics driver ended the process after an error of the GPU",
      by: "the graphics driver, by abort(): SIGABRT",
      advice: ["Look at the drawing of the threads; try another system version and another GPU."],
      .reports("libGPUSupport on the stack of an abort()")),
    function(
      .kind, "dispatch_assert_queue", ["_dispatch_assert_queue_fail"], "Code ran on another queue than it must",
      by: trap,
      causes: ["A callback of a library on another queue."], advice: [stack], .apple("dispatchPrecondition(condition:)")
    ),
  ]
}
