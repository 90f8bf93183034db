// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "../crash/go.h"
#include "../crash/handlers.h"
#include "../crash/next.h"
#include "../crash/state.h"

#if __has_attribute(musttail)
#define TAIL_CALL __attribute__((musttail))
#else
#define TAIL_CALL
#endif
#define EXPORTED __attribute__((visibility("default")))

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

static struct {
  action_setter *_Atomic action;
  handler_setter *_Atomic signal;
  handler_setter *_Atomic system_v;
  handler_setter *_Atomic set;
  mask_setter *_Atomic process_mask;
  mask_setter *_Atomic thread_mask;
} next;

// The program's own handlers, as it set them, for signals for which the kernel has another handler; NULL for the rest.
static signal_handler *_Atomic given_handlers[kCrashSignalCount];

// Flags of those handlers, and the arguments of their calls.
static struct given {
  _Atomic int flags;
  // The arguments that a handler for one call was called with, and its thread.
  _Atomic int thread;
  siginfo_t *_Atomic information;
  ucontext_t *_Atomic context;
} given[kCrashSignalCount];

// The signals that the program ignores.
static _Atomic uint64_t ignored_by_program;
// Java's libjsig comes next, and does the same for Java's handlers.
static bool is_passive;
extern void *JVM_get_signal_action(int number) __attribute__((weak));

// MARK: What the kernel calls

CRASH_TIME struct signal_action own_action(void) {
  return make_action(handle_crash, mask_without_faults(), SA_NODEFER | SA_RESTART);
}

// Whether the signal is blocked as far as the program knows, so that the kernel would not have called its handler. Then
// a signal that was sent is postponed, and a fault ends the process by the default action.
CRASH_TIME static bool is_blocked(int number, siginfo_t *information, void *context) {
  if (!(interpose_hidden() & signal_bit(number)) || !atomic_load(&crash_state.is_installed)) return false;
  if (interpose_postpone(number, information, context)) return true;
  crash_state.earlier[crash_signal_index(number)].handler = (signal_handler *)(uintptr_t)SIG_DFL;
  struct signal_action own = own_action();
  set_action(number, &own, NULL);
  // Faults of the capture itself have to reach it.
  uint64_t faults = fault_signals();
  change_mask(SIG_UNBLOCK, &faults, NULL);
  handle_crash(number, information, context);
  return true;
}

// Calls a handler of the program.
CRASH_TIME static void call_program(int number, siginfo_t *information, void *context) {
  int place = crash_signal_index(number);
  if (place < 0 || is_blocked(number, information, context)) return;
  signal_handler *handler = atomic_load(&given_handlers[place]);
  if ((uintptr_t)handler == 0) return;
  // A tail call adds no frame to the stack that the program's handler prints.
  TAIL_CALL return handler(number, information, context);
}

// Calls a handler that was set for one call (SA_RESETHAND), after which the action is the default.
CRASH_TIME static void call_once(int number, siginfo_t *information, void *context) {
  int place = crash_signal_index(number);
  if (place < 0 || is_blocked(number, information, context)) return;
  struct given *one = &given[place];
  signal_handler *handler = atomic_exchange(&given_handlers[place], NULL);
  // Another thread took the handler first.
  if ((uintptr_t)handler == 0) {
    handle_crash(number, information, context);
    return;
  }
  struct signal_action after = own_action();
  if (!is_default(&crash_state.earlier[place]) || !atomic_load(&crash_state.is_installed)) {
    after = make_action(NULL, 0, 0);
  }
  set_action(number, &after, NULL);
  atomic_store(&one->information, information);
  atomic_store(&one->context, context);
  atomic_store(&one->thread, current_thread());
  TAIL_CALL return handler(number, information, context);
}

#if defined(CRASH_HANDLER_LIBRARY)
// By these names `crashpadctl doctor` finds the program's handlers in another process, in the order of kCrashSignals.
extern signal_handler *_Atomic crashpad_program_handlers[kCrashSignalCount] EXPORTED
    __attribute__((alias("given_handlers")));
extern signal_handler crashpad_call_program EXPORTED __attribute__((alias("call_program")));
extern signal_handler crashpad_call_once EXPORTED __attribute__((alias("call_once")));
#endif

CRASH_TIME bool is_own_handler(signal_handler *handler) {
  return handler == handle_crash || handler == handle_go || handler == call_once;
}

CRASH_TIME bool interpose_find_fault(int number, struct received *fault) {
  int place = crash_signal_index(number);
  if (place < 0) return false;
  struct given *one = &given[place];
  if (atomic_load(&one->thread) != current_thread()) return false;
  siginfo_t *information = atomic_load(&one->information);
  ucontext_t *context = atomic_load(&one->context);
  // The kernel's frame lies above this one, unless the handler has returned, or was left by a jump.
  if ((uintptr_t)context < (uintptr_t)__builtin_frame_address(0)) return false;
  if (information->si_signo != number || information->si_code <= 0 || context->uc_link != NULL) return false;
  fault->information = information;
  fault->context = context;
  return true;
}

// MARK: Handlers

