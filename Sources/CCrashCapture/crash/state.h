// SPDX-License-Identifier: Apache-2.0
// The data that the installer prepares in normal operation, for the moment of a crash.
#ifndef CRASHPADCTL_STATE_H
#define CRASHPADCTL_STATE_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "CCrashCapture.h"
#include "signals.h"

enum {
  kWriteBufferSize = 64 << 10,
  kFactsSize = 64 << 10,
  kMaximumRanges = 128,
  kMaximumRangeSize = 1 << 20,
  kMaximumAnnotationName = 256,
  kMaximumAnnotationValue = 20480,
};

// A file of the handler, with the facts that identify it: programs close and reuse descriptors that they did not open.
struct known_file {
  // Whether there is such a file, open or not.
  bool is_made;
  int descriptor;  // 0: not open; ours are raised above those of the standard streams
  dev_t device;
  ino_t inode;  // 0: not known, as every call to ask for it is refused
  long flags;   // as opened (F_GETFL)
};

struct text_annotation {
  atomic_bool is_used;
  // The index of its value.
  atomic_int value;
  char name[CRASH_CAPTURE_ANNOTATION_NAME + 1];
};

// A new value is written into one that no text has, as a thread may be stopped while it writes.
enum { kTextValues = CRASH_CAPTURE_ANNOTATIONS + 1 };

struct memory_range {
  _Atomic uint64_t address;
  _Atomic uint64_t size;
};

// Bytes of a dump, encoded before any crash.
struct encoded_facts {
  // Precedes the bytes, most of which are never used: each written page makes fork(2) slower.
  uint32_t size;
  uint8_t bytes[kFactsSize];
};

struct time_zone {
  bool is_known;
  bool has_daylight;
  bool is_daylight;
  // Seconds east of Greenwich.
  int32_t standard_offset;
  int32_t daylight_offset;
  char standard_name[64];
  char daylight_name[64];
};

// The members that every start writes come first, and the texts of unknown length behind them: each page that is
// written makes a start slower, and each fork(2) after it.
struct state {
  atomic_bool is_installed;
  // The process that installed this, or a child of fork(2) that has made a dump since: see is_captured_process.
  _Atomic int process;
  // The thread that captures; 0 if there is none.
  _Atomic int owner;
  // A dump was written, or at least begun.
  atomic_bool has_captured;
  // Threads that hold the lock of annotations, wait for it, or are about to.
  atomic_int annotation_users;
  // The number of threads that are about to send a signal again: meanwhile it is nowhere.
  atomic_int postponing;
  // Signals that were sent to the process again, and have come to no handler since. A thread that the kernel gave one to
  // counts itself only when its handler begins, which may take long on a machine that is busy.
  _Atomic uint64_t sent_again;
  // The file of the dump. A child of fork(2) reads only the members up to file_process, unless there was a dump.
  struct known_file file;
  int file_process;  // that made it: another one in a child of fork(2)
  // A page of the file's mapping, which keeps its lock while no descriptor is open; children of fork(2) lack it.
  void *lock_page;
  // The descriptors stay open, as the paths may lead nowhere later.
  bool holds_files;
  struct known_file directory;
  struct signal_action earlier[kCrashSignalCount];

  bool has_run_id;
  uint8_t run_id[16];

  uint32_t flags;
  uint32_t crashed_stack_limit;
  uint32_t stack_limit;
  uint32_t stop_timeout;

  // The signals that the program reads from descriptors (signalfd(2)), closed ones too: a thread that blocks such a
  // signal would read it there as its own.
  _Atomic uint64_t described_signals;

  // The signals that the program ignores.
  _Atomic uint64_t ignored_signals;

  // The program's environment, and the names of variables that dumps contain besides the usual ones.
  char ***environment;
  const char *const *kept_variables;
  struct time_zone time_zone;
  uint64_t clock_ticks;  // per second
  uint64_t installed_at;  // CLOCK_MONOTONIC, nanoseconds
  vdso_clock *read_clock;  // NULL if the kernel has to be asked
  uint64_t page_size;
  uint32_t processors;  // that the program may use; 0 if unknown
  // The distance of the calling thread's facts from its thread pointer; 0 before the installation.
  int64_t facts_offset;
  bool can_read_base;

  // The address of the loader's list of modules; 0 in a static executable.
  uint64_t loader_debug;
  uint64_t executable_bias;
  uint64_t program_headers;
  uint64_t program_header_count;
  uint64_t loader_base;
  uint64_t vdso;
  // The end of the main thread's frames: arguments and environment follow, which may contain secrets.
  uint64_t main_stack_end;

  // The addresses of the messages that runtimes leave when they end the process; 0 if there is none.
  uint64_t abort_message;        // struct abort_msg_s **
  uint64_t swift_fatal_message;  // char **

