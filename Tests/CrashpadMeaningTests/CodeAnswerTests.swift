// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import Testing

struct CodeAnswerTests {
  struct Question: Sendable, CustomTestStringConvertible {
    let words: [String]
    let titles: [String]
    var testDescription: String { words.joined(separator: " ") }

    init(_ text: String, _ titles: String...) {
      words = text.hasPrefix("'") ? [String(text.dropFirst().dropLast())] : text.split(separator: " ").map(String.init)
      self.titles = titles
    }
  }

  static let questions = [
    Question("0x8BADF00D", "0x8badf00d ate bad food"), Question("8badf00d", "0x8badf00d ate bad food"),
    Question("2343432205", "0x8badf00d ate bad food"),
    Question("springboard 8BADF00D", "SPRINGBOARD 0x8badf00d ate bad food"),
    Question("RUNNINGBOARD 0xdead10cc", "RUNNINGBOARD 0xdead10cc dead lock"),
    Question("'Termination Reason: Namespace RUNNINGBOARD, Code 3735883980'", "RUNNINGBOARD 0xdead10cc dead lock"),
    Question("'domain:10 code:0x8BADF00D'", "SPRINGBOARD 0x8badf00d ate bad food"),
    Question("'Namespace SIGNAL, Code 0xb'", "SIGNAL 11 (SIGSEGV)"),
    Question("SIGNAL 10", "SIGUSR1 (signal 10 of Linux)", "SIGBUS (signal 10 of Darwin)"),
    Question("'Namespace SIGNAL, Code 10'", "SIGNAL 10 (SIGBUS)"),
    Question("JETSAM 7", "JETSAM 7 per-process-limit"),
    Question("jetsam per-process-limit", "JETSAM 7 per-process-limit"),
    Question("GUARD 2305845208237028115", "EXC_GUARD / MACH_PORT INVALID_NAME"),
    Question("GUARD 3", "GUARD 3 MACH_PORT"), Question("DYLD 1", "DYLD 1 library missing"),
    Question("'Termination Reason: DYLD 1 Library missing'", "DYLD 1 library missing"),
    Question("'Namespace 6, Code 4'", "DYLD 4 symbol missing"),
    Question("namespace FRONTBOARD", "namespace SPRINGBOARD"), Question("assertiond", "namespace RUNNINGBOARD"),
    Question("EXC_GUARD 0x4000000100000004", "EXC_GUARD / FD CLOSE"),
    Question("EXC_GUARD GUARD_TYPE_FD CLOSE", "EXC_GUARD FD / CLOSE"),
    Question("EXC_BAD_ACCESS KERN_PROTECTION_FAILURE", "EXC_BAD_ACCESS / KERN_PROTECTION_FAILURE"),
    Question("'EXC_BAD_ACCESS (SIGBUS)'", "EXC_BAD_ACCESS"),
    Question("EXC_BAD_ACCESS 0x32", "EXC_BAD_ACCESS / KERN_CODESIGN_ERROR"),
    Question("EXC_BAD_ACCESS UNKNOWN_0x32", "EXC_BAD_ACCESS / KERN_CODESIGN_ERROR"),
    Question(
      "EXC_BREAKPOINT 1", "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT (arm64)", "EXC_BREAKPOINT / EXC_I386_SGL (x86_64)"),
    Question("'EXC_CRASH (SIGKILL)'", "EXC_CRASH (SIGKILL)"), Question("EXC_CRASH 0xb100001", "EXC_CRASH (SIGSEGV)"),
    Question("kern_invalid_address", "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"),
    Question("SIGSEGV SEGV_MAPERR", "SIGSEGV / SEGV_MAPERR"), Question("SIGBUS 2", "SIGBUS / BUS_ADRERR"),
    Question("SIGILL 2", "SIGILL / ILL_ILLOPN (Linux)", "SIGILL / ILL_ILLTRP (Darwin)"),
    Question("SIGABRT -6", "SIGABRT / SI_TKILL (Linux)"), Question("sigiot", "SIGABRT"),
    Question("esr 0x92000046", "esr 0x92000046"), Question("brk 0xc471", "brk 0xc471: pointer authentication, key ib"),
    Question("termination flags 518", "termination flags 0x206"),
    Question("flag 0x100", "termination flag 0x100 NO_CRASHED_TID"),
    Question("band 100", "jetsam band 100 FOREGROUND"), Question("0xC0000005", "0xc0000005 EXCEPTION_ACCESS_VIOLATION"),
    Question("status_access_violation", "0xc0000005 EXCEPTION_ACCESS_VIOLATION"),
    Question("11", "SIGSEGV", "EXC_RESOURCE", "JETSAM 11 vm-compressor-thrashing"),
    Question("'Fatal error: Index out of range: file App.swift, line 3'", "Index out of range"),
    Question("'-[NSNull length]: unrecognized selector sent to instance 0x1f0'", "Unrecognized selector"),
    Question(
      "'Thread 1: Simultaneous accesses to 0x100, but modification requires exclusive access'", "Simultaneous accesses"),
    Question("'CL - (arg = 0x0) cluster_pagein past EOF'", "cluster_pagein past EOF"),
    Question("signal 40", "signal 40 of Linux, a real-time signal"),
    Question("'Thread 1: EXC_BAD_ACCESS (code=1, address=0x10)'", "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"),
    Question("'Thread 12: EXC_BAD_ACCESS (code=2, address=0x16b4ffff8)'", "EXC_BAD_ACCESS / KERN_PROTECTION_FAILURE"),
    Question("'Thread 3: EXC_BAD_ACCESS (code=EXC_I386_GPFLT)'", "EXC_BAD_ACCESS / EXC_I386_GPFLT"),
    Question(
      "'Thread 1: EXC_BAD_INSTRUCTION (code=EXC_I386_INVOP, subcode=0x0)'", "EXC_BAD_INSTRUCTION / EXC_I386_INVOP"),
    Question(
      "'Thread 12: EXC_BREAKPOINT (code=1, subcode=0x1a2b3c4d0)'", "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT (arm64)",
      "EXC_BREAKPOINT / EXC_I386_SGL (x86_64)"),
    Question("'Thread 1: EXC_RESOURCE RESOURCE_TYPE_MEMORY (limit=1850 MB, unused=0x0)'", "EXC_RESOURCE / MEMORY"),
    Question(
      "'Thread 7: EXC_RESOURCE (RESOURCE_TYPE_MEMORY: high watermark memory limit exceeded) (limit=200 MB)'",
      "EXC_RESOURCE / MEMORY"),
    Question("'Thread 1: signal SIGABRT'", "SIGABRT"), Question("signal SIGABRT", "SIGABRT"),
    Question("'Program received signal SIGSEGV, Segmentation fault.'", "SIGSEGV"),
    Question("'died with <Signals.SIGSEGV: 11>.'", "SIGSEGV"),
    Question("'Segmentation fault (core dumped)'", "\"Segmentation fault (core dumped)\": SIGSEGV"),
    Question("'Bus error'", "\"Bus error\": SIGBUS"),
    Question("'Aborted (core dumped)'", "\"Aborted (core dumped)\": SIGABRT"),
    Question("Killed", "\"Killed\": SIGKILL"), Question("OOMKilled", "\"OOMKilled\": SIGKILL"),
    Question("'exit 0xC0000005'", "0xc0000005 EXCEPTION_ACCESS_VIOLATION"),
    Question(
      "'shop[812]: segfault at 8 ip 00007fc4e9a79361 sp 00007ffef196eb30 error 6 in libshop.so[7fc4e9a00000+9000]'",
      "\"segfault\" of the Linux kernel: SIGSEGV"),
    Question(
      "'traps: shop[812] trap invalid opcode ip:5581 sp:7ffe error:0 in shop[5581+1000]'",
      "\"invalid opcode\" of the Linux kernel: SIGILL"),
    Question("'shop.service: Main process exited, code=killed, status=11/SEGV'", "\"11/SEGV\" of systemd: SIGSEGV"),
    Question("'Main process exited, code=dumped, status=6/ABRT'", "\"6/ABRT\" of systemd: SIGABRT"),
    Question("'PID 8 received SIGSEGV for address: 0x1fc62c0'", "SIGSEGV"),
    Question("'Segmentation fault: 11'", "\"Segmentation fault: 11\": SIGSEGV"),
    Question("'Abort trap: 6'", "\"Abort trap: 6\": SIGABRT"), Question("'Bus error: 10'", "\"Bus error: 10\": SIGBUS"),
    Question("'Killed: 9'", "\"Killed: 9\": SIGKILL"), Question("'Terminated: 15'", "\"Terminated: 15\": SIGTERM"),
    Question("'Bad system call: 12'", "\"Bad system call: 12\": SIGSYS"),
    Question(
      "'bash: line 1: 812 Aborted                 (core dumped) ./shop'",
      "\"bash: line 1: 812 Aborted                 (core dumped) ./shop\": SIGABRT"),
    Question("'zsh: abort      ./shop'", "\"zsh: abort      ./shop\": SIGABRT"),
    Question("'zsh: trace trap  ./shop'", "\"zsh: trace trap  ./shop\": SIGTRAP"),
    Question("'zsh: illegal hardware instruction  ./shop'", "\"zsh: illegal hardware instruction  ./shop\": SIGILL"),
    Question("'Termination Signal: Segmentation fault: 11'", "\"Termination Signal: Segmentation fault: 11\": SIGSEGV"),
    Question(
      "'# A fatal error has been detected by the Java Runtime Environment:  SIGSEGV (0xb) at pc=0x7f21'", "SIGSEGV"),
    Question(
      "'kernel: Out of memory: Killed process 812 (shop) total-vm:12kB'",
      "\"Out of memory\" of the Linux kernel: SIGKILL"),
    Question(
      "'Memory cgroup out of memory: Killed process 812 (shop)'", "\"Out of memory\" of the Linux kernel: SIGKILL"),
    Question("'Terminated due to memory issue'", "\"Terminated due to memory issue\": SIGKILL"),
    Question(
      "'Unhandled exception at 0x00007FF6 in shop.exe: 0xC0000005: Access violation reading location 0x10.'",
      "0xc0000005 EXCEPTION_ACCESS_VIOLATION"),
    Question("'The command 'make' returned a non-zero code: 137'", "non-zero code 137: ended by SIGKILL"),
    Question("'*** -[Order send]: message sent to deallocated instance 0x600'", "Message to a deallocated object"),
    Question(
      "'shop: error while loading shared libraries: libfoo.so.1: cannot open shared object file'",
      "Shared library not found"),
    Question("'Process exited with code 0xdead10cc'", "0xdead10cc dead lock"),
    Question("status=11/SEGV", "\"11/SEGV\" of systemd: SIGSEGV"),
    Question("'\"reason\" : \"highwater\"'", "JETSAM 2 highwater"),
    Question("'Graphics kernel error: 0x00000003'", "Graphics kernel error"),
    Question("'*** -[NSConcreteTextStorage attribute:atIndex:]: Range or index out of bounds'", "NSRangeException"),
    Question(
      "'Thread 1: \"*** -[NSConcreteTextStorage attribute:]: Range or index out of bounds\"'", "NSRangeException"),
    Question("'The application terminated due to signal 9.'", "SIGKILL"),
    Question("'LIBXPC 4'", "LIBXPC 4 XPC_EXIT_REASON_SIGTERM_TIMEOUT"),
    Question(
      "'Fatal signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0 in tid 8 (main), pid 8 (shop)'",
      "SIGSEGV / SEGV_MAPERR"),
    Question("'Worker (pid:12) was sent SIGKILL! Perhaps out of memory?'", "SIGKILL"),
    Question("'make: *** [Makefile:3: test] Error 139'", "Error 139: ended by SIGSEGV"),
    Question(
      "'make[1]: *** [test] Segmentation fault (core dumped)'",
      "\"make[1]: *** [test] Segmentation fault (core dumped)\": SIGSEGV"),
    Question("'Command pay returned non-zero exit status -11.'", "exit status -11: ended by SIGSEGV"),
    Question("'[1]+  Terminated              ./shop'", "\"[1]+  Terminated              ./shop\": SIGTERM"),
    Question(
      "'shop.service: Failed with result 'oom-kill'.'", "\"shop.service: Failed with result 'oom-kill'.\": SIGKILL"),
    Question("OS_REASON_JETSAM", "namespace JETSAM"),
    Question("'OS_REASON_CODESIGNING 2'", "CODESIGNING 2 INVALID_PAGE"),
    Question("bug_type 309", "bug_type 309, 109: crash report"),
    Question("'\"bug_type\":\"298\"'", "bug_type 298, 198, 98: jetsam event"),
  ]

