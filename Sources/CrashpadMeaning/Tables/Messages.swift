// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let swiftRuntime = "the Swift runtime, by a trap: SIGTRAP on arm64, SIGILL on x86_64"
  private static let foundation = "abort(), after an Objective-C exception that was not caught: SIGABRT"

  private static func swift(
    _ level: Grounds.Level, _ name: String, _ texts: [String], _ event: String, causes: [String] = [],
    advice: [String],
    _ source: Source = .file("Swift", "stdlib/public/core"), by endedBy: String = swiftRuntime
  ) -> CodeMeaning {
    CodeMeaning(
      .message, name, aliases: texts, event, endedBy: endedBy, causes: causes, advice: advice, source,
      grounds: Grounds(level, of: .swift))
  }

  static func objectiveC(
    _ level: Grounds.Level, _ name: String, _ texts: [String], _ event: String, causes: [String], advice: [String],
    _ source: Source = .file("Apple", "Foundation, NSException")
  ) -> CodeMeaning {
    CodeMeaning(
      .message, name, aliases: texts, event, endedBy: foundation, causes: causes, advice: advice, source,
      grounds: Grounds(level, of: .objectiveC))
  }

  static func system(
    _ level: Grounds.Level, of runtime: Runtime? = nil, _ name: String, _ texts: [String], _ event: String,
    by endedBy: String, causes: [String] = [], advice: [String], _ source: Source
  ) -> CodeMeaning {
    CodeMeaning(
      .message, name, aliases: texts, event, endedBy: endedBy, causes: causes, advice: advice, source,
      grounds: Grounds(level, of: runtime))
  }

  /// Messages of runtimes. A message is identified by the texts in `aliases`, or by the name of its exception. Which of
  /// several rows counts is in `EvidenceSearch`, whatever their order here.
  static let messages: [CodeMeaning] =
    together(swiftMessages, objectiveCMessages, systemMessages, cxxMessages, frameworkMessages, languageMessages)

  /// The rows of several tables. The operator + copies those of the first ones again for each table.
  static func together(_ tables: [CodeMeaning]...) -> [CodeMeaning] {
    var rows: [CodeMeaning] = []
    rows.reserveCapacity(tables.reduce(0) { $0 + $1.count })
    for table in tables { rows += table }
    return rows
  }

  /// The row of `messages` with a name, which has to exist.
  static func message(named name: String) -> CodeMeaning {
    // Each start looks for some dozen names among all rows: by number, and by the length first.
    let length = name.utf8.count
    let rows = messages
    guard let row = rows.indices.first(where: { rows[$0].name.utf8.count == length && rows[$0].name == name }) else {
      preconditionFailure("no message \(name)")
    }
    return rows[row]
  }

  private static let stack = "Look at the crashed thread: the first frame of the app is the line."

  private static let readMessage = "Read the message."
  private static let lastExceptionOfMessage =
    "Read the last exception backtrace: it is where the exception was raised."

  private static let dispatch = "libdispatch, by a trap"
  private static let libdispatch = Source.file("Apple", "libdispatch")

  private static let swiftMessages: [CodeMeaning] = [
    swift(
      .cause, "Unexpectedly found nil",
      [
        "unexpectedly found nil while unwrapping an optional value",
        "unexpectedly found nil while implicitly unwrapping an optional value", "unexpectedly found nil",
      ],
      "An optional that is nil was unwrapped with !",
      causes: ["An outlet that is not connected, a failed conversion or look-up."],
      advice: [stack, "Use if let or guard let, or handle the nil."]),
    swift(
      .cause, "Index out of range", ["index out of range", "array index is out of range", "index out of bounds"],
      "An index is outside of a collection",
      causes: ["An empty collection, or a count that changed between check and use."],
      advice: [stack, "Check the index against indices; synchronize threads that change the collection."]),
    swift(
      .cause, "Range with reversed bounds",
      ["range requires lowerbound <= upperbound", "can't form range with upperbound < lowerbound"],
      "A range was made whose upper bound is below its lower bound",
      causes: ["A count that became smaller than an offset, or is 0 or negative."],
      advice: [stack, "Compare both bounds before the range is made."]),
    swift(
      .cause, "Negative array index", ["negative array index is out of range", "negative count not allowed"],
      "A negative index or count was used",
      advice: [stack]),
    swift(
      .cause, "Arithmetic overflow", ["arithmetic overflow", "results in an overflow"],
      "The result of an operation does not fit its type",
      causes: ["Unsigned numbers that become negative, sizes that are multiplied."],
      advice: [stack, "Use &+, addingReportingOverflow, or a wider type."]),
    swift(
      .cause, "Division by zero", ["division by zero"], "A number was divided by zero", advice: [stack]),
    swift(
      .cause, "Conversion out of range",
      [
        "not enough bits to represent the passed value", "negative value is not representable",
        "cannot be converted to int because it is",
      ],
      "A number was converted to a type that does not have its value",
      causes: ["NaN, infinity, or a number that is too large."],
      advice: [stack, "Use init(exactly:) or init(clamping:)."]),
    swift(
      .cause, "Could not cast", ["could not cast value of type"], "A forced cast (as!) failed",
      advice: [stack, "Use as? and handle the other type."],
      .file("Swift", "stdlib/public/runtime/Casting.cpp"), by: "the Swift runtime, by abort(): SIGABRT"),
    swift(
      .cause, "Simultaneous accesses", ["simultaneous accesses to", "fatal access conflict detected"],
      "A value was changed while it was being read or changed elsewhere (exclusivity)",
      causes: [
        "A closure changes a variable that is passed inout.",
        "Two calls that change the same struct, one inside the other.",
      ],
      advice: ["The message names both accesses: copy the value first, or end one access before the other."],
      .file("Swift", "stdlib/public/runtime/Exclusivity.cpp"), by: "the Swift runtime, by abort(): SIGABRT"),
    swift(
      .cause, "Damaged Swift metadata", ["generic witness table at", "out-of-bounds requirement descriptor"],
      "The Swift runtime found metadata of a type that are damaged, or fit another version of a library",
      causes: ["A program and a library of different builds, or a damaged file."],
      advice: ["Build the program and its libraries anew, with one compiler."],
      .file("Swift", "stdlib/public/runtime/Metadata.cpp"), by: "the Swift runtime, by abort(): SIGABRT"),
    swift(
      .kind, "Precondition failed", ["precondition failed", "precondition failure"],
      "A precondition of a function does not hold",
      advice: [stack, "Read the text behind it."]),
    swift(
      .kind, "Assertion failed (Swift)", ["assertion failed:"], "An assertion of a debug build does not hold",
      advice: [stack, "Read the text behind it."]),
    swift(
      .cause, "Duplicate keys",
      ["duplicate keys of type", "dictionary literal contains duplicate keys", "duplicate elements of type"],
      "Two keys of a dictionary are equal, or a key changed while it was in it",
      causes: [
        "== and hash(into:) do not agree, or a class changes while it is a key.",
        "uniqueKeysWithValues with equal keys.",
      ],
      advice: [stack, "Use Dictionary(_:uniquingKeysWith:)."]),
    swift(
      .cause, "Unowned reference",
      ["attempted to read an unowned reference but", "fatal error: attempted to read an unowned reference"],
      "An unowned reference was used after its object was freed",
      advice: [stack, "Use weak, or keep the object alive."],
      .file("Swift", "stdlib/public/runtime/HeapObject.cpp"), by: "the Swift runtime, by abort(): SIGABRT"),
    swift(
      .cause, "Object deallocated with retain count",
      [
        "deallocated with non-zero retain count", "object was retained during deinit",
        "was deallocated with retain count",
      ],
      "An object was retained while it was freed", causes: ["self escapes from deinit."],
      advice: ["Look at the deinit of the type that the message names."],
      .file("Swift", "stdlib/public/runtime/HeapObject.cpp")),
    swift(
      .kind, "try! failed", ["'try!' expression unexpectedly raised an error"], "A try! met an error",
      advice: [stack, "Read the error in the message; use do and catch."]),
    swift(
      .cause, "Unexpected enum case", ["unexpected enum case while switching on value of type"],
      "A value of an enum is not among its cases",
      causes: ["A library that is newer than the program, or memory that was overwritten."],
      advice: [stack, "Add @unknown default."]),
    swift(
      .cause, "Required initializer", ["use of unimplemented initializer", "init(coder:) has not been implemented"],
      "An initializer was called that the class does not have",
      advice: [stack, "Implement init(coder:), or make the object in code."]),
    swift(
      .cause, "Continuation misuse",
      ["swift task continuation misuse", "tried to resume its continuation more than once"],
      "A continuation was resumed twice, or never",
      advice: ["Resume a continuation once on each path; the message names the function."],
      .file("Swift", "stdlib/public/Concurrency/CheckedContinuation.swift")),
    swift(
      .cause, "Actor isolation", ["incorrect actor executor assumption"],
      "Code of an actor ran elsewhere",
      causes: ["assumeIsolated or a callback of an old library on another thread."],
      advice: ["Look who calls the function on this thread; mark the closure as @Sendable, or hop to the actor."],
      .file("Swift", "stdlib/public/Concurrency")),
    swift(
      .cause, "Order of a task's memory", ["freed pointer was not the last allocation"],
      "Memory of a task was freed in another order than it was allocated",
      causes: [
        "Damaged memory; values of a task that are used by code without it; a fault of the compiler or of its runtime."
      ],
      advice: [stack, "Compare with another version of Swift or of the system."],
      .file("Swift", "stdlib/public/runtime/StackAllocator.h"), by: "the Swift runtime, by abort(): SIGABRT"),
    swift(
      .general, "Fatal error", ["fatal error"],
      "The program stopped itself: fatalError, or a check of the Swift library",
      advice: [stack, "Read the text behind \"Fatal error:\"."]),
  ]

  private static let objectiveCMessages: [CodeMeaning] = [
    CodeMeaning(
      .message, "FlutterError", aliases: ["fluttererror"],
      "An error of Dart was recorded as a fatal one; no exception of Objective-C was raised",
      endedBy: "nothing that the report tells: Crashlytics counts it as a crash, and Flutter goes on after it",
      causes: ["An error that no code of the program caught: FlutterError.onError, PlatformDispatcher.onError."],
      advice: ["Read the frames of Dart in the stack of the exception."],
      .file("FlutterFire", "firebase_crashlytics, recordError"), grounds: Grounds(.cause)),
    objectiveC(
      .cause, "Unrecognized selector",
      ["unrecognized selector sent to instance", "unrecognized selector sent to class"],
      "A message was sent to an object that does not have the method",
      causes: [
        "An object of another type (JSON!), or one whose memory was used again.",
        "An action or outlet that was renamed.", "-ObjC is missing in the linker flags.",
      ],
      advice: [
        "The message names class and method.",
        "Read the last exception backtrace: it is where the exception was raised.",
        "Check the type of what comes from JSON and archives.",
      ]),
    objectiveC(
      .kind, "NSInvalidArgumentException",
      ["nsinvalidargumentexception", "nil argument"],
      "A method was called with an argument that it does not accept",
      causes: ["nil where an object is needed; a wrong type."],
      advice: [readMessage, lastExceptionOfMessage]),
    objectiveC(
      .cause, "Nil in a collection",
      ["attempt to insert nil object", "object cannot be nil", "key cannot be nil", "attempt to insert nil key"],
      "A collection was given nil", causes: ["A value that is nil on this path only."],
      advice: ["The message names the method; nil has no place in a collection: check the value, or use NSNull."]),
    objectiveC(
      .cause, "NSRangeException",
      ["nsrangeexception", "beyond bounds", "out of bounds; string length", "out of bounds"],
      "An index or range is outside of a collection or string",
      causes: ["An empty collection, or a count that changed between check and use."],
      advice: [readMessage, lastExceptionOfMessage]),
    objectiveC(
      .kind, "NSInternalInconsistencyException",
      ["nsinternalinconsistencyexception"],
      "A check failed: one of a framework, or an assertion (NSAssert) of the program",
      causes: [
        "A rule of UIKit, AppKit or Core Data that the program breaks, or one of its own; the message says which."
      ],
      advice: [readMessage, lastExceptionOfMessage]),
    objectiveC(
      .cause, "NSUnknownKeyException", ["nsunknownkeyexception", "not key value coding-compliant"],
      "A key was set that the class does not have",
      causes: ["An outlet in a nib or storyboard that was renamed."], advice: ["The message names class and key."]),
    objectiveC(
      .cause, "Mutated while enumerated", ["was mutated while being enumerated"],
      "A collection was changed while it was walked through",
      causes: ["A change within the loop, or on another thread."], advice: ["Walk through a copy; synchronize threads."]
    ),
    objectiveC(
      .kind, "NSGenericException", ["nsgenericexception"], "A framework raised an exception without a closer name",
      causes: ["A collection that was changed during a loop; a rule of a framework."],
      advice: [readMessage, lastExceptionOfMessage]),
    objectiveC(
      .cause, "NSObjectInaccessibleException", ["nsobjectinaccessibleexception", "coredata could not fulfill a fault"],
      "A Core Data object was used after its row was deleted",
      causes: ["An object that is kept after its deletion, or used on another thread."],
      advice: ["Check isDeleted; use objects in their context's queue."]),
    objectiveC(
      .cause, "UI off the main thread",
      [
        "modifying the autolayout engine from a background thread",
        "modifications to the layout engine must not be performed from a background thread",
        "must be used from main thread only", "call must be made on main thread", "must be called on the main thread",
        "ui api called on a background thread",
      ],
      "The user interface was used on another thread than the main one",
      causes: ["A completion handler that runs in the background."],
      advice: ["Go to the main actor or queue before using views."]),
    objectiveC(
      .general, "Uncaught NSException",
      ["terminating app due to uncaught exception", "terminating due to uncaught exception of type nsexception"],
      "An Objective-C exception was not caught", causes: ["See the name of the exception in the message."],
      advice: ["Read the last exception backtrace: it is where the exception was raised."]),
  ]

  private static let cxx = "the C++ runtime, by abort(): SIGABRT"
  private static let allocator = "malloc, by abort(): SIGABRT"

  private static let systemMessages: [CodeMeaning] = [
    system(
      .cause, of: .cxx, "libc++ check", ["/c++/v1/", "libc++ hardening assertion"],
      "A check of the C++ library failed: an index out of bounds, an empty optional, an invalid iterator",
      by: "the C++ library, by a trap",
      advice: ["The text names the condition; the next frames of the stack are the caller's."],
      .file("libc++", "hardening modes")),
    system(
      .general, of: .cxx, "Uncaught C++ exception",
      [
        "terminate called after throwing", "terminating due to uncaught exception of type",
        "terminating with uncaught exception of type", "uncaught exception of type",
      ],
      "A C++ exception was not caught, or left a noexcept function", by: cxx,
      advice: ["The message has the exception's type and text.", "Look in the stack for __cxa_throw."],
      .file("libc++abi and libsupc++", "terminate handlers")),
    system(
      .cause, of: .cxx, "Pure virtual call", ["pure virtual method called", "pure virtual function called"],
      "A virtual function was called on an object that is being made or destroyed, or was destroyed", by: cxx,
      causes: ["Use of an object after its destruction began, often on another thread."],
      advice: ["Look at the object's life: who destroys it, who still uses it."],
      .file("libc++abi and libsupc++", "__cxa_pure_virtual")),
    system(
      .cause, of: .library, "Pointer not allocated",
      [
        "pointer being freed was not allocated", "free(): invalid pointer", "munmap_chunk(): invalid pointer",
        "realloc(): invalid pointer", "mremap_chunk(): invalid pointer",
      ],
      "free() was called with a pointer that malloc did not return", by: allocator,
      causes: ["A pointer into the middle of an allocation, or freed by another allocator.", "A double free."],
      advice: ["Build with Address Sanitizer."], .file("Apple and glibc", "malloc")),
    system(
      .cause, of: .library, "Double free", ["double free or corruption (fasttop)", "free(): double free detected"],
      "Memory was freed twice",
      by: allocator, advice: ["Build with Address Sanitizer: it names both calls."], .file("glibc", "malloc/malloc.c")),
    system(
      .cause, of: .library, "Double free or corruption", ["double free or corruption"],
      "Memory was freed twice, or the allocator's own data were overwritten", by: allocator,
      causes: ["A second free() of one pointer.", "A write beyond an allocated block, into the next one's header."],
      advice: ["Build with Address Sanitizer: it tells the two apart."], .file("glibc", "malloc/malloc.c")),
    system(
      .cause, of: .library, "Heap corruption",
      [
        "incorrect checksum for freed object", "malloc(): corrupted", "corrupted size vs. prev_size",
        "malloc(): invalid size", "malloc(): invalid next size", "malloc(): memory corruption",
        "malloc(): mismatching next->prev_size", "malloc(): unaligned", "double linked list corrupted",
        "corrupted double-linked list", "malloc_consolidate(): ", "malloc: top chunk is corrupt",
        "free(): corrupted unsorted chunks", "free(): invalid size", "free(): invalid next size",
        "free(): too many chunks", "free(): unaligned chunk", "realloc(): invalid old size",
        "realloc(): invalid next size", "heap corruption detected",
        "bug in client of libmalloc", "memory corruption of free block",
      ],
      "The allocator's own data were overwritten", by: allocator,
      causes: ["A buffer overrun, or use of memory after it was freed: before this point."],
      advice: ["The stack shows the discovery, not the error: build with Address Sanitizer."],
      .file("Apple and glibc", "malloc")),
    system(
      .cause, of: .library, "Stack smashing", ["stack smashing detected", "stack buffer overflow"],
      "A buffer on the stack was overrun",
      by: "the C library, by abort(): SIGABRT", advice: ["Look at the arrays of the function at the top of the stack."],
      .file("glibc", "debug/stack_chk_fail.c")),
    system(
      .cause, of: .library, "Buffer overflow detected", ["buffer overflow detected"],
      "A checked function of the C library would write beyond its buffer", by: "the C library, by abort(): SIGABRT",
      advice: ["Look at the call of memcpy, strcpy or sprintf in the stack."], .file("glibc", "debug/chk_fail.c")),
    system(
      .kind, of: .library, "C assertion", ["assertion failed: (", "), function ", "assertion `", "assertion '"],
      "A C assertion does not hold",
      by: "the C library, by abort(): SIGABRT", advice: ["The message names file, line and condition."],
      .file("C", "assert.h")),
    system(
      .cause, of: .library, "Graphics kernel error", ["graphics kernel error"],
      "The graphics driver ended the process after an error of the GPU", by: "the graphics driver, by abort(): SIGABRT",
      causes: ["A GPU that hung or was reset, a fault of its driver, or work that it can't do."],
      advice: ["Look for reports of the GPU's restart of that time; compare devices and systems."],
      .file("Apple", "GPUSupport, gpusGenerateCrashLog")),
    system(
      .cause, of: .library, "XPC API misuse", ["xpc api misuse"],
      "libxpc stopped the process, because its API was used wrongly", by: "libxpc, by a trap",
      causes: ["An object that was changed while it was iterated, released too often, or is of another type."],
      advice: ["The message names the rule; the caller of libxpc on the stack broke it."], .file("Apple", "libxpc")),
    system(
      .kind, of: .cxx, "Check of Chromium", ["check failed: "],
      "A check of the program (CHECK) does not hold", by: "the program, by a trap or abort()",
      advice: ["The message names file, line and condition."], .file("Chromium", "base/check.h")),
    system(
      .kind, of: .library, "libdispatch bug in client",
      ["bug in client of libdispatch", "bug in client of libplatform", "bug in client of libsystem"],
      "A system library found that it is misused", by: "the library, by a trap",
      causes: [
        "dispatch_sync onto the queue that runs it.", "An object that was freed while it was suspended or entered.",
        "A lock that another thread owns was unlocked.",
      ],
      advice: ["Read the text behind \"BUG IN CLIENT OF\"."], .file("Apple", "libdispatch, libplatform")),
    system(
      .cause, of: .library, "Child of fork() before exec()",
      ["crashed on child side of fork pre-exec", "multi-threaded process forked"],
      "The process is a child of fork() that had not called exec(): only functions that are safe in handlers of signals may be"
        + " called there", by: "the process itself, or the fault of its thread",
      causes: [
        "The child used locks, memory or Objective-C, whose state other threads of the parent may have left unfinished."
      ],
      advice: ["Use posix_spawn(), or call exec() at once in the child."], .file("Apple", "Libsystem, init.c")),
    system(
      .cause, of: .library, "dispatch_sync onto itself",
      [
        "dispatch_sync called on queue already owned by current thread",
        "dispatch_barrier_sync called on queue already owned by current thread",
      ],
      "dispatch_sync was called on the queue that is running: a deadlock", by: dispatch,
      advice: ["Call the code directly, or use dispatch_async."], libdispatch),
    system(
      .cause, of: .library, "dispatch_group_leave without dispatch_group_enter",
      ["unbalanced call to dispatch_group_leave"],
      "dispatch_group_leave was called more often than dispatch_group_enter", by: dispatch,
      causes: ["A callback that runs twice.", "A path that leaves the group without having entered it."],
      advice: ["Enter the group once for each callback, and leave it in one place."], libdispatch),
    system(
      .cause, of: .library, "Block on another queue",
      ["block was expected to execute on queue", "block was expected to act as a barrier on queue"],
      "Code ran on another queue than it must", by: dispatch,
      causes: ["A callback of a library on another queue.", "A closure of an actor that Objective-C calls elsewhere."],
      advice: ["The message names the queue: dispatch to it, or mark the closure as @Sendable."], libdispatch),
    system(
      .cause, of: .library, "Block on a forbidden queue", ["block was not expected to execute on queue"],
      "Code ran on a queue on which it must not run", by: dispatch,
      causes: ["A call that would wait for the queue that it runs on."],
      advice: ["The message names the queue: call from another one."], libdispatch),
    system(
      .cause, of: .library, "Dispatch object in use",
      ["semaphore object deallocated while in use", "group object deallocated while in use"],
      "A dispatch semaphore or group was freed while its count is not that of its creation", by: dispatch,
      causes: ["A wait or enter without its signal or leave."],
      advice: ["Keep the object until all have signalled; create a semaphore with 0 and signal it first."], libdispatch),
    system(
      .cause, of: .library, "Dispatch object suspended",
      ["release of a suspended object", "release of an inactive object", "over-resume of an object"],
      "A dispatch queue or source was freed while it is suspended, or resumed more often than suspended", by: dispatch,
      causes: ["A timer that is cancelled while it is suspended."],
      advice: ["Resume or activate the object before it is freed, and count the calls of suspend."], libdispatch),
    system(
      .cause, "Sandbox not entered",
      ["could not set sandbox profile data", "container object initialization failed"],
      "The process could not enter its App Sandbox", by: "libsecinit, before the program's main function",
      causes: [
        "A program that is in a sandbox already: started by another one in a sandbox, without the right to inherit it.",
        "A signature that does not fit the entitlements.",
      ],
      advice: ["Compare the entitlements of both programs: a helper needs com.apple.security.inherit."],
      .file("Apple", "App Sandbox, \"Embedding a command-line tool in a sandboxed app\"")),
    system(
      .cause, "Library not loaded", ["library not loaded", "symbol not found:"],
      "The dynamic loader did not find a library or symbol", by: "dyld, before the program's main function",
      causes: ["A framework that is not embedded, or a system that is too old."],
      advice: ["See crashpadctl explain DYLD 1 and DYLD 4."], .file("Apple", "dyld")),
    system(
      .cause, "Load command unknown", ["unknown required load command 0x", "(load command 0x"],
      "The dynamic loader does not know a part of a file", by: "dyld, before the program's main function",
      causes: ["A file that was built for a newer system."],
      advice: ["Build the file for this system, or run it on a newer one."], .file("Apple", "dyld")),
    system(
      .cause, "Shared library not found", ["error while loading shared libraries:", "symbol lookup error:"],
      "The dynamic loader of Linux did not find a shared library, or a symbol of one",
      by: "ld.so, before the program's main function: exit status 127",
      causes: ["A package that is not installed, or has another version.", "A directory that ld.so does not search."],
      advice: ["Run ldd on the program: it names what is not found."], .file("glibc", "elf/dl-catch.c")),
    system(
      .cause, "Message to a deallocated object", ["message sent to deallocated instance"],
      "A message was sent to an object that was deallocated; Zombie Objects are on",
      by: "CoreFoundation, by a trap, as Zombie Objects are on",
      causes: ["An object that was released too often, or used after its owner was gone."],
      advice: ["The message names class and method: Instruments shows where the object was released."],
      .file("Apple", "CoreFoundation, NSZombieEnabled")),
    CodeMeaning(
      .message, "Message to no object", aliases: ["objc_msgsend() selector name:"],
      "A message was sent to a pointer that is not an object: mostly one that was deallocated",
      endedBy: "the kernel, for the access of objc_msgSend",
      causes: ["An object that was released too often, or used after its owner was gone."],
      advice: [
        "The message names the selector: look for it in the code that the stack shows, and turn on Zombie Objects."
      ],
      .file("Apple", "objc4, objc-msg"), grounds: Grounds(.cause, explainsFaults: true)),
    CodeMeaning(
      .message, "Stack exhausted by recursion", aliases: ["thread stack size exceeded due to excessive recursion"],
      "The stack is full: functions called each other without end",
      endedBy: "the kernel, for an access behind the end of the stack",
      causes: ["A condition that ends the recursion and is never met.", "Data that refer to themselves."],
      advice: ["Look for the functions that repeat in the stack, and for the end of their recursion."],
      .reports("written by macOS 13, iOS 16 and later"), grounds: Grounds(.cause, explainsFaults: true)),
    system(
      .cause, of: .cxx, "Out of memory (C++)", ["std::bad_alloc"],
      "Memory could not be allocated", by: cxx,
      causes: ["A size that is wrong, or a limit of the process or container."],
      advice: ["Look at the size in the stack, and at the limits."], .file("C++", "operator new")),
    system(
      .kind, "No memory left", ["cannot allocate memory", "out of memory", "memory allocation of "],
      "The message says that there was no memory left", by: "the program or a library, which could not go on",
      causes: ["A size that is wrong, or a limit of the process or container."],
      advice: ["Look at the size in the stack, and at the limits."], .file("C", "errno.h, ENOMEM")),
  ]
}
