// SPDX-License-Identifier: Apache-2.0
// Facts about threads from /proc, during a crash.
#ifndef CRASHPADCTL_PROC_H
#define CRASHPADCTL_PROC_H

#include "crash_time.h"

// Parses the decimal number at the beginning of a text. Returns a negative value if the text begins with no digit.
CRASH_TIME int64_t parse_number(const char *text);

// Reads a whole small file and ends it with NUL; returns its size, at most `size - 1`, or an errno value below zero.
CRASH_TIME long proc_read(const char *path, char *to, size_t size);
// The same for /proc/self/task/THREAD/NAME.
CRASH_TIME long proc_read_of_thread(int thread, const char *name, char *to, size_t size);

// Whether a thread's mask blocks the signal. False if that is not known. is_running: whether the thread is not in a
// system call, but runs or waits for a processor; then its mask may change at any moment, as the mask of a new thread
// does.
CRASH_TIME bool proc_blocks_signal(int thread, int number, bool *is_running);

// Whether the signal is pending for the thread. True if that is not known.
CRASH_TIME bool proc_may_have_pending(int thread, int number);

// Copies the path of the file that is mapped at an address, and ends it with NUL. Returns its length; 0 if there is no
// such file, or if that is not known. Only one thread may call it at a time.
CRASH_TIME size_t proc_mapped_path(uint64_t address, char *path, size_t size);

enum attention {
  // Also if nothing is known.
  kListens,
  // The thread is in sigwait(3) or a similar call, and would take the signal as one that it waits for: its mask does
  // not show that.
  kAwaitsSignal,
  // A zombie: the first thread of a process whose other threads go on.
  kHasEnded,
};

// Finds out how the thread would take a signal. directory: a descriptor of /proc/self/task, negative if it can't be
// opened.
CRASH_TIME enum attention proc_attention(int directory, int thread, int number);

// Whether the thread made a child that shares its memory (vfork), and waits until the child exits or calls exec.
CRASH_TIME bool proc_waits_for_child(int thread);

// The id of a thread in the innermost of its namespaces, our own; 0 if it is not known. thread: its number in /proc.
CRASH_TIME int proc_own_number(int thread);

// The number of threads in the text of /proc/self/status; -1 if it is missing there.
CRASH_TIME int proc_thread_count(const char *status);

// The stack pointer and program counter of a thread that is in a system call. Returns false if they are not known.
CRASH_TIME bool proc_pointers(int thread, uint64_t *stack_pointer, uint64_t *program_counter);

#endif
