// SPDX-License-Identifier: Apache-2.0
// The alternate stacks that the program gave its threads. A thread in a handler on one that is nearly full can't be
// stopped by a signal: the kernel would find no room for its frame, and end the process.
#ifndef CRASHPADCTL_PROGRAM_STACKS_H
#define CRASHPADCTL_PROGRAM_STACKS_H

#include <ucontext.h>

#include "state.h"

// Notes the calling thread's stack; a size of 0 for none. In normal operation.
void program_stack_note(uint64_t low, uint64_t size);

// Notes that a handler of the program runs at `context`, or no longer does.
CRASH_TIME void program_stack_enter(const struct thread_facts *facts, const ucontext_t *context);
CRASH_TIME void program_stack_leave(const struct thread_facts *facts, const ucontext_t *context);

// Whether a thread may have no room for the frame of a signal. stack_pointer: 0 if it is not known.
CRASH_TIME bool program_stack_is_tight(int thread, uint64_t stack_pointer);

#endif
