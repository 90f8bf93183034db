// SPDX-License-Identifier: Apache-2.0
// Precedes libc's functions for signal handlers, so that the capture still gets the signals of crashes after
// a program changes their handlers.
//
// If the program sets the default action, our handler is put into the kernel, and the program is still shown the
// default. So a handler that writes its own report, restores the default and raises the signal again leads to a dump;
// and runtimes that look for another handler at their start find none, and behave as they do without us.
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>

#include "../crash/go.h"
#include "../crash/handlers.h"
#include "../crash/held_signals.h"
#include "../crash/program_handlers.h"
#include "../crash/state.h"
#include "install.h"
#include "next.h"

typedef void plain_handler(int);
typedef int action_setter(int, const struct sigaction *, struct sigaction *);
typedef plain_handler *handler_setter(int, plain_handler *);

extern action_setter __interceptor_sigaction __attribute__((weak));
extern handler_setter __interceptor_signal __attribute__((weak));
// Second names of libc's functions, for static executables.
extern action_setter __sigaction __attribute__((weak));

static void *_Atomic real_sigaction;

// Handlers, masks and stacks are the program's own affair.
static bool is_passive;
static bool is_simulated;
// Java's libjsig comes next, and does the same for Java's handlers.
extern void *JVM_get_signal_action(int number) __attribute__((weak));

// Valgrind returns from a handler with the registers and the mask of a frame of its own, which must stay where it is.
static bool is_under_valgrind(void) {
  // The request and the instructions that Valgrind recognizes: valgrind.h, RUNNING_ON_VALGRIND. They change nothing
  // elsewhere.
  volatile uint64_t request[6] = {0x1001};
  uint64_t answer = 0;
#if defined(__x86_64__)
  __asm__ volatile("rolq $3, %%rdi\nrolq $13, %%rdi\nrolq $61, %%rdi\nrolq $51, %%rdi\nxchgq %%rbx, %%rbx"
                   : "+d"(answer)
                   : "a"(request)
                   : "cc", "memory");
#else
  register uint64_t result __asm__("x3") = 0;
  register volatile uint64_t *arguments __asm__("x4") = request;
  __asm__ volatile("ror x12, x12, #3\nror x12, x12, #13\nror x12, x12, #51\nror x12, x12, #61\norr x10, x10, x10"
                   : "+r"(result)
                   : "r"(arguments)
                   : "cc", "memory");
  answer = result;
#endif
  return answer != 0;
}

// MARK: Handlers

static action_setter *next_action(void) {
  return next_function(&real_sigaction, "sigaction", (void *)__interceptor_sigaction, (void *)__sigaction);
}

static struct signal_action action_of(const struct sigaction *action) {
  struct signal_action result = make_action((signal_handler *)action->sa_sigaction, 0, 0);
  // Keeps the flag of the restorer.
  result.flags &= ~(unsigned long)(SA_SIGINFO | SA_ONSTACK);
  result.flags |= (unsigned long)(unsigned)action->sa_flags;
  memcpy(&result.mask, &action->sa_mask, sizeof result.mask);
  return result;
}

static void show(const struct signal_action *action, struct sigaction *shown) {
  shown->sa_sigaction = (void (*)(int, siginfo_t *, void *))action->handler;
  shown->sa_flags = (int)action->flags;
  memset(&shown->sa_mask, 0, sizeof shown->sa_mask);
  memcpy(&shown->sa_mask, &action->mask, sizeof action->mask);
}

static int set_next_action(int number, const struct sigaction *action, struct sigaction *old) {
  action_setter *known = next_action();
  if (known != NULL) return known(number, action, old);
  // A static executable without libc's function.
  struct signal_action after = make_action(NULL, 0, 0);
  struct signal_action before = after;
  if (action != NULL) after = action_of(action);
  long result = set_action(number, action == NULL ? NULL : &after, &before);
  if (result == 0 && old != NULL) show(&before, old);
  if (result < 0) errno = (int)-result;
  return result < 0 ? -1 : 0;
}

bool leaves_handlers(void) { return is_passive; }
bool leaves_stacks(void) { return is_simulated; }

bool interposes(void) {
  const struct state *state = &crash_state;
  return atomic_load(&state->is_installed) && !is_passive && !(state->flags & CRASH_CAPTURE_NO_SIGNALS) &&
         is_own_process();
}

// Shows a handler of the program with the flags and the mask that it was set with. current: what the kernel has.
static void show_program(int number, signal_handler *handler, struct signal_action *current, struct sigaction *shown) {
  const struct program_action *program = &program_actions[number];
  current->handler = handler;
  current->flags = (current->flags & kRestorerFlag) | atomic_load(&program->flags);
  current->mask = atomic_load(&program->mask);
  show(current, shown);
}

