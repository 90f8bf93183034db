extension CodeMeaning {
  private static let stack = "The first frame of the app below it is the caller."
  private static let sanitizer = "The stack shows the discovery, not the error: build with Address Sanitizer."
  private static let lastException = "Read the last exception backtrace: it is where the exception was raised."

  private static func function(
    _ name: String, _ others: [String] = [], _ event: String, by endedBy: String, causes: [String] = [],
    advice: [String], _ source: Source
  ) -> CodeMeaning {
    CodeMeaning(.function, name, aliases: others, event, endedBy: endedBy, causes: causes, advice: advice, source)
  }

  /// Functions of runtimes that end the process. `aliases` are spelled as in stacks. Where several of them are on a
  /// stack, the first row counts.
  static let functions: [CodeMeaning] = exceptionFunctions + runtimeFunctions + libraryFunctions

  private static let uncaught = "abort(), after an exception that was not caught: SIGABRT"

  /// Functions that raise exceptions, and those that end a process because of one.
  private static let exceptionFunctions: [CodeMeaning] = [
    function(
      "RCTFatal", ["RCTExceptionsManager reportFatal"],
      "React Native ended the app because of a JavaScript error that was not handled", by: uncaught,
      advice: ["Read the JavaScript error in the program's log; the native stack does not have it."],
      .file("React Native", "React/Base/RCTAssert.m")),
    function(
      "doesNotRecognizeSelector:", [],
      "A message was sent to an object that does not have the method", by: uncaught,
      causes: ["An object of another type, or one whose memory was used again."],
      advice: [lastException, "Check the type of values from JSON and archives."],
      .apple("doesNotRecognizeSelector(_:)")),
    function(
      "initWithObjects:forKeys:count:",
      [
        "[__NSPlaceholderArray initWithObjects:count:]", "[__NSDictionaryM setObject:forKey:]",
        "[__NSDictionaryM __setObject:forKey:]", "[__NSPlaceholderSet initWithObjects:count:]",
      ],
      "A collection was given nil", by: uncaught, causes: ["A value that is nil on this path only."],
      advice: [lastException], .file("Apple", "CoreFoundation")),
    function(
      "_NSArrayRaiseBoundException",
      [
        "[__NSArrayM objectAtIndexedSubscript:]", "[__NSArrayI objectAtIndexedSubscript:]",
        "[__NSArray0 objectAtIndex:]", "[__NSSingleObjectArrayI objectAtIndex:]", "[__NSArrayM objectAtIndex:]",
        "[__NSArrayI objectAtIndex:]", "[__NSArrayM removeObjectsInRange:]", "[__NSCFString substringWithRange:]",
      ],
      "An index or range is outside of a collection or string", by: uncaught,
      causes: ["An empty collection, or a count that changed between check and use."],
      advice: [lastException], .file("Apple", "CoreFoundation")),
    function(
      "__NSFastEnumerationMutationHandler", ["objc_enumerationMutation"],
      "A collection was changed while it was walked through", by: uncaught,
      causes: ["A change within the loop, or on another thread."], advice: [lastException],
      .apple("objc_enumerationMutation")),
    function(
      "NSAssertionHandler", [], "An assertion of a framework or of the program (NSAssert) does not hold",
      by: uncaught, advice: [lastException, "Read the message in the program's log."], .apple("NSAssertionHandler")),
    function(
      "objc_exception_throw", ["_objc_terminate", "__exceptionPreprocess"],
      "An Objective-C exception was not caught", by: uncaught, advice: [lastException],
      .file("Apple", "objc4, objc-exception.mm")),
    function(
      "demangling_terminate_handler", ["std::__terminate", "std::terminate", "__verbose_terminate_handler"],
      "A C++ or Objective-C exception was not caught, or left a noexcept function", by: uncaught,
      advice: ["Look in the stack for __cxa_throw, or read the last exception backtrace."],
      .file("libc++abi and libsupc++", "terminate handlers")),
    function(
      "__cxa_pure_virtual", [], "A virtual function was called on an object that is being made or destroyed",
      by: "the C++ runtime, by abort(): SIGABRT",
      causes: ["Use of an object after its destruction began, often on another thread."],
      advice: ["Look at the object's life: who destroys it, who still uses it."],
      .file("libc++abi and libsupc++", "__cxa_pure_virtual")),
  ]

  private static let swift = "the Swift runtime, by a trap or abort(): SIGTRAP, SIGILL or SIGABRT"

  private static let runtimeFunctions: [CodeMeaning] = [
    function(
      "swift_unexpectedError", [], "An error was thrown where try! or the main function does not allow one", by: swift,
      advice: [stack],
      .file("Swift", "stdlib/public/core/ErrorType.swift")),
    function(
      "swift_dynamicCastFailure", [], "A forced cast (as!) failed", by: swift,
      advice: [stack, "Use as? and handle the other type."], .file("Swift", "stdlib/public/runtime/Casting.cpp")),
    function(
      "swift_abortRetainUnowned", ["swift::swift_abortRetainUnowned"],
      "An unowned reference was used after its object was freed", by: swift,
      advice: [stack, "Use weak, or keep the object alive."], .file("Swift", "stdlib/public/runtime/HeapObject.cpp")),
    function(
      "swift_task_reportUnexpectedExecutor", ["swift_task_isCurrentExecutor"],
      "Code of an actor ran elsewhere", by: swift,
      causes: ["A callback of a library on another thread."],
      advice: ["Mark the closure as @Sendable, or go to the actor before the call."],
      .file("Swift", "stdlib/public/Concurrency/Actor.cpp")),
    function(
      "_assertionFailure", ["_fatalErrorMessage", "_preconditionFailure", "swift::fatalError"],
      "The program stopped itself: fatalError, a precondition, or a check of the Swift library", by: swift,
      causes: ["A nil that was unwrapped, an index out of range, a result that does not fit its type."],
      advice: [stack, "Read the message in the program's log."],
      .file("Swift", "stdlib/public/core/AssertCommon.swift")),
    function(
      "rust_begin_unwind", ["core::panicking::panic", "std::panicking::begin_panic"], "A Rust program panicked",
      by: "the Rust runtime, by abort() where panics abort", advice: ["The message on standard error has the line."],
      .file("Rust", "library/std/src/panicking.rs")),
    function(
      "runtime.fatalpanic", ["runtime.throw", "runtime.dopanic_m"], "A Go program panicked",
      by: "the Go runtime, by SIGABRT with GOTRACEBACK=crash",
      advice: ["The traceback on standard error has all goroutines."], .file("Go", "src/runtime/panic.go")),
  ]

  private static let allocator = "malloc, by abort(): SIGABRT"
  private static let trap = "the library, by a trap"

  private static let libraryFunctions: [CodeMeaning] = [
    function(
      "malloc_report", ["malloc_vreport", "malloc_error_break", "malloc_zone_error", "malloc_printerr"],
      "The allocator found that its data are damaged, or that a pointer to be freed was not allocated", by: allocator,
      causes: ["A buffer overrun, memory that was freed twice, or used after it was freed."], advice: [sanitizer],
      .file("Apple and glibc", "malloc")),
    function(
      "__stack_chk_fail", [], "A buffer on the stack was overrun", by: "the C library, by abort(): SIGABRT",
      advice: ["Look at the arrays of the function below it."], .file("Apple and glibc", "stack protector")),
    function(
      "__chk_fail", ["__fortify_fail", "__chk_fail_overflow"],
      "A checked function of the C library would write beyond its buffer", by: "the C library, by abort(): SIGABRT",
      advice: ["Look at the call of memcpy, strcpy or sprintf in the stack."],
      .file("Apple and glibc", "checked functions")),
    function(
      "__assert_rtn", ["__assert_fail", "__assert_perror_fail"], "A C assertion does not hold",
      by: "the C library, by abort(): SIGABRT", advice: ["Standard error has the file, the line and the condition."],
      .file("C", "assert.h")),
    function(
      "_os_unfair_lock_recursive_abort",
      ["_os_unfair_lock_corruption_abort", "_os_unfair_lock_unowned_abort"],
      "A lock was taken twice by one thread, released by another, or its memory is damaged", by: trap,
      causes: ["A function that takes the lock calls itself or a callback.", "A lock that was freed or moved."],
      advice: [stack], .file("Apple", "libplatform, os/lock.c")),
    function(
      "gpusGenerateCrashLog", [], "The graphics driver ended the process after an error of the GPU",
      by: "the graphics driver, by abort(): SIGABRT",
      advice: ["Look at the drawing of the threads; try another system version and another GPU."],
      .reports("libGPUSupport on the stack of an abort()")),
    function(
      "dispatch_assert_queue", ["_dispatch_assert_queue_fail"], "Code ran on another queue than it must", by: trap,
      causes: ["A callback of a library on another queue."], advice: [stack], .apple("dispatchPrecondition(condition:)")
    ),
  ]
}