  @Test(arguments: questions)
  func `Words, numbers and copied lines have the meanings of their fields`(question: Question) {
    let answers = CodeAnswer.answers(to: question.words)
    #expect(answers.count == 1)
    #expect(answers.first?.readings.map(\.title) == question.titles)
  }

  /// A message may end with the words that shells print of signals, or stand above them.
  @Test(arguments: [
    ("*** stack smashing detected ***: terminated", "Stack smashing"),
    ("*** buffer overflow detected ***: terminated", "Buffer overflow detected"),
    ("free(): invalid pointer\nAborted (core dumped)", "Pointer not allocated"),
    ("terminate called after throwing an instance of 'std::out_of_range'\nAborted", "std::out_of_range"),
    ("thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 9'", "Index out of bounds (Rust)"),
    ("thread 'main' panicked at src/main.rs:3:5:", "Rust panic"),
    ("called `Option::unwrap()` on a `None` value", "Value missing (Rust)"),
    ("thread 'main' has overflowed its stack\nAborted (core dumped)", "Stack overflow (Rust)"),
    ("panic: runtime error: invalid memory address or nil pointer dereference", "Nil pointer (Go)"),
    (
      "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]",
      "Nil pointer (Go)"
    ),
    ("panic: runtime error: index out of range [5] with length 3", "Index out of range (Go)"),
    ("panic: out of stock", "Go panic"), ("fatal error: all goroutines are asleep - deadlock!", "Deadlock (Go)"),
    ("fatal error: sync: unlock of unlocked mutex", "Lock not held (Go)"),
    ("fatal error: runtime: out of memory", "Out of memory (Go)"),
    ("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010", "Use after free (sanitizer)"),
    ("==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000", "Access error (sanitizer)"),
    ("WARNING: ThreadSanitizer: data race (pid=7)", "Data race (sanitizer)"),
    ("==7==ERROR: LeakSanitizer: detected memory leaks", "Memory leak (sanitizer)"),
    ("==7== Invalid read of size 8", "Invalid access (Valgrind)"),
    ("==7== Conditional jump or move depends on uninitialised value(s)", "Uninitialized value (Valgrind)"),
    ("==7== Invalid free() / delete / delete[] / realloc()", "Wrong release (Valgrind)"),
    ("==7== Source and destination overlap in memcpy(0x1, 0x2, 8)", "Overlapping copy (Valgrind)"),
    ("==7== 40 bytes in 1 blocks are definitely lost in loss record 1 of 2", "Memory leak (Valgrind)"),
    ("memory allocation of 8589934592 bytes failed", "No memory left"),
    ("till.c:7:9: runtime error: signed integer overflow: 2147483647 + 1", "Undefined behaviour (sanitizer)"),
  ])
  func `A message says more than the words of a signal`(line: String, title: String) {
    #expect(CodeAnswer.answers(to: [line]).map { $0.readings.map(\.title) } == [[title]])
  }

