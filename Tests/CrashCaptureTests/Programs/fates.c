// SPDX-License-Identifier: Apache-2.0
// Crashes in every way, in every place, beside every kind of handler that books teach:
//   fates KIND PLACE HANDLER
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *kind;
static const char *handler;
static sigjmp_buf start;
static volatile int jumps;

static void say(const char *text) {
  if (write(2, text, strlen(text)) < 0) _exit(9);
}

static int deep(int depth) {
  volatile char room[4096];
  memset((char *)room, depth, sizeof room);
  return deep(depth + 1) + room[7];
}

static void crash(void) {
  if (strcmp(kind, "segv") == 0) *(volatile int *)16 = 1;
  if (strcmp(kind, "abort") == 0) abort();
  if (strcmp(kind, "bus") == 0) {
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(tmpfile()), 0);
    page[5000] = 1;
  }
  if (strcmp(kind, "fpe") == 0) {
    volatile int zero = 0;
    printf("%d", 5 / zero);
  }
  if (strcmp(kind, "ill") == 0) __builtin_trap();
  if (strcmp(kind, "trap") == 0) raise(SIGTRAP);
  if (strcmp(kind, "sys") == 0) syscall(SYS_tgkill, getpid(), gettid(), SIGSYS);
  if (strcmp(kind, "deep") == 0) deep(0);
  if (strcmp(kind, "raise") == 0) raise(SIGSEGV);
}

static void ends(int number) {
  say("handler ends\n");
  signal(number, SIG_DFL);
  raise(number);
}

static void logs(int number) {
  (void)number;
  static volatile int times;
  say("handler logs\n");
  if (times++ == 3) _exit(7);
}

static void jumps_out(int number) {
  (void)number;
  say("handler jumps\n");
  siglongjmp(start, 1);
}

static void crashes(int number) {
  (void)number;
  say("handler crashes\n");
  *(volatile int *)24 = 1;
}

static void set(void (*function)(int), int flags, int is_full) {
  const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
  struct sigaction action = {.sa_handler = function, .sa_flags = flags};
  if (is_full) sigfillset(&action.sa_mask);
  for (unsigned index = 0; index < sizeof numbers / sizeof *numbers; index++) sigaction(numbers[index], &action, NULL);
}

static void install(void) {
  if (strncmp(handler, "own-", 4) == 0) {
    stack_t stack = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
    sigaltstack(&stack, NULL);
    handler += 4;
  }
  if (strcmp(handler, "ends") == 0) set(ends, 0, 0);
  if (strcmp(handler, "ends-full") == 0) set(ends, 0, 1);
  if (strcmp(handler, "ends-onstack") == 0) set(ends, SA_ONSTACK, 0);
  if (strcmp(handler, "ends-once") == 0) set(ends, (int)SA_RESETHAND, 0);
  if (strcmp(handler, "ends-inside") == 0) set(ends, SA_NODEFER, 0);
  if (strcmp(handler, "ends-inside-onstack") == 0) set(ends, SA_NODEFER | SA_ONSTACK, 0);
  if (strcmp(handler, "logs") == 0) set(logs, 0, 0);
  if (strcmp(handler, "logs-onstack") == 0) set(logs, SA_ONSTACK, 1);
  if (strcmp(handler, "jumps") == 0) set(jumps_out, 0, 0);
  if (strcmp(handler, "jumps-onstack") == 0) set(jumps_out, SA_ONSTACK, 1);
  if (strcmp(handler, "crashes") == 0) set(crashes, 0, 0);
  if (strcmp(handler, "crashes-full") == 0) set(crashes, SA_ONSTACK, 1);
}

static void *run(void *unused) {
  install();
  // The second jump is the last: the third crash finds the default action.
  if (sigsetjmp(start, 1) != 0 && ++jumps == 2) {
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  }
  crash();
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  kind = argv[1];
  handler = argv[3];
  if (strcmp(argv[2], "main") == 0) run(NULL);
  pthread_t thread;
  if (strcmp(argv[2], "thread") == 0) {
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(argv[2], "child") == 0) {
    pid_t child = fork();
    if (child == 0) {
      run(NULL);
      _exit(5);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 100 + WEXITSTATUS(status);
  }
  return 6;
}
