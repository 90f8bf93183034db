// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Places where other crash handlers fail: each time a whole dump, or a reason in the rest of one.
@Suite("The handler captures where others can't")
struct SurroundingsTests {
  @Test(
    "Under seccomp without ptrace, process_vm_readv and clone", arguments: ["errno", "trap", "kill"])
  func seccomp(_ how: String) throws {
    let crasher = try Crasher()
    let result = try crasher.run("null --threads 8 --forbid \(how)")
    #expect(result.status == 128 + SIGSEGV)
    let dump = try crasher.dump()
    #expect(dump.signal == UInt64(SIGSEGV) && dump.isComplete)
    #expect(dump.wholeThreads.count == 8)
    #expect(dump.notes.isEmpty)
  }

  @Test("Threads that block all signals: by ptrace, or where that is forbidden, their stack and program counter")
  func blocked() throws {
    let free = try Crasher()
    #expect(try free.run("abort --threads 4 --blocking 3 --spinning-blocking 1 --spinning 1").status == 128 + SIGABRT)
    let whole = try free.dump()
    let captures = Dictionary(grouping: whole.threads) { $0["capture"].string ?? "" }.mapValues(\.count)
    // Which of the two ways is open depends on the machine.
    if captures["ptrace"] != nil {
      #expect(whole.wholeThreads.count == 9)
      #expect(captures == ["own": 1, "signal": 4, "ptrace": 4])
    }
    let filtered = try Crasher()
    #expect(try filtered.run("abort --threads 4 --blocking 3 --forbid errno").status == 128 + SIGABRT)
    let partial = try filtered.dump()
    #expect(partial.threads.count == 7)
    #expect(partial.notes.count { $0.contains("only its stack and program pointer are known") } == 3)
    #expect(partial.wholeThreads.count == 7)
  }

  @Test("Without files: the program closed all that it did not open")
  func closedFiles() throws {
    let crasher = try Crasher()
    _ = try crasher.run("null --threads 2 --close-files")
    #expect(try crasher.dump().wholeThreads.count == 2)
  }

  @Test("A limit of open files that is reached, of file size, and a working directory that is gone")
  func limits() throws {
    let crasher = try Crasher()
    _ = try crasher.run("null --threads 2", database: "few", wrapper: "ulimit -n 16;")
    #expect(try crasher.dump(database: "few").wholeThreads.count == 2)
    _ = try crasher.run("null --threads 2", database: "small", wrapper: "ulimit -f 32;")
    let names = try crasher.dumps(database: "small")
    #expect(names.count == 1 && !names[0].hasSuffix(".locked"))
    let inspection = try Tool.run(
      ["inspect", "--format", "json", "small/pending-serialized-ios-dump/\(names[0])"], in: crasher.folder)
    let dump = CapturedDump(json: try JSONDocument(inspection.output))
    #expect(dump.signal == UInt64(SIGSEGV) && !dump.isComplete)
  }

  @Test("As process 1 of a namespace", .enabled(if: Machine.canMount, "no rights to make namespaces"))
  func firstProcess() throws {
    for kind in ["null", "abort", "trap", "illegal"] {
      let crasher = try Crasher()
      let wrapper = "unshare --pid --fork --mount-proc --mount \(Machine.mapping)"
      let result = try crasher.run("\(kind) --threads 8", wrapper: wrapper)
      let without = try Tool.shell(
        "ulimit -c 0; export SWIFT_BACKTRACE=enable=no; \(wrapper) ./program \(kind)", in: crasher.folder)
      #expect(result.status == without.status, "\(kind): \(result.errorText)")
      let dump = try crasher.dump()
      #expect(dump.json["process"]["pid"].int == 1)
      #expect(dump.wholeThreads.count == 8 && dump.isComplete, "\(kind)")
    }
  }

  @Test(
    "Without /proc",
    .enabled(if: Machine.canMount && HandlerLibrary.canBeBuilt, "no rights to make namespaces, or no clang"))
  func withoutProc() throws {
    let crasher = try Crasher()
    // Swift's runtime does not find its arguments without /proc; a program in C needs none.
    let program = """
      #include <pthread.h>
      #include <unistd.h>
      static void *stay(void *argument) { for (;;) pause(); return argument; }
      int main(void) {
        pthread_t thread;
        for (int number = 1; number < 8; number++) pthread_create(&thread, 0, stay, 0);
        *(volatile int *)0 = 1;
      }
      """
    try crasher.folder.write(Array(program.utf8), to: "threads.c")
    let library = try HandlerLibrary.path()
    let script = """
      umount -l /proc
      CRASHPAD_HANDLER_DATABASE=db CRASHPAD_HANDLER_PROGRAM_ID=threads LD_PRELOAD=\(library) exec ./threads
      """
    try crasher.folder.write(Array(script.utf8), to: "script.sh")
    let result = try Tool.shell(
      """
      '\(HandlerLibrary.compiler ?? "clang")' -w threads.c -o threads -pthread || exit
      ulimit -c 0; unshare --pid --fork --mount \(Machine.mapping) sh script.sh
      """, in: crasher.folder)
    #expect(result.status == 128 + SIGSEGV, "\(result.errorText)")
    let dump = try crasher.dump()
    #expect(dump.wholeThreads.count == 8)
    #expect(dump.notes.contains { $0.contains("no /proc") })
  }

