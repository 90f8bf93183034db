// SPDX-License-Identifier: Apache-2.0
// Signals as POSIX and Linux have them: each mode says what it saw, and ends by itself or by a crash.
//   semantics list     prints the modes
//   semantics MODE
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static int errno_at_start;
static const char *own_path;
static sigjmp_buf place;
static volatile sig_atomic_t calls;

static void say(const char *format, int number) {
  char line[128];
  int length = snprintf(line, sizeof line, format, number);
  if (write(1, line, (size_t)length) < 0) _exit(9);
}

static void say_masks(const char *where) {
  sigset_t blocked, pending;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  sigpending(&pending);
  say(where, calls);
  for (int number = 1; number < 32; number++) {
    if (sigismember(&blocked, number) == 1) say(" blocked %d", number);
    if (sigismember(&pending, number) == 1) say(" pending %d", number);
  }
  say("\n", 0);
}

static void crash(void) { *(volatile int *)16 = 1; }

static void note(int number) {
  calls++;
  say("handler of %d\n", number);
  say_masks("in the handler:");
}

static void leave(int number) {
  say("left by %d\n", number);
  _exit(3);
}

static void set(int number, void (*handler)(int), int flags, int masked) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  if (masked > 0) sigaddset(&action.sa_mask, masked);
  if (masked < 0) sigfillset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

static sigset_t only(int number) {
  sigset_t signals;
  sigemptyset(&signals);
  if (number != 0) sigaddset(&signals, number);
  return signals;
}

static void block(int number) {
  sigset_t signals = only(number);
  if (number == 0) sigfillset(&signals);
  sigprocmask(SIG_BLOCK, &signals, NULL);
}

