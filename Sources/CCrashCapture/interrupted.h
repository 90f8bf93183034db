// SPDX-License-Identifier: Apache-2.0
// The stack that a signal's handler with a stack of its own (sigaltstack) hides.
#ifndef CRASHPADCTL_INTERRUPTED_H
#define CRASHPADCTL_INTERRUPTED_H

#include <ucontext.h>

#include "crash_time.h"

// Where the kernel saved the context of a thread that went over to its alternate stack, on which `context` found it; 0
// if it stood on another stack, or if that is not found.
CRASH_TIME uint64_t interrupted_context(const ucontext_t *context);

// What the stack pointer was when the thread went over to its alternate stack, on which `context` found it; 0 if it
// stood on another stack, or if what the kernel saved there is not found.
CRASH_TIME uint64_t interrupted_stack_pointer(const ucontext_t *context);

// The same of a thread that no signal stopped, whose alternate stack is not known: from its stack pointer.
CRASH_TIME uint64_t interrupted_stack_search(uint64_t pointer);

#endif
