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

// The thread that sends one again marks it before it stops to count itself, so that there is no moment without either.
bool is_postponing(uint64_t signals) {
  return (atomic_load(&crash_state.sent_again) & signals) != 0 || atomic_load(&crash_state.postponing) > 0;
}

CRASH_TIME void signals_were_taken(uint64_t signals) { atomic_fetch_and(&crash_state.sent_again, ~signals); }

CRASH_TIME static bool postpone(int number, siginfo_t *information, ucontext_t *context) {
  uint64_t mask = signal_bit(number);
  change_mask(SIG_BLOCK, &mask, NULL);
  int process = current_process();
  long result;
  if (is_for_thread(number, information)) {
    result = SYSTEM_CALL_4(SYS_rt_tgsigqueueinfo, process, current_thread(), number, information);
  } else {
    atomic_fetch_or(&crash_state.sent_again, mask);
    result = SYSTEM_CALL_3(SYS_rt_sigqueueinfo, process, number, information);
  }
  if (result == -EPERM && information->si_code == SI_USER) result = send_again(number, information);
  if (result != 0) {
    signals_were_taken(mask);
    change_mask(SIG_UNBLOCK, &mask, NULL);
    return false;
  }
  // Also in the mask that the return from this handler restores.
  *(uint64_t *)&context->uc_sigmask |= mask;
  return true;
}

CRASH_TIME bool postpone_signal(int number, siginfo_t *information, ucontext_t *context) {
  if (information->si_code > 0) return false;
  atomic_fetch_add(&crash_state.postponing, 1);
  signals_were_taken(signal_bit(number));
  bool is_postponed = hides(number, context) && postpone(number, information, context);
  atomic_fetch_sub(&crash_state.postponing, 1);
  return is_postponed;
}