static void unblock(int number) {
  sigset_t signals = only(number);
  sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

// MARK: Masks

static void jump_restores_the_mask(void) {
  set(SIGSEGV, leave, 0, 0);
  if (sigsetjmp(place, 1) == 0) {
    block(0);
    siglongjmp(place, 1);
  }
  say_masks("after the jump:");
  crash();
}

static void jump_blocks_again(void) {
  block(SIGSEGV);
  if (sigsetjmp(place, 1) == 0) {
    unblock(SIGSEGV);
    siglongjmp(place, 1);
  }
  set(SIGSEGV, note, 0, 0);
  raise(SIGSEGV);
  say_masks("after the signal:");
}

static void jump_without_mask(void) {
  block(SIGBUS);
  if (sigsetjmp(place, 0) == 0) {
    unblock(SIGBUS);
    block(SIGFPE);
    siglongjmp(place, 1);
  }
  say_masks("after the jump:");
}

static void jump(int number) {
  calls += number == SIGSEGV;
  siglongjmp(place, 1);
}

static void jump_out_of_faults(void) {
  set(SIGSEGV, jump, 0, 0);
  for (volatile int turn = 0; turn < 500; turn++) {
    if (sigsetjmp(place, 1) == 0) crash();
  }
  say_masks("after the faults:");
}

static ucontext_t outer, inner;
static void in_context(void) {
  say_masks("in the context:");
  crash();
}

static void context_has_its_mask(void) {
  static char stack[64 << 10];
  set(SIGSEGV, leave, 0, 0);
  getcontext(&inner);
  inner.uc_stack.ss_sp = stack;
  inner.uc_stack.ss_size = sizeof stack;
  inner.uc_link = &outer;
  makecontext(&inner, in_context, 0);
  block(0);
  swapcontext(&outer, &inner);
}

static void context_blocks_again(void) {
  volatile int turn = 0;
  set(SIGSEGV, note, 0, 0);
  block(SIGSEGV);
  getcontext(&outer);
  if (turn++ == 0) {
    unblock(SIGSEGV);
    setcontext(&outer);
  }
  raise(SIGSEGV);
  say_masks("after the signal:");
}

static void prepare_wait(void) {
  set(SIGFPE, note, 0, 0);
  block(0);
  raise(SIGFPE);
  alarm(5);
}

static void suspend(void) {
  prepare_wait();
  sigset_t signals;
  sigfillset(&signals);
  sigdelset(&signals, SIGFPE);
  int result = sigsuspend(&signals);
  say("result %d", result);
  say(" error %d\n", errno);
  say_masks("after the wait:");
}

static void poll_with_a_mask(void) {
  prepare_wait();
  sigset_t none = only(0);
  struct timespec time = {5, 0};
  int result = ppoll(NULL, 0, &time, &none);
  say("result %d", result);
  say(" error %d\n", errno);
  say_masks("after the wait:");
}

static void select_with_a_mask(void) {
  prepare_wait();
  sigset_t none = only(0);
  struct timespec time = {5, 0};
  int result = pselect(0, NULL, NULL, NULL, &time, &none);
  say("result %d", result);
  say(" error %d\n", errno);
  say_masks("after the wait:");
}

static void epoll_with_a_mask(void) {
  prepare_wait();
  sigset_t none = only(0);
  struct epoll_event event;
  int result = epoll_pwait(epoll_create1(EPOLL_CLOEXEC), &event, 1, 5000, &none);
  say("result %d", result);
  say(" error %d\n", errno);
  say_masks("after the wait:");
}

static void *stay_blocked(void *unused) {
  for (;;) pause();
  return unused;
}

// Blocks all signals, also in another thread, and gets one from a child.
static pid_t receive_blocked(int number) {
  pthread_t thread;
  pid_t self = getpid();
  block(0);
  pthread_create(&thread, NULL, stay_blocked, NULL);
  pid_t child = fork();
  if (child == 0) {
    usleep(100000);
    _exit(kill(self, number));
  }
  alarm(10);
  return child;
}

static void wait_lets_an_abort_in(void) {
  sigset_t signals;
  receive_blocked(SIGABRT);
  sigfillset(&signals);
  sigdelset(&signals, SIGABRT);
  sigsuspend(&signals);
  say_masks("alive:");
}

static void threads_that_block_wait(void) {
  waitpid(receive_blocked(SIGILL), NULL, 0);
  usleep(100000);
  say_masks("blocked:");
  unblock(SIGILL);
  say_masks("alive:");
}

static void sender_of_a_taken_signal(void) {
  pid_t child = receive_blocked(SIGFPE);
  waitpid(child, NULL, 0);
  sigset_t signals = only(SIGFPE);
  siginfo_t taken;
  say("taken %d", sigwaitinfo(&signals, &taken));
  say(" of the child %d\n", taken.si_code == SI_USER && taken.si_pid == child);
}

static siginfo_t received;
static void keep(int number, siginfo_t *information, void *context) {
  (void)context;
  calls = number;
  received = *information;
}

static void sender_of_a_handled_signal(void) {
  struct sigaction action = {.sa_sigaction = keep, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
  pid_t child = receive_blocked(SIGBUS);
  waitpid(child, NULL, 0);
  unblock(SIGBUS);
  say("handled %d", calls);
  say(" of the child %d\n", received.si_code == SI_USER && received.si_pid == child);
}

static void two_signals_wait(void) {
  set(SIGSEGV, note, 0, 0);
  block(SIGSEGV);
  raise(SIGSEGV);
  sigqueue(getpid(), SIGSEGV, (union sigval){.sival_int = 5});
  say_masks("blocked:");
  unblock(SIGSEGV);
  say_masks("after both:");
}

static void *stay_awake(void *argument) {
  for (int count = 0; count < 20; count++) usleep(10000);
  return argument;
}

// Another thread would take the signal, if it were sent to the process.
static void queued_to_one_thread(void) {
  struct sigaction action = {.sa_sigaction = keep, .sa_flags = SA_SIGINFO};
  sigaction(SIGFPE, &action, NULL);
  pthread_t other;
  pthread_create(&other, NULL, stay_awake, NULL);
  block(SIGFPE);
  pthread_sigqueue(pthread_self(), SIGFPE, (union sigval){.sival_int = 7});
  usleep(50000);
  say_masks("queued:");
  say("called %d\n", calls);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGFPE);
  siginfo_t information = {0};
  const struct timespec time = {0, 50000000};
  say("taken %d", sigtimedwait(&set, &information, &time));
  say(" value %d\n", information.si_value.sival_int);
  pthread_join(other, NULL);
}

static void hold(void) {
  sighold(SIGSEGV);
  say_masks("held:");
  crash();
}

// MARK: Handlers

static void masked_handler_crashes(void) {
  set(SIGALRM, (void (*)(int))crash, 0, -1);
  raise(SIGALRM);
}

static void partly_masked_handler_crashes(void) {
  set(SIGALRM, (void (*)(int))crash, 0, SIGSEGV);
  raise(SIGALRM);
}

static void handler_crashes(void) {
  set(SIGSEGV, (void (*)(int))crash, 0, 0);
  crash();
}

static void actions_are_shown(void) {
  const int flags[] = {0, SA_SIGINFO, (int)SA_RESETHAND, SA_RESTART, SA_NODEFER, SA_ONSTACK, SA_ONSTACK | SA_SIGINFO};
  for (unsigned index = 0; index < sizeof flags / sizeof *flags; index++) {
    for (int number = SIGSEGV; number <= SIGUSR2; number++) {
      struct sigaction action;
      set(number, note, flags[index], SIGBUS);
      sigaction(number, NULL, &action);
      say("flags %x", action.sa_flags);
      say(" own %d", action.sa_handler == note);
      say(" masked %d\n", sigismember(&action.sa_mask, SIGBUS));
    }
  }
}

static void plain_functions_show_handlers(void) {
  sighandler_t (*const setters[])(int, sighandler_t) = {signal, ssignal, sysv_signal, sigset};
  const int numbers[] = {SIGSEGV, SIGABRT, SIGUSR1, SIGTERM};
  for (unsigned index = 0; index < sizeof setters / sizeof *setters; index++) {
    for (unsigned place = 0; place < sizeof numbers / sizeof *numbers; place++) {
      set(numbers[place], note, SA_ONSTACK, SIGBUS);
      sighandler_t earlier = setters[index](numbers[place], SIG_IGN);
      say("own %d\n", earlier == note);
      set(numbers[place], earlier, SA_ONSTACK, SIGBUS);
      raise(numbers[place]);
    }
  }
}

static void abort_handler_returns(void) {
  set(SIGABRT, note, 0, 0);
  abort();
}

// The C library calls its own abort().
static void assertion_handler_returns(void) {
  set(SIGABRT, note, 0, 0);
  // Which it prints.
  program_invocation_short_name = "program";
  assert(calls > 0);
}

static void heap_handler_returns(void) {
  set(SIGABRT, note, 0, -1);
  void *piece = malloc(64);
  free(piece);
  free(piece);
}

static void abort_is_ignored(void) {
  signal(SIGABRT, SIG_IGN);
  abort();
}

static void raised_abort_goes_on(void) {
  set(SIGABRT, note, 0, 0);
  for (int turn = 0; turn < 3; turn++) {
    if (sigsetjmp(place, 1) == 0 && turn == 0) {
      set(SIGABRT, jump, 0, 0);
      abort();
    }
    set(SIGABRT, note, 0, 0);
    raise(SIGABRT);
  }
  say_masks("alive:");
}

// MARK: Stacks

static void use_stack(int number) {
  volatile char room[300 << 10];
  memset((char *)room, number, sizeof room);
  stack_t stack;
  sigaltstack(NULL, &stack);
  const char *low = stack.ss_sp;
  int is_on = !(stack.ss_flags & SS_DISABLE) && (char *)room >= low && (char *)room < low + stack.ss_size;
  say("on an alternate stack: %d\n", is_on);
}

static void *use_stack_in_thread(void *unused) {
  raise(SIGUSR1);
  raise(SIGSEGV);
  return unused;
}

static void room_for_handlers(void) {
  pthread_t thread;
  set(SIGUSR1, use_stack, SA_ONSTACK, 0);
  set(SIGSEGV, use_stack, SA_ONSTACK, 0);
  use_stack_in_thread(NULL);
  pthread_create(&thread, NULL, use_stack_in_thread, NULL);
  pthread_join(thread, NULL);
}

static void alternate_stack_of_the_program(void) {
  stack_t none = {.ss_flags = SS_DISABLE};
  stack_t own = {.ss_sp = malloc(512 << 10), .ss_size = 512 << 10};
  stack_t old;
  sigaltstack(NULL, &old);
  say("at first: %d", old.ss_flags);
  say(" of %d bytes\n", (int)old.ss_size);
  sigaltstack(&own, &old);
  say("before: %d\n", old.ss_flags);
  set(SIGUSR1, use_stack, SA_ONSTACK, 0);
  raise(SIGUSR1);
  sigaltstack(&none, &old);
  say("removed: %d\n", old.ss_sp == own.ss_sp);
  raise(SIGUSR1);
  own.ss_flags = SS_DISABLE + 1;
  say("wrong flags: %d", sigaltstack(&own, NULL));
  say(" error %d\n", errno);
}

static int deep(int depth) {
  volatile char room[4096];
  memset((char *)room, depth, sizeof room);
  return deep(depth + 1) + room[7];
}

static void overflow_with_a_handler(void) {
  set(SIGSEGV, leave, 0, 0);
  deep(0);
}

static void overflow_after_removal(void) {
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  deep(0);
}

// MARK: Threads

static int overflow_in_c11(void *unused) {
  (void)unused;
  return deep(0);
}

static void c11_thread(void) {
  thrd_t thread;
  thrd_create(&thread, overflow_in_c11, NULL);
  thrd_join(thread, NULL);
}

static int answer(void *number) { return *(int *)number + 1; }

static void c11_results(void) {
  thrd_t thread;
  int number = 41;
  int result = 0;
  thrd_create(&thread, answer, &number);
  thrd_join(thread, &result);
  say("result %d\n", result);
}

static void *crash_in_thread(void *unused) {
  say_masks("in the thread:");
  crash();
  return unused;
}

static void thread_with_a_mask(void) {
  pthread_attr_t attributes;
  sigset_t signals;
  pthread_t thread;
  sigfillset(&signals);
  pthread_attr_init(&attributes);
  pthread_attr_setsigmask_np(&attributes, &signals);
  pthread_create(&thread, &attributes, crash_in_thread, NULL);
  pthread_join(thread, NULL);
}

static void on_time(union sigval value) {
  say("value %d\n", value.sival_int);
  crash();
}

static void timer_in_a_thread(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_time};
  event.sigev_value.sival_int = 17;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec soon = {.it_value = {0, 1000000}};
  timer_settime(timer, 0, &soon, NULL);
  sleep(5);
}

