// SPDX-License-Identifier: Apache-2.0
// The handlers and the mask that the program set, where the kernel has other ones.
#ifndef CRASHPADCTL_PROGRAM_HANDLERS_H
#define CRASHPADCTL_PROGRAM_HANDLERS_H

#include "received.h"
#include "signals.h"
#include "state.h"

// Whether a handler of the program runs on the stack that it would have without this library, and the faults of its
// mask stay unblocked meanwhile.
#if defined(__x86_64__)
#define FOLLOWS_HANDLERS 1
#else
#define FOLLOWS_HANDLERS 0
#endif

enum { kSignals = 65 };

// The action that the kernel gets where the program has the default action.
CRASH_TIME struct signal_action own_action(void);

// Whether a handler in the kernel belongs to this library.
CRASH_TIME bool is_own_handler(signal_handler *handler);

// The handlers that the program set, in the order of kCrashSignals; NULL if the kernel has that of the program.
extern signal_handler *_Atomic program_handlers[kCrashSignalCount] __attribute__((visibility("hidden")));
// The same for other signals, by their numbers.
extern signal_handler *_Atomic other_handlers[kSignals] __attribute__((visibility("hidden")));

// The flags and masks of these handlers, as the program set them, by the numbers of the signals.
struct program_action {
  _Atomic unsigned long flags;
  _Atomic uint64_t mask;
};
extern struct program_action program_actions[kSignals] __attribute__((visibility("hidden")));

// libc's abort(3); NULL where it is not preceded.
extern void *_Atomic next_abort __attribute__((visibility("hidden")));

// The handlers that the kernel gets in their place: call_once for one call (SA_RESETHAND), call_other for signals that
// are no crash, call_program for the others.
CRASH_TIME void call_program(int number, siginfo_t *information, void *context);
CRASH_TIME void call_once(int number, siginfo_t *information, void *context);
CRASH_TIME void call_other(int number, siginfo_t *information, void *context);

// Restores what handlers that ended had changed. stack, pointer: the alternate stack that the kernel has for the
// thread, and the thread's stack pointer.
CRASH_TIME void resolve_calls(struct thread_facts *facts, const stack_t *stack, uint64_t pointer);
// Forgets the handlers that a jump to this stack pointer leaves.
CRASH_TIME void leave_calls(struct thread_facts *facts, uint64_t pointer);

// Whether the interrupted thread hides the signal of a fault.
CRASH_TIME bool hides(int number, const ucontext_t *context);

// If the handler of SIGABRT returns, abort(3) ends in a fault (see program_handlers.c). If this is that fault, captures
// the abort, and returns true.
CRASH_TIME bool capture_abort(int number, ucontext_t *context);

// Finds the fault behind a signal that a handler of the program raised again. The handler still runs, or the signal was
// blocked until it returned to the instruction of the fault. Returns false if no fault is known.
CRASH_TIME bool find_fault_of_call(int number, struct received *fault);

#endif