static action_setter *next_action(void) {
  action_setter *known = atomic_load(&next.action);
  if (known == NULL) {
    known = (action_setter *)next_function("sigaction", (void *)__interceptor_sigaction, (void *)__sigaction);
    atomic_store(&next.action, known);
  }
  return known;
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
  struct given *one = &given[place];
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
  signal_handler *own = atomic_load(&given_handlers[place]);
  if (handler != call_once && handler != call_program) return 0;
  shown->sa_sigaction = (void (*)(int, siginfo_t *, void *))own;
  const int kChanged = SA_SIGINFO | (int)SA_RESETHAND;
  shown->sa_flags = (shown->sa_flags & ~kChanged) | (atomic_load(&one->flags) & kChanged);
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
  atomic_store(&given[place].flags, action->sa_flags);
  atomic_store(&given_handlers[place], handler);
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
static plain_handler *set_plain(int number, plain_handler *handler, const char *name, handler_setter *_Atomic *known,
                                void *interceptor, int flags) {
  if (handler != SIG_ERR && crash_signal_index(number) >= 0) return replace(number, handler, flags);
  handler_setter *setter = atomic_load(known);
  if (setter == NULL) {
    setter = (handler_setter *)next_function(name, interceptor, NULL);
    atomic_store(known, setter);
  }
  return setter != NULL ? setter(number, handler) : replace(number, handler, flags);
}

EXPORTED plain_handler *signal(int number, plain_handler *handler) {
  return set_plain(number, handler, "signal", &next.signal, (void *)__interceptor_signal, SA_RESTART);
}
EXPORTED plain_handler *bsd_signal(int number, plain_handler *handler) { return signal(number, handler); }
EXPORTED plain_handler *ssignal(int number, plain_handler *handler) { return signal(number, handler); }

EXPORTED plain_handler *__sysv_signal(int number, plain_handler *handler) {
  return set_plain(number, handler, "__sysv_signal", &next.system_v, NULL, (int)(SA_RESETHAND | SA_NODEFER));
}
EXPORTED plain_handler *sysv_signal(int number, plain_handler *handler) { return __sysv_signal(number, handler); }

EXPORTED plain_handler *sigset(int number, plain_handler *handler) {
  handler_setter *setter = atomic_load(&next.set);
  if (setter == NULL) {
    setter = (handler_setter *)next_function("sigset", NULL, NULL);
    atomic_store(&next.set, setter);
  }
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
// handler. So the kernel's mask leaves them unblocked, and this is the mask that the program believes it has. A jump
// that restores a mask (siglongjmp) does not change it.
static _Thread_local uint64_t hidden __attribute__((tls_model("initial-exec")));

// Lies at a fixed distance from the thread pointer: the access allocates nothing, which it might for other thread-local
// variables.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wfunction-effects"
#endif
CRASH_TIME uint64_t interpose_hidden(void) { return hidden; }
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
void interpose_set_hidden(uint64_t mask) { hidden = mask; }

static uint64_t first_word(const sigset_t *set) {
  uint64_t word;
  memcpy(&word, set, sizeof word);
  return word;
}

static int set_mask(mask_setter *setter, int how, const sigset_t *mask, sigset_t *old) {
  uint64_t before = hidden;
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
    if (how == SIG_BLOCK) hidden = before | hideable;
    if (how == SIG_UNBLOCK) hidden = before & ~faults;
    if (how == SIG_SETMASK) hidden = hideable;
    result = setter(how, &changed, old);
    if (result != 0) hidden = before;
  }
  if (result != 0 || old == NULL) return result;
  uint64_t shown = first_word(old) | before;
  memcpy(old, &shown, sizeof shown);
  return 0;
}

static mask_setter *next_mask(mask_setter *_Atomic *known, const char *name, mask_setter *interceptor,
                              mask_setter *of_libc) {
  mask_setter *setter = atomic_load(known);
  if (setter == NULL) {
    setter = (mask_setter *)next_function(name, (void *)interceptor, (void *)of_libc);
    atomic_store(known, setter);
  }
  return setter;
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
  return next_mask(&next.process_mask, "sigprocmask", __interceptor_sigprocmask, __sigprocmask);
}

static mask_setter *next_thread_mask(void) {
  return next_mask(&next.thread_mask, "pthread_sigmask", __interceptor_pthread_sigmask, __pthread_sigmask);
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

CRASH_TIME bool interpose_postpone(int number, siginfo_t *information, ucontext_t *context) {
  if (information->si_code > 0 || !(interpose_hidden() & signal_bit(number))) return false;
  uint64_t mask = signal_bit(number);
  change_mask(SIG_BLOCK, &mask, NULL);
  // Also in the mask that the return from this handler restores.
  *(uint64_t *)&context->uc_sigmask |= mask;
  int process = current_process();
  long result = information->si_code == SI_TKILL
                    ? SYSTEM_CALL_4(SYS_rt_tgsigqueueinfo, process, current_thread(), number, information)
                    : SYSTEM_CALL_3(SYS_rt_sigqueueinfo, process, number, information);
  return result == 0;
}

void interpose_install(void) {
  is_passive = JVM_get_signal_action != NULL;
  next_action();
  next_process_mask();
  next_thread_mask();
}
