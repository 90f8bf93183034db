// SPDX-License-Identifier: Apache-2.0
// Calls a function that may crash while a crash is captured, and goes on after it.
#ifndef CRASHPADCTL_GUARD_H
#define CRASHPADCTL_GUARD_H

#include <ucontext.h>

#include "crash_time.h"

typedef void guarded_function(void *argument) __attribute__((nonblocking));

// Returns false if the function crashed.
CRASH_TIME bool guard_call(guarded_function *function, void *argument);

// For a signal handler that runs because of a fault: whether a guarded call is under way on this thread. If so, the
// handler's return leads behind that call.
CRASH_TIME bool guard_recover(ucontext_t *context);

#endif