  // Empty until facts_name_program, if no name was given.
  char program_id[CRASH_CAPTURE_PROGRAM_ID_SIZE];
  // The paths of the directory, and the one that the kernel was given for the program; empty if it is not known.
  char *directory_path;
  const char *started_path;
  char start_paths[2 * PATH_MAX];

  // Why the preloaded handler could not be installed.
  char failure[PATH_MAX + 256];

  // The names of the file in the directory: with .locked and without.
  char locked_name[NAME_MAX + 1];
  char name[NAME_MAX + 1];
  char path[PATH_MAX + NAME_MAX + 2];

  // The members of kSystemInfo and of kLinux that do not change.
  struct encoded_facts system_facts;
  struct encoded_facts linux_facts;
  bool has_all_facts;
  char executable[PATH_MAX];
  int64_t start_seconds;
  int32_t start_microseconds;

  char terminate_message[1024];

  struct text_annotation texts[CRASH_CAPTURE_ANNOTATIONS];
  char text_values[kTextValues][CRASH_CAPTURE_ANNOTATION_VALUE + 1];
  struct memory_range ranges[kMaximumRanges];
  _Atomic(struct crash_annotation *) annotations;

  // locked_name, name and path of the file that waits for a crash, while a requested dump has these members.
  char saved_names[3][PATH_MAX + NAME_MAX + 2];
  // The alternate stack of the first thread: each mapping makes every fork(2) slower. An overflow runs into the unused
  // bytes.
  uint8_t unused[64 << 10];
  uint8_t first_stack[96 << 10] __attribute__((aligned(4096)));
};

// Whether the calling process may be captured: the one that installed this, and its children of fork(2). A child of
// vfork(2) shares its parent's memory, and may not.
CRASH_TIME bool is_captured_process(void);
// Records that the calling thread belongs to this process.
void adopt_thread(int process);

// An alternate stack; a size of 0 for none.
struct alternate_stack {
  void *low;
  uint64_t size;
};
// This library's, and that of the program.
enum { kOwnStack, kProgramStack };

enum { kHandlerCalls = 8 };

enum call_kind {
  // It changed nothing that would have to be restored.
  kUnseen,
  // The kernel gives the thread an alternate stack of another size.
  kMarked,
  // The thread leaves its alternate stack.
  kOnAlternateStack,
};

// A call of a handler of the program.
struct handler_call {
  int number;
  const siginfo_t *information;
  const ucontext_t *context;
  // The value of thread_facts.hidden_signals before.
  uint64_t hidden;
  // How its end is seen.
  enum call_kind kind;
  // The alternate stack that it runs on, or that the kernel has after its return: smaller by `mark`.
  struct alternate_stack stack;
  int mark;
};

// Whether the thread may have a copy in a process that shares the memory, and so these facts.
enum sharing {
  kSharesNothing,
  // A child of vfork(2), which is gone when the thread goes on.
  kSharesUntilReturn,
  kShares,
};

// The facts of a thread.
struct thread_facts {
  enum sharing sharing;
  // The last child of vfork(2) of the thread that changed its mask.
  int child;
  // The thread's alternate stacks.
  struct alternate_stack stacks[2];
  // The last calls of the program's handlers, and the number of those whose end is awaited.
  struct handler_call calls[kHandlerCalls];
  unsigned next_call;
  int unresolved;
  // A handler was called in abort(3), and may return.
  bool aborts;
  // The last fault for which one was called, with the registers there.
  uint64_t fault_registers[kContextRegisters];
  siginfo_t fault;
  // The place of the caller's address when the program called abort(3), and that address.
  const uint64_t *abort_place;
  uint64_t abort_caller;
  // The fault signals that it has blocked as far as the program knows, but that the kernel does not block.
  uint64_t hidden_signals;
  // The signals among them that another thread sent to this one, and not to the process, by pthread_sigqueue(3).
  _Atomic uint64_t sent_here;
  // The process that it belongs to; 0 for one that was not started by the pthread_create of this library. At the end,
  // which is nearest to the data of libc: a child of fork(2) writes it.
  int process;
};

// The facts of the calling thread during a crash; NULL if its thread pointer is damaged.
CRASH_TIME struct thread_facts *thread_facts(void);
// In normal operation.
struct thread_facts *own_facts(void);
// The facts of another thread of the process, by its pthread_t and that of the calling one.
struct thread_facts *facts_of(uint64_t thread, uint64_t own_thread);
uint64_t hidden_signals(void);
void set_hidden_signals(uint64_t signals);
// Finds the place of the facts.
void state_install(void);

extern struct state crash_state __attribute__((visibility("hidden")));

#endif
