// SPDX-License-Identifier: Apache-2.0
// What /proc tells of a thread, during a crash.
#ifndef CRASHPADCTL_PROC_H
#define CRASHPADCTL_PROC_H

#include "crash_time.h"

// A decimal number at the beginning of a text; below zero if there is none.
CRASH_TIME int64_t parse_number(const char *text);

// Reads a whole small file; returns its size, at most `size - 1`, and ends it with NUL. Below zero: an errno value.
CRASH_TIME long proc_read(const char *path, char *to, size_t size);
// The same of /proc/self/task/THREAD/NAME.
CRASH_TIME long proc_read_of_thread(int thread, const char *name, char *to, size_t size);

// Whether a thread's mask blocks the signal. False if nobody knows. is_running: whether it is not in a system call, and
// runs or waits for a processor; then its mask may change at any moment, as that of a thread does which has only just
// begun.
CRASH_TIME bool proc_blocks_signal(int thread, int number, bool *is_running);

// Whether the signal was sent to the thread, and waits for being taken. True if nobody knows.
CRASH_TIME bool proc_may_have_pending(int thread, int number);

enum attention {
  // Or nobody knows.
  kListens,
  // It sits in sigwait(3) or one of its kind, and would take the signal for one that it waits for: its mask does not
  // show that.
  kAwaitsSignal,
  // It is a zombie: the first thread of a process whose others went on.
  kHasEnded,
};

// What becomes of a signal that is sent to the thread. directory: /proc/self/task, open; below zero if there is none.
CRASH_TIME enum attention proc_attention(int directory, int thread, int number);

// Whether it made a child that has its memory (vfork), and waits until that has gone its own way.
CRASH_TIME bool proc_waits_for_child(int thread);

// The id that a thread has in the innermost of its namespaces, our own; 0 if it is not known. thread: as /proc lists it.
CRASH_TIME int proc_own_number(int thread);

// The number of threads that a /proc/self/status tells; -1 if it does not.
CRASH_TIME int proc_thread_count(const char *status);

// Where a thread stands that sits in a system call.
CRASH_TIME bool proc_pointers(int thread, uint64_t *stack_pointer, uint64_t *program_counter);

#endif
