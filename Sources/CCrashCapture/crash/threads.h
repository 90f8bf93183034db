// SPDX-License-Identifier: Apache-2.0
// Stops all threads of the process but one, and resumes them.
#ifndef CRASHPADCTL_THREADS_H
#define CRASHPADCTL_THREADS_H

#include <stdatomic.h>

#include "dump_keys.h"
#include "registers.h"
#include "signals.h"
#include "state.h"

enum { kMaximumThreads = 4096, kTracedThreads = 256 };

enum thread_state {
  // The signal was sent, or is about to be.
  kAsked,
  // Stopped in the handler; `context` is valid.
  kStopped,
  // Ended before it stopped.
  kGone,
  // Not sent the signal, because it would take it for one of the program's, or can't take it.
  kSkipped,
};

struct thread {
  int id;
  // Its number in /proc; -1 if it is not listed there.
  int listed;
  // It is in vfork(2) or a similar call, where neither a signal nor ptrace(2) reaches it.
  bool waits_for_child;
  _Atomic uint32_t state;
  // Lies on the thread's own stack; valid while it is stopped.
  const ucontext_t *_Atomic context;
  // The base of its thread-local storage; 0 if it is not known.
  uint64_t data_address;
  // The alternate stack that the program gave it; a size of 0 if it has none, or if that is not known.
  struct alternate_stack program_stack;
  // As the thread itself reported it; empty for a thread that was not stopped by a signal.
  char name[16];
  enum thread_capture capture;
  // The registers of a thread that was not stopped by a signal.
  const struct registers *registers;
};

// SIGPROF reaches all threads: workers of libdispatch and of Swift's concurrency block every signal except faults and
// this one.
enum { kStopSignal = SIGPROF };

// Stops all other threads. The calling thread, `self`, was interrupted at `context`. Signals have to be blocked, except
// faults. timeout: milliseconds for all threads together. with_ptrace: whether to use it where signals do not arrive.
CRASH_TIME void threads_stop(int self, const ucontext_t *context, uint32_t timeout, bool with_ptrace);
// Resumes the threads, each after `advance` milliseconds, in which the next handler of the crash can stop them itself.
// A second crash at the same moment may find that handler unprepared, and the process is to end by the captured crash.
CRASH_TIME void threads_resume(uint64_t advance);

CRASH_TIME int threads_count(void);
CRASH_TIME struct thread *threads_at(int index);
// The reason why threads may be missing; empty if all were found.
CRASH_TIME const char *threads_problem(void);
// The number of known threads of the process, including those that have ended but are not released yet.
CRASH_TIME int threads_known(void);
// Whether the main thread ended by itself while the process went on.
CRASH_TIME bool threads_lost_leader(void);

// Called by a thread that crashes while another thread is being captured: it stands still here, like a stopped thread,
// until threads_resume.
CRASH_TIME void threads_wait(const ucontext_t *context);

// Resets the state in a child of fork(2), which has a copy of what another thread of its parent may have been doing: no
// thread is stopped here.
CRASH_TIME void threads_forget(void);

// The base of the calling thread's thread-local storage.
CRASH_TIME uint64_t own_data_address(void);

#endif
