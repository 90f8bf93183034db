// SPDX-License-Identifier: Apache-2.0
// Precedes libc's functions for signal handlers and masks, so that the capture still gets the signals of crashes after
// a program changes their handlers or masks.
//
// If the program sets the default action, our handler is put into the kernel, and the program is still shown the
// default. So a handler that writes its own report, restores the default and raises the signal again leads to a dump;
// and runtimes that look for another handler at their start find none, and behave as they do without us.
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>

#include "../crash/go.h"
#include "../crash/handlers.h"
#include "../crash/program_handlers.h"
#include "../crash/state.h"
#include "install.h"
#include "next.h"

typedef void plain_handler(int);
typedef int action_setter(int, const struct sigaction *, struct sigaction *);
typedef plain_handler *handler_setter(int, plain_handler *);
typedef int mask_setter(int, const sigset_t *, sigset_t *);

extern action_setter __interceptor_sigaction __attribute__((weak));
extern handler_setter __interceptor_signal __attribute__((weak));
extern mask_setter __interceptor_sigprocmask __attribute__((weak));
extern mask_setter __interceptor_pthread_sigmask __attribute__((weak));
// Second names of libc's functions, for static executables.
extern action_setter __sigaction __attribute__((weak));
extern mask_setter __sigprocmask __attribute__((weak));
extern mask_setter __pthread_sigmask __attribute__((weak));

static void *_Atomic real_sigaction;
static void *_Atomic real_sigprocmask;
static void *_Atomic real_pthread_sigmask;

// The flags of the handlers in program_handlers, as the program set them.
static _Atomic int program_flags[kCrashSignalCount];
// The signals that the program ignores.
static _Atomic uint64_t ignored_by_program;
// Java's libjsig comes next, and does the same for Java's handlers.
static bool is_passive;
extern void *JVM_get_signal_action(int number) __attribute__((weak));

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

// False in a child that shares its parent's memory (vfork), whose handlers are the child's own.
static bool is_active(void) {
  const struct state *state = &crash_state;
  return atomic_load(&state->is_installed) && !is_passive && !(state->flags & CRASH_CAPTURE_NO_SIGNALS) &&
         is_captured_process();
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
  if (set_next_action(number, NULL, shown) != 0) return -1;
  signal_handler *handler = (signal_handler *)shown->sa_sigaction;
  signal_handler *own = atomic_load(&program_handlers[place]);
  if (handler != call_once && handler != call_program) return 0;
  shown->sa_sigaction = (void (*)(int, siginfo_t *, void *))own;
  const int kChanged = SA_SIGINFO | (int)SA_RESETHAND;
  shown->sa_flags = (shown->sa_flags & ~kChanged) | (atomic_load(&program_flags[place]) & kChanged);
  return 0;
}

static int set_own(int number, int place, const struct sigaction *action, const struct signal_action *own) {
  crash_state.earlier[place] = action_of(action);
  long result = set_action(number, own, NULL);
  if (result < 0) errno = (int)-result;
  return result < 0 ? -1 : 0;
}

