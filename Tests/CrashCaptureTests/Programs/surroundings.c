// SPDX-License-Identifier: Apache-2.0
// surroundings MODE DATABASE [ARGUMENT ...]: programs that crash where system calls are filtered, or with threads that
// are hard to stop. Where the database is "none", nothing is captured.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CCrashCapture.h"

static void install(const char *database, uint32_t timeout) {
  if (strcmp(database, "none") == 0) return;
  char message[512];
  struct crash_capture_options options = {
      .database = database, .program_id = "surroundings", .stop_timeout = timeout};
  if (crash_capture_install(&options, message, sizeof message) == 0) return;
  fprintf(stderr, "surroundings: %s\n", message);
  _exit(99);
}

static void crash(void) { *(volatile int *)8 = 1; }

static atomic_int ready;

static void *stay(void *blocks) {
  if (blocks != NULL) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
  }
  atomic_fetch_add(&ready, 1);
  while (1) pause();
  return blocks;
}

static void start(void *(*function)(void *), void *argument, int count) {
  int expected = atomic_load(&ready) + count;
  for (int number = 0; number < count; number++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0) _exit(99);
  }
  while (atomic_load(&ready) < expected) usleep(1000);
}

// MARK: Filters

#define NAME(call) \
  { #call, SYS_##call }
static const struct {
  const char *name;
  int number;
} kCalls[] = {
    NAME(read),         NAME(write),       NAME(close),          NAME(fstat),       NAME(newfstatat),
    NAME(statx),        NAME(lseek),       NAME(rt_sigaction),   NAME(pread64),     NAME(rt_sigprocmask),
    NAME(pwrite64),     NAME(getpid),      NAME(fcntl),          NAME(ftruncate),   NAME(getrusage),
    NAME(sysinfo),      NAME(getppid),     NAME(getpriority),    NAME(prctl),       NAME(gettid),
    NAME(futex),        NAME(getdents64),  NAME(tgkill),         NAME(openat),      NAME(readlinkat),
    NAME(renameat2),    NAME(pipe2),       NAME(exit_group),     NAME(clone),       NAME(rt_tgsigqueueinfo),
    NAME(rt_sigreturn), NAME(nanosleep),   NAME(clock_gettime),  NAME(getrandom),   NAME(process_vm_readv),
    NAME(ptrace),       NAME(wait4),       NAME(mkdirat),        NAME(unlinkat),
#if defined(__x86_64__)
    NAME(arch_prctl),   NAME(open),        NAME(pipe),           NAME(rename),
#endif
};
enum { kCallCount = sizeof kCalls / sizeof *kCalls };

static int number_of(const char *name) {
  for (int index = 0; index < kCallCount; index++) {
    if (strcmp(kCalls[index].name, name) == 0) return kCalls[index].number;
  }
  fprintf(stderr, "surroundings: no call %s\n", name);
  _exit(98);
}

static unsigned outcome(const char *how) {
  if (strcmp(how, "errno") == 0) return SECCOMP_RET_ERRNO | EPERM;
  if (strcmp(how, "enosys") == 0) return SECCOMP_RET_ERRNO | ENOSYS;
  if (strcmp(how, "trap") == 0) return SECCOMP_RET_TRAP;
  return SECCOMP_RET_KILL_PROCESS;
}

// all_others: these are allowed and all others are not.
static void filter(const char *how, bool all_others, char **names, int count) {
  struct sock_filter code[64];
  int size = 0;
  unsigned named = all_others ? SECCOMP_RET_ALLOW : outcome(how);
  code[size++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int index = 0; index < count; index++) {
    code[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number_of(names[index]), 0, 1);
    code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, named);
  }
  code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, all_others ? outcome(how) : SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)size, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(97);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) _exit(97);
}

