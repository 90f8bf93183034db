// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Programs whose own handler of a fault ends them by another signal: every form of the dump shows the fault.
struct OwnHandlerTests {
  private static let source = """
    #include <signal.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static char stack[65536];
    struct node { int value; struct node *next; };
    static void handle(int number, siginfo_t *information, void *context) {
      (void)information; (void)context;
      END;
      _exit(number);
    }
    __attribute__((noinline)) static int total(struct node *node) {
      int sum = 0;
      while (node != NULL) { sum += node->value; node = node->next; }
      return sum;
    }
    __attribute__((noinline)) static int load(int value) {
      struct node node = {value, (struct node *)(long)WHERE};
      return total(&node) + value;
    }
    int main(int count, char **arguments) {
      (void)arguments;
      stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
      struct sigaction action;
      memset(&action, 0, sizeof action);
      action.sa_sigaction = handle;
      action.sa_flags = FLAGS;
      sigaltstack(&other, NULL);
      sigaction(SIGSEGV, &action, NULL);
      return load(count) + 1;
    }
    """

  /// Prints the kind and anchor of each form, without repetitions, and what `explain` says of the first.
  private static let script = """
    gcc -g -O1 -fno-omit-frame-pointer -o program program.c || exit 1
    crashpadctl run -q -d db --handler-library '%@' ./program 2>/dev/null
    dump=$(echo db/pending-serialized-ios-dump/*)
    crashpadctl redact "$dump" -o redacted.idump
    crashpadctl convert "$dump" -o dump.dmp
    crashpadctl redact dump.dmp -o redacted.dmp
    crashpadctl redact redacted.dmp -o again.dmp
    for form in "$dump" redacted.idump dump.dmp redacted.dmp again.dmp; do
      crashpadctl group --format csv -s program "$form" | tail -n 1 | grep -o 'bad-access[^,]*\\|abort[^,]*\\|signal[^,]*'
    done | sort | uniq -c
    crashpadctl explain "$dump"
    """

  @Test(
    .enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"),
    arguments: ["abort()", "raise(SIGABRT)", "signal(SIGSEGV, SIG_DFL); raise(SIGSEGV); return"],
    ["SA_SIGINFO | SA_ONSTACK", "SA_SIGINFO", "SA_ONSTACK"])
  func `A fault whose handler ends the process is the crash in every form`(_ end: String, _ flags: String) throws {
    for (address, kind) in [("0x10", "null"), ("0x123456789", "wild")] {
      let folder = try TemporaryFolder()
      let program = Self.source.replacing("END", with: end).replacing("FLAGS", with: flags)
        .replacing("WHERE", with: address)
      try Data(program.utf8).write(to: folder.url("program.c"))
      let outcome = try Tool.shell(
        Self.script.replacing("%@", with: "\(try HandlerLibrary.path())"), in: folder)
      let details: Comment = "\(end) \(flags) \(address): \(outcome.text)\(outcome.errorText)"
      #expect(outcome.text.contains("5 bad-access[\(kind)] · total"), details)
      #expect(outcome.text.contains("SIGSEGV / SEGV_MAPERR at \(address)"), details)
    }
  }

