// SPDX-License-Identifier: Apache-2.0
// What the installer prepares in good times, for the moment of a crash.
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
  kMaximumTexts = 64,
  kMaximumRanges = 128,
  kMaximumRangeSize = 1 << 20,
  kMaximumAnnotationName = 256,
  kMaximumAnnotationValue = 20480,
};

// A file of ours, and how to know it again: programs close, and use again, descriptors that they never opened.
struct known_file {
  int descriptor;  // 0: none; ours are raised above those of the standard streams
  dev_t device;
  ino_t inode;  // 0: not known, as no call may be asked for it
  long flags;   // as it was opened (F_GETFL)
};

struct text_annotation {
  bool is_used;
  char name[256];
  char value[4096];
};

struct memory_range {
  _Atomic uint64_t address;
  _Atomic uint64_t size;
};

// Bytes of a dump, encoded in good times.
struct encoded_facts {
  // Before the bytes, most of which are never used: each page that is written makes fork(2) dearer.
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

struct state {
  atomic_bool is_installed;
  // The process that installed this, or a child of fork(2) that had a dump since: see is_captured_process.
  _Atomic int process;
  // The thread that captures; 0 if none does.
  _Atomic int owner;
  // There was a dump, or the beginning of one.
  atomic_bool has_captured;
  // Threads that hold the lock of annotations, wait for it, or are about to.
  atomic_int annotation_users;
  // The dump's; what stands above it and this are all that a child of fork(2) looks at.
  struct known_file file;
  int file_process;  // that made it: another one in a child of fork(2)
  struct known_file directory;
  struct signal_action earlier[kCrashSignalCount];

  char directory_path[PATH_MAX];
  // Its names in the directory: with .locked and without.
  char locked_name[NAME_MAX + 1];
  char name[NAME_MAX + 1];
  char path[PATH_MAX + NAME_MAX + 2];
  // Empty until facts_name_program, if none was given.
  char program_id[CRASH_CAPTURE_PROGRAM_ID_SIZE];
  bool has_run_id;
  uint8_t run_id[16];

  uint32_t flags;
  uint32_t crashed_stack_limit;
  uint32_t stack_limit;
  uint32_t stop_timeout;

  // Members of kSystemInfo and of kLinux that do not change.
  struct encoded_facts system_facts;
  struct encoded_facts linux_facts;
  bool has_all_facts;
  // Where the program keeps its variables, and the names of those that dumps have beside the usual ones.
  char ***environment;
  const char *const *kept_variables;
  struct time_zone time_zone;
  char executable[PATH_MAX];
  // As the kernel was told; empty if it is not known.
  char started_path[PATH_MAX];
  uint64_t clock_ticks;  // a second
  int64_t start_seconds;
  int32_t start_microseconds;
  uint64_t installed_at;  // CLOCK_MONOTONIC, nanoseconds
  uint64_t page_size;

  // Where the loader keeps its list; 0 in a static executable.
  uint64_t loader_debug;
  uint64_t executable_bias;
  uint64_t program_headers;
  uint64_t program_header_count;
  uint64_t loader_base;
  uint64_t vdso;
  // Behind the main thread's frames: arguments and environment follow, which may have secrets.
  uint64_t main_stack_end;

  // Where messages are that runtimes leave when they end the process; 0 if there is none.
  uint64_t abort_message;        // struct abort_msg_s **
  uint64_t swift_fatal_message;  // char **
  char terminate_message[1024];

  struct text_annotation texts[kMaximumTexts];
  struct memory_range ranges[kMaximumRanges];
  _Atomic(struct crash_annotation *) annotations;
};

// Whether the calling process may be captured: the one that installed this, and its children of fork(2). A child of
// vfork(2) has its parent's memory, and may not.
CRASH_TIME bool is_captured_process(void);
// The calling thread belongs to this process.
void adopt_thread(int process);

// In a child of fork(2), which lacks the thread that held the lock. Only with users: without them nothing has to be written,
// and the kernel copies no page for the child.
void annotations_release(void);

extern struct state crash_state __attribute__((visibility("hidden")));

#endif
