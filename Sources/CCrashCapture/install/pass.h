// SPDX-License-Identifier: Apache-2.0
// Functions that precede libc's only to notice the call: they jump to libc's with the arguments and the stack as they
// came. For functions with a variable number of arguments, and for those that save or change the stack.
#ifndef CRASHPADCTL_PASS_H
#define CRASHPADCTL_PASS_H

// Only there; a static executable has no next function to jump to.
#if defined(CRASH_PRECEDES_LIBC) && defined(__x86_64__)
#define PASSES_CALLS 1
#else
#define PASSES_CALLS 0
#endif

// Each in a section of its own, as the compiler has those of C: scripts/crash-time follows references to sections.
//
// name: the function. notice: a function of this file that gets the first three arguments, and sets the variable next.
// setup: instructions before everything else. test: others, which may jump to 1 to notice the call and to 2 to pass it
// on without, once libc's function is known.
#define PASS_AFTER(name, notice, next, setup, test) \
  __asm__(                                    \
      ".section .text." name ",\"ax\",@progbits\n" \
      ".globl " name "\n"                     \
      ".type " name ", @function\n" name ":\n" \
      ".cfi_startproc\n" setup                \
      "mov " next "(%rip), %r11\n"            \
      "test %r11, %r11\n"                     \
      "jz 1f\n" test                          \
      "1:\n"                                  \
      "push %rdi\n"                           \
      "push %rsi\n"                           \
      "push %rdx\n"                           \
      "push %rcx\n"                           \
      "push %r8\n"                            \
      "push %r9\n"                            \
      "push %rax\n"                           \
      ".cfi_adjust_cfa_offset 56\n"           \
      "call " notice "\n"                     \
      "pop %rax\n"                            \
      "pop %r9\n"                             \
      "pop %r8\n"                             \
      "pop %rcx\n"                            \
      "pop %rdx\n"                            \
      "pop %rsi\n"                            \
      "pop %rdi\n"                            \
      ".cfi_adjust_cfa_offset -56\n"          \
      "mov " next "(%rip), %r11\n"            \
      "2:\n"                                  \
      "jmp *%r11\n"                           \
      ".cfi_endproc\n"                        \
      ".size " name ", .-" name "\n"           \
      ".text\n")
#define PASS(name, notice, next) PASS_AFTER(name, notice, next, "", "")

#endif
