// SPDX-License-Identifier: Apache-2.0
// Threads that no signal reaches.
#ifndef CRASHPADCTL_TRACER_H
#define CRASHPADCTL_TRACER_H

#include "crash_time.h"

// Reads the registers of the threads that were asked to stop and did not: a helper process that shares our memory stops
// them with ptrace(2), where that is allowed; otherwise /proc has the stack pointer and program counter of those in a
// system call. milliseconds: how long the helper may take.
CRASH_TIME void capture_unstopped(bool with_ptrace, uint64_t milliseconds);

// Resumes the threads that the helper stopped.
CRASH_TIME void release_traced(void);

#endif
