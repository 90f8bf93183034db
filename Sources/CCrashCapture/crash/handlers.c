// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "handlers.h"

#include <poll.h>
#include <unistd.h>

#include "capture.h"
#include "dump_file.h"
#include "go.h"
#include "guard.h"
#include "held_signals.h"
#include "interrupted.h"
#include "memory.h"
#include "postponed.h"
#include "program_handlers.h"
#include "received.h"
#include "threads.h"

// MARK: Failures

CRASH_TIME static const char *name_of_error(long error) {
  switch (error) {
    case EACCES:
      return "permission denied";
    case EDQUOT:
      return "disk quota exceeded";
    case EEXIST:
      return "file exists";
    case EFBIG:
      return "file too large";
    case EIO:
      return "input/output error";
    case EMFILE:
      return "too many open files";
    case ENOENT:
      return "no such file or directory";
    case ENOSPC:
      return "no space left on device";
    case EROFS:
      return "read-only file system";
    default:
      return NULL;
  }
}

// Whether a write would wait for a reader, which may be a thread of this process. A filter of system calls may end the
// process for asking.
CRASH_TIME static bool would_wait(int file) {
  if (has_filter()) return false;
  struct pollfd asked;
  struct timespec at_once;
  zero_bytes(&at_once, sizeof at_once);
  zero_bytes(&asked, sizeof asked);
  asked.fd = file;
  asked.events = POLLOUT;
  return SYSTEM_CALL_6(SYS_ppoll, &asked, 1, &at_once, NULL, sizeof(uint64_t), 0) == 0;
}

CRASH_TIME void report_failure(const char *path, const char *text, long error) {
  if (crash_state.flags & CRASH_CAPTURE_QUIET || would_wait(STDERR_FILENO)) return;
  char line[1024];
  size_t end = append_text(line, sizeof line, 0, "crashpad: ");
  // A program that gave up its rights before the handler made its file has no path.
  if (path[0] != 0) {
    end = append_text(line, sizeof line, end, path);
    end = append_text(line, sizeof line, end, ": ");
  }
  end = append_text(line, sizeof line, end, text);
  end = append_text(line, sizeof line, end, ": ");
  if (error < 0) error = -error;
  const char *name = name_of_error(error);
  if (name != NULL) {
    end = append_text(line, sizeof line, end, name);
  } else {
    end = append_text(line, sizeof line, end, "error ");
    end = append_number(line, sizeof line, end, (uint64_t)error);
  }
  end = append_text(line, sizeof line, end, "\n");
  SYSTEM_CALL_3(SYS_write, STDERR_FILENO, line, end);
}

// MARK: What comes after

CRASH_TIME static bool handles(int number) {
  struct signal_action current = make_action(NULL, 0, 0);
  long result = set_action(number, NULL, &current);
  // If the action can't be read, it can't have been changed either.
  return result == 0 ? current.handler == handle_crash : crash_capture.signal > 0;
}

CRASH_TIME bool handles_faults(void) { return handles(SIGSEGV) && handles(SIGBUS); }

// kept: a signal that stays with our handler; 0 for none.
CRASH_TIME static void restore_handlers(int kept) {
  for (int index = 0; index < kCrashSignalCount; index++) {
    struct signal_action current;
    if (kCrashSignals[index] == kept) continue;
    if (set_action(kCrashSignals[index], NULL, &current) < 0) continue;
    if (current.handler != handle_crash && current.handler != handle_go) continue;
    set_action(kCrashSignals[index], &crash_state.earlier[index], NULL);
  }
}

CRASH_TIME void restore_earlier_handlers(void) { restore_handlers(0); }

// Restores handlers before the process ends. A trap of our own system calls on that way still has to reach our handler.
CRASH_TIME static void restore_at_end(int number) { restore_handlers(number == SIGSYS ? 0 : SIGSYS); }

// A fault happens again when its instruction runs again; a signal that was sent does not, nor does a breakpoint.
CRASH_TIME static bool happens_again(int number, const siginfo_t *information, const ucontext_t *context) {
#if defined(__x86_64__)
  // Without a cause of its own: of the faults only those that name a segment. The others come after their instruction, such
  // as int $4, or a return from a handler that the kernel refuses.
  const greg_t kFirst = 10;
  const greg_t kLast = 13;
  greg_t trap = context->uc_mcontext.gregs[REG_TRAPNO];
  if (information->si_code == SI_KERNEL && (trap < kFirst || trap > kLast)) return false;
#else
  (void)context;
#endif
  return information->si_code > 0 && number != SIGTRAP && number != SIGSYS;
}