// MARK: Programs

static void exec_inherits(void) {
  block(0);
  signal(SIGFPE, SIG_IGN);
  execl(own_path, own_path, "show", NULL);
}

static void exec_that_fails(void) {
  set(SIGSEGV, note, 0, 0);
  block(SIGSEGV);
  execl("/nowhere", "nowhere", NULL);
  say_masks("still here:");
  raise(SIGSEGV);
  say_masks("after the signal:");
  unblock(SIGSEGV);
}

extern char **environ;

static void spawn_inherits(void) {
  char *arguments[] = {(char *)own_path, "show", NULL};
  pid_t child;
  int status;
  block(SIGSEGV);
  posix_spawn(&child, own_path, NULL, NULL, arguments, environ);
  waitpid(child, &status, 0);
  say("status %d\n", status);
  say_masks("afterwards:");
}

static void system_inherits(void) {
  char command[4096];
  snprintf(command, sizeof command, "exec '%s' show", own_path);
  block(SIGBUS);
  say("status %d\n", system(command));
  FILE *pipe = popen(command, "w");
  say("status %d\n", pclose(pipe));
  say_masks("afterwards:");
}

// As Python's subprocess does.
static void vfork_with_a_mask(void) {
  sigset_t all, old;
  int status;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  pid_t child = vfork();
  if (child == 0) {
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    execl(own_path, own_path, "show", NULL);
    _exit(9);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  waitpid(child, &status, 0);
  child = vfork();
  if (child == 0) {
    execl(own_path, own_path, "show", NULL);
    _exit(9);
  }
  waitpid(child, &status, 0);
  say_masks("afterwards:");
}

static void show(void) {
  say_masks("started:");
  for (int number = 1; number < 32; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL) say("ignored %d\n", number);
  }
}

