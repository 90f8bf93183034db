// SPDX-License-Identifier: Apache-2.0
// Alternate signal stacks, on which a handler runs when a thread's own stack is used up.
#ifndef CRASHPADCTL_STACKS_H
#define CRASHPADCTL_STACKS_H

// Gives a stack to the calling thread and to those that run already; new threads get theirs from pthread_create.
void stacks_install(void);

#endif
