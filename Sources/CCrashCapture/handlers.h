// SPDX-License-Identifier: Apache-2.0
// What the kernel calls when a signal ends the process.
#ifndef CRASHPADCTL_HANDLERS_H
#define CRASHPADCTL_HANDLERS_H

#include "signals.h"

// The entry of everything that runs during a crash.
CRASH_TIME void handle_crash(int number, siginfo_t *information, void *context);
// Whether faults of this process still come to us.
CRASH_TIME bool handles_faults(void);
// Puts earlier handlers back where ours still stand.
CRASH_TIME void restore_earlier_handlers(void);
// Whether a crash was captured and left to a handler, which now ends the process, or goes on.
CRASH_TIME bool crash_was_handed_over(void);

// Says on standard error what failed, unless that is not wanted.
CRASH_TIME void report_failure(const char *path, const char *text, long error);

#endif