  @Test(arguments: [
    "Invalid memory reference (signal: 11, SIGSEGV)", "the guard page of the stack was hit, SIGSEGV in a trap handler",
    "lost memory: the abort handler of the foreground task got signal SIGSEGV",
  ])
  func `Words of a sentence are no codes beside one`(line: String) {
    let answers = CodeAnswer.answers(to: [line])
    #expect(answers.allSatisfy { $0.readings.map(\.title) == ["SIGSEGV"] })
    #expect(!answers.isEmpty)
  }

  @Test(arguments: [
    ("chatroom: Segmentation fault (core dumped)", ["core"]), ("./zoom: memory issue: Bus error", []),
    ("OOMKilled", ["cause"]), ("Terminated due to memory issue", ["cause"]),
    ("slurmstepd: error: Detected 1 oom_kill event", ["cause"]),
  ])
  func `A cause is told of words that say it, and not of letters in a name`(line: String, facts: [String]) {
    let answers = CodeAnswer.answers(to: [line])
    #expect(answers.map { $0.readings.first?.facts.map(\.label) } == [facts])
  }

  @Test func `OpenJ9's words name a signal`() {
    let answers = CodeAnswer.answers(to: ["Type=Segmentation error vmState=0x00040000"])
    #expect(answers.first?.readings.first?.title.hasSuffix("SIGSEGV") == true)
  }