// Gets the action that the program set, in place of the one that the kernel has.
static int get(int number, int place, struct sigaction *shown) {
  const struct signal_action *earlier = &crash_state.earlier[place];
  struct signal_action current = make_action(NULL, 0, 0);
  set_action(number, NULL, &current);
  bool is_crash = current.handler == handle_crash;
  if (current.handler == handle_go || (is_crash && (is_default(earlier) || is_ignored(earlier)))) {
    show(earlier, shown);
    return 0;
  }
  // Our handler calls the handler that was set before it.
  if (is_crash) {
    show(&current, shown);
    return 0;
  }
  if (current.handler != call_once && current.handler != call_program) return set_next_action(number, NULL, shown);
  show_program(number, atomic_load(&program_handlers[place]), &current, shown);
  return 0;
}

static int set_own(int number, int place, const struct sigaction *action, const struct signal_action *own) {
  crash_state.earlier[place] = action_of(action);
  long result = set_action(number, own, NULL);
  if (result < 0) errno = (int)-result;
  return result < 0 ? -1 : 0;
}

// A sanitizer that this code is linked with keeps handlers of its own.
static bool follows(void) { return FOLLOWS_HANDLERS && __interceptor_sigaction == NULL; }

static void remember(int number, const struct sigaction *action) {
  atomic_store(&program_actions[number].flags, (unsigned long)(unsigned)action->sa_flags);
  atomic_store(&program_actions[number].mask, first_word_of(&action->sa_mask));
}

// Gives the kernel a handler of this library with the program's flags and mask. The kernel blocks all of the mask at
// first: a second signal is not to come before this one is noted.
static int set_followed(int number, const struct sigaction *action, signal_handler *caller) {
  struct sigaction changed = *action;
  // The kernel writes the cause of a fault only for handlers that ask for it, and this handler may call ours.
  changed.sa_flags |= SA_SIGINFO;
  if (follows()) changed.sa_flags |= SA_ONSTACK;
  if (crash_signal_index(number) >= 0) changed.sa_flags &= ~(int)SA_RESETHAND;
  changed.sa_sigaction = caller;
  return set_next_action(number, &changed, NULL);
}

static int set(int number, int place, const struct sigaction *action) {
  signal_handler *handler = (signal_handler *)action->sa_sigaction;
  uint64_t bit = signal_bit(number);
  if (action->sa_handler == SIG_IGN) {
    atomic_fetch_or(&crash_state.ignored_signals, bit);
  } else {
    atomic_fetch_and(&crash_state.ignored_signals, ~bit);
  }
  // The signal that ends the process after a capture is not captured again.
  if (crash_was_handed_over()) return set_next_action(number, action, NULL);
  if (action->sa_handler == SIG_DFL) {
    struct signal_action own = own_action();
    return set_own(number, place, action, &own);
  }
  if (action->sa_handler == SIG_IGN || is_own_handler(handler)) return set_next_action(number, action, NULL);
  if (go_owns((uintptr_t)handler)) {
    struct signal_action own = own_action();
    own.handler = handle_go;
    return set_own(number, place, action, &own);
  }
  remember(number, action);
  atomic_store(&program_handlers[place], handler);
  signal_handler *caller = action->sa_flags & (int)SA_RESETHAND ? call_once : call_program;
  return set_followed(number, action, caller);
}

// MARK: Other signals

// Whether this library's stack or the program's mask of faults matters for the action.
static bool is_followed(const struct sigaction *action) {
  bool has_handler = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
  bool hides = (first_word_of(&action->sa_mask) & fault_signals()) != 0;
  return has_handler && (hides || (action->sa_flags & SA_ONSTACK));
}

static int get_other(int number, struct sigaction *shown) {
  struct signal_action current = make_action(NULL, 0, 0);
  bool is_known = set_action(number, NULL, &current) == 0;
  bool is_held = is_known && find_held_action(number, &current);
  if (is_known && current.handler == call_other) {
    show_program(number, atomic_load(&other_handlers[number]), &current, shown);
    return 0;
  }
  if (!is_held) return set_next_action(number, NULL, shown);
  show(&current, shown);
  return 0;
}

static int set_other(int number, const struct sigaction *action) {
  signal_handler *handler = (signal_handler *)action->sa_sigaction;
  // A program that asked the kernel itself for its handler was shown ours, which goes on calling the program's.
  if (!is_followed(action) || is_own_handler(handler)) return set_next_action(number, action, NULL);
  // Go takes the stack that the kernel has for its own, without libc, and ends the process if a handler runs elsewhere.
  if (go_owns((uintptr_t)handler)) return set_next_action(number, action, NULL);
  // libc refuses its own signals, and others that have no action.
  struct sigaction current;
  if (set_next_action(number, NULL, &current) != 0) return -1;
  remember(number, action);
  atomic_store(&other_handlers[number], handler);
  return set_followed(number, action, call_other);
}

