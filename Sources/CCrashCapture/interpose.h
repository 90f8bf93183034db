// SPDX-License-Identifier: Apache-2.0
// Stands before libc's functions for signal handlers and masks, so that what a program does with the signals of crashes
// does not take them away from the capture.
//
// Where the program sets the default action, ours is put into the kernel, and the program is still shown the default.
// So a handler that writes its own report, restores the default and raises the signal again ends in a dump; and
// runtimes that look for another handler at their start find none, and behave as without us.
#ifndef CRASHPADCTL_INTERPOSE_H
#define CRASHPADCTL_INTERPOSE_H

#include <signal.h>
#include <ucontext.h>

#include "received.h"
#include "signals.h"

// Finds the functions behind ours, before a signal handler needs them. Once handlers are installed.
void interpose_install(void);

// What the kernel is to call where the program has the default action.
CRASH_TIME struct signal_action own_action(void);

// Whether a handler that the kernel has is one of this library's.
CRASH_TIME bool is_own_handler(signal_handler *handler);

// A fault whose handler, which the program set for one call, runs on the calling thread and raises the same signal once
// more. Returns false if there is none.
CRASH_TIME bool interpose_find_fault(int number, struct received *fault);

// The faults' signals that the calling thread has blocked as far as the program knows, and the kernel does not.
CRASH_TIME uint64_t interpose_hidden(void);
void interpose_set_hidden(uint64_t hidden);

// A signal that was sent to a thread which blocks it, as far as the program knows: it waits until that thread, or
// another one, takes it. Returns whether it was one.
CRASH_TIME bool interpose_postpone(int number, siginfo_t *information, ucontext_t *context);

#endif