  @Test func `The kernel's error is shown as it stands in its line`() {
    let answers = CodeAnswer.answers(to: [
      "till[7]: segfault at 0 ip 0000000000000000 sp 00007ffd error 14 in till[5000+4000]"
    ])
    #expect(answers.first?.readings.first?.facts.map(\.label).contains("error 14") == true)
  }

  @Test func `A status in the words of Kubernetes is no signal of a shell`() {
    let answers = CodeAnswer.answers(to: ["Last State: Terminated  Reason: Error  Exit Code: 139"])
    #expect(answers.map { $0.readings.first?.title } == ["Exit Code 139: ended by SIGSEGV"])
  }

  @Test(arguments: [
    "Process completed with exit code 1.", "Exited (1) 2 hours ago", "Exited (0) 3 minutes ago",
    "The worker of the night shift returned a non-zero code: 3",
  ])
  func `A line with the status of a program says that it is one, and nothing of its other words`(line: String) {
    let answers = CodeAnswer.answers(to: [line])
    #expect(answers.count == 1 && answers.first?.unknown?.reason.contains("no signal ended it") == true)
  }

  @Test(arguments: ["error: Exited with unexpected signal code 11", "error: Exited with signal code 11"])
  func `The number of a signal of SwiftPM is one`(line: String) {
    #expect(CodeAnswer.answers(to: [line]).map { $0.readings.first?.title } == ["SIGSEGV"])
  }

