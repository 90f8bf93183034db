// SPDX-License-Identifier: Apache-2.0
// The ways to crash that Swift has no words for, and threads that stand around meanwhile.
#ifndef CRASH_KINDS_H
#define CRASH_KINDS_H

#ifdef __cplusplus
extern "C" {
#endif

void kind_null(void);
void kind_wild(void);
void kind_abort(void);
void kind_assert(void);
void kind_stack_overflow(void);
void kind_double_free(void);
void kind_heap_overflow(void);
void kind_bus(void);
void kind_fpe(void);
void kind_illegal(void);
void kind_trap(void);
void kind_sys(void);
void kind_smash(void);
void kind_jump_null(void);
void kind_cxx_exception(void);
void kind_cxx_exception_of_no_type(void);
void kind_pure_virtual(void);
void kind_raise(int signal);
void kind_two_threads(void);
void kind_in_child(int uses_vfork);
// Crashes in a child of fork(2); returns the signal that ended it.
int kind_crash_in_child(void);

enum thread_kind {
  THREAD_WAITS = 0,            // in poll(2)
  THREAD_BLOCKS_SIGNALS,       // in poll(2), with every signal blocked
  THREAD_SPINS,                // in user space
  THREAD_SPINS_BLOCKING,       // in user space, with every signal blocked
  THREAD_IN_HANDLER,           // in poll(2), in a signal handler on an alternate stack
  THREAD_IN_HANDLER_BLOCKING,  // in poll(2), in such a handler, with every signal blocked
};

// Starts `count` threads that stay; returns when all run. stack_size 0 is the system's.
void start_threads(int count, enum thread_kind kind, unsigned long stack_size);

// Runs `body` on a new thread named "crashing" and waits for it.
void run_on_other_thread(void (*body)(void));

// A handler for the signals of crashes, like another crash reporter's: says "other handler: signal N" on standard
// error, and hands on to what was there before. With uses_default it restores the default action and returns instead.
void install_other_handler(int uses_default);

// Unbuffered, whole: "pid P thread T\n".
void tell_ids(const char *kind);

// Unbuffered, whole; 1 is standard output, 2 standard error.
void say(int descriptor, const char *text);

// The numbers of the names in a directory and of the lines of a file.
long count_entries(const char *directory);
long count_lines(const char *file);

// Until a signal ends it.
// Closes what the program did not open, as daemons do.
void close_files(void);
// Forbids system calls by seccomp: errno, trap or kill. Returns 0 or an errno value.
int forbid_calls(const char *how);

void wait_forever(void);

#ifdef __cplusplus
}
#endif
#endif
