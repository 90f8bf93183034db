// SPDX-License-Identifier: Apache-2.0
// late DATABASE SECONDS: dumps one after the other, of threads that block the stop signal now and then, and that answer
// late where the handler is compiled with CRASH_TEST_LATE_ANSWERS. Prints how many.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "CCrashCapture.h"

static _Atomic int ends;

static void *block_and_unblock(void *seed) {
  unsigned state = (unsigned)(size_t)seed;
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  while (!ends) {
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    struct timespec time = {0, rand_r(&state) % 20000000};
    nanosleep(&time, NULL);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    int count = rand_r(&state) % 20000;
    for (volatile int index = 0; index < count; index++) {
    }
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 3) return 64;
  char message[512];
  struct crash_capture_options options = {.database = arguments[1], .program_id = "late", .stop_timeout = 2};
  if (crash_capture_install(&options, message, sizeof message) != 0) {
    fprintf(stderr, "late: %s\n", message);
    return 3;
  }
  enum { kThreads = 3 };
  pthread_t threads[kThreads];
  for (int index = 0; index < kThreads; index++) {
    if (pthread_create(&threads[index], NULL, block_and_unblock, (void *)(size_t)(index + 1)) != 0) return 3;
  }
  time_t end = time(NULL) + atoi(arguments[2]);
  int dumps = 0;
  while (time(NULL) < end) {
    char path[4096];
    if (crash_capture_dump(NULL, path, sizeof path) != 0) return 1;
    unlink(path);
    dumps++;
  }
  ends = 1;
  for (int index = 0; index < kThreads; index++) pthread_join(threads[index], NULL);
  printf("%d\n", dumps);
  return 0;
}
