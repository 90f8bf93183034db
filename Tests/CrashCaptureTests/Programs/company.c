// SPDX-License-Identifier: Apache-2.0
// company MODE DATABASE [NUMBER]: programs whose threads, children or place in the system get into a handler's way.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CCrashCapture.h"

static void install(const char *database) {
  char message[512];
  struct crash_capture_options options = {.database = database, .program_id = "company"};
  if (crash_capture_install(&options, message, sizeof message) == 0) return;
  fprintf(stderr, "company: %s\n", message);
  _exit(99);
}

static void crash(void) { *(volatile int *)8 = 1; }

static pthread_t start(void *(*function)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, NULL) != 0) _exit(99);
  return thread;
}

static void *stay(void *argument) {
  while (1) pause();
  return argument;
}

// MARK: A thread that takes all signals

static atomic_int taker;

// Any signal ends the program in good order.
static void *take_signals(void *argument) {
  atomic_store(&taker, (int)syscall(SYS_gettid));
  sigset_t all;
  sigfillset(&all);
  int number = 0;
  sigwait(&all, &number);
  fprintf(stderr, "company: signal %d\n", number);
  exit(number == SIGTERM ? 0 : 98);
  return argument;
}

// Until that thread waits, also again, after a dump: a machine that is busy takes its time.
static void wait_for_taker(void) {
  char path[64] = "", text[32], number[16];
  snprintf(number, sizeof number, "%ld ", (long)SYS_rt_sigtimedwait);
  while (atomic_load(&taker) == 0) usleep(1000);
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", atomic_load(&taker));
  while (1) {
    FILE *file = fopen(path, "r");
    if (file == NULL) return;
    bool waits = fgets(text, sizeof text, file) != NULL && strncmp(text, number, strlen(number)) == 0;
    fclose(file);
    if (waits) return;
    usleep(1000);
  }
}

// "waiting" crashes; "waiting-dumps" takes dumps, and ends by SIGTERM.
static void wait_for_signals(const char *database, bool crashes) {
  sigset_t most;
  sigfillset(&most);
  sigdelset(&most, SIGSEGV);
  pthread_sigmask(SIG_SETMASK, &most, NULL);
  // Before the handler, which looks for threads that run already.
  start(take_signals);
  wait_for_taker();
  install(database);
  start(stay);
  if (crashes) crash();
  for (int dumps = 0; dumps < 20; dumps++) {
    wait_for_taker();
    char path[4096];
    if (crash_capture_dump(NULL, path, sizeof path) != 0) _exit(97);
    if (dumps > 0) unlink(path);
  }
  kill(getpid(), SIGTERM);
  while (1) pause();
}

// MARK: Children

static atomic_bool ends;

static void *take_dumps(void *argument) {
  while (!atomic_load(&ends)) {
    char path[4096];
    if (crash_capture_dump(NULL, path, sizeof path) == 0) unlink(path);
  }
  return argument;
}

static void *annotate(void *argument) {
  char value[4000];
  memset(value, 'x', sizeof value - 1);
  value[sizeof value - 1] = 0;
  while (!atomic_load(&ends)) crash_capture_set_annotation("long", value);
  return argument;
}

static bool has_open(const struct stat *file) {
  for (int descriptor = 3; descriptor < 512; descriptor++) {
    struct stat status;
    if (fstat(descriptor, &status) == 0 && status.st_dev == file->st_dev && status.st_ino == file->st_ino) return true;
  }
  return false;
}

// Says how its children ended that it forked while its other threads were busy with the handler.
static void fork_children(const char *database, int count) {
  install(database);
  char path[4096];
  struct stat waiting;
  snprintf(path, sizeof path, "%s.locked", crash_capture_path());
  if (stat(path, &waiting) != 0) _exit(99);
  pthread_t threads[] = {start(take_dumps), start(annotate)};
  int crashed = 0;
  int others = 0;
  for (int made = 0; made < count; made++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      if (has_open(&waiting)) _exit(96);
      crash_capture_set_annotation("child", "yes");
      start(stay);
      crash();
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) _exit(99);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) {
      crashed++;
    } else if (others++ < 10) {
      fprintf(stderr, "company: a child ended with %#x\n", (unsigned)status);
    }
  }
  atomic_store(&ends, true);
  for (int index = 0; index < 2; index++) pthread_join(threads[index], NULL);
  printf("%d crashed\n", crashed);
  exit(others == 0 ? 0 : 1);
}

// MARK: The end

static atomic_bool goes;
static int delay;

