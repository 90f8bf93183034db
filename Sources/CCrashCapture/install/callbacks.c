// SPDX-License-Identifier: Apache-2.0
// The threads that libc itself starts, to call a function of the program (SIGEV_THREAD).
#if defined(CRASH_PRECEDES_LIBC)
#define _GNU_SOURCE
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "../crash/state.h"
#include "../crash/threads.h"
#include "CCrashCapture.h"
#include "install.h"
#include "next.h"

// The function that such a thread is to call, with its argument.
struct callback {
  void (*function)(union sigval);
  union sigval value;
};

// Each pair is kept once, and never removed: a call may come after its timer is deleted.
enum { kCallbacks = 1024 };
static struct callback *callbacks;
static size_t callback_count;
static pthread_mutex_t callback_lock = PTHREAD_MUTEX_INITIALIZER;

static struct callback *keep_callback(const struct sigevent *event) {
  struct callback *callback = NULL;
  pthread_mutex_lock(&callback_lock);
  if (callbacks == NULL) callbacks = calloc(kCallbacks, sizeof *callbacks);
  for (size_t index = 0; index < callback_count && callback == NULL; index++) {
    bool is_equal = callbacks[index].function == event->sigev_notify_function &&
                    callbacks[index].value.sival_ptr == event->sigev_value.sival_ptr;
    if (is_equal) callback = &callbacks[index];
  }
  if (callback == NULL && callbacks != NULL && callback_count < kCallbacks) {
    callback = &callbacks[callback_count++];
    callback->function = event->sigev_notify_function;
    callback->value = event->sigev_value;
  }
  pthread_mutex_unlock(&callback_lock);
  return callback;
}

static void start_callback(union sigval value) {
  const struct callback *callback = value.sival_ptr;
  adopt_thread(current_process());
  crash_capture_prepare_thread();
  // libc starts these threads with all signals blocked.
  hide_blocked();
  callback->function(callback->value);
}

// Puts our function in place of the program's, if there is one.
static struct sigevent *wrap(struct sigevent *event, struct sigevent *wrapped) {
  if (event == NULL || event->sigev_notify != SIGEV_THREAD || !atomic_load(&crash_state.is_installed)) return event;
  struct callback *callback = keep_callback(event);
  if (callback == NULL) return event;
  *wrapped = *event;
  wrapped->sigev_notify_function = start_callback;
  wrapped->sigev_value.sival_ptr = callback;
  return wrapped;
}

EXPORTED int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
  static void *_Atomic known;
  int (*maker)(clockid_t, struct sigevent *, timer_t *) = next_function(&known, "timer_create", NULL, NULL);
  struct sigevent wrapped;
  return maker == NULL ? missing() : maker(clock, wrap(event, &wrapped), timer);
}

EXPORTED int mq_notify(mqd_t queue, const struct sigevent *event) {
  static void *_Atomic known;
  int (*notifier)(mqd_t, const struct sigevent *) = next_function(&known, "mq_notify", NULL, NULL);
  struct sigevent wrapped;
  return notifier == NULL ? missing() : notifier(queue, wrap((struct sigevent *)event, &wrapped));
}

#endif
