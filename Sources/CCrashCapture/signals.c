// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "signals.h"

const int kCrashSignals[kCrashSignalCount] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};

#if defined(__x86_64__)
enum { kRestorerFlag = 0x04000000 };  // SA_RESTORER
// Byte for byte libc's, and with its name, by which debuggers and unwinders know the frame of a signal handler.
__asm__(
    ".text\n"
    ".type __restore_rt, @function\n"
    "nop\n"
    "__restore_rt:\n"
    "mov $15, %rax\n"
    "syscall\n"
    ".size __restore_rt, .-__restore_rt\n");
extern void crash_signal_return(void) __asm__("__restore_rt") __attribute__((visibility("hidden")));
#endif

CRASH_TIME static uint64_t bit(int number) { return UINT64_C(1) << (number - 1); }

CRASH_TIME uint64_t mask_without_faults(void) {
  return ~(bit(SIGSEGV) | bit(SIGBUS) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGFPE) | bit(SIGSYS));
}

CRASH_TIME struct signal_action make_action(signal_handler *handler, uint64_t mask, unsigned long flags) {
  struct signal_action action;
  action.handler = handler;
  action.flags = SA_SIGINFO | SA_ONSTACK | flags;
  action.restorer = NULL;
  action.mask = mask;
#if defined(__x86_64__)
  action.flags |= kRestorerFlag;
  action.restorer = crash_signal_return;
#endif
  return action;
}

CRASH_TIME long set_action(int number, const struct signal_action *action, struct signal_action *old) {
  return SYSTEM_CALL_4(SYS_rt_sigaction, number, action, old, sizeof action->mask);
}

CRASH_TIME long change_mask(int how, const uint64_t *mask, uint64_t *old) {
  return SYSTEM_CALL_4(SYS_rt_sigprocmask, how, mask, old, sizeof *mask);
}

CRASH_TIME uint64_t context_program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#else
  return context->uc_mcontext.pc;
#endif
}

CRASH_TIME uint64_t context_stack_pointer(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#else
  return context->uc_mcontext.sp;
#endif
}
