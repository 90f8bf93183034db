// SPDX-License-Identifier: Apache-2.0
// The words of the command line as the kernel handed them over, byte for byte. Swift's are strings, and come from /proc.
#ifndef CRASHPADCTL_CARGUMENTS_H
#define CRASHPADCTL_CARGUMENTS_H

// How many there are, the program's name included.
int arguments_count(void);
// One of them; NULL if there are not so many.
const char *arguments_at(int index);

// Puts variables back into the environment that the Swift runtime was not to see. Once, before threads are made.
void arguments_restore_environment(void);

#endif
