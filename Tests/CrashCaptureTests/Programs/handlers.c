// SPDX-License-Identifier: Apache-2.0
// What programs do with the signals of crashes: handlers.c MODE prints what it sees, and may crash.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *text) {
  if (write(1, text, strlen(text)) < 0) _exit(90);
}

static void fault(void) { *(volatile int *)(uintptr_t)8 = 1; }

static const int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
enum { kCount = sizeof kSignals / sizeof *kSignals };

static const char *name_of(void (*handler)(int)) {
  return handler == SIG_DFL ? "default" : handler == SIG_IGN ? "ignored" : handler == SIG_ERR ? "error" : "a handler";
}

static void restore_and_raise(int number) {
  say("handler\n");
  signal(number, SIG_DFL);
  raise(number);
}
static void restore_and_return(int number) {
  say("handler\n");
  signal(number, SIG_DFL);
}
static void just_return(int number) {
  (void)number;
  say("handler\n");
}
static void raise_again(int number) {
  say("handler\n");
  kill(getpid(), number);
}

// What the kernel has, which libc's function may not show.
static uintptr_t kernel_handler(int number) {
  struct {
    uintptr_t handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
  } action = {0};
  syscall(SYS_rt_sigaction, number, NULL, &action, sizeof action.mask);
  return action.handler;
}

static uintptr_t earlier;
static void call_with_one_argument(int number) {
  say("handler\n");
  // What stands in the registers of the other two.
  if (earlier > 1) ((void (*)(int, intptr_t, intptr_t))earlier)(number, 1, 1);
  signal(number, SIG_DFL);
  raise(number);
}

static void *fault_in_thread(void *argument) {
  fault();
  return argument;
}

static void ask(void) {
  for (int index = 0; index < kCount; index++) {
    struct sigaction action;
    memset(&action, 0xff, sizeof action);
    if (sigaction(kSignals[index], NULL, &action) != 0) say("no answer\n");
    printf("%d %s %s\n", kSignals[index], name_of(action.sa_handler), name_of(signal(kSignals[index], SIG_DFL)));
  }
}

static void show(int number) {
  struct sigaction action;
  sigaction(number, NULL, &action);
  int flags = action.sa_flags & (int)(SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_RESTART | SA_ONSTACK);
  printf("%s %x %d\n", action.sa_handler == just_return ? "own" : name_of(action.sa_handler), (unsigned)flags,
         sigismember(&action.sa_mask, SIGUSR1));
}

static void set_and_show(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = just_return;
  sigaddset(&action.sa_mask, SIGUSR1);
  for (int index = 0; index < kCount; index++) {
    action.sa_flags = (int)(index % 2 == 0 ? SA_RESETHAND | SA_NODEFER : SA_RESTART);
    sigaction(kSignals[index], &action, NULL);
    show(kSignals[index]);
    printf("%s\n", name_of(signal(kSignals[index], just_return)));
    show(kSignals[index]);
    printf("%s\n", name_of(signal(kSignals[index], SIG_IGN)));
    show(kSignals[index]);
    printf("%s\n", name_of(sysv_signal(kSignals[index], just_return)));
    show(kSignals[index]);
    printf("%s\n", name_of(signal(kSignals[index], SIG_DFL)));
    show(kSignals[index]);
  }
}

static void ignore(void) {
  for (int index = 0; index < kCount; index++) {
    signal(kSignals[index], SIG_IGN);
    kill(getpid(), kSignals[index]);
    if (kSignals[index] != SIGABRT) raise(kSignals[index]);
  }
  say("alive\n");
}

static void print_mask(int how, const sigset_t *mask) {
  sigset_t old;
  pthread_sigmask(how, mask, &old);
  for (int number = 1; number < 65; number++) {
    if (sigismember(&old, number) == 1) printf(" %d", number);
  }
  printf("\n");
}

static void *print_inherited_mask(void *argument) {
  print_mask(SIG_BLOCK, NULL);
  return argument;
}

static void masks(void) {
  sigset_t all;
  sigset_t some;
  sigfillset(&all);
  sigemptyset(&some);
  sigaddset(&some, SIGSEGV);
  sigaddset(&some, SIGABRT);
  sigaddset(&some, SIGUSR1);
  print_mask(SIG_BLOCK, &some);
  print_mask(SIG_SETMASK, &all);
  pthread_t thread;
  fflush(stdout);
  pthread_create(&thread, NULL, print_inherited_mask, NULL);
  pthread_join(thread, NULL);
  print_mask(SIG_UNBLOCK, &some);
  print_mask(SIG_SETMASK, &some);
  print_mask(SIG_BLOCK, NULL);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    print_mask(SIG_BLOCK, NULL);
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void wait_for_sent(void) {
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &faults, NULL);
  kill(getpid(), SIGSEGV);
  raise(SIGBUS);
  sigset_t pending;
  sigpending(&pending);
  printf("pending %d %d\n", sigismember(&pending, SIGSEGV), sigismember(&pending, SIGBUS));
  for (int count = 0; count < 2; count++) {
    siginfo_t information;
    int number = sigwaitinfo(&faults, &information);
    printf("%d code %d from %s\n", number, information.si_code, information.si_pid == getpid() ? "itself" : "another");
  }
  sigpending(&pending);
  printf("pending %d %d\n", sigismember(&pending, SIGSEGV), sigismember(&pending, SIGBUS));
  fflush(stdout);
  kill(getpid(), SIGSEGV);
  say("still alive\n");
  pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
  say("not reached\n");
}

static void install(void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGSEGV, &action, NULL);
}

int main(int count, char **arguments) {
  const char *mode = count > 1 ? arguments[1] : "";
  if (strcmp(mode, "ask") == 0) ask();
  if (strcmp(mode, "show") == 0) set_and_show();
  if (strcmp(mode, "ignore") == 0) ignore();
  if (strcmp(mode, "masks") == 0) masks();
  if (strcmp(mode, "sent") == 0) wait_for_sent();
  fflush(stdout);
  if (strcmp(mode, "raises") == 0) install(restore_and_raise, SA_NODEFER);
  if (strcmp(mode, "returns") == 0) install(restore_and_return, 0);
  if (strcmp(mode, "once") == 0) install(just_return, (int)SA_RESETHAND);
  if (strcmp(mode, "once-raises") == 0) install(raise_again, (int)(SA_RESETHAND | SA_NODEFER));
  if (strcmp(mode, "one-argument") == 0) {
    earlier = kernel_handler(SIGSEGV);
    install(call_with_one_argument, SA_NODEFER);
  }
  if (strcmp(mode, "blocked-handled") == 0) install(just_return, 0);
  if (strcmp(mode, "blocked") == 0 || strcmp(mode, "blocked-handled") == 0) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, fault_in_thread, NULL);
    pthread_join(thread, NULL);
  }
  if (strchr("rob", mode[0]) != NULL && mode[0] != 0) fault();
  return 7;
}
