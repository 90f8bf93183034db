// SPDX-License-Identifier: Apache-2.0
// The threads that the program starts: each begins with an alternate stack and the mask of its creator.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

#include "../crash/state.h"
#include "../crash/threads.h"
#include "install.h"
#include "next.h"
#include "stacks.h"

#if defined(__GLIBC__)
// Since glibc 2.32.
extern int pthread_attr_getsigmask_np(const pthread_attr_t *attributes, sigset_t *mask) __attribute__((weak));
#endif

// Whether libc gives the new thread a mask of its own, in place of its creator's.
static bool has_own_mask(const pthread_attr_t *attributes) {
#if defined(__GLIBC__)
  sigset_t mask;
  return attributes != NULL && pthread_attr_getsigmask_np != NULL && pthread_attr_getsigmask_np(attributes, &mask) == 0;
#else
  return attributes != NULL && false;
#endif
}

// The start data of a new thread. It lies at the beginning of the thread's alternate stack: if it were allocated with
// malloc(3), free(3) would be the thread's first call into the allocator, which gives the thread an arena of 64 MiB of
// address space.
struct start {
  void *(*function)(void *);
  // In place of it, a function of C11's.
  int (*c11_function)(void *);
  void *argument;
  // The kernel's mask may have signals of faults.
  bool has_own_mask;
  // The part of its creator's mask that it inherits.
  uint64_t hidden;
  int process;
};

static struct start begin_thread(void *raw) {
  struct start start = *(struct start *)raw;
  set_hidden_signals(start.hidden);
  adopt_thread(start.process);
  // If the stack can't be set, it is leaked, and only an overflow of the thread's own stack is not captured.
  use_stack(raw);
  if (start.has_own_mask) hide_blocked();
  return start;
}

// The compiler makes a tail call of it, which adds no frame to the stacks that the program prints.
static void *start_thread(void *raw) {
  struct start start = begin_thread(raw);
  return start.function(start.argument);
}

// Used once the key is the program's.
static void *start_without_key(void *raw) {
  struct start start = begin_thread(raw);
  void *result = start.c11_function != NULL ? (void *)(intptr_t)start.c11_function(start.argument)
                                            : start.function(start.argument);
  free_stack(raw);
  return result;
}

typedef int thread_maker(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
// A sanitizer's interceptor.
extern thread_maker __interceptor_pthread_create __attribute__((weak));
// A static executable has no next definition: ours replaces libc's weak pthread_create, which glibc and musl also
// define under this second name. Its object file is linked in because C11's thrd_create, referenced here, calls it by
// that name.
extern thread_maker __pthread_create __attribute__((weak));
extern int thrd_create(void *thread, int (*function)(void *), void *argument);
#if !defined(CRASH_PRECEDES_LIBC)
__attribute__((used)) static int (*volatile const keeps_libc)(void *, int (*)(void *), void *) = thrd_create;
#endif

static void *_Atomic real_pthread_create;

static thread_maker *next_maker(void) {
  return next_function(&real_pthread_create, "pthread_create", (void *)__interceptor_pthread_create,
                       (void *)__pthread_create);
}

static void fill_start(struct start *start, void *argument) {
  *start = (struct start){.argument = argument, .hidden = hidden_signals(), .process = current_process()};
}

void new_threads_install(void) { next_maker(); }

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                            void *argument) {
  thread_maker *maker = next_maker();
  if (maker == NULL) return EAGAIN;
  if (!atomic_load(&crash_state.is_installed)) return maker(thread, attributes, function, argument);
  struct start *start = take_stack();
  // Without memory for a stack, the thread runs all the same.
  if (start == NULL) return maker(thread, attributes, function, argument);
  fill_start(start, argument);
  start->function = function;
  start->has_own_mask = has_own_mask(attributes);
  if (start->has_own_mask) start->hidden = 0;
  int error = maker(thread, attributes, has_thread_key() ? start_thread : start_without_key, start);
  if (error != 0) keep_stack(start);
  return error;
}

#if defined(CRASH_PRECEDES_LIBC)

static int start_c11(void *raw) {
  struct start start = begin_thread(raw);
  return start.c11_function(start.argument);
}

static int start_c11_without_key(void *raw) { return (int)(intptr_t)start_without_key(raw); }

// libc's own calls its pthread_create, not ours. The types are those of thrd_t and thrd_start_t.
EXPORTED int thrd_create(void *thread, int (*function)(void *), void *argument) {
  static void *_Atomic known;
  typedef int c11_maker(void *, int (*)(void *), void *);
  c11_maker *maker = next_function(&known, "thrd_create", NULL, NULL);
  const int kError = 2;  // thrd_error
  if (maker == NULL) return kError;
  struct start *start = atomic_load(&crash_state.is_installed) ? take_stack() : NULL;
  if (start == NULL) return maker(thread, function, argument);
  fill_start(start, argument);
  start->c11_function = function;
  int error = maker(thread, has_thread_key() ? start_c11 : start_c11_without_key, start);
  if (error != 0) keep_stack(start);
  return error;
}

#endif