  @Test(arguments: ["The program sold seven tins of paint", "job killed: quota of the month"])
  func `A sentence without a code has one error`(line: String) {
    let answers = CodeAnswer.answers(to: [line])
    #expect(answers.count == 1 && answers.first?.isKnown == false)
  }

  @Test(arguments: [
    "The abort button was pressed", "job killed: quota", "terminated: by user", "He quit: at noon", "abort  ./shop",
  ])
  func `Words of signals in another line say no signal`(line: String) {
    let rows = CodeAnswer.answers(to: [line]).flatMap(\.readings).flatMap(\.rows)
    #expect(!rows.contains { $0.kind == .signal })
  }

  @Test func `Several codes have an answer each`() {
    let answers = CodeAnswer.answers(to: ["0xdead10cc", "SIGBUS", "JETSAM", "2", "EXC_CRASH"])
    #expect(
      answers.map { $0.readings.map(\.title) } == [
        ["0xdead10cc dead lock"], ["SIGBUS"], ["JETSAM 2 highwater"], ["EXC_CRASH"],
      ])
  }

  @Test(arguments: [
    (["RUNNINGBOARD", "0x123"], "RUNNINGBOARD"), (["DYLD", "0x8badf00d"], "DYLD"),
    (["EXC_BAD_ACCESS", "77"], "EXC_BAD_ACCESS"),
    (["SPRINGBOARD", "0x8badf00e"], "SPRINGBOARD"),
  ])
  func `An unknown code has no meaning, but the owner of its field`(words: [String], owner: String) throws {
    let answer = try #require(CodeAnswer.answers(to: words).first)
    #expect(!answer.isKnown)
    #expect(answer.unknown?.owner?.name == owner)
    #expect(answer.unknown?.collect.isEmpty == false)
  }

  @Test(arguments: [
    ("SIGBUZ", "SIGBUS"), ("EXC_BAD_ACCES", "EXC_BAD_ACCESS"), ("SEGV_MAPPER", "SEGV_MAPERR"),
    ("RUNINGBOARD", "RUNNINGBOARD"),
  ])
  func `A mistyped name has a suggestion and no meaning`(word: String, name: String) throws {
    let answer = try #require(CodeAnswer.answers(to: [word]).first)
    #expect(!answer.isKnown)
    #expect(answer.unknown?.suggestions.first == name)
  }

  @Test(arguments: [
    "objc[4242]: Attempted to unregister unknown __weak variable at 0x10",
    "SBUnsuspendLimit wheel[77] exceeded 15 wakes in 300 sec",
    "ReportCrash[1137]: Saved crash report for Wheel[1130]", "Invalid parameter not satisfying: source",
    "mmap() errno=1 validating first page of the file",
  ])
  func `Numbers and words of a sentence are no codes`(line: String) {
    #expect(CodeAnswer.answers(to: [line]).allSatisfy { !$0.isKnown })
  }

  @Test(arguments: ["0xdeadbeef", "0x8badf00e", "zzzzzz", "0x12345678"])
  func `A text that is similar to a code is not taken for it`(word: String) {
    #expect(CodeAnswer.answers(to: [word]).allSatisfy { !$0.isKnown })
  }

  /// A common but wrong belief, and a word of the right answer.
  @Test(arguments: [
    ("0xdeadfa11", "no crash report"), ("SIGBUS", "truncated"), ("0xbada5e47", "30 seconds"),
    ("0x8badf00d", "allowance"),
    ("JETSAM", "largestProcess"), ("0xbaaaaaad", "not a crash"), ("0xc51bad03", "not the app's fault"),
    ("EXC_ARITHMETIC", "arm64"), ("EXC_I386_GPFLT", "error code"), ("0xdead10cc", "not the culprit"),
    ("0xbad22222", "not by Apple"),
  ])
  func `A false belief is corrected where the code is explained`(code: String, words: String) throws {
    let reading = try #require(CodeAnswer.answers(to: [code]).first?.readings.first)
    #expect(reading.myths.contains { $0.contains(words) }, "\(reading.myths)")
  }

  // MARK: Lines that look like others

  @Test(arguments: [
    "[  188.868899] general protection fault: 0000 [#1] SMP NOPTI", "Oops: 0002 [#3] PREEMPT SMP",
    "general protection fault, probably for non-canonical address 0x8030000000000000: 0000 [#1] SMP PTI",
    "BUG: unable to handle kernel NULL pointer dereference at 0000000000000018",
    "Unable to handle kernel NULL pointer dereference at virtual address 00000010",
    "Internal error: Oops: 96000004 [#1] SMP", "kernel BUG at mm/slub.c:305!",
    "Kernel panic - not syncing: Fatal exception in interrupt",
  ])
  func `An error of the Linux kernel is no signal of a process`(line: String) {
    #expect(
      CodeAnswer.answers(to: [line]).flatMap(\.readings).map(\.title) == ["Fault in the Linux kernel"])
  }

  @Test func `A fault of a process in the kernel's log is one of the process`() {
    for line in [
      "traps: wheel[3633] general protection fault ip:7f1ebe353532 sp:7ffede773c60 error:0 in libc.so.6[7f1ebe31d000+1a]",
      "wheel[812]: segfault at 8 ip 0000563c5cc48ed4 sp 00007ffcec03fd88 error 4 in wheel[563c5cbfa000+e1000]",
    ] {
      #expect(CodeAnswer.answers(to: [line]).flatMap(\.readings).allSatisfy { $0.title.hasSuffix("SIGSEGV") })
    }
  }

  @Test(arguments: [
    "Attempting to JIT compile the wheel while running in aot-only mode",
    "The CPU of the wheel was busy all day", "We could not WRITE to the gear of it",
  ])
  func `A word of a sentence is no code of a namespace that is not named`(line: String) {
    let kinds = CodeAnswer.answers(to: [line]).flatMap(\.readings).flatMap(\.rows).map(\.kind)
    #expect(!kinds.contains(.namespaceCode) && !kinds.contains(.resource) && !kinds.contains(.guardViolation))
  }

  @Test func `A code of a namespace has its meaning behind the namespace`() {
    let limit = "Termination Reason: Namespace JETSAM, Code per-process-limit of it"
    #expect(CodeAnswer.answers(to: [limit]).contains { $0.isKnown })
    #expect(CodeAnswer.answers(to: ["JIT"]).allSatisfy { $0.isKnown })
  }

  @Test func `Slurm's words about memory and time are of Slurm and the kernel`() {
    let memory = CodeAnswer.answers(to: ["srun: error: node7: task 2: Out Of Memory"]).flatMap(\.readings)
    #expect(memory.first?.rows.first?.name == "SIGKILL")
    #expect(memory.first?.facts.first?.text.hasPrefix("the kernel") == true)
    let time = "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2023-04-13T18:23:49 DUE TO TIME LIMIT ***"
    #expect(CodeAnswer.answers(to: [time]).first?.readings.first?.rows.first?.name == "SIGTERM")
  }

  @Test func `The kernel's line about a guard is decoded`() {
    let line =
      "[wheel:152] EXC_GUARD AST: type=0x1 flavor=0x200 target=0x3029f code=0x200002000003029f subcode=0x0"
    let reading = CodeAnswer.answers(to: [line]).flatMap(\.readings).first
    #expect(reading?.title == "EXC_GUARD / MACH_PORT INVALID_NAME")
    #expect(reading?.facts.contains { $0.label == "port" && $0.text == "0x3029f" } == true)
  }

  @Test(arguments: [
    ("address 0xffff8044a1a74710", "address kernel"), ("address 0xffffffffffffffef", "address negative"),
  ])
  func `An address of the kernel's half is no pointer of a program`(words: String, title: String) {
    #expect(CodeAnswer.answers(to: words.split(separator: " ").map(String.init)).first?.readings.first?.title == title)
    #expect(CodeAnswer.answers(to: ["address", "0xffffffffff600400"]).allSatisfy { !$0.isKnown })
  }

  // MARK: Messages

  @Test(arguments: [
    ("dyld: cannot load 'wheel' (load command 0x80000034 is unknown)", "Load command unknown"),
    ("dyld: unknown required load command 0x80000022", "Load command unknown"),
    ("fatal runtime error: stack overflow", "Stack overflow (Rust)"),
    ("libc++abi: terminating", "terminate without an exception"),
    (
      "*** Terminating app due to uncaught exception 'System.ExecutionEngineException', reason: 'Attempting to JIT "
        + "compile method 'void wheel.App:Turn ()' while running in aot-only mode.",
      "No compiler (.NET)"
    ),
    (
      "*** Terminating app due to uncaught exception 'System.ArgumentException', reason: 'no wheel'",
      "Managed exception not caught"
    ),
  ])
  func `Messages of other runtimes have their own meaning`(line: String, title: String) {
    #expect(CodeAnswer.answers(to: [line]).flatMap(\.readings).map(\.title) == [title])
  }

  @Test(arguments: [("N5wheel4gear7RefusalE", "wheel::gear::Refusal"), ("St12out_of_range", "std::out_of_range")])
  func `A type of C++ alone is that of an exception`(text: String, name: String) {
    let message = RuntimeMessage(text)
    #expect(message.runtime == .cxx && message.exception == name)
    for other in ["NONE", "N5wheelE", "N9wheelE", "NSRangeException", "Stop", "St", "N5wheel4gear7RefusalEv"] {
      #expect(RuntimeMessage(other).exception == nil, "\(other)")
    }
  }

  // MARK: Texts

  private func statement(_ lines: String...) -> (line: Int, title: String?)? {
    EndStatement(in: Array(lines.joined(separator: "\n").utf8)).map { ($0.line, $0.answer.readings.first?.title) }
  }

  @Test func `The line of a log that says how a process ended is found`() {
    let log = statement("+ make test", "wheel.c: 3 tests", "make: *** [test] Segmentation fault: 11", "exit code 1")
    #expect(log?.line == 3 && log?.title?.hasSuffix("SIGSEGV") == true)
    // The line that names the mistake says more than the signal in front of it.
    let rust = statement("signal: 6, SIGABRT: process abort signal", "thread 'main' has overflowed its stack")
    #expect(rust?.line == 2 && rust?.title == "Stack overflow (Rust)")
    #expect(statement("> `error: Exited with unexpected signal code 6`")?.title == "SIGABRT")
    #expect(statement("Process completed with exit code 132.")?.title?.contains("SIGILL") == true)
    #expect(statement("Got a SIGSEGV while executing native code.")?.title == "SIGSEGV")
    #expect(statement("freed pointer was not the last allocation")?.title == "Order of a task's memory")
    #expect(statement("#  SIGSEGV (0xb) at pc=0x000000010d8fbedb, pid=6309, tid=4867")?.title == "SIGSEGV")
    #expect(statement("make: *** [all] Error 139")?.title?.hasSuffix("SIGSEGV") == true)
    #expect(statement("npm ERR! errno 134")?.title?.hasSuffix("SIGABRT") == true)
    #expect(statement("child pid 77 exit signal Segmentation fault (11)")?.title?.hasSuffix("SIGSEGV") == true)
    // "quit" is no signal here.
    #expect(statement("exit by signal quit of the wheel") == nil)
  }

  @Test func `Other texts have no such line`() {
    #expect(statement("# Wheels", "", "Turn left with code 3, at 0x10, in 1984.", "exit code 1", "CPU and JIT") == nil)
    #expect(statement("We killed the light.", "All was quiet; the program has 15 gears.") == nil)
    #expect(statement("") == nil)
    // A sentence about an end is not that end.
    #expect(statement("I had a segmentation fault last year but it is fixed; thanks.") == nil)
    #expect(statement("Version 7 fixes a bus error, and the segmentation fault of wheels.") == nil)
    // Names and words of codes in a table, in a key and in the words of others.
    #expect(statement("| wheel.crash | EXC_BAD_ACCESS | signal SIGSEGV |", "- NSRangeException: the row") == nil)
    #expect(statement("\"uptime\" : 3, \"flags\" : \"USER\", \"thread_set_state\" : 0") == nil)
    #expect(statement("FAULT: assertion failed: '<private>' in -[Wheel turn:] on line 2 of file Wheel.m") == nil)
    #expect(statement("* thread #1, stop reason = Stack buffer overflow") == nil)
  }
}
