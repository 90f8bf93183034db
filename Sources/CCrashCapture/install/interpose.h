// SPDX-License-Identifier: Apache-2.0
// Precedes libc's functions for signal handlers and masks, so that the capture still gets the signals of crashes after
// a program changes their handlers or masks.
//
// If the program sets the default action, our handler is put into the kernel, and the program is still shown the
// default. So a handler that writes its own report, restores the default and raises the signal again leads to a dump;
// and runtimes that look for another handler at their start find none, and behave as they do without us.
#ifndef CRASHPADCTL_INTERPOSE_H
#define CRASHPADCTL_INTERPOSE_H

#include <signal.h>
#include <ucontext.h>

#include "../crash/received.h"
#include "../crash/signals.h"

// Finds the functions behind ours before a signal handler needs them. Called before handlers are installed.
void interpose_install(void);

// The action that the kernel gets where the program has the default action.
CRASH_TIME struct signal_action own_action(void);

// Whether a handler in the kernel belongs to this library.
CRASH_TIME bool is_own_handler(signal_handler *handler);

// Finds the fault for which a handler of the program, set for one call, runs on the calling thread while it raises the
// same signal again. Returns false if no such handler runs.
CRASH_TIME bool interpose_find_fault(int number, struct received *fault);

// The fault signals that the calling thread has blocked as far as the program knows, but that the kernel does not
// block.
CRASH_TIME uint64_t interpose_hidden(void);
void interpose_set_hidden(uint64_t hidden);

// Postpones a signal that was sent to a thread which blocks it as far as the program knows, until that thread or
// another one takes it. Returns whether it did.
CRASH_TIME bool interpose_postpone(int number, siginfo_t *information, ucontext_t *context);

#endif
