// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CrashKinds.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// What the compiler may know nothing about.
static volatile unsigned long zero = 0;

__attribute__((noinline)) void kind_null(void) { *(volatile int *)zero = 1; }

__attribute__((noinline)) void kind_wild(void) { *(volatile int *)(zero + 0xdeadbeef0000UL) = 1; }

__attribute__((noinline)) void kind_abort(void) { abort(); }

__attribute__((noinline)) void kind_assert(void) {
  // As assert(3) calls it, in release builds too.
  __assert_fail("zero == 1", "kinds.c", __LINE__, "kind_assert");
}

__attribute__((noinline)) static unsigned long recurse(unsigned long depth) {
  volatile char frame[512];
  frame[depth % sizeof frame] = (char)depth;
  return recurse(depth + 1) + (unsigned long)frame[depth % sizeof frame];
}

__attribute__((noinline)) void kind_stack_overflow(void) { zero = recurse(0); }

__attribute__((noinline)) void kind_double_free(void) {
  void *volatile block = malloc(100);
  free(block);
  free(block);
}

__attribute__((noinline)) void kind_heap_overflow(void) {
  volatile unsigned long size = 5000;
  char *block = malloc(size);
  char *next = malloc(size);
  memset(block, 0x41, size + 16 + zero);
  free(next);
  free(block);
}

__attribute__((noinline)) void kind_bus(void) {
  int file = memfd_create("truncated", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, 4096) != 0) _exit(99);
  volatile char *mapping = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapping == MAP_FAILED || ftruncate(file, 0) != 0) _exit(99);
  mapping[8] = 1;
}

__attribute__((noinline)) void kind_fpe(void) {
#if defined(__x86_64__)
  volatile int one = 1;
  volatile int result = one / (int)zero;
  (void)result;
#endif
  // arm64 divides by zero without a word.
  raise(SIGFPE);
}

__attribute__((noinline)) void kind_illegal(void) { __builtin_trap(); }

__attribute__((noinline)) void kind_trap(void) {
#if defined(__x86_64__)
  __asm__ volatile("int3");
#else
  __asm__ volatile("brk #0");
#endif
}

__attribute__((noinline)) void kind_sys(void) { raise(SIGSYS); }

__attribute__((noinline)) void kind_smash(void) {
  extern void __stack_chk_fail(void);
  __stack_chk_fail();
}

__attribute__((noinline)) void kind_jump_null(void) { ((void (*volatile)(void))zero)(); }

__attribute__((noinline)) void kind_raise(int signal) {
  if (raise(signal) != 0) _exit(99);
}

// MARK: Threads

static int started;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void say_started(void) {
  pthread_mutex_lock(&mutex);
  started++;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
}

static void await_started(int count) {
  pthread_mutex_lock(&mutex);
  while (started < count) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void stand_around(void) {
  for (;;) pause();
}

static volatile unsigned long spins;

__attribute__((noinline)) static void spin_around(void) {
  for (;;) spins++;
}

static void stand_in_handler(int signal) {
  (void)signal;
  say_started();
  stand_around();
}

// The frame that the handler's stack hides.
__attribute__((noinline)) static void interrupt_here(int blocks) {
  stack_t stack = {.ss_size = 64 << 10};
  stack.ss_sp = malloc(stack.ss_size);
  if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0) _exit(98);
  struct sigaction action = {.sa_handler = stand_in_handler, .sa_flags = SA_ONSTACK};
  if (blocks) sigfillset(&action.sa_mask);
  int signal = blocks ? SIGUSR2 : SIGUSR1;
  if (sigaction(signal, &action, NULL) != 0 || raise(signal) != 0) _exit(98);
}

static void *stay(void *argument) {
  enum thread_kind kind = (enum thread_kind)(long)argument;
  if (kind == THREAD_IN_HANDLER || kind == THREAD_IN_HANDLER_BLOCKING) {
    interrupt_here(kind == THREAD_IN_HANDLER_BLOCKING);
    _exit(98);
  }
  if (kind == THREAD_BLOCKS_SIGNALS || kind == THREAD_SPINS_BLOCKING) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
  }
  say_started();
  if (kind == THREAD_SPINS || kind == THREAD_SPINS_BLOCKING) spin_around();
  stand_around();
  return NULL;
}

