// SPDX-License-Identifier: Apache-2.0
// Captures this process into an intermediate dump, from inside, when a signal ends it or on request.
//
// The code that runs during a crash allocates nothing, takes no lock and makes only raw system calls, which the
// compiler checks (crash_time.h). The functions here run in normal operation, and may be called from any thread unless
// stated otherwise.
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
  // The file is made only when there is a crash, not at the start, and most facts are found only then: for programs
  // that end soon, and those that replace themselves (exec).
  CRASH_CAPTURE_NO_FILE_AT_START = 1 << 0,
  // Threads that block every signal are not stopped; otherwise a helper process stops them with ptrace(2).
  CRASH_CAPTURE_NO_PTRACE = 1 << 1,
  // Nothing is printed to standard error, whatever fails.
  CRASH_CAPTURE_QUIET = 1 << 2,
  // No signal handler is installed; only crash_capture_dump writes dumps.
  CRASH_CAPTURE_NO_SIGNALS = 1 << 3,
};

enum {
  // The size of a program id with its NUL: the names of dumps add an "@", a uuid and ".locked".
  CRASH_CAPTURE_PROGRAM_ID_SIZE = 208,
  // The limits in place of those that are 0.
  CRASH_CAPTURE_CRASHED_STACK_LIMIT = 1 << 20,
  CRASH_CAPTURE_STACK_LIMIT = 128 << 10,
  CRASH_CAPTURE_STOP_TIMEOUT = 500,
  CRASH_CAPTURE_RESERVE = 128 << 10,
  // The most text annotations, and the most bytes of a name and of a value without their NUL.
  CRASH_CAPTURE_ANNOTATIONS = 64,
  CRASH_CAPTURE_ANNOTATION_NAME = 255,
  CRASH_CAPTURE_ANNOTATION_VALUE = 4095,
};

struct crash_capture_options {
  // The database's directory; made if it is missing.
  const char *database;
  // The text before the @ in a dump's name: a bundle id, or the program's name. It contains no slash and begins with no
  // dot, as files with such names are no dumps. NULL for the name of the executable.
  const char *CRASH_NULLABLE program_id;
  // Sixteen bytes. The uuid of a dump consists of the first twelve and, as the last four, the process id. NULL for
  // random uuids.
  const uint8_t *CRASH_NULLABLE run_id;
  // Names of environment variables that a dump keeps besides the usual harmless ones; ends with NULL.
  const char *CRASH_NULLABLE const *CRASH_NULLABLE environment;
  // The time zone that another process with the same zone has found, to save looking it up; see HandlerEnvironment.
  const char *CRASH_NULLABLE time_zone;
  // The most bytes of stack of the thread that crashed, and of each other thread.
  uint32_t crashed_stack_limit;
  uint32_t stack_limit;
  // The time in which threads have to stop, in milliseconds.
  uint32_t stop_timeout;
  // Bytes of disk space that are reserved for the dump at the start, so that it fits even if the disk fills up;
  // UINT32_MAX for none.
  uint32_t reserve;
  // CRASH_CAPTURE_…
  uint32_t flags;
};

// Starts capturing crashes. Once in a process; a second call fails with EALREADY.
//
// Returns 0, or an errno value with a sentence about the failure in `message`.
int crash_capture_install(const struct crash_capture_options *options, char *message, size_t message_size);

// Stops capturing: restores earlier handlers where ours still is set, and removes the empty file.
void crash_capture_uninstall(void);

// Whether crashes are captured in this process.
int crash_capture_is_installed(void);

// The path of the file that a crash will be written to, without its ".locked"; empty if there is none yet.
const char *crash_capture_path(void);

// Writes a dump now. The process goes on: other threads stand still while they are captured, and their system calls
// that are not restarted after a handler (signal(7)) are interrupted.
//
// path: the file to write; it must not exist, and is complete when it appears. NULL for a new pending dump of the
// database. written_path: receives the path of the dump, ended by NUL. Returns 0 or an errno value.
int crash_capture_dump(const char *CRASH_NULLABLE path, char *CRASH_NULLABLE written_path, size_t written_path_size);

// The caller of a function.
struct crash_capture_caller {
  uint64_t frame_pointer;
  uint64_t stack_pointer;
  uint64_t program_counter;
};

// The caller of the function that calls this one.
__attribute__((always_inline)) static inline struct crash_capture_caller crash_capture_find_caller(void) {
  const uint64_t *frame = (const uint64_t *)__builtin_frame_address(0);
  struct crash_capture_caller caller = {frame[0], (uint64_t)(frame + 2), frame[1]};
  return caller;
}

// The same as crash_capture_dump; the dump's first frame is this caller's, so that a library which asks for a dump is
// not blamed for it.
int crash_capture_dump_for(struct crash_capture_caller caller, const char *CRASH_NULLABLE path,
                           char *CRASH_NULLABLE written_path, size_t written_path_size);

// Sets a text annotation of the whole process (kAnnotationsSimpleMap); NULL removes it. Returns 0, E2BIG or ENOSPC.
// Copies both. May run while another thread crashes.
int crash_capture_set_annotation(const char *name, const char *CRASH_NULLABLE value);

// A typed annotation, Crashpad's `Annotation`: setting it takes a copy and a store. It must live as long as the
// process: static, or never freed.
struct crash_annotation {
  struct crash_annotation *CRASH_NULLABLE next;  // set by crash_annotation_register
  const char *name;                              // at most 256 bytes
  const void *value;                             // read when the process crashes
  uint32_t size;        // of value, at most 20,480 bytes; 0 without a value. Written last, atomically
  uint16_t type;        // 1 text, up to its NUL if it has one; from 0x8000 on defined by the application
  uint16_t registered;  // set by crash_annotation_register
};

// Registers the annotation. Further calls are cheap. Takes no lock.
void crash_annotation_register(struct crash_annotation *annotation);

// Adds memory to the contents of dumps. At most 128 ranges of 1 MiB each. Returns 0, E2BIG or ENOSPC.
int crash_capture_add_memory(const void *address, size_t size);
void crash_capture_remove_memory(const void *address);

// Gives the calling thread an alternate signal stack, so that an overflow of its own is captured; freed when the thread
// ends. Threads that pthread_create starts have one already if this library precedes libc (preloaded, or linked into
// the executable). Returns 0 or an errno value.
int crash_capture_prepare_thread(void);

// For tests: makes the part of a capture with this name ("system", "process", "exception", "thread", "list of modules",
// "module", "Linux facts", "threads", "end") crash.
void crash_capture_set_test_fault(const char *part);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#ifdef __cplusplus
}
#endif
#endif
