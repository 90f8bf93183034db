// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "postponed.h"

#include "program_handlers.h"
#include "state.h"

// The original sender of each signal that this process has sent again; a process id of 0 means that it has not.
struct sender {
  _Atomic int process;
  uid_t user;
};
static struct sender postponed_senders[kCrashSignalCount];

// The kernel lets no thread but the first send a signal of kill(2) again as it came.
CRASH_TIME static long send_again(int number, const siginfo_t *information) {
  struct sender *sender = &postponed_senders[crash_signal_index(number)];
  sender->user = information->si_uid;
  atomic_store(&sender->process, information->si_pid);
  return SYSTEM_CALL_2(SYS_kill, current_process(), number);
}

CRASH_TIME void restore_sender(int number, siginfo_t *information) {
  int place = crash_signal_index(number);
  if (place < 0 || information->si_code != SI_USER || information->si_pid != current_process()) return;
  int process = atomic_exchange(&postponed_senders[place].process, 0);
  if (process == 0) return;
  information->si_pid = process;
  information->si_uid = postponed_senders[place].user;
}

// The mark of signals that this library sends to a thread as they came: of kill(2), which sends to a process. The kernel and
// emulators keep the value, which such a signal has no use for.
#define THREAD_MARK ((void *)(uintptr_t)0x6372617368706164)

CRASH_TIME void mark_for_thread(siginfo_t *information) {
  if (information->si_code == SI_USER) information->si_value.sival_ptr = THREAD_MARK;
}

// Whether a signal was sent to this thread, and not to the process. The kernel does not tell.
CRASH_TIME static bool is_for_thread(int number, const siginfo_t *information) {
  if (information->si_code == SI_USER) return information->si_value.sival_ptr == THREAD_MARK;
  if (information->si_code != SI_QUEUE) return information->si_code == SI_TKILL;
  struct thread_facts *facts = thread_facts();
  uint64_t mask = signal_bit(number);
  return facts != NULL && (atomic_fetch_and(&facts->sent_here, ~mask) & mask) != 0;
}

// The number of threads that are about to send a signal again: meanwhile it is nowhere.
static _Atomic int postponing;

bool is_postponing(void) { return atomic_load(&postponing) > 0; }

CRASH_TIME static bool postpone(int number, siginfo_t *information, ucontext_t *context) {
  uint64_t mask = signal_bit(number);
  change_mask(SIG_BLOCK, &mask, NULL);
  int process = current_process();
  long result = is_for_thread(number, information)
                    ? SYSTEM_CALL_4(SYS_rt_tgsigqueueinfo, process, current_thread(), number, information)
                    : SYSTEM_CALL_3(SYS_rt_sigqueueinfo, process, number, information);
  if (result == -EPERM && information->si_code == SI_USER) result = send_again(number, information);
  if (result != 0) {
    change_mask(SIG_UNBLOCK, &mask, NULL);
    return false;
  }
  // Also in the mask that the return from this handler restores.
  *(uint64_t *)&context->uc_sigmask |= mask;
  return true;
}

CRASH_TIME bool postpone_signal(int number, siginfo_t *information, ucontext_t *context) {
  if (information->si_code > 0) return false;
  atomic_fetch_add(&postponing, 1);
  bool is_postponed = hides(number, context) && postpone(number, information, context);
  atomic_fetch_sub(&postponing, 1);
  return is_postponed;
}