// Whether the kernel raised the signal for an action of the thread; false if it was sent.
CRASH_TIME static bool is_forced(int number, const siginfo_t *information) {
  // Reports memory that went bad but has not been accessed.
  bool is_notice = number == SIGBUS && information->si_code == BUS_MCEERR_AO;
  return information->si_code > 0 && number != SIGABRT && !is_notice;
}

// For each signal, the handler that was set when it was handed over to the earlier action; 0 if that never happened.
static uintptr_t handed_over_from[kCrashSignalCount];

CRASH_TIME bool crash_was_handed_over(void) {
  for (int index = 0; index < kCrashSignalCount; index++) {
    if (handed_over_from[index] != 0) return true;
  }
  return false;
}

// Called before other threads resume: otherwise one that crashed as well would be captured, instead of reaching the
// earlier handler.
CRASH_TIME static void hand_over(int place, const struct signal_action *next) {
  struct signal_action current = make_action(NULL, 0, 0);
  set_action(kCrashSignals[place], NULL, &current);
  // Another thread handed the signal over already, and the new owner has set its handlers: the Swift backtracer has a
  // thread that reads memory, and faults. Does not apply if the handler that called ours is set again.
  uintptr_t known = handed_over_from[place];
  if (known != 0 && (uintptr_t)current.handler != known && !is_own_handler(current.handler)) return;
  handed_over_from[place] = (uintptr_t)current.handler;
  set_action(kCrashSignals[place], next, NULL);
}

// Raises the signal again, unchanged, for its `next` owner; or it ends the process, with the same status and the same
// core file as without us. It arrives when this handler returns, with the registers of its first arrival.
CRASH_TIME static void pass_on(int number, siginfo_t *information, ucontext_t *context,
                               const struct signal_action *next) {
  int process = current_process();
#if defined(__x86_64__)
  // Signals that the first process of a namespace sends itself do not end it, but a fault does: step back onto the
  // breakpoint.
  const int kBreakpoint = 3;
  if (process == 1 && is_default(next) && number == SIGTRAP && context->uc_mcontext.gregs[REG_TRAPNO] == kBreakpoint) {
    context->uc_mcontext.gregs[REG_RIP] -= 1;
  }
#endif
  uint64_t mask = signal_bit(number);
  struct signal_action current = make_action(NULL, 0, 0);
  if (is_default(next) && set_action(number, NULL, &current) != 0) {
    // A filter refuses the change. A blocked fault takes the default action all the same; a signal that was sent would
    // return here forever.
    ((uint64_t *)&context->uc_sigmask)[0] |= mask;
    if (!happens_again(number, information, context)) SYSTEM_CALL_1(SYS_exit_group, 128 + number);
    return;
  }
  int thread = current_thread();
  // The mask to return to has the signal if only a wait let it in (sigsuspend, ppoll).
  if (is_default(next)) *(uint64_t *)&context->uc_sigmask &= ~mask;
  // Blocked here, so that it arrives where the signal came first: when this handler returns.
  change_mask(SIG_BLOCK, &mask, NULL);
  mark_for_thread(information);
  long result = SYSTEM_CALL_4(SYS_rt_tgsigqueueinfo, process, thread, number, information);
  if (result >= 0 || happens_again(number, information, context)) return;
  result = SYSTEM_CALL_3(SYS_tgkill, process, thread, number);
  if (is_refused(result)) result = SYSTEM_CALL_2(SYS_tkill, thread, number);
  if (is_refused(result)) SYSTEM_CALL_2(SYS_kill, process, number);
}

// Between this handler and the end no handler of the program runs: it may need a lock of a thread that is stopped.
CRASH_TIME static void hold_other_signals(int number, ucontext_t *context) {
  *(uint64_t *)&context->uc_sigmask |= ~signal_bit(number) & mask_without_faults();
}

CRASH_TIME static void end_by_default(int number, siginfo_t *information, ucontext_t *context) {
  struct signal_action none = make_action(NULL, 0, 0);
  set_action(number, &none, NULL);
  pass_on(number, information, context, &none);
}

// Whether the kernel ignores a signal that would end any other process, because it was sent to the first process of a
// namespace. Faults do end that process.
CRASH_TIME static bool is_survived(const siginfo_t *information, const struct signal_action *next) {
  return current_process() == 1 && is_default(next) && information->si_code <= 0;
}

