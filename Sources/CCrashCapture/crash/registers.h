// SPDX-License-Identifier: Apache-2.0
// Registers in the layouts of Darwin's thread states, as in an intermediate dump. Source of the layouts: XNU,
// osfmk/mach/{i386,arm}/thread_status.h.
#ifndef CRASHPADCTL_REGISTERS_H
#define CRASHPADCTL_REGISTERS_H

#include <ucontext.h>

#include "crash_time.h"

#if defined(__x86_64__)
enum {
  kThreadStateSize = 168,
  kFloatStateSize = 524,
  kDebugStateSize = 64,
  kGeneralRegisterCount = 16,
  kRedZone = 128
};
#else
enum { kThreadStateSize = 272, kFloatStateSize = 528, kDebugStateSize = 520, kGeneralRegisterCount = 31, kRedZone = 0 };
#endif

struct registers {
  uint8_t thread_state[kThreadStateSize] __attribute__((aligned(8)));
  uint8_t float_state[kFloatStateSize] __attribute__((aligned(8)));
};

// Converts the registers that the kernel passed to a signal handler.
CRASH_TIME void registers_of_context(struct registers *registers, const ucontext_t *context);
// Converts the registers that ptrace(2) reads as NT_PRSTATUS and NT_PRFPREG; `float_size` is the size of the second.
CRASH_TIME void registers_of_ptrace(struct registers *registers, const uint64_t *general, const void *floating,
                                    size_t float_size);
// Sets these two registers, and all others to zero.
CRASH_TIME void registers_of_pointers(struct registers *registers, uint64_t stack_pointer, uint64_t program_counter);

CRASH_TIME uint64_t registers_stack_pointer(const struct registers *registers);
CRASH_TIME uint64_t registers_frame_pointer(const struct registers *registers);
CRASH_TIME uint64_t registers_program_counter(const struct registers *registers);
// A general register, which may hold a pointer; `index` is its number in the thread state.
CRASH_TIME uint64_t registers_general(const struct registers *registers, int index);

#endif
