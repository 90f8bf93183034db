// SPDX-License-Identifier: Apache-2.0
#include "state.h"

// All zero at first, so that it takes no space in the file.
struct state crash_state __attribute__((aligned(256)));

// The facts of the calling thread. They lie in a page that glibc copies for the child of a fork(2) anyway.
static _Thread_local struct {
  // The process that the thread belongs to; 0 for one that was not started by the pthread_create of this library.
  int process;
  uint64_t hidden_signals;
} own __attribute__((tls_model("initial-exec")));

// Lies at a fixed distance from the thread pointer: the access allocates nothing, which it might for other thread-local
// variables.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wfunction-effects"
#endif

CRASH_TIME bool is_captured_process(void) {
  int process = current_process();
  if (process == atomic_load(&crash_state.process)) return true;
  // A thread of which nothing is known is taken for one of a child of fork(2), because a crash in a child of vfork(2)
  // is far rarer.
  if (own.process != 0 && process != own.process) return false;
  atomic_store(&crash_state.process, process);
  return true;
}

CRASH_TIME uint64_t hidden_signals(void) { return own.hidden_signals; }

void adopt_thread(int process) { own.process = process; }

void set_hidden_signals(uint64_t signals) { own.hidden_signals = signals; }
