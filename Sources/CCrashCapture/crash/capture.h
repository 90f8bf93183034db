// SPDX-License-Identifier: Apache-2.0
// Writes a dump of this process, from a signal handler.
#ifndef CRASHPADCTL_CAPTURE_H
#define CRASHPADCTL_CAPTURE_H

#include "dump_writer.h"
#include "registers.h"
#include "state.h"

// The subject of a capture, and its result.
struct capture {
  // -1 for a requested dump: Crashpad's kSimulatedSigno.
  int signal;
  int code;
  uint64_t address;
  // A fault for which a handler of the program raised the signal again, known by the registers.
  bool is_raised_again;
  int thread;
  const ucontext_t *context;
  // The other threads resume as soon as their part of the dump is written.
  bool resumes;
  // The descriptor to write to.
  int file;
  // The thread or module that is being written.
  int index;
  // True while the capture runs: a crash of its owner is then a crash of the capture itself.
  bool is_under_way;

  struct dump_writer writer;
  uint64_t began;  // CLOCK_MONOTONIC, nanoseconds
  struct registers registers;
  // Lines for kCaptureNotes.
  char notes[2048];
  size_t notes_end;
};

// Stops the threads and writes everything. The writer's `error` is 0 if all of it is in the file.
CRASH_TIME void capture_write(struct capture *capture);

// Appends to the last line of the notes.
CRASH_TIME void capture_add(struct capture *capture, const char *text);
CRASH_TIME void capture_add_number(struct capture *capture, uint64_t number);
// Ends the last line of the notes with this text.
CRASH_TIME void capture_note(struct capture *capture, const char *text);
// error: the result of a system call.
CRASH_TIME void capture_note_error(struct capture *capture, const char *text, long error);

// The parts of a dump. A crash in one does no harm to the others.
CRASH_TIME void write_process(struct capture *capture);
CRASH_TIME void write_system(struct capture *capture);
// Writes the members of the exception that are known without reading memory.
CRASH_TIME void write_signal(struct capture *capture);
CRASH_TIME void write_exception(struct capture *capture);
CRASH_TIME void write_thread(struct capture *capture);
CRASH_TIME void write_module(struct capture *capture, int executable, int libc, int swift);
CRASH_TIME void write_linux(struct capture *capture);
// Adds a note if the kernel counts more threads than were found.
CRASH_TIME void count_threads(struct capture *capture);
CRASH_TIME void write_last(struct capture *capture);

// Only one capture is under way at a time.
extern struct capture crash_capture __attribute__((visibility("hidden")));

#endif
