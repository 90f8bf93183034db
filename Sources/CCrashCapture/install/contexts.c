// SPDX-License-Identifier: Apache-2.0
// Precedes the functions that save a mask with a place of the program, and those that jump there and restore it: they
// save and restore the kernel's mask, which lacks the hidden signals (masks.c).
#define _GNU_SOURCE
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "../crash/program_handlers.h"
#include "../crash/state.h"
#include "install.h"
#include "next.h"
#include "pass.h"

#if PASSES_CALLS

// MARK: Saved masks

// libc's set has 128 bytes, of which the kernel writes eight and musl sixteen. Two words further up keep the hidden
// signals, and show that they do. Written only if there are any, or were.
struct saved_mask {
  uint64_t words[12];
  uint64_t mark;
  uint64_t hidden;
};

static uint64_t mark_of(const struct saved_mask *saved) { return (uint64_t)saved ^ UINT64_C(0x637261736870616d); }

static void save(struct saved_mask *saved) {
  uint64_t hidden = hidden_signals();
  uint64_t mark = mark_of(saved);
  if (hidden == 0 && saved->mark != mark) return;
  saved->mark = mark;
  saved->hidden = hidden;
}

static void restore(const struct saved_mask *saved) {
  uint64_t hidden = saved->mark == mark_of(saved) ? saved->hidden : 0;
  if (hidden_signals() != hidden) set_hidden_signals(hidden);
}

// MARK: Jumps

// The layout of both libcs: the registers, whether a mask was saved, and the mask.
struct jump {
  uint64_t registers[8];
  int has_mask;
  struct saved_mask saved;
};
_Static_assert(offsetof(struct jump, saved) == offsetof(struct __jmp_buf_tag, __saved_mask), "the layout of jmp_buf");

extern const char *gnu_get_libc_version(void) __attribute__((weak));

static void *_Atomic next_sigsetjmp;
static void *_Atomic next_musl_sigsetjmp;
static void *_Atomic next_setjmp;

__attribute__((used)) static void notice_sigsetjmp(struct jump *jump, int saves_mask) {
  next_function(&next_sigsetjmp, "__sigsetjmp", NULL, NULL);
  if (saves_mask != 0) save(&jump->saved);
}
__attribute__((used)) static void notice_musl_sigsetjmp(struct jump *jump, int saves_mask) {
  next_function(&next_musl_sigsetjmp, "sigsetjmp", NULL, NULL);
  if (saves_mask != 0) save(&jump->saved);
}
// glibc's function of this name saves the mask; its macro calls another one.
__attribute__((used)) static void notice_setjmp(struct jump *jump) {
  next_function(&next_setjmp, "setjmp", NULL, NULL);
  if (gnu_get_libc_version != NULL) save(&jump->saved);
}

#define UNLESS_MASK "test %esi, %esi\njz 2f\n"
PASS_AFTER("__sigsetjmp", "notice_sigsetjmp", "next_sigsetjmp", "", UNLESS_MASK);
PASS_AFTER("sigsetjmp", "notice_musl_sigsetjmp", "next_musl_sigsetjmp", "", UNLESS_MASK);
PASS("setjmp", "notice_setjmp", "next_setjmp");

static void *_Atomic next_siglongjmp;
static void *_Atomic next_longjmp;
static void *_Atomic next_bsd_longjmp;
static void *_Atomic next_checked_longjmp;

// The stack pointer to which a jump leads. glibc hides it: sysdeps/unix/sysv/linux/x86_64/pointer_guard.h.
static uint64_t target_of(const struct jump *jump) {
  const int kStackPointer = 6;
  const int kRotation = 17;
  uint64_t pointer = jump->registers[kStackPointer];
  if (gnu_get_libc_version == NULL) return pointer;
  uint64_t guard;
  __asm__("mov %%fs:0x30, %0" : "=r"(guard));
  return (pointer >> kRotation | pointer << (64 - kRotation)) ^ guard;
}

static void restore_jump(const struct jump *jump) {
  hidden_signals();
  leave_calls(own_facts(), target_of(jump));
  // musl has another word there; a mask without hidden signals is not recognized.
  if (gnu_get_libc_version == NULL ? jump->saved.mark == mark_of(&jump->saved) : jump->has_mask != 0) {
    restore(&jump->saved);
  }
}

// A jump without a mask changes nothing here, unless it leaves a handler: interpreters jump so for each exception. In
// glibc 64 bytes of registers precede the word for the mask, and musl has its own word there.
#define UNLESS_ANY_MASK                                        \
  "cmpl $0, 64(%rdi)\njne 1f\n"                                \
  "mov crash_own_facts@gottpoff(%rip), %rcx\n"                 \
  "cmpl $0, %fs:556(%rcx)\nje 2f\n"
_Static_assert(offsetof(struct jump, has_mask) == 64 && offsetof(struct thread_facts, unresolved) == 556,
               "the numbers above");

#define NOTICE_JUMP(function, next, name)                                       \
  __attribute__((used)) static void function(const struct jump *jump) {         \
    next_function(&next, name, NULL, NULL);                                     \
    restore_jump(jump);                                                         \
  }                                                                             \
  PASS_AFTER(name, #function, #next, "", UNLESS_ANY_MASK)
NOTICE_JUMP(notice_siglongjmp, next_siglongjmp, "siglongjmp");
NOTICE_JUMP(notice_longjmp, next_longjmp, "longjmp");
NOTICE_JUMP(notice_bsd_longjmp, next_bsd_longjmp, "_longjmp");
NOTICE_JUMP(notice_checked_longjmp, next_checked_longjmp, "__longjmp_chk");

// MARK: Contexts

static void *_Atomic next_getcontext;
static void *_Atomic next_setcontext;
static void *_Atomic next_swapcontext;

static void leave_for(const ucontext_t *context) {
  hidden_signals();
  leave_calls(own_facts(), context_stack_pointer(context));
}

static struct saved_mask *mask_of(ucontext_t *context) { return (struct saved_mask *)&context->uc_sigmask; }

__attribute__((used)) static void notice_getcontext(ucontext_t *context) {
  next_function(&next_getcontext, "getcontext", NULL, NULL);
  save(mask_of(context));
}
__attribute__((used)) static void notice_setcontext(ucontext_t *context) {
  next_function(&next_setcontext, "setcontext", NULL, NULL);
  leave_for(context);
  restore(mask_of(context));
}
__attribute__((used)) static void notice_swapcontext(ucontext_t *from, ucontext_t *to) {
  next_function(&next_swapcontext, "swapcontext", NULL, NULL);
  save(mask_of(from));
  restore(mask_of(to));
}
PASS("getcontext", "notice_getcontext", "next_getcontext");
PASS("setcontext", "notice_setcontext", "next_setcontext");
PASS("swapcontext", "notice_swapcontext", "next_swapcontext");

// Signal handlers may call these, where the loader must not be asked.
void contexts_install(void) {
  next_function(&next_sigsetjmp, "__sigsetjmp", NULL, NULL);
  next_function(&next_siglongjmp, "siglongjmp", NULL, NULL);
  next_function(&next_longjmp, "longjmp", NULL, NULL);
  next_function(&next_bsd_longjmp, "_longjmp", NULL, NULL);
  next_function(&next_checked_longjmp, "__longjmp_chk", NULL, NULL);
  next_function(&next_setcontext, "setcontext", NULL, NULL);
}

#else

void contexts_install(void) {}

#endif
