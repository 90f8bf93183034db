// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "capture.h"
#include "goroutine.h"
#include "interrupted.h"
#include "memory.h"
#include "proc.h"
#include "threads.h"

// MARK: The process

CRASH_TIME static void write_texts(struct dump_writer *writer) {
  bool is_open = false;
  for (int index = 0; index < CRASH_CAPTURE_ANNOTATIONS; index++) {
    struct text_annotation *text = &crash_state.texts[index];
    if (!atomic_load(&text->is_used)) continue;
    unsigned place = (unsigned)atomic_load(&text->value);
    const char *value = crash_state.text_values[place < kTextValues ? place : 0];
    if (!is_open) dump_array_start(writer, kAnnotationsSimpleMap);
    is_open = true;
    dump_element_start(writer);
    dump_property(writer, kAnnotationName, text->name, text_length(text->name, sizeof text->name));
    dump_property(writer, kAnnotationValue, value, text_length(value, sizeof crash_state.text_values[0]));
    dump_map_end(writer);
  }
  if (is_open) dump_array_end(writer);
}

CRASH_TIME void write_process(struct capture *capture) {
  struct dump_writer *writer = &capture->writer;
  dump_map_start(writer, kProcessInfo);
  dump_u32(writer, kPID, (uint32_t)current_process());
  dump_u32(writer, kParentPID, (uint32_t)SYSTEM_CALL_1(SYS_getppid, 0));
  dump_time(writer, kStartTime, crash_state.start_seconds, crash_state.start_microseconds);
  uint64_t time = clock_time(CLOCK_REALTIME);
  dump_time(writer, kSnapshotTime, (int64_t)(time / 1000000000), (int32_t)(time % 1000000000 / 1000));
  struct rusage usage;
  zero_bytes(&usage, sizeof usage);
  SYSTEM_CALL_2(SYS_getrusage, RUSAGE_SELF, &usage);
  // The kernel counts all threads together, including those that have ended.
  dump_map_start(writer, kTaskBasicInfo);
  dump_duration(writer, kUserTime, usage.ru_utime.tv_sec, (int32_t)usage.ru_utime.tv_usec);
  dump_duration(writer, kSystemTime, usage.ru_stime.tv_sec, (int32_t)usage.ru_stime.tv_usec);
  dump_map_end(writer);
  dump_map_start(writer, kTaskThreadTimes);
  dump_duration(writer, kUserTime, 0, 0);
  dump_duration(writer, kSystemTime, 0, 0);
  dump_map_end(writer);
  write_texts(writer);
  dump_map_end(writer);
}

// MARK: The system

CRASH_TIME void write_system(struct capture *capture) {
  struct dump_writer *writer = &capture->writer;
  dump_map_start(writer, kSystemInfo);
  dump_writer_bytes(writer, crash_state.system_facts.bytes, crash_state.system_facts.size);
  dump_u64(writer, kCrashpadUptime, capture->began - crash_state.installed_at);
  struct sysinfo memory;
  zero_bytes(&memory, sizeof memory);
  if (SYSTEM_CALL_1(SYS_sysinfo, &memory) == 0) {
    uint64_t unit = memory.mem_unit == 0 ? 1 : memory.mem_unit;
    uint64_t page = crash_state.page_size;
    uint64_t total = memory.totalram * unit / page;
    uint64_t free = memory.freeram * unit / page;
    uint64_t buffers = memory.bufferram * unit / page;
    dump_map_start(writer, kVMStat);
    dump_u32(writer, kActive, (uint32_t)(total - free - buffers));
    dump_u32(writer, kFree, (uint32_t)free);
    dump_u32(writer, kInactive, (uint32_t)buffers);
    dump_u32(writer, kWired, 0);
    dump_map_end(writer);
  }
  dump_map_end(writer);
}

// MARK: The exception

