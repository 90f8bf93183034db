// SPDX-License-Identifier: Apache-2.0
// Stands for the loader in a tool that has the C library linked in. Libraries of the system belong to another C library, of
// another version or musl: they would be loaded, and end the tool at the first call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void *dlopen(const char *name, int mode) {
  (void)name, (void)mode;
  return NULL;
}

char *dlerror(void) { return "this build has the C library linked in, and loads no others"; }

void *dlsym(void *restrict library, const char *restrict name) {
  (void)library, (void)name;
  return NULL;
}

int dlclose(void *library) {
  (void)library;
  return -1;
}

// Swift's runtime asks at its start in which file it is, and ends the program if nothing is known.
int dladdr(const void *address, Dl_info *found) {
  (void)address;
  *found = (Dl_info){.dli_fname = "/proc/self/exe"};
  return 1;
}
