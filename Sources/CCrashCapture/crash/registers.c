// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "registers.h"

#include <signal.h>

#if defined(__x86_64__)
static const int kContextOrder[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RDI, REG_RSI, REG_RBP, REG_RSP, REG_R8,
                                    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP, REG_EFL};
// struct user_regs_struct: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss
// fs_base gs_base ds es fs gs.
static const uint8_t kPtraceOrder[] = {10, 5, 11, 12, 14, 13, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16, 18, 17, 25, 26};
#endif

CRASH_TIME static uint64_t word(const struct registers *registers, int index) {
  return ((const uint64_t *)registers->thread_state)[index];
}

#if defined(__x86_64__)

// x86_thread_state64_t: rax rbx rcx rdx rdi rsi rbp rsp r8 to r15 rip rflags cs fs gs.
enum { kFramePointer = 6, kStackPointer = 7, kProgramCounter = 16, kFlags = 17, kCS = 18 };
// Eight reserved bytes precede the FXSAVE image.
enum { kImageOffset = 8, kImageSize = 512 };

CRASH_TIME void registers_of_context(struct registers *registers, const ucontext_t *context) {
  const greg_t *general = context->uc_mcontext.gregs;
  uint64_t *words = (uint64_t *)registers->thread_state;
  for (unsigned index = 0; index < sizeof kContextOrder / sizeof *kContextOrder; index++) {
    words[index] = (uint64_t)general[kContextOrder[index]];
  }
  // cs, gs, fs and ss in one word, 16 bits each.
  uint64_t segments = (uint64_t)general[REG_CSGSFS];
  words[kCS] = segments & 0xffff;
  words[kCS + 1] = segments >> 32 & 0xffff;
  words[kCS + 2] = segments >> 16 & 0xffff;
  zero_bytes(registers->float_state, kFloatStateSize);
  if (context->uc_mcontext.fpregs != NULL) {
    copy_bytes(registers->float_state + kImageOffset, context->uc_mcontext.fpregs, kImageSize);
    // The kernel stores its own data in the last 48 bytes of the image, which the processor leaves to software.
    zero_bytes(registers->float_state + kImageOffset + 464, 48);
  }
}

CRASH_TIME void registers_of_ptrace(struct registers *registers, const uint64_t *general, const void *floating,
                                    size_t float_size) {
  uint64_t *words = (uint64_t *)registers->thread_state;
  for (unsigned index = 0; index < sizeof kPtraceOrder; index++) words[index] = general[kPtraceOrder[index]];
  zero_bytes(registers->float_state, kFloatStateSize);
  if (float_size > kImageSize) float_size = kImageSize;
  copy_bytes(registers->float_state + kImageOffset, floating, float_size);
}

#else

// arm_thread_state64_t: x0 to x28, fp, lr, sp, pc, cpsr (u32), padding (u32).
enum { kFramePointer = 29, kStackPointer = 31, kProgramCounter = 32, kCPSR = 33 };
enum { kVectorsSize = 512 };

CRASH_TIME static void fill(struct registers *registers, const uint64_t *general, uint64_t sp, uint64_t pc,
                            uint64_t state) {
  uint64_t *words = (uint64_t *)registers->thread_state;
  for (int index = 0; index < 31; index++) words[index] = general[index];
  words[kStackPointer] = sp;
  words[kProgramCounter] = pc;
  words[kCPSR] = state & UINT32_MAX;
  zero_bytes(registers->float_state, kFloatStateSize);
}

// Records that begin with a magic number and a size, ended by a zero; the vector registers may be in any of them.
CRASH_TIME static const struct fpsimd_context *vectors(const ucontext_t *context) {
  const uint8_t *place = context->uc_mcontext.__reserved;
  const uint8_t *end = place + sizeof context->uc_mcontext.__reserved;
  while (place + sizeof(struct _aarch64_ctx) <= end) {
    const struct _aarch64_ctx *record = (const struct _aarch64_ctx *)place;
    if (record->magic == FPSIMD_MAGIC && place + sizeof(struct fpsimd_context) <= end) {
      return (const struct fpsimd_context *)place;
    }
    if (record->magic == 0 || record->size < sizeof *record) return NULL;
    place += record->size;
  }
  return NULL;
}

CRASH_TIME void registers_of_context(struct registers *registers, const ucontext_t *context) {
  const mcontext_t *machine = &context->uc_mcontext;
  fill(registers, (const uint64_t *)machine->regs, machine->sp, machine->pc, machine->pstate);
  const struct fpsimd_context *found = vectors(context);
  if (found == NULL) return;
  copy_bytes(registers->float_state, found->vregs, kVectorsSize);
  uint32_t control[2] = {found->fpsr, found->fpcr};
  copy_bytes(registers->float_state + kVectorsSize, control, sizeof control);
}

CRASH_TIME void registers_of_ptrace(struct registers *registers, const uint64_t *general, const void *floating,
                                    size_t float_size) {
  fill(registers, general, general[31], general[32], general[33]);
  // struct user_fpsimd_state: the vectors, fpsr, fpcr.
  if (float_size > kVectorsSize + 8) float_size = kVectorsSize + 8;
  copy_bytes(registers->float_state, floating, float_size);
}

#endif

CRASH_TIME void registers_of_pointers(struct registers *registers, uint64_t stack_pointer, uint64_t program_counter) {
  zero_bytes(registers, sizeof *registers);
  uint64_t *words = (uint64_t *)registers->thread_state;
  words[kStackPointer] = stack_pointer;
  words[kProgramCounter] = program_counter;
}

CRASH_TIME uint64_t registers_stack_pointer(const struct registers *registers) {
  return word(registers, kStackPointer);
}
CRASH_TIME uint64_t registers_frame_pointer(const struct registers *registers) {
  return word(registers, kFramePointer);
}
CRASH_TIME uint64_t registers_program_counter(const struct registers *registers) {
  return word(registers, kProgramCounter);
}
CRASH_TIME uint64_t registers_general(const struct registers *registers, int index) { return word(registers, index); }
