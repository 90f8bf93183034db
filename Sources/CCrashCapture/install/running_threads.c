// SPDX-License-Identifier: Apache-2.0
// The threads that ran before this library was installed. Only a thread itself can set its alternate stack, so each one
// gets a signal whose handler does it.
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "../crash/memory.h"
#include "../crash/proc.h"
#include "../crash/state.h"
#include "../crash/threads.h"
#include "install.h"
#include "stacks.h"

// A stack for the thread that gets the signal; NULL once it is taken.
static void *_Atomic given_stack;
static _Atomic int given_to;

// The kernel adopts the handler's uc_stack when the handler returns.
HANDLER CRASH_TIME static void give_stack(int number, siginfo_t *information, void *raw_context) {
  (void)number;
  (void)information;
  ucontext_t *context = raw_context;
  if (atomic_load(&given_to) != current_thread()) return;
  void *stack = atomic_exchange(&given_stack, NULL);
  if (stack == NULL) return;
  if (context->uc_stack.ss_flags & SS_DISABLE) {
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = 64 << 10;
    context->uc_stack.ss_flags = 0;
    struct thread_facts *facts = thread_facts();
    if (facts != NULL) {
      facts->stacks[kOwnStack].low = stack;
      facts->stacks[kOwnStack].size = context->uc_stack.ss_size;
    }
  }
  atomic_store(&given_to, 0);
}

// Whether the signal may be pending for a thread that did not take it in time.
static bool is_late;

static void give_to(int directory, int thread) {
  // A thread that waits for this signal would take it as its own, and one that has ended needs no stack.
  bool is_running;
  if (proc_attention(directory, thread, kStopSignal) != kListens) return;
  // If it is blocked, the signal would be delivered after the earlier action is back, which may end the process.
  if (proc_blocks_signal(thread, kStopSignal, &is_running)) return;
  void *stack = make_stack();
  if (stack == NULL) return;
  atomic_store(&given_stack, stack);
  atomic_store(&given_to, thread);
  if (SYSTEM_CALL_3(SYS_tgkill, current_process(), thread, kStopSignal) != 0) atomic_store(&given_to, 0);
  // Waits up to 20 ms. A thread that blocks the signal, or gets no processor, gets no stack.
  for (int tries = 0; atomic_load(&given_to) != 0 && tries < 100; tries++) usleep(200);
  if (atomic_exchange(&given_to, 0) != 0) is_late = true;
  void *left = atomic_exchange(&given_stack, NULL);
  if (left != NULL) keep_stack(left);
}

// Waits up to a second until no thread has the signal pending. Returns false if one still has.
static bool wait_for_late(void) {
  for (int tries = 0; tries < 1000; tries++) {
    bool is_pending = false;
    DIR *directory = opendir("/proc/self/task");
    if (directory == NULL) return false;
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
      int thread = (int)parse_number(entry->d_name);
      if (thread > 0 && proc_may_have_pending(thread, kStopSignal)) is_pending = true;
    }
    closedir(directory);
    if (!is_pending) return true;
    usleep(1000);
  }
  return false;
}

void running_threads_install(void) {
  DIR *directory = opendir("/proc/self/task");
  if (directory == NULL) return;
  int self = current_thread();
  struct signal_action earlier;
  struct signal_action action = make_action(give_stack, ~UINT64_C(0), SA_RESTART);
  bool is_installed = false;
  const int kNoFile = -1;
  memory_begin(kNoFile);
  struct dirent *entry;
  while ((entry = readdir(directory)) != NULL) {
    int thread = (int)parse_number(entry->d_name);
    if (thread <= 0 || thread == self) continue;
    if (!is_installed) set_action(kStopSignal, &action, &earlier);
    is_installed = true;
    give_to(dirfd(directory), thread);
  }
  closedir(directory);
  // A signal that is still pending must not meet the default action, which ends the process; this handler does nothing then.
  bool may_restore = !is_late || wait_for_late();
  memory_end();
  if (is_installed && may_restore) set_action(kStopSignal, &earlier, NULL);
}
