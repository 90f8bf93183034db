// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// The library that is preloaded, and its database.
struct Handler {
  let library: String
  let workspace: Workspace
  let database: String

  init(library: String, workspace: Workspace) {
    self.library = library
    self.workspace = workspace
    database = workspace.file("database")
  }

  func preloaded(_ command: Command) -> Command {
    var command = command
    command.environment = ["LD_PRELOAD=\(library)", "CRASHPAD_HANDLER_DATABASE=\(database)"]
    return command
  }

  /// Seconds from the signal to the end of the capture, as the one dump in the database has them.
  func duration() throws -> Double {
    let pending = "\(database)/pending-serialized-ios-dump"
    let names = try FileManager.default.contentsOfDirectory(atPath: pending).filter { !$0.hasSuffix(".locked") }
    guard names.count == 1 else { throw BenchError(text: "not one dump, but \(names)") }
    let text = try workspace.read(Command(workspace.tool, ["inspect", "--format", "json", "\(pending)/\(names[0])"]))
    let member = "\"duration_ns\": "
    guard let place = text.firstRange(of: member),
      let nanoseconds = Double(text[place.upperBound...].prefix { $0.isNumber })
    else { throw BenchError(text: "the dump does not say how long its capture took") }
    return nanoseconds / 1e9
  }
}

/// Programs in C++ that crash: with nothing, and with Breakpad's client.
struct CrashPrograms {
  let plain: String
  let breakpad: String?

  /// Nil where there is no compiler.
  init?(_ workspace: Workspace) throws {
    guard let compiler = Command.find("g++") ?? Command.find("c++") else { return nil }
    let source = workspace.file("crash.cc")
    try writeFile(source, Array(Self.text.utf8))
    plain = workspace.file("crash")
    try workspace.run(Command(compiler, ["-O1", "-pthread", source, "-o", plain]))
    guard let folder = ProcessInfo.processInfo.environment["BREAKPAD_CLIENT"] else {
      breakpad = nil
      return
    }
    // Breakpad's sources, built there, or in a folder "build" beside a folder "src" of the sources.
    let header = "client/linux/handler/exception_handler.h"
    let archive = "src/client/linux/libbreakpad_client.a"
    guard
      let headers = ["\(folder)/src", "\(folder)/src/src"].first(where: {
        FileManager.default.fileExists(atPath: "\($0)/\(header)")
      }),
      let library = ["\(folder)/\(archive)", "\(folder)/build/\(archive)"].first(where: {
        FileManager.default.fileExists(atPath: $0)
      })
    else { throw BenchError(text: "BREAKPAD_CLIENT: no \(header) and no \(archive) in \(folder)") }
    let program = workspace.file("crash-breakpad")
    try workspace.run(
      Command(
        compiler, ["-O1", "-pthread", "-DBREAKPAD", "-I\(headers)", source, library, "-o", program]))
    breakpad = program
  }

  func command(_ program: String, _ what: String, threads: Int, folder: String = "-") -> Command {
    var command = Command(program, [what, "\(threads)", folder])
    if what == "crash" { command.signal = SIGSEGV }
    return command
  }

  private static let text = """
    #include <algorithm>
    #include <pthread.h>
    #include <setjmp.h>
    #include <signal.h>
    #include <spawn.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    #include <vector>
    #ifdef BREAKPAD
    #include "client/linux/handler/exception_handler.h"
    #endif
    static pthread_barrier_t ready;
    static int *volatile nothing;
    static void show_memory() {
      FILE *file = fopen("/proc/self/smaps_rollup", "r");
      long resident = 0, own = 0, value;
      char line[256];
      while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Rss: %ld", &value) == 1) resident = value;
        if (sscanf(line, "Private_Clean: %ld", &value) == 1) own += value;
        if (sscanf(line, "Private_Dirty: %ld", &value) == 1) own += value;
      }
      printf("%ld %ld", resident, own);
    }
    static double now() {
      timespec time;
      clock_gettime(CLOCK_MONOTONIC, &time);
      return time.tv_sec * 1e9 + time.tv_nsec;
    }
    static void *end_at_once(void *argument) { return argument; }
    static sigjmp_buf place;
    static void call_often(const char *what) {
      sigset_t all, old;
      sigfillset(&all);
      for (int turn = 0; turn < 1000; turn++) {
        if (strcmp(what, "sigprocmask") == 0) {
          sigprocmask(SIG_BLOCK, &all, &old);
          sigprocmask(SIG_SETMASK, &old, nullptr);
        } else if (sigsetjmp(place, 1) == 0) {
          siglongjmp(place, 1);
        }
      }
    }
    // Starts a child, a program or a thread so often, or makes 1,000 calls, and prints the median and the tenth percentile
    // in nanoseconds.
    static int show_starts(const char *what, int count) {
      std::vector<double> times;
      for (int round = 0; round < count; round++) {
        double start = now();
        pid_t child = 0;
        pthread_t thread;
        char *arguments[] = {(char *)"/bin/true", nullptr};
        if (strcmp(what, "sigprocmask") == 0 || strcmp(what, "siglongjmp") == 0) {
          call_often(what);
        } else if (strcmp(what, "fork") == 0) {
          child = fork();
          if (child == 0) _exit(0);
        } else if (strcmp(what, "posix_spawn") == 0) {
          if (posix_spawn(&child, arguments[0], nullptr, nullptr, arguments, environ) != 0) return 1;
        } else if (pthread_create(&thread, nullptr, end_at_once, nullptr) != 0 || pthread_join(thread, nullptr) != 0) {
          return 1;
        }
        if (child > 0) waitpid(child, nullptr, 0);
        times.push_back(now() - start);
      }
      std::sort(times.begin(), times.end());
      printf("%.0f %.0f", times[times.size() / 2], times[times.size() / 10]);
      return 0;
    }
    __attribute__((noinline)) static void use_stack(void (*then)()) {
      volatile char frame[64 << 10];
      for (unsigned place = 0; place < sizeof frame; place += 64) frame[place] = (char)place;
      then();
      frame[0] = 0;
    }
    static void stay() {
      pthread_barrier_wait(&ready);
      for (;;) pause();
    }
    static void crash() {
      pthread_barrier_wait(&ready);
      timespec time;
      clock_gettime(CLOCK_MONOTONIC, &time);
      printf("%lld\\n", time.tv_sec * 1000000000LL + time.tv_nsec);
      fflush(stdout);
      *nothing = 1;
    }
    static void *run(void *) { use_stack(stay); return nullptr; }
    int main(int count, char **arguments) {
      if (count != 4) return 64;
    #ifdef BREAKPAD
      google_breakpad::MinidumpDescriptor descriptor(arguments[3]);
      google_breakpad::ExceptionHandler handler(descriptor, nullptr, nullptr, nullptr, true, -1);
    #endif
      if (strcmp(arguments[1], "memory") == 0) return show_memory(), 0;
      if (strcmp(arguments[1], "crash") != 0) return show_starts(arguments[1], atoi(arguments[2]));
      int threads = atoi(arguments[2]);
      pthread_barrier_init(&ready, nullptr, threads);
      for (int number = 1; number < threads; number++) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, run, nullptr) != 0) return 1;
      }
      use_stack(crash);
    }

    """
}