void start_threads(int count, enum thread_kind kind, unsigned long stack_size) {
  static const char *names[] = {"waits", "blocks", "spins", "spins-blocking", "in-handler", "in-handler-b"};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_size) pthread_attr_setstacksize(&attributes, stack_size);
  int wanted = started + count;
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, stay, (void *)(long)kind) != 0) {
      perror("pthread_create");
      _exit(98);
    }
    char name[32];
    snprintf(name, sizeof name, "%s-%d", names[kind], i);
    pthread_setname_np(thread, name);
    pthread_detach(thread);
  }
  pthread_attr_destroy(&attributes);
  await_started(wanted);
}

static void *run_body(void *argument) {
  void (*body)(void);
  memcpy(&body, &argument, sizeof body);
  body();
  return NULL;
}

void run_on_other_thread(void (*body)(void)) {
  pthread_t thread;
  void *argument;
  memcpy(&argument, &body, sizeof body);
  if (pthread_create(&thread, NULL, run_body, argument) != 0) _exit(98);
  pthread_setname_np(thread, "crashing");
  pthread_join(thread, NULL);
}

static pthread_barrier_t barrier;

static void *crash_together(void *argument) {
  tell_ids("two-threads");
  pthread_barrier_wait(&barrier);
  kind_null();
  return argument;
}

void kind_two_threads(void) {
  pthread_t threads[2];
  pthread_barrier_init(&barrier, NULL, 2);
  for (int i = 0; i < 2; i++) {
    if (pthread_create(&threads[i], NULL, crash_together, NULL) != 0) _exit(98);
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

void kind_in_child(int uses_vfork) {
  pid_t child = uses_vfork ? vfork() : fork();
  if (child == 0) {
    kind_null();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 97);
}

int kind_crash_in_child(void) {
  pid_t child = fork();
  if (child == 0) {
    kind_null();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

// MARK: What the surroundings forbid

void close_files(void) {
  for (int descriptor = 3; descriptor < 1024; descriptor++) close(descriptor);
}

// Of all threads: the ways to read memory and registers, and to make processes.
int forbid_calls(const char *how) {
  unsigned action = SECCOMP_RET_ERRNO | EPERM;
  if (strcmp(how, "trap") == 0) action = SECCOMP_RET_TRAP;
  if (strcmp(how, "kill") == 0) action = SECCOMP_RET_KILL_PROCESS;
  const unsigned calls[] = {SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace, SYS_clone, SYS_clone3};
  const unsigned count = sizeof calls / sizeof *calls;
  struct sock_filter filter[2 + 2 * (sizeof calls / sizeof *calls)];
  unsigned end = 0;
  filter[end++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned call = 0; call < count; call++) {
    filter[end++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[call], 0, 1);
    filter[end++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
  }
  filter[end++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)end, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0 ? 0 : errno;
}

// MARK: Another crash reporter

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
static struct sigaction earlier[65];
static int restores_default;

static void other_handler(int signal, siginfo_t *info, void *context) {
  char text[] = "other handler: signal 00\n";
  text[22] = (char)('0' + signal / 10);
  text[23] = (char)('0' + signal % 10);
  if (write(2, text, sizeof text - 1) < 0) _exit(99);
  struct sigaction *old = &earlier[signal];
  if (!restores_default && (old->sa_flags & SA_SIGINFO) && old->sa_sigaction) {
    old->sa_sigaction(signal, info, context);
    return;
  }
  if (!restores_default && !(old->sa_flags & SA_SIGINFO) && old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
    old->sa_handler(signal);
    return;
  }
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(signal, &action, NULL);
  if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), gettid(), signal);
}

void install_other_handler(int uses_default) {
  restores_default = uses_default;
  for (unsigned long i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction action = {.sa_sigaction = other_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(signals[i], &action, &earlier[signals[i]]);
  }
}

// MARK: The rest

void tell_ids(const char *kind) {
  char text[200];
  int count = snprintf(text, sizeof text, "%s pid %d thread %d\n", kind, (int)getpid(), (int)gettid());
  if (write(1, text, (size_t)count) != count) _exit(99);
}

void say(int descriptor, const char *text) {
  if (write(descriptor, text, strlen(text)) < 0) _exit(99);
}

void wait_forever(void) { stand_around(); }

long count_entries(const char *directory) {
  long count = 0;
  DIR *names = opendir(directory);
  if (names == NULL) return -1;
  while (readdir(names) != NULL) count++;
  closedir(names);
  return count;
}

long count_lines(const char *file) {
  long count = 0;
  FILE *lines = fopen(file, "r");
  if (lines == NULL) return -1;
  for (int byte; (byte = fgetc(lines)) != EOF;) count += byte == '\n';
  fclose(lines);
  return count;
}
