// SPDX-License-Identifier: Apache-2.0
// The alternate stacks of threads, and how each thread of the program comes to one.
#ifndef CRASHPADCTL_STACKS_H
#define CRASHPADCTL_STACKS_H

#include <stdbool.h>

// Makes a stack with an inaccessible guard page below it. NULL if there is no memory.
void *make_stack(void);
// The same, but first looks for one that a thread left when it ended.
void *take_stack(void);
// For the next thread that needs one.
void keep_stack(void *stack);
// Gives the stack to the calling thread, until its end. Returns an error number.
int use_stack(void *stack);
// Frees the stack of a thread that ends.
void free_stack(void *stack);

// A key whose destructor gets the stack of a thread that ends, until the program needs the key itself.
void thread_key_install(void (*destructor)(void *stack));
bool has_thread_key(void);
// Keeps the stack of the calling thread under the key, if there is one.
void thread_key_set(void *stack);

// Finds libc's function that starts threads, before the program calls ours.
void new_threads_install(void);
// Gives a stack to each thread that runs already.
void running_threads_install(void);

#endif
