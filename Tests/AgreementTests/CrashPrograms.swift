// SPDX-License-Identifier: Apache-2.0
/// Programs that crash in the way that their first argument says, for `CrashedProgram`.
enum CrashPrograms {
  /// A function without a frame pointer that calls back.
  static let library = """
    static int total;
    int visit(int (*each)(int, void *), int count, void *context) {
      char values[200];
      int sum = 0;
      for (int index = 0; index < count; index++) {
        values[index] = (char)index;
        sum += each(values[index], context);
      }
      total += sum;
      return sum;
    }
    """

  static let cKinds = ["leaf", "deep", "library", "abort", "handler", "handler-stack", "null-call", "thread"]

  /// Seven threads wait, each in another situation, when the first one crashes: in a recursion, in a callback of the
  /// library, in a signal handler, in a loop, in three system calls.
  static let c = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/resource.h>
    #include <sys/syscall.h>
    #include <time.h>
    #include <unistd.h>
    #define NOINLINE __attribute__((noinline))
    int visit(int (*each)(int, void *), int count, void *context);
    static pthread_barrier_t ready;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    static int *volatile nowhere;
    static int (*volatile nothing)(int);
    static volatile int sink;
    static long ids[7];
    static int tubes[2];

    NOINLINE static int leaf(int *p) { return *p + 1; }
    NOINLINE static int recurse(int depth, int (*bottom)(int)) {
      volatile int local = depth;
      if (depth == 0) return bottom(depth) + local;
      return recurse(depth - 1, bottom) + local;
    }
    NOINLINE static int wait_long(int value) {
      for (;;) pause();
      return value;
    }
    NOINLINE static int fault(int value) { return leaf(nowhere) + value; }
    NOINLINE static int call_nothing(int value) { return nothing(value) + 1; }
    NOINLINE static int give_up(int value) {
      if (value >= 0) abort();
      return value;
    }
    static int pause_in_callback(int value, void *context) {
      return value < 2 ? value : wait_long(value) + *(int *)context;
    }
    static int fault_in_callback(int value, void *context) {
      return value < 2 ? value : fault(value) + *(int *)context;
    }
    static void wait_in_handler(int number) { sink = wait_long(number); }
    static void abort_in_handler(int number) { sink = give_up(number); }

    NOINLINE static int situation(long number) {
      int context = 3;
      char byte;
      struct timespec time = {1000, 0};
      switch (number) {
      case 0: return recurse(100, wait_long);
      case 1: return visit(pause_in_callback, 5, &context);
      case 2: return raise(SIGUSR1);
      case 3: for (;;) sink++;
      case 4: return nanosleep(&time, 0);
      case 5:
        pthread_mutex_lock(&mutex);
        return pthread_cond_wait(&never, &mutex);
      default: return (int)read(tubes[0], &byte, 1);
      }
    }
    static void *run(void *argument) {
      ids[(long)argument] = syscall(SYS_gettid);
      pthread_barrier_wait(&ready);
      sink = situation((long)argument);
      return argument;
    }
    /* Whether a thread is in a system call that waits: most likely its last one. */
    static int sleeps(long id) {
      char name[64], text[256] = "";
      snprintf(name, sizeof name, "/proc/self/task/%ld/stat", id);
      int file = open(name, O_RDONLY);
      if (file < 0) return 0;
      if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
      close(file);
      char *end = strrchr(text, ')');
      return end && end[1] && end[2] == 'S';
    }
    static void start_threads(void) {
      pthread_barrier_init(&ready, 0, 8);
      if (pipe(tubes)) exit(2);
      for (long index = 0; index < 7; index++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, run, (void *)index)) exit(2);
      }
      pthread_barrier_wait(&ready);
      for (int attempt = 0; attempt < 10000; attempt++) {
        int count = 0;
        for (int index = 0; index < 7; index++) count += index == 3 || sleeps(ids[index]);
        if (count == 7) break;
        usleep(1000);
      }
    }
    static void *crash_in_thread(void *argument) {
      sink = call_nothing(1);
      return argument;
    }
    int main(int argc, char **argv) {
      const char *kind = argc > 1 ? argv[1] : "";
      struct rlimit limit;
      getrlimit(RLIMIT_CORE, &limit);
      limit.rlim_cur = limit.rlim_max;
      setrlimit(RLIMIT_CORE, &limit);
      struct sigaction action = {.sa_handler = wait_in_handler};
      sigaction(SIGUSR1, &action, 0);
      start_threads();
      int context = 4;
      if (!strcmp(kind, "leaf")) sink = fault(1);
      if (!strcmp(kind, "deep")) sink = recurse(1000, fault);
      if (!strcmp(kind, "library")) sink = visit(fault_in_callback, 5, &context);
      if (!strcmp(kind, "abort")) sink = give_up(1);
      if (!strcmp(kind, "handler") || !strcmp(kind, "handler-stack")) {
        stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
        int own = kind[7] != 0;
        if (own) sigaltstack(&stack, 0);
        action.sa_handler = abort_in_handler;
        action.sa_flags = own ? SA_ONSTACK : 0;
        sigaction(SIGSEGV, &action, 0);
        sink = recurse(5, fault);
      }
      if (!strcmp(kind, "null-call")) sink = call_nothing(1);
      if (!strcmp(kind, "thread")) {
        pthread_t thread;
        pthread_create(&thread, 0, crash_in_thread, 0);
        pthread_join(thread, 0);
      }
      return 1;
    }
    """

  static let cxxKinds = ["uncaught", "noexcept", "pure"]

  /// Uncaught exceptions, out of inlined calls and in another thread; a pure virtual function.
  static let cxx = """
    #include <stdexcept>
    #include <string>
    #include <thread>
    #include <vector>
    #include <sys/resource.h>
    #define NOINLINE __attribute__((noinline))
    namespace shop {
    struct Depth { int *n; ~Depth() { --*n; } };
    struct Shape {
      Shape() { twice(); }
      virtual ~Shape();
      virtual int area(int) const = 0;
      NOINLINE int twice() const { return area(2) * 2; }
    };
    Shape::~Shape() {}
    struct Square : Shape { int area(int x) const override { return x * x; } };
    template <int N> struct Ladder {
      static int climb(int x, int *depth) {
        Depth guard{++*depth ? depth : depth};
        return Ladder<N - 1>::climb(x + N, depth) + *depth;
      }
    };
    template <> struct Ladder<0> {
      NOINLINE static int climb(int x, int *) {
        if (x > 0) throw std::runtime_error("too high: " + std::to_string(x));
        return x;
      }
    };
    NOINLINE int each(const std::vector<int> &list) {
      int depth = 0, sum = 0;
      auto add = [&](int x) { sum += Ladder<4>::climb(x, &depth); };
      for (int x : list) add(x);
      return sum;
    }
    NOINLINE int quiet(const std::vector<int> &list) noexcept { return each(list) + 1; }
    }
    int main(int argc, char **argv) {
      struct rlimit limit;
      getrlimit(RLIMIT_CORE, &limit);
      limit.rlim_cur = limit.rlim_max;
      setrlimit(RLIMIT_CORE, &limit);
      std::string kind = argc > 1 ? argv[1] : "";
      int result = 0;
      if (kind == "uncaught") std::thread([&] { result = shop::each({-100, 3}); }).join();
      if (kind == "noexcept") result = shop::quiet({-50, 7});
      if (kind == "pure") result = shop::Square().area(argc);
      return result;
    }
    """
}
