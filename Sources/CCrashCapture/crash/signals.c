// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "signals.h"

#include <sys/uio.h>

const int kCrashSignals[kCrashSignalCount] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};

#if defined(__x86_64__)
// Byte for byte libc's code, and with its name, by which debuggers recognize the frame of a signal handler. For
// unwinders that use call frame information, the rules give each register's place in the kernel's ucontext_t, to which
// rsp points.
__asm__(
    ".text\n"
    ".type __restore_rt, @function\n"
    ".cfi_startproc simple\n"
    ".cfi_signal_frame\n"
    ".cfi_escape 0x0f,0x04,0x77,0xa0,0x01,0x06\n"  // the frame's address: what rsp had, at rsp + 160
    ".cfi_escape 0x10,0x08,0x02,0x77,0x28\n"       // r8
    ".cfi_escape 0x10,0x09,0x02,0x77,0x30\n"       // r9
    ".cfi_escape 0x10,0x0a,0x02,0x77,0x38\n"       // r10
    ".cfi_escape 0x10,0x0b,0x03,0x77,0xc0,0x00\n"  // r11
    ".cfi_escape 0x10,0x0c,0x03,0x77,0xc8,0x00\n"  // r12
    ".cfi_escape 0x10,0x0d,0x03,0x77,0xd0,0x00\n"  // r13
    ".cfi_escape 0x10,0x0e,0x03,0x77,0xd8,0x00\n"  // r14
    ".cfi_escape 0x10,0x0f,0x03,0x77,0xe0,0x00\n"  // r15
    ".cfi_escape 0x10,0x05,0x03,0x77,0xe8,0x00\n"  // rdi
    ".cfi_escape 0x10,0x04,0x03,0x77,0xf0,0x00\n"  // rsi
    ".cfi_escape 0x10,0x06,0x03,0x77,0xf8,0x00\n"  // rbp
    ".cfi_escape 0x10,0x03,0x03,0x77,0x80,0x01\n"  // rbx
    ".cfi_escape 0x10,0x01,0x03,0x77,0x88,0x01\n"  // rdx
    ".cfi_escape 0x10,0x00,0x03,0x77,0x90,0x01\n"  // rax
    ".cfi_escape 0x10,0x02,0x03,0x77,0x98,0x01\n"  // rcx
    ".cfi_escape 0x10,0x10,0x03,0x77,0xa8,0x01\n"  // rip
    "nop\n"
    "__restore_rt:\n"
    "mov $15, %rax\n"
    "syscall\n"
    ".cfi_endproc\n"
    ".size __restore_rt, .-__restore_rt\n");
extern void crash_signal_return(void) __asm__("__restore_rt") __attribute__((visibility("hidden")));
#endif

CRASH_TIME int crash_signal_index(int number) {
  for (int index = 0; index < kCrashSignalCount; index++) {
    if (kCrashSignals[index] == number) return index;
  }
  return -1;
}

CRASH_TIME uint64_t fault_signals(void) {
  return signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) | signal_bit(SIGTRAP) | signal_bit(SIGFPE) |
         signal_bit(SIGSYS);
}

CRASH_TIME uint64_t mask_without_faults(void) { return ~fault_signals(); }

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

CRASH_TIME bool is_pending(int number) {
  uint64_t pending = 0;
  SYSTEM_CALL_2(SYS_rt_sigpending, &pending, sizeof pending);
  return (pending & signal_bit(number)) != 0;
}

CRASH_TIME void discard_pending_signal(int number) {
  uint64_t only = signal_bit(number);
  struct timespec at_once;
  zero_bytes(&at_once, sizeof at_once);
  SYSTEM_CALL_4(SYS_rt_sigtimedwait, &only, NULL, &at_once, sizeof only);
}

static bool probes_by_copies;

void probe_by_copies(void) { probes_by_copies = true; }

CRASH_TIME static bool can_be_copied(uint64_t address) {
  uint64_t word;
  struct iovec to;
  struct iovec from;
  to.iov_base = &word;
  from.iov_base = (void *)address;
  to.iov_len = from.iov_len = sizeof word;
  return SYSTEM_CALL_6(SYS_process_vm_readv, current_process(), &to, 1, &from, 1, 0) != -EFAULT;
}

// The kernel reads the mask before it rejects `how`, so only an unreadable address gives EFAULT.
CRASH_TIME bool is_readable(uint64_t address) {
  if (probes_by_copies) return can_be_copied(address);
  const int kNoChange = ~0;
  return change_mask(kNoChange, (const uint64_t *)address, NULL) != -EFAULT;
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