static int set(int number, int place, const struct sigaction *action) {
  signal_handler *handler = (signal_handler *)action->sa_sigaction;
  uint64_t bit = signal_bit(number);
  if (action->sa_handler == SIG_IGN) {
    atomic_fetch_or(&ignored_by_program, bit);
  } else {
    atomic_fetch_and(&ignored_by_program, ~bit);
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
  atomic_store(&program_flags[place], action->sa_flags);
  atomic_store(&program_handlers[place], handler);
  struct sigaction changed = *action;
  // The kernel writes the cause of a fault only for handlers that ask for it, and this handler may call ours.
  changed.sa_flags = (action->sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
  changed.sa_sigaction = action->sa_flags & (int)SA_RESETHAND ? call_once : call_program;
  return set_next_action(number, &changed, NULL);
}

EXPORTED int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  int place = crash_signal_index(number);
  if (place < 0 || !is_active()) return set_next_action(number, action, old);
  struct sigaction before;
  if (old != NULL && get(number, place, &before) != 0) return -1;
  if (action != NULL && set(number, place, action) != 0) return -1;
  if (old != NULL) *old = before;
  return 0;
}

static plain_handler *replace(int number, plain_handler *handler, int flags) {
  struct sigaction action;
  struct sigaction old;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (!(flags & SA_NODEFER)) sigaddset(&action.sa_mask, number);
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// Sets crash signals through our sigaction, and other signals through the function behind ours.
static plain_handler *set_plain(int number, plain_handler *handler, const char *name, void *_Atomic *known,
                                void *interceptor, int flags) {
  if (handler != SIG_ERR && crash_signal_index(number) >= 0) return replace(number, handler, flags);
  handler_setter *setter = next_function(known, name, interceptor, NULL);
  return setter != NULL ? setter(number, handler) : replace(number, handler, flags);
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
  if (crash_signal_index(number) < 0 && setter != NULL) return setter(number, handler);
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

// MARK: Masks

// Faults are raised even where their signals are blocked, and then the kernel ends the process without calling a
// handler. So the kernel's mask leaves them unblocked, and the mask that the program believes it has adds
// hidden_signals().

static uint64_t first_word(const sigset_t *set) {
  uint64_t word;
  memcpy(&word, set, sizeof word);
  return word;
}

static int set_mask(mask_setter *setter, int how, const sigset_t *mask, sigset_t *old) {
  uint64_t before = hidden_signals();
  uint64_t faults = mask == NULL ? 0 : first_word(mask) & fault_signals();
  // Most calls concern other signals.
  if ((before | faults) == 0 || !is_active()) return setter(how, mask, old);
  uint64_t hideable = faults & ~atomic_load(&ignored_by_program);
  sigset_t changed;
  int result;
  if (mask == NULL) {
    result = setter(how, NULL, old);
  } else {
    changed = *mask;
    uint64_t word = first_word(mask);
    if (how != SIG_UNBLOCK) word &= ~hideable;
    memcpy(&changed, &word, sizeof word);
    // Changed first, because a signal that arrives in between is sent again to where it is blocked.
    if (how == SIG_BLOCK) set_hidden_signals(before | hideable);
    if (how == SIG_UNBLOCK) set_hidden_signals(before & ~faults);
    if (how == SIG_SETMASK) set_hidden_signals(hideable);
    result = setter(how, &changed, old);
    if (result != 0) set_hidden_signals(before);
  }
  if (result != 0 || old == NULL) return result;
  uint64_t shown = first_word(old) | before;
  memcpy(old, &shown, sizeof shown);
  return 0;
}

// For a static executable without libc's function. Returns 0 or an errno value.
static int change_plain_mask(int how, const sigset_t *mask, sigset_t *old) {
  uint64_t before = 0;
  long result = change_mask(how, (const uint64_t *)mask, &before);
  if (result == 0 && old != NULL) {
    memset(old, 0, sizeof *old);
    memcpy(old, &before, sizeof before);
  }
  return (int)-result;
}

static mask_setter *next_process_mask(void) {
  return next_function(&real_sigprocmask, "sigprocmask", (void *)__interceptor_sigprocmask, (void *)__sigprocmask);
}

static mask_setter *next_thread_mask(void) {
  return next_function(&real_pthread_sigmask, "pthread_sigmask", (void *)__interceptor_pthread_sigmask,
                       (void *)__pthread_sigmask);
}

EXPORTED int sigprocmask(int how, const sigset_t *mask, sigset_t *old) {
  mask_setter *setter = next_process_mask();
  if (setter != NULL) return set_mask(setter, how, mask, old);
  int error = set_mask(change_plain_mask, how, mask, old);
  if (error != 0) errno = error;
  return error == 0 ? 0 : -1;
}

EXPORTED int pthread_sigmask(int how, const sigset_t *mask, sigset_t *old) {
  mask_setter *setter = next_thread_mask();
  return set_mask(setter == NULL ? change_plain_mask : setter, how, mask, old);
}

void interpose_install(void) {
  is_passive = JVM_get_signal_action != NULL;
  next_action();
  next_process_mask();
  next_thread_mask();
}
