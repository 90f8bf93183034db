// SPDX-License-Identifier: Apache-2.0
// The facts about the system and the process that the kernel provides at any time.
#ifndef CRASHPADCTL_PROCESS_FACTS_H
#define CRASHPADCTL_PROCESS_FACTS_H

#include "crash_time.h"

// Finds the facts and encodes them as in a dump, once: at the start, while there is a /proc; or for a dump, in short
// programs, most of which end without one, and sooner than these facts could be found.
CRASH_TIME void facts_complete(void);

// Adds the maker and the model of the processor, for a dump: a virtual machine asks its host for them, which takes longer
// than all of the start.
CRASH_TIME void facts_add_processor(void);

// Names the program after its executable, if it has no name (program_id) yet.
CRASH_TIME void facts_name_program(void);

#endif
