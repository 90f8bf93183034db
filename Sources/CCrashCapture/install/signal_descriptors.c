// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "signal_descriptors.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

// The signals of all such descriptors together, including closed ones.
static _Atomic uint64_t taken;

CRASH_TIME bool signal_descriptors_take(int number) {
  return (atomic_load_explicit(&taken, memory_order_relaxed) >> (number - 1) & 1) != 0;
}

// Precedes libc's function where this code is preloaded or linked into the executable.
__attribute__((visibility("default"))) int signalfd(int descriptor, const sigset_t *mask, int flags) {
  uint64_t signals;
  memcpy(&signals, mask, sizeof signals);
  atomic_fetch_or_explicit(&taken, signals, memory_order_relaxed);
  return (int)syscall(SYS_signalfd4, descriptor, mask, sizeof signals, flags);
}
