// SPDX-License-Identifier: Apache-2.0
// Signals that were sent to a thread which blocks them as far as the program knows. They are sent again, and wait in the kernel
// until that thread or another one takes them.
#ifndef CRASHPADCTL_POSTPONED_H
#define CRASHPADCTL_POSTPONED_H

#include "signals.h"

// Postpones a signal. Returns false if it was not sent, or if the thread does not block it.
CRASH_TIME bool postpone_signal(int number, siginfo_t *information, ucontext_t *context);

// Whether a thread is about to send a signal again, or one of these was sent again and may be on its way to a thread.
bool is_postponing(uint64_t signals);

// Called for signals that came to a handler or to a wait: they are not on their way any more.
CRASH_TIME void signals_were_taken(uint64_t signals);

// Shows the sender of a signal that was postponed, where this process sent it again.
CRASH_TIME void restore_sender(int number, siginfo_t *information);

// Called before a signal that came to the process is sent to a thread of it.
CRASH_TIME void mark_for_thread(siginfo_t *information);

#endif
