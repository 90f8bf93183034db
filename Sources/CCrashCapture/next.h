// SPDX-License-Identifier: Apache-2.0
// The functions of libc that this code stands before.
#ifndef CRASHPADCTL_NEXT_H
#define CRASHPADCTL_NEXT_H

// The function of this name behind ours; NULL if there is none.
//
// interceptor: a sanitizer's of that name, NULL without one. Where this code is linked into the executable, ours takes
// the place of the sanitizer's, and has to call it; in a shared object the sanitizer's comes first, and calls ours.
// of_libc: libc's under another name, for static executables, where there is no loader to ask.
void *next_function(const char *name, void *interceptor, void *of_libc);

#endif
