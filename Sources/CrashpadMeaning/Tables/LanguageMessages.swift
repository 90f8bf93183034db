// SPDX-License-Identifier: Apache-2.0
/// Messages of the runtimes of Rust and Go, of the sanitizers of compilers, and of the Linux kernel.
extension CodeMeaning {
  static let languageMessages: [CodeMeaning] = together(
    rustMessages, goMessages, sanitizerMessages, valgrindMessages, kernelMessages)

  // MARK: Linux

  private static let kernelMessages: [CodeMeaning] = [
    CodeMeaning(
      .message, "Fault in the Linux kernel",
      aliases: [
        "bug: unable to handle ", "unable to handle kernel ", "kernel bug at ", "kernel panic - not syncing",
        "internal error: oops",
      ],
      "The kernel made an error in code of its own or of a module",
      endedBy: "the kernel: it ends the process for which it ran, or stops the whole system",
      causes: ["A fault of a driver or module, or damaged memory."],
      advice: ["Read the kernel's whole text: the lines below name the code (RIP or pc), its module and the calls."],
      myth: "The process that is named did not crash: the kernel ran on its behalf, or interrupted it.",
      .file("Linux", "arch/x86/kernel/dumpstack.c and mm/fault.c"))
  ]

  // MARK: Rust

  private static let rust = "the Rust runtime, by abort() where panics abort; else exit status 101"

  private static let rustMessages: [CodeMeaning] = [
    system(
      .cause, of: .rust, "Value missing (Rust)",
      ["called `option::unwrap()` on a `none` value", "called `option::expect()` on a `none` value"],
      "An Option that is None was unwrapped", by: rust,
      advice: ["The message names file and line: match on the Option there, or return the None."],
      .file("Rust", "library/core/src/option.rs")),
    system(
      .cause, of: .rust, "Error unwrapped (Rust)",
      ["called `result::unwrap()` on an `err` value", "called `result::unwrap_err()` on an `ok` value"],
      "A Result was unwrapped that has the other case", by: rust,
      advice: ["The message has the value and names file and line: handle the error there, or return it with `?`."],
      .file("Rust", "library/core/src/result.rs")),
    system(
      .cause, of: .rust, "Index out of bounds (Rust)",
      ["index out of bounds: the len is", "out of range for slice of length", "slice index starts at "],
      "An index or a range is outside of a slice", by: rust,
      advice: ["The message has index and length: get() returns None instead."],
      .file("Rust", "library/core/src/panicking.rs and slice/index.rs")),
    system(
      .cause, of: .rust, "Arithmetic overflow (Rust)",
      [
        "attempt to add with overflow", "attempt to subtract with overflow", "attempt to multiply with overflow",
        "attempt to negate with overflow", "attempt to shift left with overflow",
        "attempt to shift right with overflow",
        "attempt to divide with overflow",
      ],
      "The result of a calculation does not fit its type", by: rust,
      advice: ["Use checked_, saturating_ or wrapping_ functions; builds without overflow checks wrap around."],
      .file("Rust", "library/core/src/panicking.rs")),
    system(
      .cause, of: .rust, "Division by zero (Rust)",
      ["attempt to divide by zero", "attempt to calculate the remainder with a divisor of zero"],
      "A number was divided by zero", by: rust, advice: ["The message names file and line: look at the divisor there."],
      .file("Rust", "library/core/src/panicking.rs")),
    system(
      .cause, of: .rust, "Borrowed twice (Rust)",
      [
        "already borrowed: borrowmuterror", "already mutably borrowed: borrowerror", "refcell already borrowed",
        "refcell already mutably borrowed",
      ],
      "A RefCell was borrowed while a borrow that excludes it lasted", by: rust,
      causes: ["A function that is called during the borrow, such as a callback, uses the same cell."],
      advice: ["End the first borrow before the call, or use try_borrow()."], .file("Rust", "library/core/src/cell.rs")),
    system(
      .cause, of: .rust, "Stack overflow (Rust)", ["has overflowed its stack", "fatal runtime error: stack overflow"],
      "The stack of a thread is full: functions called each other without end, or have large variables",
      by: "the Rust runtime, by abort(): SIGABRT",
      advice: ["Look for the functions that repeat in the stack; a thread's stack has 2 MiB by default."],
      .file("Rust", "library/std/src/sys/pal/unix/stack_overflow.rs")),
    system(
      .kind, of: .rust, "Rust panic", ["panicked at"], "A Rust program panicked",
      by: "the Rust runtime, by abort() where panics abort",
      advice: ["The message names file and line."], .file("Rust", "library/std/src/panicking.rs")),
  ]