// MARK: The surroundings

static void errno_at_the_start(void) { say("errno %d\n", errno_at_start); }

// Those of the test's process are closed first, by a program that this one becomes: how many there are is chance.
static void descriptors(void) {
  if (getenv("HAS_NO_OTHERS") == NULL) {
    for (int number = 3; number < 1024; number++) close(number);
    setenv("HAS_NO_OTHERS", "1", 1);
    execl(own_path, own_path, "descriptors", (char *)NULL);
  }
  for (int number = 3; number < 1024; number++) {
    if (fcntl(number, F_GETFD) >= 0) say("open %d\n", number);
  }
}

static void limits(rlim_t size) {
  struct rlimit limit = {size, size};
  setrlimit(RLIMIT_FSIZE, &limit);
  crash();
}
static void small_files(void) { limits(4096); }
static void no_files(void) { limits(0); }

static void no_descriptors(void) {
  struct rlimit limit = {0, 0};
  setrlimit(RLIMIT_NOFILE, &limit);
  crash();
}

static void all_descriptors(void) {
  struct rlimit limit = {64, 64};
  setrlimit(RLIMIT_NOFILE, &limit);
  while (dup(1) >= 0) {
  }
  crash();
}

static void say_end_of_child(void (*run)(void)) {
  pid_t child = fork();
  if (child == 0) {
    run();
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  say("the child ended by %d\n", WTERMSIG(status));
}

// A child of fork makes its file only at its crash, or where it could not then.
static void child_without_descriptors(void) { say_end_of_child(no_descriptors); }

static void refuse_to_open(void) {
  struct sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
#if defined(SYS_open)
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 1),
#else
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
#endif
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof instructions / sizeof *instructions, instructions};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
  crash();
}
static void child_that_may_not_open(void) { say_end_of_child(refuse_to_open); }

