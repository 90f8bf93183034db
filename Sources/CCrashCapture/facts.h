// SPDX-License-Identifier: Apache-2.0
// What is known of the system and the process in good times, written as it will stand in a dump.
#ifndef CRASHPADCTL_FACTS_H
#define CRASHPADCTL_FACTS_H

// environment: names of variables to keep beside the usual ones; ends with NULL; may be NULL itself.
void facts_gather(const char *const *environment);

#endif