  @Test(
    .enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"),
    arguments: [("0x10", "null", "total"), ("0x123456789", "wild", "total"), ("0", "stack-overflow", "deep")])
  func `A fault in a handler is told apart by the fault for which it was called`(
    _ address: String, _ kind: String, _ function: String
  ) throws {
    let folder = try TemporaryFolder()
    var program = Self.source.replacing("END", with: "total((struct node *)8)").replacing(
      "FLAGS", with: "SA_SIGINFO | SA_ONSTACK"
    )
    .replacing("WHERE", with: address).replacing(
      "static void handle(", with: "static int total(struct node *);\nstatic void handle(")
    if function == "deep" {
      // The address of the fault is no multiple of eight.
      program = program.replacing("return load(count) + 1;", with: "return deep(count) + load(count);").replacing(
        "int main(",
        with: """
          __attribute__((noinline)) static int deep(int depth) {
            volatile char room[500];
            ((volatile int *)(room + 1))[0] = depth;
            return deep(depth + 1) + room[7];
          }
          int main(
          """)
    }
    try Data(program.utf8).write(to: folder.url("program.c"))
    let outcome = try Tool.shell(Self.script.replacing("%@", with: "\(try HandlerLibrary.path())"), in: folder)
    let details: Comment = "\(kind): \(outcome.text)\(outcome.errorText)"
    #expect(
      outcome.text.contains("5 bad-access[null] · total · after bad-access[\(kind)] · \(function)"), details)
    #expect(outcome.text.contains("was running for an earlier fault, SIGSEGV / SEGV_MAPERR"), details)
    #expect(outcome.text.contains("Look at the first fault (SIGSEGV), too"), details)
  }

  /// A handler that makes the page of a fault writable, and then meets a fault of its own.
  private static let barrier = """
    #include <signal.h>
    #include <string.h>
    #include <sys/mman.h>
    static char *page;
    static volatile int sink;
    __attribute__((noinline)) static void note(int *place) { sink = *place; sink++; }
    static void handle(int number, siginfo_t *information, void *context) {
      (void)number; (void)information; (void)context;
      if (REPAIRS) mprotect(page, 8192, PROT_READ | PROT_WRITE);
      note((int *)8);
    }
    __attribute__((noinline)) static void store(void) { page[0] = 1; sink++; }
    __attribute__((noinline)) static void other_store(void) { page[4096] = 1; sink++; }
    int main(void) {
      page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      struct sigaction action;
      memset(&action, 0, sizeof action);
      action.sa_sigaction = handle;
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGSEGV, &action, NULL);
      FUNCTION();
      return sink;
    }
    """

  @Test(
    .enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"), arguments: ["store", "other_store"],
    [true, false])
  func `A fault that its handler repaired is no part of what tells a fault in the handler apart`(
    _ function: String, _ repairs: Bool
  ) throws {
    let folder = try TemporaryFolder()
    let program = Self.barrier.replacing("FUNCTION", with: function).replacing("REPAIRS", with: repairs ? "1" : "0")
    try Data(program.utf8).write(to: folder.url("program.c"))
    let outcome = try Tool.shell(Self.script.replacing("%@", with: "\(try HandlerLibrary.path())"), in: folder)
    let details: Comment = "\(function) \(repairs): \(outcome.text)\(outcome.errorText)"
    if repairs {
      #expect(outcome.text.contains("5 bad-access[null] · note\n"), details)
      #expect(outcome.text.contains("the memory permits that access by now"), details)
      #expect(!outcome.text.contains("Look at the first fault"), details)
    } else {
      #expect(outcome.text.contains("5 bad-access[null] · note · after bad-access[wild] · \(function)"), details)
      #expect(outcome.text.contains("Look at the first fault"), details)
    }
  }

  /// A handler that makes the page of a fault writable and returns, and another thread that sends the fault's signal while the
  /// interrupted instruction goes on.
  private static let sent = """
    #include <pthread.h>
    #include <signal.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    static char *page;
    static const unsigned long size = 64 << 20;
    static pthread_t first;
    static void handle(int number, siginfo_t *information, void *context) {
      (void)information; (void)context;
      if (IS_REPAIRED) { mprotect(page, size, PROT_READ | PROT_WRITE); return; }
      signal(number, SIG_DFL);
      raise(number);
    }
    __attribute__((noinline)) static void fill(void) {
      for (;;) {
        char *place = page;
        unsigned long count = size;
        __asm__ volatile("rep stosb" : "+D"(place), "+c"(count) : "a"(1) : "memory");
      }
    }
    static void *watch(void *unused) {
      usleep(100000);
      signal(SIGSEGV, SIG_DFL);
      pthread_kill(first, SIGSEGV);
      pause();
      return unused;
    }
    int main(void) {
      page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      first = pthread_self();
      struct sigaction action;
      memset(&action, 0, sizeof action);
      action.sa_sigaction = handle;
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGSEGV, &action, NULL);
      pthread_t other;
      if (IS_REPAIRED) pthread_create(&other, NULL, watch, NULL);
      fill();
    }
    """

  #if arch(x86_64)
    @Test(.enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"), arguments: [true, false])
    func
      `A fault whose handler raised its signal again is told as inferred, and a signal that came later is not that fault`(
        _ isRepaired: Bool
      )
      throws
    {
      let folder = try TemporaryFolder()
      let program = Self.sent.replacing("IS_REPAIRED", with: isRepaired ? "1" : "0")
      try Data(program.utf8).write(to: folder.url("program.c"))
      let script = Self.script.replacing("-o program program.c", with: "-pthread -o program program.c")
      let forms = """
        for form in "$dump" redacted.idump dump.dmp redacted.dmp again.dmp; do
          crashpadctl inspect --format json "$form" | grep -o '"raised_again": *true'
          crashpadctl explain "$form" | grep -o 'Certainty.*'
        done | sort | uniq -c
        """
      let outcome = try Tool.shell(
        script.replacing("%@", with: "\(try HandlerLibrary.path())") + "\n" + forms, in: folder)
      let details: Comment = "\(isRepaired): \(outcome.text)\(outcome.errorText)"
      #expect(outcome.text.contains(isRepaired ? "5 signal:SIGSEGV · fill" : "5 bad-access[wild] · fill"), details)
      // The handler raised it while it was blocked, and returned: all registers are those of the fault.
      #expect(outcome.text.contains("SEGV_ACCERR") != isRepaired, details)
      #expect(outcome.text.contains("5 \"raised_again\"") != isRepaired, details)
      #expect(outcome.text.contains("5 Certainty     Inferred") != isRepaired, details)
    }
  #endif

  @Test(.enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"))
  func `A check that fails in a handler is the crash, and the fault for which it was called is named`() throws {
    let folder = try TemporaryFolder()
    let program =
      "#include <assert.h>\n"
      + Self.source.replacing("END", with: "assert(information->si_addr == stack)")
      .replacing("FLAGS", with: "SA_SIGINFO | SA_ONSTACK").replacing("WHERE", with: "0x10")
    try Data(program.utf8).write(to: folder.url("program.c"))
    let outcome = try Tool.shell(Self.script.replacing("%@", with: "\(try HandlerLibrary.path())"), in: folder)
    let details: Comment = "\(outcome.text)\(outcome.errorText)"
    #expect(outcome.text.contains("5 abort · handle · after bad-access[null] · total"), details)
    #expect(outcome.text.contains("A C assertion does not hold"), details)
  }

  @Test(
    .enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"),
    arguments: ["abort()", "raise(SIGABRT)"], ["pause();", "for (;;) room++;"])
  func `A signal that another process sent is the end in every form, though a handler ends the process`(
    _ end: String, _ wait: String
  ) throws {
    let folder = try TemporaryFolder()
    let program = Self.source.replacing("END", with: end).replacing("FLAGS", with: "SA_SIGINFO | SA_ONSTACK")
      .replacing("WHERE", with: "0").replacing("return load(count) + 1;", with: "return stay() + load(count);")
      .replacing(
        "int main(",
        with: """
          #include <stdio.h>
          __attribute__((noinline)) static int stay(void) {
            volatile long room = 0;
            FILE *file = fopen("process.part", "w");
            fprintf(file, "%d", (int)getpid());
            fclose(file);
            rename("process.part", "process");
            \(wait)
            return (int)room;
          }
          int main(
          """)
    try Data(program.utf8).write(to: folder.url("program.c"))
    let run = "--handler-library '%@' ./program 2>/dev/null"
    let script = Self.script.replacing(
      run, with: run + " &\nuntil [ -s process ]; do sleep 0.02; done; sleep 0.1; kill -SEGV $(cat process); wait")
    let outcome = try Tool.shell(script.replacing("%@", with: "\(try HandlerLibrary.path())"), in: folder)
    let details: Comment = "\(end) \(wait): \(outcome.text)\(outcome.errorText)"
    #expect(outcome.text.contains("5 signal:SIGSEGV · "), details)
    #expect(outcome.text.contains("which sent SIGSEGV"), details)
    #expect(outcome.text.contains("The program's own handler for SIGSEGV"), details)
    #expect(!outcome.text.contains("failed assertion"), details)
  }

  @Test(.enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"))
  func `SIGABRT that a program raises without abort() is not told as one`() throws {
    let folder = try TemporaryFolder()
    try Data(
      """
      #include <signal.h>
      __attribute__((noinline)) static int stop(int number) { return raise(number) + 1; }
      int main(void) { return stop(SIGABRT) * 2; }
      """.utf8
    ).write(to: folder.url("program.c"))
    let outcome = try Tool.shell(Self.script.replacing("%@", with: "\(try HandlerLibrary.path())"), in: folder)
    #expect(outcome.text.contains("the process sent the signal to itself"), "\(outcome.text)\(outcome.errorText)")
    #expect(outcome.text.contains("raise() or pthread_kill()"), "\(outcome.text)")
    #expect(!outcome.text.contains("failed assertion"), "\(outcome.text)")
  }
}
