// SPDX-License-Identifier: Apache-2.0
// Signal handlers set by system call, which neither a sanitizer nor another library sees.
#ifndef CRASHPADCTL_SIGNALS_H
#define CRASHPADCTL_SIGNALS_H

#include <signal.h>
#include <ucontext.h>

#include "crash_time.h"

typedef void signal_handler(int number, siginfo_t *information, void *context) __attribute__((nonblocking));

// The kernel's struct sigaction. Source: linux/arch/*/include/uapi/asm/signal.h.
struct signal_action {
  signal_handler *handler;
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

// SA_RESTORER, where libc sets it.
#if defined(__x86_64__)
enum { kRestorerFlag = 0x04000000 };
#else
enum { kRestorerFlag = 0 };
#endif

// The signals that end a process through its own fault.
enum { kCrashSignalCount = 7 };
extern const int kCrashSignals[kCrashSignalCount];

CRASH_TIME static inline bool is_default(const struct signal_action *action) {
  return (uintptr_t)action->handler == (uintptr_t)SIG_DFL;
}
CRASH_TIME static inline bool is_ignored(const struct signal_action *action) {
  return (uintptr_t)action->handler == (uintptr_t)SIG_IGN;
}

// The index of a signal in kCrashSignals; -1 for others.
CRASH_TIME int crash_signal_index(int number);

// The signals of faults: the kernel forces them on a thread, and ends the process at once if they are blocked.
CRASH_TIME uint64_t fault_signals(void);
CRASH_TIME static inline uint64_t signal_bit(int number) { return UINT64_C(1) << (number - 1); }

// All signals except those of faults.
CRASH_TIME uint64_t mask_without_faults(void);

CRASH_TIME struct signal_action make_action(signal_handler *handler, uint64_t mask, unsigned long flags);
// Both return 0 or an errno value below zero. Both pointers may be NULL.
CRASH_TIME long set_action(int number, const struct signal_action *action, struct signal_action *old);
CRASH_TIME long change_mask(int how, const uint64_t *mask, uint64_t *old);

// Whether a signal is pending for the calling thread or its process.
CRASH_TIME bool is_pending(int number);
// Removes a pending signal, which the calling thread has to block.
CRASH_TIME void discard_pending_signal(int number);

// Whether a byte can be read; also true if that is not known.
CRASH_TIME bool is_readable(uint64_t address);
// Makes is_readable use another call: Valgrind prints a line for each rt_sigprocmask(2) that is to fail.
void probe_by_copies(void);

// The program counter and the stack pointer at which a context was interrupted.
CRASH_TIME uint64_t context_program_counter(const ucontext_t *context);
CRASH_TIME uint64_t context_stack_pointer(const ucontext_t *context);

// The general registers, the stack pointer and the program counter, which lie side by side in a context.
#if defined(__x86_64__)
enum { kContextRegisters = REG_RIP + 1 };
CRASH_TIME static inline const uint64_t *context_registers(const ucontext_t *context) {
  return (const uint64_t *)context->uc_mcontext.gregs;
}
#else
enum { kContextRegisters = 33 };
CRASH_TIME static inline const uint64_t *context_registers(const ucontext_t *context) {
  return (const uint64_t *)context->uc_mcontext.regs;
}
#endif

#endif
