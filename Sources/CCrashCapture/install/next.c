// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "next.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>

// The header of the file that this code is linked into, defined by the linker.
extern const Elf64_Ehdr __ehdr_start __attribute__((weak, visibility("hidden")));

static bool is_in_executable(void) {
  const Elf64_Ehdr *own = &__ehdr_start;
  if (own == NULL) return false;
  return (uintptr_t)own + own->e_phoff == getauxval(AT_PHDR);
}

static void *search(const char *name, void *interceptor, void *of_libc) {
  bool is_executable = is_in_executable();
  if (is_executable && interceptor != NULL) return interceptor;
  bool is_static = is_executable && getauxval(AT_BASE) == 0;
  if (is_static && of_libc != NULL) return of_libc;
  void *found = dlsym(RTLD_NEXT, name);
  return found != NULL ? found : of_libc;
}

void *find_next_function(void *_Atomic *known, const char *name, void *interceptor, void *of_libc) {
  void *found = search(name, interceptor, of_libc);
  atomic_store(known, found);
  return found;
}