// Writes "foreign bytes". The text is in the memory of the program for the call alone: dumps have the memory beside registers.
static void write_foreign_bytes(int number) {
  volatile char text[13];
  for (size_t index = 0; index < sizeof text; index++) text[index] = "gpsfjho!czuft"[index] - 1;
  (void)!write(number, (const void *)text, sizeof text);
  for (size_t index = 0; index < sizeof text; index++) text[index] = 0;
}

// The handler's descriptors are open under so low a limit. Then the program writes to each that is open.
static void foreign_bytes(void (*end)(void)) {
  struct rlimit limit = {62, 62};
  setrlimit(RLIMIT_NOFILE, &limit);
  for (int number = 3; number < 62; number++) {
    if (fcntl(number, F_GETFD) >= 0) write_foreign_bytes(number);
  }
  end();
}
static void stop(void) { raise(SIGKILL); }
static void nothing(void) {}
static void foreign_bytes_and_a_crash(void) { foreign_bytes(crash); }
static void foreign_bytes_and_an_end(void) { foreign_bytes(nothing); }
static void foreign_bytes_and_a_kill(void) { foreign_bytes(stop); }

static void strict_filter(void) {
  prctl(PR_SET_SECCOMP, 1, 0, 0, 0);
  crash();
}

static void strict_filter_with_a_handler(void) {
  set(SIGSEGV, leave, SA_ONSTACK, -1);
  strict_filter();
}