// Finds the captured part of the stack that a stack pointer points into: its start and its size. data_address: the base
// of the thread's own storage; 0 if it is not known.
CRASH_TIME static void find_stack(uint64_t pointer, uint64_t data_address, uint32_t limit, uint64_t *start,
                                  uint64_t *size) {
  uint64_t low = pointer > kRedZone ? pointer - kRedZone : 0;
  low &= ~UINT64_C(15);
  uint64_t end = low + limit;
  // The arguments and the environment lie above the main thread's frames.
  if (low <= crash_state.main_stack_end && end > crash_state.main_stack_end) end = crash_state.main_stack_end;
  // Both libcs put a thread's own data at the end of its stack; other memory may follow.
  const uint64_t kDataSize = 4096;
  uint64_t data_end = (data_address + kDataSize) / kPageSizeOfProbes * kPageSizeOfProbes + kPageSizeOfProbes;
  if (data_address > low && end > data_end) end = data_end;
  *start = low;
  *size = end > low ? memory_readable(low, end - low) : 0;
  // After an overflow the stack's lowest part lies in the guard page; nothing below the stack pointer matters.
  const uint64_t kFurthest = 64 << 10;
  for (uint64_t step = 0; *size == 0 && step < kFurthest; step += kPageSizeOfProbes) {
    low = (low / kPageSizeOfProbes + 1) * kPageSizeOfProbes;
    if (low >= end) return;
    *start = low;
    *size = memory_readable(low, end - low);
  }
}

CRASH_TIME static uint32_t stack_limit(const struct thread *thread) {
  return thread->capture == kCapturedItself ? crash_state.crashed_stack_limit : crash_state.stack_limit;
}

CRASH_TIME static void write_region(struct dump_writer *writer, uint64_t start, uint64_t size) {
  dump_element_start(writer);
  dump_u64(writer, kThreadContextMemoryRegionAddress, start);
  dump_memory(writer, kThreadContextMemoryRegionData, start, size);
  dump_map_end(writer);
}

// Returns the size of the vDSO, which is in no file, if the thread is in its code; 0 otherwise. Its callers are found by its
// own rules.
CRASH_TIME static uint64_t vdso_size_around(const struct registers *registers) {
  const uint64_t kPages = 8192;
  if (crash_state.vdso == 0 || registers_program_counter(registers) - crash_state.vdso >= kPages) return 0;
  return memory_readable(crash_state.vdso, kPages);
}

// Writes the memory that the registers point to, as far as it is readable and not on the stack, which the dump has
// anyway.
CRASH_TIME static void write_context_memory(struct dump_writer *writer, const struct registers *registers) {
  enum { kBefore = 128, kSize = 512, kRegisters = kGeneralRegisterCount + 1 };
  uint64_t stack_start;
  uint64_t stack_size;
  find_stack(registers_stack_pointer(registers), own_data_address(), crash_state.crashed_stack_limit, &stack_start,
             &stack_size);
  uint64_t starts[kRegisters];
  int count = 0;
  uint64_t vdso_size = vdso_size_around(registers);
  dump_array_start(writer, kThreadContextMemoryRegions);
  if (vdso_size > 0) write_region(writer, crash_state.vdso, vdso_size);
  for (int index = 0; index < kRegisters; index++) {
    uint64_t pointer =
        index < kGeneralRegisterCount ? registers_general(registers, index) : registers_program_counter(registers);
    if (pointer < kPageSizeOfProbes || pointer - stack_start < stack_size) continue;
    if (pointer - crash_state.vdso < vdso_size) continue;
    uint64_t start = (pointer - kBefore) & ~UINT64_C(15);
    if (start - stack_start < stack_size) start = stack_start + stack_size;
    bool is_known = false;
    for (int other = 0; other < count; other++) is_known |= pointer - starts[other] < kSize - kBefore;
    if (is_known) continue;
    uint64_t size = memory_readable(start, kSize);
    if (start + size <= pointer) {
      // The page before the pointer is not mapped.
      start = pointer & ~(uint64_t)(kPageSizeOfProbes - 1);
      size = memory_readable(start, kSize - kBefore);
    }
    if (size == 0 || start + size <= pointer) continue;
    starts[count++] = start;
    write_region(writer, start, size);
  }
  dump_array_end(writer);
}

CRASH_TIME void write_signal(struct capture *capture) {
  struct dump_writer *writer = &capture->writer;
  dump_u64(writer, kThreadID, (uint64_t)capture->thread);
  dump_u32(writer, kSignalNumber, (uint32_t)capture->signal);
  dump_u32(writer, kSignalCode, (uint32_t)capture->code);
  dump_u64(writer, kSignalAddress, capture->address);
  if (capture->is_raised_again) dump_u32(writer, kRaisedAgain, 1);
  dump_property(writer, kThreadState, capture->registers.thread_state, kThreadStateSize);
  dump_property(writer, kFloatState, capture->registers.float_state, kFloatStateSize);
}

