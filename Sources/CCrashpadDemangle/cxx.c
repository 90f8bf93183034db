// SPDX-License-Identifier: Apache-2.0
// Calls LLVM's C++ demangler.
//
// scripts/static-libraries extracts it from the libc++abi archive, renames its exported symbols and allocation
// functions, and defines CRASHPADCTL_LINKS_LLVM_DEMANGLER. Other builds load libc++abi.so.1 if it is installed.
#define _GNU_SOURCE
#include "CCrashpadDemangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_function(const char *name, char *buffer, size_t *size, int *status);

extern demangle_function __cxa_demangle;

char *crashpadctl_demangle_libstdcxx(const char *name) { return __cxa_demangle(name, NULL, NULL, NULL); }

#ifndef CRASHPADCTL_LINKS_LLVM_DEMANGLER
static demangle_function *loaded;

static void load(void) {
  // Looks up libc++abi's own __cxa_demangle, not that of the C++ library, which comes first in the global scope.
  void *library = dlopen("libc++abi.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library) loaded = (demangle_function *)dlsym(library, "__cxa_demangle");
}

crashpadctl_cxx_demangler_kind crashpadctl_cxx_demangler(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return loaded ? CRASHPADCTL_CXX_LOADED : CRASHPADCTL_CXX_NONE;
}

char *crashpadctl_demangle_cxx(const char *name) {
  if (crashpadctl_cxx_demangler() == CRASHPADCTL_CXX_LOADED) return loaded(name, NULL, NULL, NULL);
  return NULL;
}
#else
extern demangle_function crashpadctl_llvm_demangle;

crashpadctl_cxx_demangler_kind crashpadctl_cxx_demangler(void) { return CRASHPADCTL_CXX_LINKED; }

// MARK: The linked demangler's heap

// A memory block that the current call has allocated. The demangler can't be stopped, so an allocation over the limit
// leaves it by longjmp, and its blocks are freed here. Skipping its destructors is safe: they only free memory.
struct block {
  struct block *next, *previous;
  size_t size;
  // Keeps the data after this header aligned to 16 bytes.
  size_t unused;
};

struct heap {
  struct block *first;
  size_t used;
  jmp_buf stop;
};

static _Thread_local struct heap *heap;

static void unlink_block(struct block *block) {
  if (block->next) block->next->previous = block->previous;
  if (block->previous)
    block->previous->next = block->next;
  else
    heap->first = block->next;
  heap->used -= block->size;
}

static void *link_block(struct block *block, size_t size) {
  *block = (struct block){heap->first, NULL, size, 0};
  if (heap->first) heap->first->previous = block;
  heap->first = block;
  heap->used += size;
  return block + 1;
}

void *crashpadctl_demangle_realloc(void *memory, size_t size) {
  struct block *old = memory ? (struct block *)memory - 1 : NULL;
  if (size > CRASHPADCTL_DEMANGLE_LIMIT || heap->used + size > CRASHPADCTL_DEMANGLE_LIMIT) longjmp(heap->stop, 1);
  if (old) unlink_block(old);
  struct block *block = realloc(old, sizeof(struct block) + size);
  if (!block) abort();
  return link_block(block, size);
}

void *crashpadctl_demangle_malloc(size_t size) { return crashpadctl_demangle_realloc(NULL, size); }

_Noreturn void crashpadctl_demangle_abort(void) { abort(); }

void crashpadctl_demangle_free(void *memory) {
  if (!memory) return;
  struct block *block = (struct block *)memory - 1;
  unlink_block(block);
  free(block);
}

char *crashpadctl_demangle_cxx(const char *name) {
  struct heap own = {.first = NULL};
  heap = &own;
  char *volatile result = NULL;
  if (!setjmp(own.stop)) {
    char *text = crashpadctl_llvm_demangle(name, NULL, NULL, NULL);
    if (text) result = strdup(text);
  }
  while (own.first) crashpadctl_demangle_free(own.first + 1);
  heap = NULL;
  return result;
}
#endif
