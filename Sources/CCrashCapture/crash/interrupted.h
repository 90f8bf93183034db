// SPDX-License-Identifier: Apache-2.0
// The stack that was in use before a signal handler on an alternate stack (sigaltstack) was called.
#ifndef CRASHPADCTL_INTERRUPTED_H
#define CRASHPADCTL_INTERRUPTED_H

#include <ucontext.h>

#include "state.h"

// The address of the context that the kernel saved when a thread switched to its alternate stack, on which `context`
// found it; 0 if the thread was on another stack, or if the saved context is not found.
//
// program: the alternate stack that the program gave the thread.
CRASH_TIME uint64_t interrupted_context(const ucontext_t *context, const struct alternate_stack *program);

// The stack pointer when the thread switched to its alternate stack, on which `context` found it; 0 if the thread was
// on another stack, or if the context that the kernel saved is not found.
CRASH_TIME uint64_t interrupted_stack_pointer(const ucontext_t *context, const struct alternate_stack *program);

// The same for a thread that no signal stopped, so its alternate stack is not known: searches from its stack pointer.
CRASH_TIME uint64_t interrupted_stack_search(uint64_t pointer);

#endif
