// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "capture.h"

#include <unistd.h>

#include "guard.h"
#include "memory.h"
#include "modules.h"
#include "process_facts.h"
#include "threads.h"

struct capture crash_capture;
// The name of the part that crashes in a test.
static char test_fault[64];

void crash_capture_set_test_fault(const char *part) { append_text(test_fault, sizeof test_fault, 0, part); }

static uint8_t write_buffer[kWriteBufferSize];

CRASH_TIME void capture_add(struct capture *capture, const char *text) {
  capture->notes_end = append_text(capture->notes, sizeof capture->notes, capture->notes_end, text);
}

CRASH_TIME void capture_add_number(struct capture *capture, uint64_t number) {
  capture->notes_end = append_number(capture->notes, sizeof capture->notes, capture->notes_end, number);
}

CRASH_TIME void capture_note(struct capture *capture, const char *text) {
  capture_add(capture, text);
  capture_add(capture, "\n");
}

CRASH_TIME void capture_note_error(struct capture *capture, const char *text, long error) {
  capture_add(capture, text);
  capture_add(capture, ": error ");
  capture_add_number(capture, (uint64_t)(error < 0 ? -error : error));
  capture_note(capture, "");
}

// A part of the dump: its bytes are dropped if it crashes.
typedef void part_writer(struct capture *capture) __attribute__((nonblocking));
struct part {
  part_writer *write;
  const char *name;
  struct capture *capture;
};

CRASH_TIME static void call_part(void *argument) {
  struct part *part = argument;
  if (is_equal(test_fault, part->name)) {
    dump_writer_bytes(&part->capture->writer, "half", 4);
    *(volatile int *)(uintptr_t)8 = 0;
  }
  part->write(part->capture);
}

// Returns whether the part was written.
CRASH_TIME static bool write_part(struct capture *capture, const char *name, part_writer *write) {
  struct part part;
  part.write = write;
  part.name = name;
  part.capture = capture;
  uint64_t position = dump_writer_position(&capture->writer);
  if (guard_call(call_part, &part)) return true;
  dump_writer_rewind(&capture->writer, position);
  capture_add(capture, "capturing the ");
  capture_add(capture, name);
  capture_note(capture, " crashed itself, and was given up");
  return false;
}

// Writes the members that a dump requires, in place of a part that crashed.
CRASH_TIME static void write_least(struct capture *capture, enum dump_key key) {
  struct dump_writer *writer = &capture->writer;
  dump_map_start(writer, key);
  switch (key) {
    case kSystemInfo:
      dump_writer_bytes(writer, crash_state.system_facts.bytes, crash_state.system_facts.size);
      break;
    case kProcessInfo:
      dump_u32(writer, kPID, (uint32_t)current_process());
      break;
    default:
      write_signal(capture);
      break;
  }
  dump_map_end(writer);
}

CRASH_TIME static void find_facts(struct capture *capture) {
  (void)capture;
  facts_complete();
  facts_add_processor();
}

// The indices of the modules that carry data of the process; -1 for none.
static struct {
  int count;
  int executable;
  int libc;
  int swift;
} marked;

CRASH_TIME static bool contains(const struct module *module, uint64_t address) {
  return address - module->address < module->size && address >= module->address;
}

CRASH_TIME static void find_modules(struct capture *capture) {
  (void)capture;
  marked.executable = marked.libc = marked.swift = -1;
  marked.count = modules_find();
  for (int module = 0; module < marked.count; module++) {
    const struct module *found = modules_at(module);
    if (found->is_executable) marked.executable = module;
    if (crash_state.abort_message != 0 && contains(found, crash_state.abort_message)) marked.libc = module;
    if (crash_state.swift_fatal_message != 0 && contains(found, crash_state.swift_fatal_message)) marked.swift = module;
  }
}

CRASH_TIME static void write_marked_module(struct capture *capture) {
  write_module(capture, marked.executable, marked.libc, marked.swift);
}

// Threads that resume wait for the annotations, which would change while they are written, but not for other modules.
CRASH_TIME static void write_modules(struct capture *capture) {
  bool waits = capture->resumes;
  write_part(capture, "list of modules", find_modules);
  if (modules_problem()[0] != 0) capture_note(capture, modules_problem());
  dump_array_start(&capture->writer, kModules);
  // The loader comes last.
  for (int pass = 0; pass < 2; pass++) {
    for (capture->index = 0; capture->index < marked.count; capture->index++) {
      bool is_loader = modules_at(capture->index)->is_loader;
      if (is_loader == (pass == 1)) write_part(capture, "module", write_marked_module);
      // The first one, as the loader has it.
      if (waits && capture->index == marked.executable) {
        threads_resume(0);
        waits = false;
      }
    }
  }
  if (waits) threads_resume(0);
  dump_array_end(&capture->writer);
}

CRASH_TIME static void stop_threads(struct capture *capture) {
  threads_stop(capture->thread, capture->context, crash_state.stop_timeout,
               !(crash_state.flags & CRASH_CAPTURE_NO_PTRACE));
}

// Adds notes about data that the system keeps out of the dump.
CRASH_TIME static void note_losses(struct capture *capture) {
  if (capture->began == 0) capture_note(capture, "no clock can be read");
  if (!memory_can_be_read()) capture_note(capture, "memory can't be read, so there are no stacks");
  if (threads_lost_leader()) capture_note(capture, "the main thread had ended before the others");
}

CRASH_TIME void capture_write(struct capture *capture) {
  capture->is_under_way = true;
  atomic_store(&crash_state.has_captured, true);
  forget_refusals();
  capture->began = clock_time(CLOCK_MONOTONIC);
  capture->notes_end = 0;
  capture->notes[0] = 0;
  registers_of_context(&capture->registers, capture->context);
  struct dump_writer *writer = &capture->writer;
  dump_writer_start(writer, capture->file, write_buffer, sizeof write_buffer);
  memory_begin(capture->file);
  write_part(capture, "threads", stop_threads);
  if (threads_problem()[0] != 0) capture_note(capture, threads_problem());
  note_losses(capture);
  if (capture->resumes) count_threads(capture);

  // The most important parts come first: a disk may be full, and the process may be killed at any moment.
  uint8_t version = 1;
  dump_root_start(writer);
  dump_property(writer, kVersion, &version, sizeof version);
  write_part(capture, "facts", find_facts);
  write_part(capture, "Linux facts", write_linux);
  if (!write_part(capture, "system", write_system)) write_least(capture, kSystemInfo);
  if (!write_part(capture, "process", write_process)) write_least(capture, kProcessInfo);
  if (!write_part(capture, "exception", write_exception)) write_least(capture, kSignalException);
  // Modules give addresses their meaning.
  if (!capture->resumes) write_modules(capture);
  dump_array_start(writer, kThreads);
  for (capture->index = 0; capture->index < threads_count(); capture->index++) {
    write_part(capture, "thread", write_thread);
  }
  dump_array_end(writer);
  if (capture->resumes) write_modules(capture);
  write_part(capture, "end", write_last);
  dump_root_end(writer);
  dump_writer_flush(writer);
  memory_end();
  // Releases the blocks that were reserved behind the end.
  SYSTEM_CALL_2(SYS_ftruncate, capture->file, writer->flushed);
  capture->is_under_way = false;
}
