// SPDX-License-Identifier: Apache-2.0
// The handlers and the mask that the program set for signals of crashes, where the kernel has other ones.
#ifndef CRASHPADCTL_PROGRAM_HANDLERS_H
#define CRASHPADCTL_PROGRAM_HANDLERS_H

#include "received.h"
#include "signals.h"

// The action that the kernel gets where the program has the default action.
CRASH_TIME struct signal_action own_action(void);

// Whether a handler in the kernel belongs to this library.
CRASH_TIME bool is_own_handler(signal_handler *handler);

// The handler that the program set, in the order of kCrashSignals; NULL if the kernel has that of the program.
extern signal_handler *_Atomic program_handlers[kCrashSignalCount] __attribute__((visibility("hidden")));

// The handlers that the kernel gets in their place: call_once for one call (SA_RESETHAND), call_program for the others.
CRASH_TIME void call_program(int number, siginfo_t *information, void *context);
CRASH_TIME void call_once(int number, siginfo_t *information, void *context);

// Finds the fault for which a handler of the program, set for one call, runs on the calling thread while it raises the
// same signal again. Returns false if no such handler runs.
CRASH_TIME bool find_fault_of_call(int number, struct received *fault);

// Postpones a signal that was sent to a thread which blocks it as far as the program knows, until that thread or
// another one takes it. Returns whether it did.
CRASH_TIME bool postpone_signal(int number, siginfo_t *information, ucontext_t *context);

#endif
