// SPDX-License-Identifier: Apache-2.0
// Precedes signalfd(2): the capture leaves threads alone that would read its signal from a descriptor as one of theirs.
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../crash/state.h"
#include "install.h"
#include "next.h"

EXPORTED int signalfd(int descriptor, const sigset_t *mask, int flags) {
  uint64_t signals;
  memcpy(&signals, mask, sizeof signals);
  atomic_fetch_or_explicit(&crash_state.described_signals, signals, memory_order_relaxed);
  return (int)finish_call(SYSTEM_CALL_4(SYS_signalfd4, descriptor, mask, sizeof signals, flags));
}
