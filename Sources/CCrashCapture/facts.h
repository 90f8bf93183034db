// SPDX-License-Identifier: Apache-2.0
// What a dump tells of the system and the process, written as it will stand there.
#ifndef CRASHPADCTL_FACTS_H
#define CRASHPADCTL_FACTS_H

#include "crash_time.h"

// What libc has to be asked for, and what is only there at the start.
//
// environment: names of variables to keep beside the usual ones; ends with NULL, stays as it is; may be NULL itself.
// time_zone: as the process that started this one found it; NULL to ask libc.
void facts_install(const char *const *environment, const char *time_zone);

// Finds the rest, once: at the start, while there is a /proc; or when there is a dump, in programs of which most end
// without one, and sooner than these facts are found.
CRASH_TIME void facts_complete(void);

// Names the program after its executable, if it has no name (program_id) yet.
CRASH_TIME void facts_name_program(void);

#endif