  // MARK: Go

  private static let go = "the Go runtime: exit status 2, or SIGABRT with GOTRACEBACK=crash"
  private static let traceback = "Read the traceback behind it: it begins with the goroutine that failed."

  private static let goMessages: [CodeMeaning] = [
    system(
      .cause, of: .go, "Nil pointer (Go)", ["invalid memory address or nil pointer dereference"],
      "A nil pointer was used, or an address that is not mapped", by: go,
      causes: [
        "A pointer, an interface or a function that was never set.", "A value that was returned with an error.",
      ],
      advice: [traceback], .file("Go", "src/runtime/panic.go")),
    system(
      .cause, of: .go, "Index out of range (Go)",
      ["runtime error: index out of range", "runtime error: slice bounds out of range"],
      "An index or a bound is outside of a slice, an array or a string", by: go,
      advice: ["The message has index and length.", traceback], .file("Go", "src/runtime/error.go")),
    system(
      .cause, of: .go, "Division by zero (Go)", ["runtime error: integer divide by zero"],
      "An integer was divided by zero", by: go, advice: [traceback], .file("Go", "src/runtime/panic.go")),
    system(
      .cause, of: .go, "Nil map (Go)", ["assignment to entry in nil map"],
      "A value was stored in a map that was not made", by: go, advice: ["Make the map before: make(map[K]V)."],
      .file("Go", "src/internal/runtime/maps/map.go")),
    system(
      .cause, of: .go, "Wrong type of an interface (Go)", ["interface conversion: "],
      "A value is not of the type that a type assertion names", by: go,
      advice: ["The message has both types: use the form with two results, v, ok := x.(T)."],
      .file("Go", "src/runtime/error.go")),
    system(
      .cause, of: .go, "Channel closed (Go)",
      ["close of closed channel", "send on closed channel", "close of nil channel"],
      "A channel was closed or written after it was closed, or is nil", by: go,
      advice: ["Let only one goroutine, the sender, close the channel."], .file("Go", "src/runtime/chan.go")),
    system(
      .cause, of: .go, "Deadlock (Go)", ["all goroutines are asleep"],
      "Every goroutine waits, so that none can wake another", by: go,
      advice: ["The traceback says for what each goroutine waits: a channel, a lock or a WaitGroup."],
      .file("Go", "src/runtime/proc.go")),
    system(
      .cause, of: .go, "Concurrent use of a Go map",
      ["concurrent map writes", "concurrent map read and map write", "concurrent map iteration and map write"],
      "Two goroutines used one map at once, and one of them changed it", by: go,
      advice: ["Guard the map with a lock, or use sync.Map; the race detector (-race) finds both places."],
      .file("Go", "src/internal/runtime/maps/map.go")),
    system(
      .cause, of: .go, "Stack overflow (Go)", ["goroutine stack exceeds "],
      "The stack of a goroutine reached its limit: functions called each other without end", by: go,
      advice: ["Look for the functions that repeat in the traceback."], .file("Go", "src/runtime/stack.go")),
    system(
      .cause, of: .go, "Lock not held (Go)",
      ["sync: unlock of unlocked mutex", "sync: runlock of unlocked", "sync: unlock of unlocked rwmutex"],
      "A lock was released that was not held", by: go, advice: [traceback], .file("Go", "src/sync/mutex.go")),
    system(
      .cause, of: .go, "Out of memory (Go)", ["runtime: out of memory", "runtime: cannot allocate memory"],
      "The Go runtime got no memory from the system", by: go,
      causes: ["A size that is wrong, or a limit of the process or container."],
      advice: ["Look at the size in the traceback, and at the limits."], .file("Go", "src/runtime/malloc.go")),
    system(
      .general, of: .go, "Error of the Go runtime",
      ["unexpected signal during runtime execution", "found bad pointer in go heap"],
      "The Go runtime ended the program because of an error that can't be recovered", by: go, advice: [traceback],
      .file("Go", "src/runtime/panic.go")),
    system(
      .kind, of: .go, "Go panic", ["panic: runtime error", "panic: "], "A Go program panicked", by: go,
      advice: ["Read the traceback behind it: it begins with the goroutine that panicked."],
      .file("Go", "src/runtime/panic.go")),
  ]

