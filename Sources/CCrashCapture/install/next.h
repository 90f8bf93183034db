// SPDX-License-Identifier: Apache-2.0
// The functions of libc that this library's functions precede.
#ifndef CRASHPADCTL_NEXT_H
#define CRASHPADCTL_NEXT_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// Marks a function that precedes libc's where this code is preloaded or linked into the executable.
#define EXPORTED __attribute__((visibility("default")))

void *find_next_function(void *_Atomic *known, const char *name, void *interceptor, void *of_libc);

// Returns the next definition of the function in the search order of libraries; NULL if no other library defines it.
//
// known: keeps the function after the first search. NULL at first: a value would need a writable page of its own.
// interceptor: a sanitizer's function of that name, NULL without one. Where this code is linked into the executable,
// ours replaces the sanitizer's and has to call it; in a shared object the sanitizer's comes first and calls ours.
// of_libc: libc's function under another name, for static executables, where there is no loader to ask.
static inline void *next_function(void *_Atomic *known, const char *name, void *interceptor, void *of_libc) {
  void *function = atomic_load(known);
  return function != NULL ? function : find_next_function(known, name, interceptor, of_libc);
}

// The result of a function that no other library defines.
static inline int missing(void) {
  errno = ENOSYS;
  return -1;
}

#endif