// "filter DATABASE SIGNAL HOW deny|allow CALL ..." with four threads, one of which blocks all signals.
static void crash_filtered(const char *database, char **arguments, int count) {
  if (count < 3) _exit(64);
  install(database, 300);
  start(stay, NULL, 3);
  start(stay, &ready, 1);
  filter(arguments[1], strcmp(arguments[2], "allow") == 0, arguments + 3, count - 3);
  if (strcmp(arguments[0], "abort") == 0) abort();
  crash();
}

// MARK: Threads

static void *crash_alone(void *argument) {
  usleep(20000);
  crash();
  return argument;
}

static void *wait_in_vfork(void *argument) {
  atomic_fetch_add(&ready, 1);
  pid_t child = vfork();
  if (child == 0) {
    // Longer than any capture may take.
    alarm(5);
    while (1) syscall(SYS_pause);
  }
  return argument;
}

// Counts those of SIGPROF that it reads.
static atomic_int stop_signals;
static atomic_bool is_over;
static void *read_signals(void *argument) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  int file = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
  atomic_fetch_add(&ready, 1);
  while (!atomic_load(&is_over)) {
    struct pollfd event = {file, POLLIN, 0};
    poll(&event, 1, 50);
    struct signalfd_siginfo information;
    while (read(file, &information, sizeof information) == sizeof information) {
      if (information.ssi_signo == SIGPROF) atomic_fetch_add(&stop_signals, 1);
    }
  }
  atomic_fetch_sub(&ready, 1);
  return argument;
}

static int read_during_dumps(const char *database) {
  install(database, 0);
  start(stay, NULL, 2);
  start(read_signals, NULL, 1);
  for (int number = 0; number < 20; number++) {
    if (crash_capture_dump(NULL, NULL, 0) != 0) return 96;
  }
  atomic_store(&is_over, true);
  while (atomic_load(&ready) > 2) usleep(1000);
  printf("%d\n", atomic_load(&stop_signals));
  return 0;
}

// A thread that blocks the stop signal when the handler is installed, and no longer afterwards.
static atomic_int unblocks;
static void *unblock_later(void *argument) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  atomic_fetch_add(&ready, 1);
  while (atomic_load(&unblocks) == 0) usleep(1000);
  pthread_sigmask(SIG_UNBLOCK, &all, NULL);
  atomic_fetch_add(&ready, 1);
  while (1) pause();
  return argument;
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  const char *mode = argv[1];
  const char *database = argv[2];
  if (strcmp(mode, "filter") == 0) {
    crash_filtered(database, argv + 3, argc - 3);
  } else if (strcmp(mode, "leader") == 0) {
    install(database, 30000);
    start(stay, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, crash_alone, NULL);
    pthread_exit(NULL);
  } else if (strcmp(mode, "vfork") == 0) {
    install(database, 2000);
    start(wait_in_vfork, NULL, 4);
    usleep(20000);
    crash();
  } else if (strcmp(mode, "signalfd") == 0) {
    return read_during_dumps(database);
  } else if (strcmp(mode, "late") == 0) {
    start(unblock_later, NULL, 1);
    install(database, 0);
    atomic_store(&unblocks, 1);
    while (atomic_load(&ready) < 2) usleep(1000);
    puts("unblocked");
    return 0;
  } else if (strcmp(mode, "unaligned") == 0) {
    install(database, 0);
    start(stay, NULL, 2);
#if defined(__x86_64__)
    __asm__ volatile("pushfq\n\torl $0x40000, (%rsp)\n\tpopfq\n\txor %eax, %eax\n\tmov %eax, (%rax)");
#endif
    crash();
  } else if (strcmp(mode, "lost") == 0) {
    install(database, 0);
#if defined(__x86_64__)
    __asm__ volatile("mov $0xdead00000000beef, %rax\n\tmov %rax, %rsp\n\tpush %rax");
#else
    __asm__ volatile("mov x0, #8\n\tmov sp, x0\n\tldr x0, [sp]");
#endif
  } else if (strcmp(mode, "plain") == 0) {
    install(database, 0);
    start(stay, NULL, 5);
    crash();
  }
  return 64;
}