CRASH_TIME void write_exception(struct capture *capture) {
  struct dump_writer *writer = &capture->writer;
  dump_map_start(writer, kSignalException);
  write_signal(capture);
  write_context_memory(writer, &capture->registers);
  dump_map_end(writer);
}

// MARK: Threads

static struct registers thread_registers;
// A process can't read its own debug registers.
static const uint8_t kNoDebugState[kDebugStateSize];

// The context at which a signal stopped the thread; NULL if no signal stopped it.
CRASH_TIME static const ucontext_t *find_context(struct thread *thread) {
  if (thread->registers != NULL) return NULL;
  if (atomic_load_explicit(&thread->state, memory_order_acquire) != kStopped) return NULL;
  return atomic_load_explicit(&thread->context, memory_order_relaxed);
}

// The stack that a thread in a signal handler with an alternate stack used before.
CRASH_TIME static uint64_t interrupted_pointer(const struct thread *thread, const ucontext_t *context,
                                               const struct registers *registers) {
  return context != NULL ? interrupted_stack_pointer(context, &thread->program_stack)
                         : interrupted_stack_search(registers_stack_pointer(registers));
}

CRASH_TIME static bool is_on_goroutine(const struct goroutine *goroutine, uint64_t pointer) {
  return pointer - goroutine->stack_start < goroutine->stack_end - goroutine->stack_start;
}

// Writes the used part of the goroutine's stack, unless the thread's own or its interrupted stack is the same.
CRASH_TIME static void write_goroutine_stack(struct dump_writer *writer, const struct goroutine *goroutine,
                                             const struct thread *thread, uint64_t own, uint64_t interrupted) {
  if (goroutine->address == 0) return;
  if (is_on_goroutine(goroutine, own) || is_on_goroutine(goroutine, interrupted)) return;
  uint64_t size = goroutine->stack_end - goroutine->stack_pointer;
  size = memory_readable(goroutine->stack_pointer, size < stack_limit(thread) ? size : stack_limit(thread));
  if (size > 0) write_region(writer, goroutine->stack_pointer, size);
}

CRASH_TIME static void write_record(struct dump_writer *writer, uint64_t address, uint64_t size) {
  size = address != 0 ? memory_readable(address, size) : 0;
  if (size > 0) write_region(writer, address, size);
}

// Writes the stacks that a thread used before its current one.
CRASH_TIME static void write_other_stacks(struct dump_writer *writer, const struct thread *thread,
                                          const struct registers *registers, uint64_t interrupted) {
  uint64_t start;
  uint64_t size = 0;
  if (interrupted != 0) find_stack(interrupted, thread->data_address, stack_limit(thread), &start, &size);
  struct goroutine goroutine;
  bool is_go = goroutine_of(&goroutine, registers);
  // The search takes too long for each of a thousand threads.
  if (!is_go && thread->capture == kCapturedItself) {
    is_go = goroutine_on_stack(&goroutine, registers_stack_pointer(registers));
  }
  if (size == 0 && !is_go) return;
  dump_array_start(writer, kThreadContextMemoryRegions);
  if (size > 0) write_region(writer, start, size);
  if (is_go) {
    write_record(writer, goroutine.machine, kMachineSize);
    write_record(writer, goroutine.system, kGoroutineSize);
    if (goroutine.current != goroutine.system) write_record(writer, goroutine.current, kGoroutineSize);
    if (goroutine.current != goroutine.address) write_record(writer, goroutine.address, kGoroutineSize);
    write_goroutine_stack(writer, &goroutine, thread, registers_stack_pointer(registers), interrupted);
  }
  dump_array_end(writer);
}

CRASH_TIME static void write_thread_name(struct dump_writer *writer, const struct thread *thread) {
  size_t name_length = text_length(thread->name, sizeof thread->name);
  if (name_length > 0) {
    dump_property(writer, kThreadName, thread->name, name_length);
    return;
  }
  char name[32];
  long length = proc_read_of_thread(thread->listed, "comm", name, sizeof name);
  if (length > 0 && name[length - 1] == '\n') length--;
  dump_property(writer, kThreadName, name, length > 0 ? (uint64_t)length : 0);
}

