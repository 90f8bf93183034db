// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "guard.h"

// Only the capturing thread makes guarded calls. The stack pointer inside of the call; 0 when there is none.
static uint64_t guarded_stack;

// Saves the registers that a function has to preserve, and the stack pointer; the way back is the same, whether the
// function returned or crashed.
__asm__(
    ".text\n"
    ".hidden crash_guarded_call\n"
    ".type crash_guarded_call, %function\n"
    "crash_guarded_call:\n"
#if defined(__x86_64__)
    "push %rbp\n"
    "push %rbx\n"
    "push %r12\n"
    "push %r13\n"
    "push %r14\n"
    "push %r15\n"
    "sub $8, %rsp\n"
    "mov %rsp, (%rdx)\n"
    "mov %rdi, %rax\n"
    "mov %rsi, %rdi\n"
    "call *%rax\n"
    "xor %eax, %eax\n"
    "1:\n"
    "add $8, %rsp\n"
    "pop %r15\n"
    "pop %r14\n"
    "pop %r13\n"
    "pop %r12\n"
    "pop %rbx\n"
    "pop %rbp\n"
    "ret\n"
#else
    "stp x29, x30, [sp, #-160]!\n"
    "stp x19, x20, [sp, #16]\n"
    "stp x21, x22, [sp, #32]\n"
    "stp x23, x24, [sp, #48]\n"
    "stp x25, x26, [sp, #64]\n"
    "stp x27, x28, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\n"
    "stp d10, d11, [sp, #112]\n"
    "stp d12, d13, [sp, #128]\n"
    "stp d14, d15, [sp, #144]\n"
    "mov x9, sp\n"
    "str x9, [x2]\n"
    "mov x9, x0\n"
    "mov x0, x1\n"
    "blr x9\n"
    "mov w0, #0\n"
    "1:\n"
    "ldp x19, x20, [sp, #16]\n"
    "ldp x21, x22, [sp, #32]\n"
    "ldp x23, x24, [sp, #48]\n"
    "ldp x25, x26, [sp, #64]\n"
    "ldp x27, x28, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\n"
    "ldp d10, d11, [sp, #112]\n"
    "ldp d12, d13, [sp, #128]\n"
    "ldp d14, d15, [sp, #144]\n"
    "ldp x29, x30, [sp], #160\n"
    "ret\n"
#endif
    ".size crash_guarded_call, .-crash_guarded_call\n"
    ".hidden crash_guarded_resume\n"
    ".type crash_guarded_resume, %function\n"
    "crash_guarded_resume:\n"
#if defined(__x86_64__)
    "cld\n"
    "mov $1, %eax\n"
    "jmp 1b\n"
#else
    "mov w0, #1\n"
    "b 1b\n"
#endif
    ".size crash_guarded_resume, .-crash_guarded_resume\n");
// Returns 1 if the function crashed.
CRASH_TIME extern int crash_guarded_call(guarded_function *function, void *argument, uint64_t *stack);
CRASH_TIME extern void crash_guarded_resume(void);

CRASH_TIME bool guard_call(guarded_function *function, void *argument) {
  // Guarded calls may be nested.
  uint64_t outer = guarded_stack;
  int crashed = crash_guarded_call(function, argument, &guarded_stack);
  guarded_stack = outer;
  return crashed == 0;
}

CRASH_TIME bool guard_recover(ucontext_t *context) {
  if (guarded_stack == 0) return false;
#if defined(__x86_64__)
  context->uc_mcontext.gregs[REG_RSP] = (greg_t)guarded_stack;
  context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)crash_guarded_resume;
#else
  context->uc_mcontext.sp = guarded_stack;
  context->uc_mcontext.pc = (uintptr_t)crash_guarded_resume;
#endif
  guarded_stack = 0;
  return true;
}