  @Test(
    "A read-only root: the program runs, and is told why its crashes are not captured",
    .enabled(if: Machine.canMount, "no rights to mount"))
  func readOnly() throws {
    let crasher = try Crasher()
    let script = "mkdir db && mount --bind db db && mount -o remount,ro,bind db && exec ./program exit --database db"
    let result = try Tool.shell("unshare --mount \(Machine.mapping) sh -c '\(script)'", in: crasher.folder)
    #expect(result.status == 96)
    #expect(result.errorText.contains("Read-only file system") && result.errorText.contains("db/pending"))
  }

  @Test(
    "A full disk: what was reserved holds the crash, its thread and the modules",
    .enabled(if: Machine.canMount, "no rights to mount"))
  func fullDisk() throws {
    for (kind, fills) in [("reserved", true), ("none", false)] {
      let crasher = try Crasher()
      // Everything is taken after the handler has begun.
      let script = """
        mkdir disk && mount -t tmpfs -o size=600k none disk
        ./program \(fills ? "wait" : "null") --threads 40 --database disk/db >out 2>err & child=$!
        while ! grep -q pid out; do sleep 0.01; done
        \(fills ? "dd if=/dev/zero of=disk/fill bs=4k 2>/dev/null; kill -SEGV $child" : "true")
        wait $child; echo $? >status; rm -f disk/fill; cp -a disk/db db
        """
      try crasher.folder.write(Array(script.utf8), to: "script.sh")
      let result = try Tool.shell(
        "ulimit -c 0; export SWIFT_BACKTRACE=enable=no; unshare --mount \(Machine.mapping) sh script.sh",
        in: crasher.folder)
      let names = try crasher.dumps()
      try #require(names.count == 1 && !names[0].hasSuffix(".locked"), "\(kind) \(names) \(result.errorText)")
      let inspection = try Tool.run(
        ["inspect", "--format", "json", "db/pending-serialized-ios-dump/\(names[0])"], in: crasher.folder)
      let dump = CapturedDump(json: try JSONDocument(inspection.output))
      #expect(dump.signal == UInt64(SIGSEGV))
      #expect(!dump.json["modules"].array.isEmpty && !dump.wholeThreads.isEmpty, "\(kind)")
      if !dump.isComplete {
        let errors = String(decoding: try crasher.folder.bytes(of: "err"), as: UTF8.self)
        #expect(errors.contains("no space left on device"), "\(errors)")
      }
    }
  }

  @Test(
    "A message that nothing reads does not keep a crash from its end",
    .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
  func fullPipe() throws {
    let folder = try TemporaryFolder()
    let program = """
      #include <fcntl.h>
      #include <sys/resource.h>
      #include <unistd.h>
      int main(void) {
        int ends[2];
        struct rlimit none = {0, 0};
        if (pipe(ends) != 0) return 1;
        dup2(ends[1], 2);
        fcntl(2, F_SETFL, O_NONBLOCK);
        while (write(2, "x", 1) > 0) {}
        fcntl(2, F_SETFL, 0);
        setrlimit(RLIMIT_FSIZE, &none);
        *(volatile int *)8 = 1;
      }
      """
    try folder.write(Array(program.utf8), to: "full.c")
    let result = try Tool.shell(
      """
      '\(HandlerLibrary.compiler ?? "clang")' -w full.c -o full || exit
      ulimit -c 0
      CRASHPAD_HANDLER_DATABASE=db LD_PRELOAD=\(try HandlerLibrary.path()) timeout -s KILL 20 ./full
      """, in: folder)
    #expect(result.status == 128 + SIGSEGV, "\(result.errorText)")
  }

  @Test("With little memory", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
  func littleMemory() throws {
    let crasher = try Crasher()
    let library = try HandlerLibrary.path()
    // A shell is a program that knows nothing of the handler, and fits.
    let result = try Tool.shell(
      """
      ulimit -c 0; ulimit -v 65536
      CRASHPAD_HANDLER_DATABASE=db LD_PRELOAD=\(library) sh -c 'kill -SEGV $$'
      """, in: crasher.folder)
    #expect(result.status == 128 + SIGSEGV, "\(result.errorText)")
    #expect(try crasher.dump().wholeThreads.count == 1)
  }
}