  // MARK: Sanitizers

  private static let sanitizer = "the sanitizer: an exit status that is not 0, or SIGABRT with abort_on_error=1"
  private static let sanitizerStacks =
    "The report behind it has the stacks of the access, and of the memory's allocation and release."

  private static let sanitizerMessages: [CodeMeaning] = [
    system(
      .cause, of: .library, "Use after free (sanitizer)",
      ["addresssanitizer: heap-use-after-free", "addresssanitizer: use-after-free"],
      "Memory of the heap was used after it was freed", by: sanitizer, advice: [sanitizerStacks],
      .file("LLVM", "compiler-rt/lib/asan/asan_errors.cpp")),
    system(
      .cause, of: .library, "Buffer overflow (sanitizer)",
      [
        "addresssanitizer: heap-buffer-overflow", "addresssanitizer: stack-buffer-overflow",
        "addresssanitizer: stack-buffer-underflow", "addresssanitizer: global-buffer-overflow",
        "addresssanitizer: dynamic-stack-buffer-overflow", "addresssanitizer: container-overflow",
        "addresssanitizer: negative-size-param",
      ],
      "Memory outside of a buffer was used", by: sanitizer,
      advice: ["The report behind it names the access, the buffer, and how far outside the access is."],
      .file("LLVM", "compiler-rt/lib/asan/asan_errors.cpp")),
    system(
      .cause, of: .library, "Use of a variable after its life (sanitizer)",
      ["addresssanitizer: stack-use-after-return", "addresssanitizer: stack-use-after-scope"],
      "A variable of the stack was used after its function or block had ended", by: sanitizer,
      advice: ["The report behind it names the variable."], .file("LLVM", "compiler-rt/lib/asan/asan_errors.cpp")),
    system(
      .cause, of: .library, "Wrong release (sanitizer)",
      [
        "addresssanitizer: attempting double-free", "addresssanitizer: attempting free on address which was not malloc",
        "addresssanitizer: alloc-dealloc-mismatch", "addresssanitizer: new-delete-type-mismatch",
      ],
      "Memory was freed twice, in the wrong way, or was never allocated", by: sanitizer, advice: [sanitizerStacks],
      .file("LLVM", "compiler-rt/lib/asan/asan_errors.cpp")),
    system(
      .cause, of: .library, "Uninitialized value (sanitizer)", ["memorysanitizer: use-of-uninitialized-value"],
      "A decision depends on memory that was never written", by: sanitizer,
      advice: ["Build with -fsanitize-memory-track-origins: the report then names the allocation."],
      .file("LLVM", "compiler-rt/lib/msan/msan_report.cpp")),
    system(
      .cause, of: .library, "Memory leak (sanitizer)",
      ["leaksanitizer: detected memory leaks", " object(s) allocated from:"],
      "Memory was allocated and not freed, and nothing in the program points at it any more",
      by: "nothing: LeakSanitizer looks when the program exits, and changes its exit status",
      advice: ["The stacks are those of the allocations: look for the owner that was to free each."],
      .file("LLVM", "compiler-rt/lib/lsan/lsan_common.cpp")),
    system(
      .cause, of: .library, "Data race (sanitizer)",
      ["threadsanitizer: data race", "threadsanitizer: swift access race"],
      "Two threads used the same memory at once, and one of them wrote",
      by: "nothing: ThreadSanitizer reports and goes on, unless halt_on_error=1",
      advice: ["The report behind it has both stacks: guard both with one lock, or use one queue."],
      .file("LLVM", "compiler-rt/lib/tsan/rtl/tsan_report.cpp")),
    system(
      .cause, of: .library, "Access error (sanitizer)",
      [
        "addresssanitizer: segv on", "addresssanitizer: bus on", "addresssanitizer: stack-overflow",
        "behaviorsanitizer: segv on", "memorysanitizer: segv on", "threadsanitizer: segv on", "leaksanitizer: segv on",
        "behaviorsanitizer: bus on", "memorysanitizer: bus on", "threadsanitizer: bus on",
        "behaviorsanitizer: stack-overflow", "memorysanitizer: stack-overflow",
      ],
      "A signal of the processor ended the program while a sanitizer watched it", by: sanitizer,
      advice: [
        "The report behind it has the address and the stack: it is a crash as it would be without the sanitizer."
      ],
      .file("LLVM", "compiler-rt/lib/asan/asan_errors.cpp")),
    system(
      .kind, of: .library, "Undefined behaviour (sanitizer)",
      [
        "runtime error: signed integer overflow", "runtime error: load of ", "runtime error: member access within ",
        "runtime error: member call on ", "runtime error: store to ", "runtime error: reference binding to ",
        "runtime error: shift exponent",
        "runtime error: execution reached an unreachable",
        "undefinedbehaviorsanitizer: ",
      ],
      "The program did what the language does not define",
      by: "nothing: the sanitizer reports and goes on, unless the program was built with -fno-sanitize-recover",
      advice: ["The message names file, line and column."], .file("LLVM", "compiler-rt/lib/ubsan/ubsan_handlers.cpp")),
  ]

