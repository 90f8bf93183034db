// SPDX-License-Identifier: Apache-2.0
// Captures this process into an intermediate dump, from inside, when a signal ends it or when it is asked to.
//
// What runs during a crash allocates nothing, takes no lock and makes raw system calls alone; the compiler proves it
// (crash_time.h). These functions here run in good times, and may be called from any thread unless said otherwise.
#ifndef CRASHPADCTL_CCRASHCAPTURE_H
#define CRASHPADCTL_CCRASHCAPTURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__clang__)
#pragma clang assume_nonnull begin
#define CRASH_NULLABLE _Nullable
#else
#define CRASH_NULLABLE
#endif

enum {
  // The file is made only when there is a crash, not at the start, and most facts are found only then: for programs that
  // end soon, and those that replace themselves (exec).
  CRASH_CAPTURE_NO_FILE_AT_START = 1 << 0,
  // Threads that block every signal are left as they are; otherwise a helper process stops them with ptrace(2).
  CRASH_CAPTURE_NO_PTRACE = 1 << 1,
  // Nothing is written to standard error, whatever fails.
  CRASH_CAPTURE_QUIET = 1 << 2,
  // No signal handler: only crash_capture_dump.
  CRASH_CAPTURE_NO_SIGNALS = 1 << 3,
};

// Room for a program id and its NUL: dumps have an "@", a uuid and ".locked" behind it.
enum { CRASH_CAPTURE_PROGRAM_ID_SIZE = 208 };

struct crash_capture_options {
  // The database's directory; made if it is missing.
  const char *database;
  // What comes before the @ in a dump's name: a bundle id, or the program's name. No slash, and no dot in front, as such
  // files are no dumps. NULL for the name of the executable.
  const char *CRASH_NULLABLE program_id;
  // Sixteen bytes of which a dump's uuid takes the first twelve, and the process id as the last four; NULL for random
  // ones.
  const uint8_t *CRASH_NULLABLE run_id;
  // Names of environment variables that are kept in a dump beside the usual harmless ones; ends with NULL.
  const char *CRASH_NULLABLE const *CRASH_NULLABLE environment;
  // The time zone as a process found it that has the same, so that it need not be looked up; see HandlerEnvironment.
  const char *CRASH_NULLABLE time_zone;
  // The most bytes of stack of the thread that crashed, and of each other one; 0 for 1 MiB and 128 KiB.
  uint32_t crashed_stack_limit;
  uint32_t stack_limit;
  // How long threads may take to stop, in milliseconds; 0 for 500.
  uint32_t stop_timeout;
  // Bytes of disk that are reserved for the dump at the start, so that a full disk does not lose it; 0 for 128 KiB,
  // UINT32_MAX for none.
  uint32_t reserve;
  // CRASH_CAPTURE_…
  uint32_t flags;
};

// Starts capturing crashes. Once in a process; a second call fails with EALREADY.
//
// Returns 0, or an errno value, and then puts a sentence that says what failed into `message`.
int crash_capture_install(const struct crash_capture_options *options, char *message, size_t message_size);

// Stops capturing: handlers that were there before are put back where ours still stands, and the empty file is removed.
void crash_capture_uninstall(void);

// Whether crashes are captured in this process.
int crash_capture_is_installed(void);

// The path of the file that a crash will be written to, without its ".locked"; empty if there is none yet.
const char *crash_capture_path(void);

// Writes a dump now. The process goes on: other threads stand still while it is captured, and calls in them that the
// system does not take up again after a handler (signal(7)) are interrupted.
//
// path: where to write it; the file must not exist, and is whole when it appears. NULL for a new pending dump of the
// database. written_path gets the path of the dump, ended by NUL. Returns 0 or an errno value.
int crash_capture_dump(const char *CRASH_NULLABLE path, char *CRASH_NULLABLE written_path, size_t written_path_size);

// Sets a text of the whole process (kAnnotationsSimpleMap); NULL removes it. Names have at most 255 bytes, values 4095,
// at most 64 names. Returns 0, E2BIG or ENOSPC. Copies both. May run while another thread crashes.
int crash_capture_set_annotation(const char *name, const char *CRASH_NULLABLE value);

// A typed annotation, Crashpad's `Annotation`: setting it is a copy and a store. It must live as long as the process:
// static, or never freed.
struct crash_annotation {
  struct crash_annotation *CRASH_NULLABLE next;  // set by crash_annotation_register
  const char *name;                              // at most 256 bytes
  const void *value;                             // read when the process crashes
  uint32_t size;        // of value, at most 20,480 bytes; 0 while it has none. Written last, atomically
  uint16_t type;        // 1 text, up to its NUL if it has one; from 0x8000 on the application's own
  uint16_t registered;  // set by crash_annotation_register
};

// Makes the annotation known. Cheap to call again. Takes no lock.
void crash_annotation_register(struct crash_annotation *annotation);

// Memory that dumps shall have beside what they have anyway. At most 128 ranges of 1 MiB each. Returns 0, E2BIG or
// ENOSPC.
int crash_capture_add_memory(const void *address, size_t size);
void crash_capture_remove_memory(const void *address);

// The calling thread gets an alternate signal stack, so that the overflow of its own is captured; freed when the thread
// ends. Threads that pthread_create starts have one already where this library stands before libc (preloaded, or linked
// into the executable). Returns 0 or an errno value.
int crash_capture_prepare_thread(void);

// For tests: the part of a capture with this name ("system", "process", "exception", "thread", "list of modules",
// "module", "Linux facts", "threads", "end") crashes itself.
void crash_capture_set_test_fault(const char *part);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#ifdef __cplusplus
}
#endif
#endif
