// SPDX-License-Identifier: Apache-2.0
// The key of pthread_key_create(3) that tells the end of a thread.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "next.h"
#include "stacks.h"

static pthread_key_t stack_of_thread;
static atomic_bool has_key;

#if defined(CRASH_PRECEDES_LIBC)

static int create_key(pthread_key_t *key, void (*destructor)(void *)) {
  static void *_Atomic known;
  int (*maker)(pthread_key_t *, void (*)(void *)) = next_function(&known, "pthread_key_create", NULL, NULL);
  return maker == NULL ? EAGAIN : maker(key, destructor);
}

// A process has 1,024 keys, and a program may need them all: the last one is this library's.
static bool give_up_key(void) { return atomic_exchange(&has_key, false) && pthread_key_delete(stack_of_thread) == 0; }

EXPORTED int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  int error = create_key(key, destructor);
  return error == EAGAIN && give_up_key() ? create_key(key, destructor) : error;
}

// libc's own calls its pthread_key_create, not ours. The types are those of tss_t and tss_dtor_t.
EXPORTED int tss_create(pthread_key_t *key, void (*destructor)(void *)) {
  const int kError = 2;  // thrd_error
  return pthread_key_create(key, destructor) == 0 ? 0 : kError;
}

#else

static int create_key(pthread_key_t *key, void (*destructor)(void *)) { return pthread_key_create(key, destructor); }

#endif

void thread_key_install(void (*destructor)(void *)) {
  atomic_store(&has_key, create_key(&stack_of_thread, destructor) == 0);
}

bool has_thread_key(void) { return atomic_load(&has_key); }

void thread_key_set(void *stack) {
  if (!has_thread_key()) return;
  pthread_setspecific(stack_of_thread, stack);
  // The program took the key meanwhile.
  if (!has_thread_key()) pthread_setspecific(stack_of_thread, NULL);
}
