// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Programs that are built in other ways than most: the handler is loaded into them, and they run as without.
@Suite("The handler is loaded into any program", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct LoadingTests {
  private static let program = """
    #include <pthread.h>
    #include <stdio.h>
    static void *run(void *argument) { puts("thread"); return argument; }
    int main(int count, char **arguments) {
      pthread_t thread;
      pthread_create(&thread, 0, run, 0);
      pthread_join(thread, 0);
      puts("main");
      fflush(stdout);
      if (count > 1) *(volatile int *)8 = 1;
      return 3;
    }
    """

  /// Makes `program` with a compiler and its options.
  private static func setup(_ compiler: String) -> String {
    "cat >program.c <<'E'\n\(program)\nE\n\(compiler) -w program.c -o program -pthread"
  }

  private static func expectDump(_ pair: HandlerTests.Pair) throws {
    let dumps = try pair.dumps()
    try #require(dumps.count == 1)
    #expect(dumps[0].signal == UInt64(SIGSEGV) && dumps[0].isComplete)
  }

  @Test("musl", .enabled(if: ServerTests.path(of: "musl-gcc") != nil, "musl-tools is not installed"))
  func musl() throws {
    let whole = try HandlerTests.Pair(setup: Self.setup("musl-gcc"), "handled ./program")
    whole.expectSame()
    #expect(whole.with.status == 3 && whole.with.text == "thread\nmain\n")
    #expect(try whole.dumps().isEmpty)
    // As a child of a program of this machine's C library, too.
    for script in [
      "handled ./program crash", "handled sh -c 'exec ./program crash'", "handled sh -c './program crash; exit $?'",
    ] {
      let crash = try HandlerTests.Pair(setup: Self.setup("musl-gcc"), script)
      #expect(crash.with.status == 128 + SIGSEGV && crash.with.text == crash.without.text)
      try Self.expectDump(crash)
    }
  }

  /// The facts of the only dump of a run, as `inspect` has them: without what differs from run to run.
  private static func facts(_ script: String) throws -> [String] {
    // `inspect` cuts long texts: the environment stays short enough to be shown whole, in a folder with a long path too.
    let short = """
      tool=$(command -v crashpadctl); crashpadctl() { "$tool" "$@"; }
      unset SWIFT_BACKTRACE LD_LIBRARY_PATH SOURCE_DATE_EPOCH TZ LC_ALL; PATH=/usr/bin:/bin

      """
    let pair = try HandlerTests.Pair(setup: setup(HandlerLibrary.compiler ?? "clang"), short + script)
    let dumps = try pair.folder.names(in: "db/pending-serialized-ios-dump")
    try #require(dumps.count == 1)
    let text = try Tool.shell("crashpadctl inspect --tree db/pending-serialized-ios-dump/*", in: pair.folder).text
    let wanted = [
      "kExecutable", "kCommandLine", "kEnvironment", "kDistribution", "kRelease", "kCPUModel", "kOSVersion", "kCpu",
      "kMachineDescription", "kPageSize", "kStandard", "kDaylight", "DaylightSavingTime",
    ]
    return text.split(separator: "\n").filter { line in wanted.contains { line.contains($0) } }.map { line in
      // Behind the offset; the folder has another name each time, and shells put variables into another order.
      let text = String(line.drop { !$0.isWhitespace }).replacing(#/crashpadctl-test-[0-9A-F-]+/#, with: "FOLDER")
      guard let start = text.range(of: "kEnvironment")?.lowerBound, let quote = text[start...].firstIndex(of: "\"")
      else {
        return text
      }
      return text[..<quote]
        + text[quote...].replacing("\"", with: "").components(separatedBy: "\\0").sorted().joined(separator: " ")
    }
  }

  @Test("The dump of a child, which finds its facts when it crashes, has those that a program finds at its start")
  func factsOfChildren() throws {
    let own = try Self.facts("handled ./program crash --password=secret")
    let child = try Self.facts("handled sh -c './program crash --password=secret; exit $?'")
    #expect(own == child)
    try #require(own.contains { $0.contains("kExecutable") && $0.contains("/program\"") })
    #expect(own.contains { $0.contains("kStandardName") } && own.contains { $0.contains("kCpuCount") })
    #expect(own.contains { $0.contains("--password=<removed>") } && !own.contains { $0.contains("secret") })
    #expect(own.contains { $0.contains("PATH=") })
  }

  @Test(
    "A child that went to another root directory leaves its dump in the database",
    .enabled(if: geteuid() == 0, "not root"))
  func otherRoot() throws {
    let compiler = HandlerLibrary.compiler ?? "clang"
    let source =
      "#include <unistd.h>\nint main(void) { if (chroot(\"empty\") || chdir(\"/\")) return 9; *(volatile int *)8 = 1; }"
    let pair = try HandlerTests.Pair(
      setup: "mkdir empty; cat >program.c <<'E'\n\(source)\nE\n\(compiler) -w program.c -o program",
      "handled sh -c './program; exit $?'")
    #expect(pair.with.status == 128 + SIGSEGV)
    try Self.expectDump(pair)
    // Without /sys, the processors are those of the installation.
    let tree = try Tool.shell("crashpadctl inspect --tree db/pending-serialized-ios-dump/*", in: pair.folder).text
    let processors = try #require(tree.firstMatch(of: #/kCpuCount \(4 bytes\): (\d+)/#)?.output.1)
    #expect(try Tool.shell("getconf _NPROCESSORS_ONLN", in: pair.folder).text == processors + "\n")
  }

  @Test(
    "A script that preloads another library, such as an allocator, leaves the handler to its programs",
    arguments: [
      "export LD_PRELOAD=$PWD/other.so; exec ./program crash", "LD_PRELOAD=$PWD/other.so ./program crash; exit $?",
      "exec env LD_PRELOAD=$PWD/other.so ./program crash",
    ])
  func otherLibrary(_ script: String) throws {
    let compiler = HandlerLibrary.compiler ?? "clang"
    let other = """

      echo '__attribute__((constructor)) static void start(void) { puts("other"); }' |
        \(compiler) -w -include stdio.h -shared -fPIC -x c - -o other.so
      """
    let pair = try HandlerTests.Pair(setup: Self.setup(compiler) + other, "handled sh -c '\(script)'")
    pair.expectSame()
    #expect(pair.with.text.contains("other\n"))
    try Self.expectDump(pair)
  }

  @Test("A program that is started without any library, or without the environment, is left alone")
  func noLibrary() throws {
    for start in ["env LD_PRELOAD= ", "env -u LD_PRELOAD ", "env -i "] {
      let pair = try HandlerTests.Pair(
        setup: Self.setup(HandlerLibrary.compiler ?? "clang"), "handled \(start) ./program crash")
      pair.expectSame()
      #expect(try pair.dumps().isEmpty)
    }
  }

  @Test(
    "In another root directory without the handler's library, programs start without a complaint of the loader",
    .enabled(if: geteuid() == 0, "not root"))
  func emptyRoot() throws {
    let setup = """

      mkdir root && for file in $(ldd ./program | grep -o '/[^ ]*'); do cp --parents --dereference $file root; done
      cp program root
      """
    let pair = try HandlerTests.Pair(
      setup: Self.setup(HandlerLibrary.compiler ?? "clang") + setup, "handled chroot root /program")
    pair.expectSame()
    #expect(pair.with.status == 3)
  }

  @Test("Sanitizers of Swift's compiler, with threads", arguments: ["address", "thread"])
  func swiftSanitizers(_ kind: String) throws {
    let source = """
      import Glibc
      var thread = pthread_t()
      pthread_create(&thread, nil, { _ in print("thread"); return nil }, nil)
      pthread_join(thread, nil)
      print("main")
      """
    let compiler = URL(fileURLWithPath: HandlerLibrary.compiler ?? "").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "swiftc").path
    let pair = try HandlerTests.Pair(
      setup: "cat >main.swift <<'E'\n\(source)\nE\n'\(compiler)' -sanitize=\(kind) main.swift -o program 2>/dev/null",
      "handled timeout -s KILL 60 ./program")
    pair.expectSame()
    #expect(pair.with.status == 0 && pair.with.text == "thread\nmain\n")
  }

  @Test(
    "A program with gcc's sanitizers that is linked with the client's library",
    .enabled(
      if: ServerTests.path(of: "gcc") != nil
        && FileManager.default.fileExists(atPath: client + "/libcrashpad_client.so"),
      "gcc or the library is not there"), arguments: ["address", "thread"])
  func linkedSanitizers(_ kind: String) throws {
    let folder = try TemporaryFolder()
    let library = "-Wl,--no-as-needed -L'\(Self.client)' -lcrashpad_client -Wl,-rpath,'\(Self.client)'"
    let result = try Tool.shell(
      """
      cat >program.c <<'E'\n\(Self.program)\nE
      gcc -w -fsanitize=\(kind) program.c -o program \(library) -pthread && timeout -s KILL 60 ./program
      """, in: folder)
    #expect(result.status == 3 && result.text == "thread\nmain\n", "\(result.text)\(result.errorText)")
  }

  private static let client = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path

  @Test("valgrind", .enabled(if: ServerTests.path(of: "valgrind") != nil, "valgrind is not installed"))
  func valgrind() throws {
    let pair = try HandlerTests.Pair(
      setup: Self.setup(HandlerLibrary.compiler ?? "clang"), "handled valgrind -q --log-file=log ./program crash")
    #expect(pair.with.status == pair.without.status && pair.with.text == pair.without.text)
    try Self.expectDump(pair)
  }

  /// Valgrind returns from a handler by a frame of its own.
  @Test(
    "Under valgrind a program keeps its handlers, masks and stacks",
    .enabled(if: ServerTests.path(of: "valgrind") != nil, "valgrind is not installed"))
  func handlersUnderValgrind() throws {
    let program = """
      #include <pthread.h>
      #include <setjmp.h>
      #include <signal.h>
      #include <stdio.h>
      static sigjmp_buf place;
      static void leave(int number) { siglongjmp(place, number); }
      static void say(int number) { printf("signal %d\\n", number); }
      static void *show(void *name) {
        stack_t stack;
        sigset_t mask;
        sigaltstack(0, &stack);
        pthread_sigmask(SIG_BLOCK, 0, &mask);
        printf("%s: stack %d, blocked %d\\n", (char *)name, !(stack.ss_flags & SS_DISABLE), sigismember(&mask, SIGSEGV));
        return name;
      }
      int main(void) {
        struct sigaction action = {.sa_handler = say, .sa_flags = SA_ONSTACK};
        sigset_t fault;
        pthread_t thread;
        sigaction(SIGUSR1, &action, 0);
        raise(SIGUSR1);
        signal(SIGSEGV, leave);
        if (sigsetjmp(place, 1) == 0) *(volatile int *)8 = 1;
        signal(SIGSEGV, say);
        sigemptyset(&fault);
        sigaddset(&fault, SIGSEGV);
        pthread_sigmask(SIG_BLOCK, &fault, 0);
        raise(SIGSEGV);
        pthread_create(&thread, 0, show, "thread");
        pthread_join(thread, 0);
        show("main");
        pthread_sigmask(SIG_UNBLOCK, &fault, 0);
        return 3;
      }
      """
    let compile = "'\(HandlerLibrary.compiler ?? "clang")' -w own.c -o own -pthread"
    let pair = try HandlerTests.Pair(
      setup: "cat >own.c <<'E'\n\(program)\nE\n\(compile)",
      "handled valgrind -q ./own; status=$?; handled valgrind -q bash -c 'true | cat; exit 4'; exit $((status * 10 + $?))"
    )
    #expect(pair.with.status == 34 && pair.with.text.contains("signal 11"))
    #expect(pair.with.status == pair.without.status && pair.with.text == pair.without.text)
  }

  /// Most of the time that the handler adds to the start of a program is for pages: its own, the loader's while it searches
  /// functions of libc, and those of libc that are called.
  @Test("The start of a child touches at most twenty pages more than without the handler")
  func pagesOfStart() throws {
    let program = """
      #include <spawn.h>
      #include <stdio.h>
      #include <sys/resource.h>
      #include <sys/wait.h>
      extern char **environ;
      int main(void) {
        char *arguments[] = {"/bin/true", 0};
        long least = 1 << 20;
        for (int round = 0; round < 20; round++) {
          pid_t child;
          struct rusage usage;
          if (posix_spawn(&child, arguments[0], 0, 0, arguments, environ) != 0 || wait4(child, 0, 0, &usage) < 0) return 1;
          if (usage.ru_minflt < least) least = usage.ru_minflt;
        }
        printf("%ld", least);
        return 3;
      }
      """
    let compile = "'\(HandlerLibrary.compiler ?? "clang")' -w own.c -o own"
    let pair = try HandlerTests.Pair(setup: "cat >own.c <<'E'\n\(program)\nE\n\(compile)", "handled ./own")
    try #require(pair.with.status == 3 && pair.without.status == 3)
    let (with, without) = (try #require(Int(pair.with.text)), try #require(Int(pair.without.text)))
    #expect(with > without && with <= without + 20, "\(with) pages, \(without) without")
  }

  @Test("A dump has the name by which a program was started, and not that of the file behind a link")
  func names() throws {
    let pair = try HandlerTests.Pair(
      setup: Self.setup(HandlerLibrary.compiler ?? "clang") + " && ln -s program by-another-name",
      "handled ./by-another-name crash")
    #expect(pair.with.status == 128 + SIGSEGV)
    let names = try pair.folder.names(in: "db/pending-serialized-ios-dump")
    #expect(names.map { $0.split(separator: "@").first } == ["by-another-name"])
  }
}