  // MARK: Valgrind

  private static let valgrind = "nothing: Valgrind reports and goes on; with --error-exitcode the exit status tells"

  private static let valgrindMessages: [CodeMeaning] = [
    system(
      .cause, of: .library, "Invalid access (Valgrind)", ["== invalid read of size ", "== invalid write of size "],
      "The program used memory that is not its own: freed, beyond the end of a block, or never allocated", by: valgrind,
      advice: ["The lines below have the stack of the access, and say whether a block was freed, and where."],
      .file("Valgrind", "memcheck/mc_errors.c")),
    system(
      .cause, of: .library, "Uninitialized value (Valgrind)",
      [
        "== conditional jump or move depends on uninitialised value", "== use of uninitialised value of size ",
        " points to uninitialised byte(s)", " contains uninitialised byte(s)",
      ],
      "A decision, an address or a system call depends on memory that was never written", by: valgrind,
      advice: ["Run with --track-origins=yes: the report then names the allocation."],
      .file("Valgrind", "memcheck/mc_errors.c")),
    system(
      .cause, of: .library, "Wrong release (Valgrind)",
      ["== invalid free() / delete / delete[]", "== mismatched free() / delete / delete []"],
      "Memory was freed twice, in the wrong way, or was never allocated", by: valgrind,
      advice: ["The lines below have the stacks of this release, of the allocation, and of the first release."],
      .file("Valgrind", "memcheck/mc_errors.c")),
    system(
      .cause, of: .library, "Overlapping copy (Valgrind)", ["== source and destination overlap in "],
      "A function that copies got a source and a destination that overlap", by: valgrind,
      advice: ["Use memmove() in the place of memcpy() or strcpy()."], .file("Valgrind", "memcheck/mc_errors.c")),
    system(
      .kind, of: .library, "Memory leak (Valgrind)",
      [
        " are definitely lost in loss record ", " are possibly lost in loss record ",
        " are indirectly lost in loss record ",
      ],
      "Memory was allocated and not freed", by: "nothing: Valgrind looks when the program exits",
      advice: ["The stack is that of the allocation: look for the owner that was to free it."],
      .file("Valgrind", "memcheck/mc_leakcheck.c")),
  ]
}