CRASH_TIME void write_thread(struct capture *capture) {
  struct thread *thread = threads_at(capture->index);
  if (atomic_load(&thread->state) == kGone) return;
  struct dump_writer *writer = &capture->writer;
  dump_element_start(writer);
  dump_u64(writer, kThreadID, (uint64_t)thread->id);
  const int kBestPriority = 20;
  long priority = SYSTEM_CALL_2(SYS_getpriority, PRIO_PROCESS, thread->id);
  if (priority > 0) dump_u32(writer, kPriority, (uint32_t)(kBestPriority - priority));
  dump_u32(writer, kSuspendCount, 0);
  dump_u64(writer, kThreadDataAddress, thread->data_address);
  write_thread_name(writer, thread);
  dump_u32(writer, kThreadCapture, thread->capture);
  const ucontext_t *context = find_context(thread);
  if (context != NULL) registers_of_context(&thread_registers, context);
  const struct registers *registers = context != NULL ? &thread_registers : thread->registers;
  if (registers != NULL) {
    dump_property(writer, kThreadState, registers->thread_state, kThreadStateSize);
    dump_property(writer, kFloatState, registers->float_state, kFloatStateSize);
    dump_property(writer, kDebugState, kNoDebugState, kDebugStateSize);
    uint64_t start;
    uint64_t size;
    find_stack(registers_stack_pointer(registers), thread->data_address, stack_limit(thread), &start, &size);
    // The program lost its stack pointer; its callers may still be found through the frame pointer.
    if (size == 0) {
      find_stack(registers_frame_pointer(registers), thread->data_address, stack_limit(thread), &start, &size);
    }
    if (size > 0) {
      dump_u64(writer, kStackRegionAddress, start);
      dump_memory(writer, kStackRegionData, start, size);
    }
    write_other_stacks(writer, thread, registers, interrupted_pointer(thread, context, registers));
  }
  dump_map_end(writer);
  if (thread->capture >= kCapturedByProc) {
    capture_add(capture, "thread ");
    capture_add_number(capture, (uint64_t)thread->id);
    capture_note(capture, thread->capture == kCapturedByProc
                              ? " was not stopped; only its stack and program pointer are known"
                              : " was not stopped; its registers are not known");
  }
}

// MARK: Linux

static char proc_text[256 << 10];

// Writes a file of /proc, cut at the end of a line if it is too long. Returns whether it could be read.
CRASH_TIME static bool write_file(struct capture *capture, enum dump_key key, const char *path) {
  long size = proc_read(path, proc_text, sizeof proc_text);
  if (size < 0) {
    capture_note_error(capture, path, size);
    return false;
  }
  if (size == sizeof proc_text - 1) {
    while (size > 0 && proc_text[size - 1] != '\n') size--;
    capture_add(capture, path);
    capture_note(capture, " was longer than what fits, and was cut");
  }
  dump_property(&capture->writer, key, proc_text, (uint64_t)size);
  return true;
}

CRASH_TIME void write_linux(struct capture *capture) {
  struct dump_writer *writer = &capture->writer;
  dump_map_start(writer, kLinux);
  dump_writer_bytes(writer, crash_state.linux_facts.bytes, crash_state.linux_facts.size);
  dump_map_end(writer);
}

// status: the text of /proc/self/status.
CRASH_TIME static void compare_count(struct capture *capture, const char *status) {
  int count = proc_thread_count(status);
  int known = threads_known();
  if (count <= known) return;
  capture_add(capture, "the process has ");
  capture_add_number(capture, (uint64_t)count);
  capture_add(capture, " threads, of which only ");
  capture_add_number(capture, (uint64_t)known);
  capture_note(capture, " were found");
}

CRASH_TIME void count_threads(struct capture *capture) {
  if (proc_read("/proc/self/status", proc_text, sizeof proc_text) > 0) compare_count(capture, proc_text);
}

CRASH_TIME static void note_refusals(struct capture *capture) {
  if (!has_filter()) return;
  char line[512];
  const char *start = "system calls that a filter refused: ";
  size_t end = append_text(line, sizeof line, 0, start);
  if (append_refusals(line, sizeof line, end) > end) capture_note(capture, line);
}

CRASH_TIME void write_last(struct capture *capture) {
  struct dump_writer *writer = &capture->writer;
  dump_map_start(writer, kCapture);
  if (write_file(capture, kProcessStatus, "/proc/self/status") && !capture->resumes) compare_count(capture, proc_text);
  write_file(capture, kMaps, "/proc/self/maps");
  note_refusals(capture);
  if (capture->notes_end > 0) dump_property(writer, kCaptureNotes, capture->notes, capture->notes_end);
  dump_u64(writer, kCaptureDuration, clock_time(CLOCK_MONOTONIC) - capture->began);
  dump_map_end(writer);
}