static void *crash_soon(void *argument) {
  atomic_store(&goes, true);
  for (volatile int step = 0; step < delay; step++) {
  }
  crash();
  return argument;
}

static void exit_meanwhile(const char *database, int number) {
  install(database);
  delay = number;
  start(crash_soon);
  while (!atomic_load(&goes)) {
  }
  exit(0);
}

// MARK: Process 1

static atomic_long ticks;

static void *tick(void *argument) {
  while (1) {
    atomic_fetch_add(&ticks, 1);
    usleep(1000);
  }
  return argument;
}

static void be_first(const char *database) {
  install(database);
  if (getpid() != 1) _exit(99);
  start(tick);
  // Both leave the program as it was. One that comes in the midst of a capture would count as a fault of that.
  char command[512];
  snprintf(
      command, sizeof command,
      "wait_for() { until [ $(ls %s/pending-serialized-ios-dump | grep -vc 'locked$') = $1 ]; do sleep 0.1; done; }; "
      "kill -ABRT 1; wait_for 1; kill -SEGV 1; wait_for 2",
      database);
  if (system(command) != 0) _exit(99);
  usleep(100000);
  long before = atomic_load(&ticks);
  usleep(300000);
  printf("%s\n", atomic_load(&ticks) > before ? "goes on" : "stands");
  fflush(stdout);
  crash();
}

// MARK: Ignored signals

static void ignore(const char *database) {
  signal(SIGTRAP, SIG_IGN);
  install(database);
  // Sent: nothing happens.
  raise(SIGTRAP);
  printf("sent\n");
  fflush(stdout);
#if defined(__x86_64__)
  __asm__ volatile("int3");
#else
  __asm__ volatile("brk #0");
#endif
  printf("survived\n");
  exit(0);
}

// MARK: A signal that would end the program while it crashes

static atomic_int crasher;
static int sent;

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// The handler that the kernel has.
static uint64_t handler_of(int number) {
  uint64_t action[4] = {0};
  syscall(SYS_rt_sigaction, number, NULL, action, sizeof *action);
  return action[0];
}

static bool blocks(int thread, int number) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
  FILE *file = fopen(path, "r");
  bool is_blocked = false;
  while (file != NULL && fgets(text, sizeof text, file) != NULL) {
    unsigned long mask;
    if (sscanf(text, "SigBlk: %lx", &mask) == 1) is_blocked = mask >> (number - 1) & 1;
  }
  if (file != NULL) fclose(file);
  return is_blocked;
}

// No stop signal reaches this thread. It sends its own one when the other thread is in the handler, and, if the handler
// has an action for it, when that is set.
static void *end_meanwhile(void *argument) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &stop, NULL);
  uint64_t before = handler_of(sent);
  int thread;
  while ((thread = atomic_load(&crasher)) == 0) usleep(100);
  while (!blocks(thread, sent)) usleep(100);
  // A thread that sleeps is given up sooner than one that runs.
  for (double end = seconds() + 0.01; seconds() < end && handler_of(sent) == before;) continue;
  kill(getpid(), sent);
  return stay(argument);
}

static void end_by_signal(int number) {
  dprintf(1, "signal %d\n", number);
  _exit(7);
}

static void go_on(int number) {
  (void)number;
  stay(NULL);
}

// how: "default", "handled" or "survived", for a program that goes on after its crash.
static void end_in_crash(const char *database, int number, const char *how) {
  sent = number;
  if (strcmp(how, "default") != 0) signal(number, end_by_signal);
  if (strcmp(how, "survived") == 0) signal(SIGSEGV, go_on);
  start(end_meanwhile);
  for (int count = 0; count < 100; count++) start(stay);
  install(database);
  atomic_store(&crasher, (int)syscall(SYS_gettid));
  crash();
}

int main(int count, char **arguments) {
  if (count < 3) return 64;
  const char *mode = arguments[1];
  const char *database = arguments[2];
  int number = count > 3 ? atoi(arguments[3]) : 0;
  if (strcmp(mode, "waiting") == 0) wait_for_signals(database, true);
  if (strcmp(mode, "waiting-dumps") == 0) wait_for_signals(database, false);
  if (strcmp(mode, "fork") == 0) fork_children(database, number);
  if (strcmp(mode, "exit") == 0) exit_meanwhile(database, number);
  if (strcmp(mode, "first") == 0) be_first(database);
  if (strcmp(mode, "ignored") == 0) ignore(database);
  if (strcmp(mode, "ended") == 0) end_in_crash(database, number, arguments[4]);
  return 64;
}
