// SPDX-License-Identifier: Apache-2.0
// Signals that were sent to a thread which blocks them as far as the program knows. They are sent again, and wait in the kernel
// until that thread or another one takes them.
#ifndef CRASHPADCTL_POSTPONED_H
#define CRASHPADCTL_POSTPONED_H

#include "signals.h"

// Postpones a signal. Returns false if it was not sent, or if the thread does not block it.
CRASH_TIME bool postpone_signal(int number, siginfo_t *information, ucontext_t *context);

// Whether a thread is about to send a signal again.
bool is_postponing(void);

// Shows the sender of a signal that was postponed, where this process sent it again.
CRASH_TIME void restore_sender(int number, siginfo_t *information);

// Called before a signal that came to the process is sent to a thread of it.
CRASH_TIME void mark_for_thread(siginfo_t *information);

#endif
