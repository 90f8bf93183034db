// SPDX-License-Identifier: Apache-2.0
// The handler that the kernel calls when a signal ends the process.
#ifndef CRASHPADCTL_HANDLERS_H
#define CRASHPADCTL_HANDLERS_H

#include "signals.h"

// The entry point of everything that runs during a crash.
CRASH_TIME void handle_crash(int number, siginfo_t *information, void *context);
// Whether faults of this process still reach our handler.
CRASH_TIME bool handles_faults(void);
// Restores the earlier handlers of the signals whose handler still is ours.
CRASH_TIME void restore_earlier_handlers(void);
// Whether a crash was captured and passed to the earlier handler, which now ends the process or lets it go on.
CRASH_TIME bool crash_was_handed_over(void);

// Prints the failure to standard error, unless the options say quiet.
CRASH_TIME void report_failure(const char *path, const char *text, long error);

#endif
