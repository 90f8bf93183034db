// SPDX-License-Identifier: Apache-2.0
// Alternate signal stacks: where a handler runs when a thread's own stack is used up.
#ifndef CRASHPADCTL_STACKS_H
#define CRASHPADCTL_STACKS_H

// The calling thread, and those that run already, get one each; new ones get theirs from pthread_create.
void stacks_install(void);

#endif
