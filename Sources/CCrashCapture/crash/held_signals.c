// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "held_signals.h"

#include <stdatomic.h>

#include "state.h"
#include "threads.h"

enum { kSignalCount = 64 };

static struct {
  // The signals whose action is ours, by signal_bit.
  _Atomic uint64_t signals;
  // The actions that the program has set for them. Never cleared: a thread may get a signal late.
  struct signal_action earlier[kSignalCount + 1];
} held;

// The default action of these ends no process.
CRASH_TIME static uint64_t harmless_signals(void) {
  return signal_bit(SIGCHLD) | signal_bit(SIGCONT) | signal_bit(SIGTSTP) | signal_bit(SIGTTIN) | signal_bit(SIGTTOU) |
         signal_bit(SIGURG) | signal_bit(SIGWINCH);
}

CRASH_TIME static bool may_be_held(int number) {
  const uint64_t kUnchangeable = signal_bit(SIGKILL) | signal_bit(SIGSTOP);
  // libc's own ones, and those of other implementations of it.
  const int kFirstOfLibc = 32;
  const int kLastOfLibc = 34;
  if (number >= kFirstOfLibc && number <= kLastOfLibc) return false;
  if (number == kStopSignal || crash_signal_index(number) >= 0) return false;
  return ((harmless_signals() | kUnchangeable) & signal_bit(number)) == 0;
}

CRASH_TIME static void sleep_1ms(void) {
  struct timespec time = {0, 1000000};
  SYSTEM_CALL_2(SYS_nanosleep, &time, NULL);
}

CRASH_TIME static void give_back(int number);

// False in a child that still shares its parent's memory (vfork): the parent ends without it.
CRASH_TIME static bool is_held(int number) {
  return (atomic_load(&held.signals) & signal_bit(number)) != 0 && is_captured_process();
}

HANDLER CRASH_TIME static void wait_here(int number, siginfo_t *information, void *context) {
  allow_unaligned();
  while (is_held(number)) {
    threads_wait(context);
    // The threads are not asked to stop yet.
    if (is_held(number)) sleep_1ms();
  }
  // This child's own action; or the program has put back what it was shown meanwhile.
  give_back(number);
  SYSTEM_CALL_4(SYS_rt_tgsigqueueinfo, current_process(), current_thread(), number, information);
}

CRASH_TIME static void give_back(int number) {
  struct signal_action current = make_action(NULL, 0, 0);
  if (set_action(number, NULL, &current) != 0 || current.handler != wait_here) return;
  set_action(number, &held.earlier[number], NULL);
}

// Returns false if actions can't be read or set, as under a filter of system calls.
CRASH_TIME static bool hold_signal(int number) {
  struct signal_action found = make_action(NULL, 0, 0);
  if (set_action(number, NULL, &found) != 0) return false;
  // Handlers of signals without a name belong to runtimes.
  bool is_runtimes = number > SIGSYS && !is_default(&found);
  if (is_ignored(&found) || is_runtimes || found.handler == wait_here) return true;
  held.earlier[number] = found;
  // As the program has it, because system calls of threads that resume end or go on by it.
  struct signal_action waiting = make_action(wait_here, mask_without_faults(), found.flags & SA_RESTART);
  atomic_fetch_or(&held.signals, signal_bit(number));
  return set_action(number, &waiting, NULL) == 0;
}

CRASH_TIME void hold_signals(void) {
  for (int number = 1; number <= kSignalCount; number++) {
    if (may_be_held(number) && !hold_signal(number)) return;
  }
}

CRASH_TIME void release_signals(void) {
  uint64_t signals = atomic_load(&held.signals);
  for (int number = 1; number <= kSignalCount; number++) {
    if (signals & signal_bit(number)) give_back(number);
  }
  if (signals != 0) atomic_store(&held.signals, 0);
}

CRASH_TIME bool find_held_action(int number, struct signal_action *action) {
  if (action->handler != wait_here) return false;
  *action = held.earlier[number];
  return true;
}
