// SPDX-License-Identifier: Apache-2.0
// Go programs that contain C code. Go's runtime has a handler for each signal of a crash: faults of Go code are panics,
// from which programs recover; others end the process with a traceback and status 2.
#ifndef CRASHPADCTL_GO_H
#define CRASHPADCTL_GO_H

#include "signals.h"

// Finds the address of Go's code, if the executable has any.
void go_install(void);

// Whether a handler belongs to Go's runtime.
CRASH_TIME bool go_owns(uintptr_t handler);

// Captures crashes of C code, and leaves those of Go code to Go's handler. Either handler is called in the end.
CRASH_TIME void handle_go(int number, siginfo_t *information, void *context);

#endif