// MARK: Captures

// Takes over SIGSYS: a program that handles the traps of its filter by itself must not be called for our system calls.
// Returns whether there is an action to restore.
CRASH_TIME static bool take_traps(struct signal_action *earlier) {
  if (!has_filter()) return false;
  struct signal_action own = make_action(handle_crash, mask_without_faults(), SA_NODEFER);
  return set_action(SIGSYS, &own, earlier) == 0 && earlier->handler != handle_crash;
}

// The signals that writes of the capture may raise. They must not end the process in place of the crash's own.
struct write_signals {
  bool is_held;
  uint64_t mask;
  bool were_pending[2];
};
static const int kWriteSignals[2] = {SIGXFSZ, SIGPIPE};

CRASH_TIME static void hold_write_signals(struct write_signals *signals) {
  uint64_t mask = signal_bit(SIGXFSZ) | signal_bit(SIGPIPE);
  signals->is_held = change_mask(SIG_BLOCK, &mask, &signals->mask) == 0;
  // A filter of system calls may end the process for an unusual one; then no write is known to have raised a signal.
  for (int index = 0; index < 2; index++) {
    signals->were_pending[index] = has_filter() || is_pending(kWriteSignals[index]);
  }
}

CRASH_TIME static void drop_write_signals(const struct write_signals *signals) {
  if (!signals->is_held) return;
  for (int index = 0; index < 2; index++) {
    if (!signals->were_pending[index]) discard_pending_signal(kWriteSignals[index]);
  }
  change_mask(SIG_SETMASK, &signals->mask, NULL);
}

CRASH_TIME static void write_file(int number, const siginfo_t *information, ucontext_t *context) {
  pass_limits();
  long result = dump_file_prepare();
  if (result < 0) {
    report_failure(crash_state.path, "the crash can't be written", result);
    return;
  }
  struct capture *capture = &crash_capture;
  capture->signal = number;
  capture->code = information->si_code;
  // In the place of a fault's address the kernel has the process and the user that sent a signal.
  bool is_sent = information->si_code == SI_USER || information->si_code == SI_QUEUE || information->si_code == SI_TKILL;
  capture->address = information->si_code > 0 || is_sent ? (uint64_t)information->si_addr : 0;
  capture->thread = current_thread();
  capture->context = context;
  capture->resumes = false;
  capture->file = crash_state.file.descriptor;
  capture_write(capture);
  if (capture->writer.error != 0) {
    bool is_empty = capture->writer.flushed == 0;
    const char *text = is_empty ? "no dump was written" : "only the beginning of the dump was written";
    report_failure(crash_state.path, text, capture->writer.error);
  }
  // An empty file would look like that of a program that ended normally.
  if (capture->writer.flushed == 0) return;
  result = dump_file_finish();
  // If a program gave up its rights to the directory, `crashpadctl run` removes the lock in the end.
  bool is_left = crash_state.has_run_id && (result == -EACCES || result == -EPERM);
  if (result < 0 && !is_left) report_failure(crash_state.path, "the dump stays locked", result);
}

CRASH_TIME static void write_dump(int number, const siginfo_t *information, ucontext_t *context) {
  struct signal_action trap;
  bool has_taken = take_traps(&trap);
  hold_signals();
  write_file(number, information, context);
  if (has_taken) set_action(SIGSYS, &trap, NULL);
}

CRASH_TIME static void write_crash(int number, const siginfo_t *information, ucontext_t *context) {
  struct write_signals signals;
  hold_write_signals(&signals);
  write_dump(number, information, context);
  drop_write_signals(&signals);
}

CRASH_TIME static void return_from_call(ucontext_t *context, long result) {
#if defined(__x86_64__)
  context->uc_mcontext.gregs[REG_RAX] = result;
#else
  context->uc_mcontext.regs[0] = (uint64_t)result;
#endif
}

// Whether a filter has trapped a system call of this library so far, in any thread.
CRASH_TIME static bool is_own_trap(int number, const siginfo_t *information) {
  const int kSeccomp = 1;  // SYS_SECCOMP
  // If the program calls this handler itself, it may pass other values: the kernel's lie just above this frame.
  const uintptr_t kNear = 128 << 10;
  if (number != SIGSYS || (uintptr_t)information - (uintptr_t)__builtin_frame_address(0) > kNear) return false;
  return information->si_code == kSeccomp &&
         (const char *)information->si_call_addr == crash_system_call_end;
}

