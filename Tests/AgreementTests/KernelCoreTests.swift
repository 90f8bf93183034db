// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Cores of this machine's kernel in which the note of the signal or of the files says less than the memory does.
@Suite(.enabled(if: CrashedProgram.canWriteCores && Toolbox.gcc != nil, "no gcc, or the kernel writes no core here"))
struct KernelCoreTests {
  /// Runs `script` in a directory with `program`, and `../program` in one of its own, whose only file is the core.
  private func crash(_ files: [String: String], _ script: String) throws -> Tool.Outcome {
    let folder = try TemporaryFolder()
    for (name, text) in files { try folder.write(Array(text.utf8), to: name) }
    return try Tool.shell(
      """
      core() { mkdir "$1"; (cd "$1"; ulimit -c $(ulimit -H -c); shift; ../program "$@" 2>/dev/null); mv "$1"/* "$1.core"; }
      groups() { crashpadctl group --format csv -s program "$1" | tail -n 1 | grep -o '[a-z]*[-:[][^,]* · [^,]*'; }
      \(script.replacing("GCC", with: "'\(Toolbox.gcc ?? "gcc")'"))
      """, in: folder)
  }

  private static let raising = """
    #define _GNU_SOURCE
    #include <signal.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static char stack[65536];
    static void old(int number) { signal(number, SIG_DFL); SEND; }
    static void handle(int number, siginfo_t *information, void *context) {
      (void)information; (void)context;
      old(number);
    }
    __attribute__((noinline)) static int total(int *gear) { return *gear + 1; }
    int main(void) {
      stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
      sigaltstack(&other, NULL);
      struct sigaction action;
      memset(&action, 0, sizeof action);
      action.sa_flags = FLAGS;
      if (action.sa_flags & SA_SIGINFO) action.sa_sigaction = handle; else action.sa_handler = old;
      sigaction(SIGSEGV, &action, NULL);
      return total((int *)0x10) * 2;
    }
    """

  @Test(arguments: ["raise(number)", "kill(getpid(), number)"], ["0", "SA_SIGINFO", "SA_SIGINFO | SA_ONSTACK"])
  func `A fault whose handler raises the signal again is the crash, as the kernel's record of it says`(
    send: String, flags: String
  ) throws {
    let source = Self.raising.replacing("SEND", with: send).replacing("FLAGS", with: flags)
    let outcome = try crash(
      ["program.c": source],
      """
      GCC -g -O1 -o program program.c && core a
      crashpadctl convert -q a.core -o a.dmp; crashpadctl redact -q a.dmp -o b.dmp
      for form in a.core a.dmp b.dmp; do groups $form; done | sort | uniq -c
      for form in a.core a.dmp b.dmp; do crashpadctl explain $form | grep -o 'Certainty.*'; done | sort | uniq -c
      crashpadctl explain a.core; crashpadctl inspect a.core
      """)
    let details: Comment = "\(outcome.text)\(outcome.errorText)"
    #expect(outcome.text.contains("3 bad-access[null] · total"), details)
    #expect(outcome.text.contains("SIGSEGV / SEGV_MAPERR at 0x10") && !outcome.text.contains("SI_TKILL"), details)
    #expect(outcome.text.contains("inferred: the process sent itself the signal"), details)
    #expect(
      outcome.text.contains("3 Certainty     Inferred: ") && outcome.text.contains("raised the signal again"), details)
  }

  @Test func `A signal that the program raises without a fault is told as one`() throws {
    let outcome = try crash(
      ["program.c": "#include <signal.h>\nint main(void) { return raise(SIGSEGV); }"],
      "GCC -g -O1 -o program program.c && core a; crashpadctl explain a.core")
    #expect(outcome.text.contains("SI_TKILL"), "\(outcome.text)\(outcome.errorText)")
  }

  private static let mapping = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/stat.h>
    int main(int count, char **words) {
      void *library = dlopen("$ORIGIN/libgear.so", RTLD_NOW);
      int (*turn)(int *) = (int (*)(int *))dlsym(library, "turn");
      Dl_info place;
      dladdr((void *)turn, &place);
      int file = open(place.dli_fname, O_RDONLY);
      struct stat status;
      fstat(file, &status);
      /* A part of the file, or all of it, ends where the library begins. */
      size_t size = words[1][0] == 'p' ? 4096 : ((size_t)status.st_size + 4095) & ~(size_t)4095;
      char *below = (char *)place.dli_fbase - size;
      off_t offset = words[1][0] == 'p' ? 4096 : 0;
      if (words[1][0] != 'n' && mmap(below, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, offset) != below) return 3;
      return turn((int *)(intptr_t)count - 2);
    }
    """

  @Test(arguments: ["none", "part", "whole"])
  func `A file that is mapped below its library is no part of the library`(kind: String) throws {
    let outcome = try crash(
      [
        "program.c": Self.mapping,
        "gear.c": "char room[1 << 20];\nint turn(int *gear) { room[9] = 1; return *gear + 1; }",
      ],
      """
      GCC -g -O1 -shared -fPIC -o libgear.so gear.c && GCC -g -O1 -o program program.c -ldl && core a \(kind)
      crashpadctl symbolize a.core; groups a.core
      """)
    let details: Comment = "\(outcome.text)\(outcome.errorText)"
    #expect(outcome.text.contains(" · turn") && outcome.text.contains("main + "), details)
    #expect(!outcome.text.contains("in no module"), details)
  }
}
