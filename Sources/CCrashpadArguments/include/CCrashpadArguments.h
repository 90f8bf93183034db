// SPDX-License-Identifier: Apache-2.0
// The arguments of the process as the kernel passed them, byte for byte. Swift's CommandLine decodes them as UTF-8.
#ifndef CRASHPADCTL_CARGUMENTS_H
#define CRASHPADCTL_CARGUMENTS_H

// The number of arguments, the program's name included.
int arguments_count(void);
// The argument with this index; NULL if index >= arguments_count().
const char *arguments_at(int index);

// Puts variables back into the environment that the Swift runtime was not to see. Once, before threads are made.
void arguments_restore_environment(void);

// The commit of which the program was built, in hexadecimal digits; empty if the build does not know it.
const char *arguments_commit(void);

#endif