// If a handler of the program raised the signal again, finds the fault for which that handler was called, to capture
// it.
CRASH_TIME static struct received find_fault(int number, const struct received *received) {
  struct received fault = *received;
  const siginfo_t *information = received->information;
  bool is_raised = information->si_code <= 0 && information->si_pid == current_process();
  if (!is_raised || find_fault_of_call(number, &fault)) return fault;
  const int kNoFile = -1;
  memory_begin(kNoFile);
  const struct thread_facts *facts = thread_facts();
  struct alternate_stack none;
  zero_bytes(&none, sizeof none);
  uint64_t context = interrupted_context(received->context, facts == NULL ? &none : &facts->stacks[kProgramStack]);
  memory_end();
  siginfo_t *earlier = received_information(context);
  if (context == 0 || earlier->si_signo != number || earlier->si_code <= 0) return fault;
  fault.information = earlier;
  fault.context = (ucontext_t *)context;
  return fault;
}

CRASH_TIME static void resume(uint64_t advance) {
  release_signals();
  threads_resume(advance);
  atomic_store(&crash_state.owner, 0);
}

HANDLER CRASH_TIME void handle_crash(int number, siginfo_t *raw_information, void *raw_context) {
  allow_unaligned();
  if (is_own_trap(number, raw_information)) {
    return_from_call(raw_context, -ENOSYS);
    return;
  }
  int place = crash_signal_index(number);
  struct signal_action none = make_action(NULL, 0, 0);
  if (place < 0) return;
  struct received received = received_check(number, raw_information, raw_context);
  siginfo_t *information = received.information;
  ucontext_t *context = received.context;
  restore_sender(number, information);
  const struct signal_action *next = &crash_state.earlier[place];
  // The signal was sent to a program that ignores it.
  if (is_ignored(next)) {
    if (!is_forced(number, information)) return;
    // The kernel does not check whether a fault that it raises is ignored: it ends the process.
    next = &none;
  }
  // Nor does the kernel call a handler if the signal is blocked, as it is in this thread as far as the program knows.
  if (is_forced(number, information) && hides(number, context)) next = &none;
  if (is_default(next) && capture_abort(number, context)) return;
  // A child that still shares its parent's memory (vfork): nothing here may be changed.
  if (!is_captured_process()) {
    end_by_default(number, information, context);
    return;
  }
  if (postpone_signal(number, information, context)) return;
  int thread = current_thread();
  int owner = 0;
  bool is_owner = atomic_compare_exchange_strong(&crash_state.owner, &owner, thread);
  // The owner requested a dump, and crashed before or after the capture.
  is_owner |= owner == thread && !crash_capture.is_under_way;
  if (!is_owner) {
    if (owner != thread) {
      // The thread is captured as one of the others. If it goes on, it crashes again.
      threads_wait(context);
      if (!happens_again(number, information, context))
        SYSTEM_CALL_4(SYS_rt_tgsigqueueinfo, current_process(), thread, number, information);
      return;
    }
    if (guard_recover(context)) return;
    // No guarded call catches this fault; the parts written so far are kept.
    dump_writer_flush(&crash_capture.writer);
    if (crash_capture.writer.flushed > 0) dump_file_finish();
    end_by_default(number, information, context);
    return;
  }
  struct received fault = find_fault(number, &received);
  crash_capture.is_raised_again = fault.is_raised_again;
  write_crash(number, fault.information, fault.context);
  const uint64_t kAdvance = 100;
  if (is_survived(information, next)) {
    // abort(3) goes on to a fault, which is no second crash.
    bool is_abort = number == SIGABRT && information->si_pid == current_process();
    if (is_abort) {
      hand_over(place, next);
      restore_at_end(number);
    }
    resume(is_abort ? kAdvance : 0);
    return;
  }
  hand_over(place, next);
  if (is_default(next)) {
    // The other threads stay stopped until the end: one of them might return from main and end the process normally.
    restore_at_end(number);
    hold_other_signals(number, context);
    // A fault finds the default action when its instruction runs again, with all details that the kernel reports.
    struct signal_action current = none;
    bool is_set = set_action(number, NULL, &current) == 0;
    if (!is_set || !is_forced(number, information) || !happens_again(number, information, context)) {
      pass_on(number, information, context, next);
    }
    return;
  }
  // The signal is pending for the return of this handler before the other threads resume.
  pass_on(number, information, context, next);
  resume(kAdvance);
}
