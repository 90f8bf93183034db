// SPDX-License-Identifier: Apache-2.0
// The functions of libc that this library's functions precede.
#ifndef CRASHPADCTL_NEXT_H
#define CRASHPADCTL_NEXT_H

// Returns the next definition of the function in the search order of libraries; NULL if no other library defines it.
//
// interceptor: a sanitizer's function of that name, NULL without one. Where this code is linked into the executable,
// ours replaces the sanitizer's and has to call it; in a shared object the sanitizer's comes first and calls ours.
// of_libc: libc's function under another name, for static executables, where there is no loader to ask.
void *next_function(const char *name, void *interceptor, void *of_libc);

#endif
