// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "interrupted.h"

#include <signal.h>

#include "memory.h"
#include "signals.h"

// The needed part of the kernel's ucontext, which is shorter than libc's.
enum {
#if defined(__x86_64__)
  kPointerOffset = offsetof(ucontext_t, uc_mcontext.gregs) + REG_RSP * sizeof(greg_t),
  kNeeded = offsetof(ucontext_t, uc_mcontext.fpregs) + sizeof(uint64_t)
#else
  kPointerOffset = offsetof(ucontext_t, uc_mcontext.sp),
  kNeeded = kPointerOffset + sizeof(uint64_t)
#endif
};

enum {
  // A context lies on a multiple of this on both processors, by the stack's alignment and the size of what precedes it.
  kAlignment = 16,
  // Only the vector registers lie above a context; the widest (arm64's, with SME) take slightly more than 64 KiB.
  kFurthest = 128 << 10,
  kWindow = 4096,
};

static uint8_t bytes[kWindow + kNeeded] __attribute__((aligned(16)));

CRASH_TIME static bool is_on(uint64_t low, uint64_t size, uint64_t address) { return address - low < size; }

CRASH_TIME static uint64_t word(size_t offset) { return *(const uint64_t *)(bytes + offset); }

// The sizes of a stack in frames of the program's handlers have marks: see program_handlers.c.
CRASH_TIME static bool is_size(uint64_t saved, uint64_t size) { return saved - size < 16 || size - saved < 16; }

CRASH_TIME uint64_t interrupted_context(const ucontext_t *context, const struct alternate_stack *program) {
  const uint64_t kernel_low = (uint64_t)context->uc_stack.ss_sp;
  const uint64_t kernel_size = context->uc_stack.ss_size;
  uint64_t pointer = context_stack_pointer(context);
  // A handler that overflowed its stack stands below it, where nothing can be read.
  const uint64_t kGuard = 64 << 10;
  const uint64_t lows[] = {(uint64_t)program->low, kernel_low};
  uint64_t unused;
  for (size_t index = 0; index < 2; index++) {
    uint64_t stack = lows[index];
    if (stack == 0 || pointer >= stack || stack - pointer > kGuard) continue;
    if (memory_read(&unused, pointer, sizeof unused) == 0) pointer = stack;
  }
  bool is_on_program = is_on((uint64_t)program->low, program->size, pointer);
  uint64_t low = is_on_program ? (uint64_t)program->low : kernel_low;
  uint64_t size = is_on_program ? program->size : kernel_size;
  if (low == 0 || size > UINT64_MAX - low || !is_on(low, size, pointer)) return 0;
  uint64_t end = (low + size) & ~(uint64_t)(kAlignment - 1);
  if (pointer >= end) return 0;
  uint64_t lowest =
      end - pointer > kFurthest ? end - kFurthest : (pointer + kAlignment - 1) & ~(uint64_t)(kAlignment - 1);
  // Searches for the outermost context: contexts of handlers that interrupted other handlers lie below it.
  for (uint64_t top = end; top > lowest;) {
    uint64_t start = top - lowest > kWindow ? top - kWindow : lowest;
    size_t count = end - start < sizeof bytes ? (size_t)(end - start) : sizeof bytes;
    count = memory_read(bytes, start, count);
    for (uint64_t place = top - kAlignment; place >= start; place -= kAlignment) {
      size_t offset = (size_t)(place - start);
      if (offset + kNeeded > count) continue;
      // The kernel saves the place of the alternate stack in the context, and links no context to another.
      if (word(offset + offsetof(ucontext_t, uc_stack.ss_sp)) != kernel_low) continue;
      if (!is_size(word(offset + offsetof(ucontext_t, uc_stack.ss_size)), kernel_size)) continue;
      if (word(offset + offsetof(ucontext_t, uc_link)) != 0) continue;
      if (!is_on(low, size, word(offset + kPointerOffset))) return place;
    }
    top = start;
  }
  return 0;
}

CRASH_TIME uint64_t interrupted_stack_pointer(const ucontext_t *context, const struct alternate_stack *program) {
  uint64_t place = interrupted_context(context, program);
  uint64_t pointer = 0;
  if (place != 0) memory_read(&pointer, place + kPointerOffset, sizeof pointer);
  return pointer;
}

// Whether the kernel's frame seems to lie here: its floating point registers follow closely.
CRASH_TIME static bool is_moved(size_t offset, uint64_t place) {
#if defined(__x86_64__)
  const uint64_t kNear = 1024;
  const uint64_t kUserCode = 0x33;
  uint64_t code = word(offset + offsetof(ucontext_t, uc_mcontext.gregs) + REG_CSGSFS * sizeof(greg_t)) & 0xffff;
  return code == kUserCode && word(offset + offsetof(ucontext_t, uc_mcontext.fpregs)) - place < kNear;
#else
  return offset > place;
#endif
}

CRASH_TIME uint64_t interrupted_stack_search(uint64_t pointer) {
  // Room for the frames of a handler that blocks signals and waits.
  const uint64_t kReach = 16 << 10;
  uint64_t start = (pointer + kAlignment - 1) & ~(uint64_t)(kAlignment - 1);
  for (uint64_t end = start + kReach; start < end; start += kWindow) {
    size_t count = memory_read(bytes, start, sizeof bytes);
    for (size_t offset = 0; offset < kWindow && offset + kNeeded <= count; offset += kAlignment) {
      uint64_t low = word(offset + offsetof(ucontext_t, uc_stack.ss_sp));
      uint64_t size = word(offset + offsetof(ucontext_t, uc_stack.ss_size));
      if (low == 0 || size > UINT64_MAX - low || word(offset + offsetof(ucontext_t, uc_link)) != 0) continue;
      // The alternate stack that the kernel saved contains this place, or the frame was moved to that of the program.
      bool is_there = is_on(low, size, start + offset);
      if (!is_there && !is_moved(offset, start + offset)) continue;
      uint64_t interrupted = word(offset + kPointerOffset);
      if (is_there ? !is_on(low, size, interrupted) : interrupted - (start + offset) > kReach) return interrupted;
    }
    if (count < sizeof bytes) break;
  }
  return 0;
}
