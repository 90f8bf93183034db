// SPDX-License-Identifier: Apache-2.0
// The facts about the system and the process, encoded as in a dump.
#ifndef CRASHPADCTL_FACTS_H
#define CRASHPADCTL_FACTS_H

#include "../crash/crash_time.h"

// Finds the facts that need libc, and those that are available only at the start.
//
// environment: names of variables to keep besides the usual ones; ends with NULL, stays unchanged; may be NULL itself.
// time_zone: as found by the process that started this one; NULL to ask libc.
void facts_install(const char *const *environment, const char *time_zone);

// Finds the other facts, once: at the start, while there is a /proc; or for a dump, in short programs, most of which
// end without one, and sooner than these facts could be found.
CRASH_TIME void facts_complete(void);

// Names the program after its executable, if it has no name (program_id) yet.
CRASH_TIME void facts_name_program(void);

#endif