static void damaged_thread_pointer(void) {
#if defined(__x86_64__)
  const int kSetFS = 0x1002;
  syscall(SYS_arch_prctl, kSetFS, 0xdead000);
#endif
  crash();
}

static void damaged_thread_pointer_with_a_handler(void) {
  set(SIGSEGV, leave, SA_ONSTACK, -1);
  damaged_thread_pointer();
}

static void *answer_for_a_key(void *number) { return (char *)number + 1; }

// A program may have each of its keys, and threads end as before.
static void all_keys(void) {
  pthread_key_t keys[1100];
  int count = 0;
  while (count < 1100 && pthread_key_create(&keys[count], NULL) == 0) count++;
  // The linked client has a runtime that needs one.
  say("keys %d\n", count + (strncmp(program_invocation_short_name, "linked", 6) == 0));
  for (int turn = 0; turn < 100; turn++) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, answer_for_a_key, NULL);
    pthread_join(thread, &result);
    calls += result == (void *)1;
    for (int index = 0; index < count; index++) calls += pthread_getspecific(keys[index]) != NULL;
  }
  say("threads %d\n", calls);
  pthread_key_delete(keys[7]);
  tss_t other;
  say("again %d", tss_create(&other, NULL));
  say(" none %d\n", tss_create(&other, NULL));
  crash();
}

// The kernel reports it after the instruction, which does not run again.
static void trap_after_its_instruction(void) {
#if defined(__x86_64__)
  __asm__ volatile("int $4");
  say("went on after %d\n", 4);
#else
  crash();
#endif
}

static void tight(int number) {
  volatile char room[3000];
  memset((char *)room, number, sizeof room);
  __sync_fetch_and_add(&calls, 1);
  for (;;) pause();
}

static void *stand_on_a_small_stack(void *unused) {
  stack_t own = {.ss_sp = malloc(8 << 10), .ss_size = 8 << 10};
  sigaltstack(&own, NULL);
  pthread_kill(pthread_self(), SIGUSR1);
  return unused;
}

static void threads_on_small_stacks(void) {
  pthread_t thread;
  set(SIGUSR1, tight, SA_ONSTACK, 0);
  for (int count = 0; count < 3; count++) pthread_create(&thread, NULL, stand_on_a_small_stack, NULL);
  while (calls < 3) usleep(1000);
  crash();
}

// Has a child send the signal to this process until it ends: it is pending when the capture has ended.
static void receive_often(int number) {
  pid_t self = getpid();
  if (fork() != 0) return;
  while (getppid() == self) {
    kill(self, number);
    usleep(200);
  }
  _exit(0);
}

static void *stay(void *unused) {
  for (;;) pause();
  return unused;
}

static void count(int number) { calls = calls + (number != 0); }

// As the timer of a profiler does.
static void profiled_to_the_end(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, stay, NULL);
  set(SIGPROF, count, SA_RESTART, 0);
  receive_often(SIGPROF);
  while (calls < 3) usleep(1000);
  crash();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t crashes;

static void take_lock(int number) {
  calls = number;
  if (crashes) pthread_mutex_lock(&lock);
}

static void *stay_with_the_lock(void *unused) {
  pthread_mutex_lock(&lock);
  calls = 1;
  return stay(unused);
}

static void handler_needs_a_stopped_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, stay_with_the_lock, NULL);
  while (calls == 0) usleep(1000);
  set(SIGALRM, take_lock, SA_RESTART, 0);
  receive_often(SIGALRM);
  while (calls == 1) usleep(1000);
  crashes = 1;
  crash();
}

enum { kBroughtSize = 1 << 20, kBroughtPage = 4096 };
static int faults;

static void *bring_pages(void *unused) {
  struct pollfd waiting = {faults, POLLIN, 0};
  struct uffd_msg message;
  while (poll(&waiting, 1, -1) > 0) {
    if (read(faults, &message, sizeof message) != sizeof message) continue;
    uint64_t page = message.arg.pagefault.address & ~(uint64_t)(kBroughtPage - 1);
    struct uffdio_zeropage brought = {{page, kBroughtPage}, 0, 0};
    ioctl(faults, UFFDIO_ZEROPAGE, &brought);
  }
  return unused;
}

