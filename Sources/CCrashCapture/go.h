// SPDX-License-Identifier: Apache-2.0
// Programs in Go with C in them. Go's runtime has a handler for each signal of a crash: faults of Go's own code are
// panics, which programs recover from; others end the process with a traceback and status 2.
#ifndef CRASHPADCTL_GO_H
#define CRASHPADCTL_GO_H

#include "signals.h"

// Finds where Go's code lies, if there is any in the executable.
void go_install(void);

// Whether a handler is that of Go's runtime.
bool go_owns(uintptr_t handler);

// Captures what C code did, and leaves Go's own to its handler. Either is called in the end.
CRASH_TIME void handle_go(int number, siginfo_t *information, void *context);

#endif
