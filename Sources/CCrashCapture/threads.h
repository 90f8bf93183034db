// SPDX-License-Identifier: Apache-2.0
// Stops all threads of the process but one, and lets them go again.
#ifndef CRASHPADCTL_THREADS_H
#define CRASHPADCTL_THREADS_H

#include <stdatomic.h>

#include "dump_keys.h"
#include "registers.h"
#include "signals.h"

enum { kMaximumThreads = 4096, kTracedThreads = 256 };

enum thread_state {
  // Sent the signal, or about to be.
  kAsked,
  // Stands in the handler; `context` is valid.
  kStopped,
  // Gone before it stopped.
  kGone,
  // Not sent the signal: it would take it for the program's, or can't take it.
  kLeftAlone,
};

struct thread {
  int id;
  // The same as /proc numbers it; -1 if it does not list it.
  int listed;
  // It sits in vfork(2) or one of its kind, where neither signal nor ptrace(2) reaches it.
  bool waits_for_child;
  _Atomic uint32_t state;
  // On the thread's own stack, as long as it is stopped.
  const ucontext_t *_Atomic context;
  // Base of thread-local storage; 0 if it is not known.
  uint64_t data_address;
  // As the thread itself told it; empty for one that was not stopped by a signal.
  char name[16];
  enum thread_capture capture;
  // Of threads that were not stopped by a signal.
  const struct registers *registers;
};

// SIGPROF is the one that reaches all: workers of libdispatch and of Swift's concurrency block every signal but those
// of faults and this.
enum { kStopSignal = SIGPROF };

// The thread `self`, which calls, was interrupted at `context`. Signals have to be blocked, but for faults.
// timeout: milliseconds for all threads together. with_ptrace: whether to use it where signals don't reach.
CRASH_TIME void threads_stop(int self, const ucontext_t *context, uint32_t timeout, bool with_ptrace);
// Lets them go, each after so many milliseconds: for whoever has a crash next, to stop them in his turn. Another crash
// at the same moment may find him unprepared, and the process is to end by the one that was captured.
CRASH_TIME void threads_resume(uint64_t advance);

CRASH_TIME int threads_count(void);
CRASH_TIME struct thread *threads_at(int index);
// Whether there may be more than were found, and why; empty if all were found.
CRASH_TIME const char *threads_problem(void);
// How many of the process's threads are known, those included that have ended and are not released yet.
CRASH_TIME int threads_known(void);
// The main thread ended by itself, and the process went on.
CRASH_TIME bool threads_lost_leader(void);

// The calling thread crashed while another one is being captured: it stands still here, as a stopped one, until
// threads_resume.
CRASH_TIME void threads_wait(const ucontext_t *context);

// In a child of fork(2), which has a copy of what another thread of its parent may have been at: nobody stands here.
CRASH_TIME void threads_forget(void);

// Base of the calling thread's thread-local storage.
CRASH_TIME uint64_t own_data_address(void);

#endif