// For signals that are no crash.
static int exchange_other(int number, const struct sigaction *action, struct sigaction *old) {
  if (number <= 0 || number >= kSignals || !follows()) return set_next_action(number, action, old);
  struct sigaction before;
  if (old != NULL && get_other(number, &before) != 0) return -1;
  if (action != NULL && set_other(number, action) != 0) return -1;
  if (old != NULL) *old = before;
  return 0;
}

EXPORTED int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  int place = crash_signal_index(number);
  if (!interposes()) return set_next_action(number, action, old);
  if (place < 0) return exchange_other(number, action, old);
  struct sigaction before;
  if (old != NULL && get(number, place, &before) != 0) return -1;
  if (action != NULL && set(number, place, action) != 0) return -1;
  if (old != NULL) *old = before;
  return 0;
}

void give_handlers_back(void) {
  if (!interposes()) return;
  for (int number = 1; number < kSignals; number++) {
    struct signal_action current = make_action(NULL, 0, 0);
    struct sigaction own;
    if (set_action(number, NULL, &current) != 0 || !is_own_handler(current.handler)) continue;
    if (sigaction(number, NULL, &own) == 0) set_next_action(number, &own, NULL);
  }
}

static plain_handler *replace(int number, plain_handler *handler, int flags) {
  struct sigaction action;
  struct sigaction old;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  // As libc does for signal(), but not for the other two.
  if (flags == SA_RESTART) sigaddset(&action.sa_mask, number);
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// The handler of the program where libc's function found ours.
static plain_handler *shown_handler(int number, plain_handler *handler) {
  struct signal_action found = make_action((signal_handler *)(uintptr_t)handler, 0, 0);
  if (find_held_action(number, &found)) handler = (plain_handler *)(uintptr_t)found.handler;
  if ((uintptr_t)handler != (uintptr_t)call_other) return handler;
  return (plain_handler *)(uintptr_t)atomic_load(&other_handlers[number]);
}

// Sets crash signals through our sigaction, and other signals through the function behind ours.
static plain_handler *set_plain(int number, plain_handler *handler, const char *name, void *_Atomic *known,
                                void *interceptor, int flags) {
  if (handler != SIG_ERR && crash_signal_index(number) >= 0) return replace(number, handler, flags);
  handler_setter *setter = next_function(known, name, interceptor, NULL);
  return setter != NULL ? shown_handler(number, setter(number, handler)) : replace(number, handler, flags);
}

EXPORTED plain_handler *signal(int number, plain_handler *handler) {
  static void *_Atomic known;
  return set_plain(number, handler, "signal", &known, (void *)__interceptor_signal, SA_RESTART);
}
EXPORTED plain_handler *bsd_signal(int number, plain_handler *handler) { return signal(number, handler); }
EXPORTED plain_handler *ssignal(int number, plain_handler *handler) { return signal(number, handler); }

EXPORTED plain_handler *__sysv_signal(int number, plain_handler *handler) {
  static void *_Atomic known;
  return set_plain(number, handler, "__sysv_signal", &known, NULL, (int)(SA_RESETHAND | SA_NODEFER));
}
EXPORTED plain_handler *sysv_signal(int number, plain_handler *handler) { return __sysv_signal(number, handler); }

EXPORTED plain_handler *sigset(int number, plain_handler *handler) {
  static void *_Atomic known;
  handler_setter *setter = next_function(&known, "sigset", NULL, NULL);
  if (crash_signal_index(number) < 0 && setter != NULL) return shown_handler(number, setter(number, handler));
  sigset_t one;
  sigset_t before;
  sigemptyset(&one);
  if (sigaddset(&one, number) != 0) return SIG_ERR;
  struct sigaction old;
  bool is_held = handler == SIG_HOLD;
  if (sigaction(number, NULL, &old) != 0 || sigprocmask(is_held ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) != 0) {
    return SIG_ERR;
  }
  if (!is_held && replace(number, handler, 0) == SIG_ERR) return SIG_ERR;
  return sigismember(&before, number) == 1 ? SIG_HOLD : old.sa_handler;
}

void interpose_install(void) {
  is_simulated = is_under_valgrind();
  is_passive = is_simulated || JVM_get_signal_action != NULL;
  if (is_simulated) probe_by_copies();
  next_action();
  masks_install();
  waits_install();
  contexts_install();
  programs_install();
  aborts_install();
}