// A thread of the program brings each page when it is first touched. The capture, which stopped that thread, would wait for
// a page forever.
static void pages_of_a_stopped_thread(void) {
  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
  // Not all machines allow it.
  if (faults < 0) crash();
  struct uffdio_api api = {UFFD_API, 0, 0};
  ioctl(faults, UFFDIO_API, &api);
  void *memory = mmap(NULL, kBroughtSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register region = {{(uint64_t)memory, kBroughtSize}, UFFDIO_REGISTER_MODE_MISSING, 0};
  ioctl(faults, UFFDIO_REGISTER, &region);
  pthread_t thread;
  pthread_create(&thread, NULL, bring_pages, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory, kBroughtSize);
  pthread_create(&thread, &attributes, crash_in_thread, NULL);
  pthread_join(thread, NULL);
}

static const struct {
  const char *name;
  void (*run)(void);
} modes[] = {
#define MODE(name) \
  { #name, name }
    MODE(jump_restores_the_mask),
    MODE(jump_blocks_again),
    MODE(jump_without_mask),
    MODE(jump_out_of_faults),
    MODE(context_has_its_mask),
    MODE(context_blocks_again),
    MODE(suspend),
    MODE(poll_with_a_mask),
    MODE(select_with_a_mask),
    MODE(epoll_with_a_mask),
    MODE(wait_lets_an_abort_in),
    MODE(threads_that_block_wait),
    MODE(sender_of_a_taken_signal),
    MODE(sender_of_a_handled_signal),
    MODE(two_signals_wait),
    MODE(queued_to_one_thread),
    MODE(hold),
    MODE(masked_handler_crashes),
    MODE(partly_masked_handler_crashes),
    MODE(handler_crashes),
    MODE(actions_are_shown),
    MODE(plain_functions_show_handlers),
    MODE(abort_handler_returns),
    MODE(assertion_handler_returns),
    MODE(heap_handler_returns),
    MODE(abort_is_ignored),
    MODE(raised_abort_goes_on),
    MODE(room_for_handlers),
    MODE(alternate_stack_of_the_program),
    MODE(overflow_with_a_handler),
    MODE(overflow_after_removal),
    MODE(c11_thread),
    MODE(c11_results),
    MODE(thread_with_a_mask),
    MODE(timer_in_a_thread),
    MODE(exec_inherits),
    MODE(exec_that_fails),
    MODE(spawn_inherits),
    MODE(system_inherits),
    MODE(vfork_with_a_mask),
    MODE(show),
    MODE(errno_at_the_start),
    MODE(descriptors),
    MODE(small_files),
    MODE(no_files),
    MODE(no_descriptors),
    MODE(all_descriptors),
    MODE(child_without_descriptors),
    MODE(child_that_may_not_open),
    MODE(foreign_bytes_and_a_crash),
    MODE(foreign_bytes_and_an_end),
    MODE(foreign_bytes_and_a_kill),
    MODE(strict_filter),
    MODE(strict_filter_with_a_handler),
    MODE(damaged_thread_pointer),
    MODE(damaged_thread_pointer_with_a_handler),
    MODE(all_keys),
    MODE(threads_on_small_stacks),
    MODE(profiled_to_the_end),
    MODE(trap_after_its_instruction),
    MODE(handler_needs_a_stopped_thread),
    MODE(pages_of_a_stopped_thread),
};

int main(int argc, char **argv) {
  errno_at_start = errno;
  own_path = argv[0];
  for (unsigned index = 0; index < sizeof modes / sizeof *modes && argc > 1; index++) {
    if (strcmp(argv[1], "list") == 0) puts(modes[index].name);
    if (strcmp(argv[1], modes[index].name) == 0) modes[index].run();
  }
  return 0;
}
