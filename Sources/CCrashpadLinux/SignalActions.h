// SPDX-License-Identifier: Apache-2.0
// The actions that the kernel has for the signals of another process. No file of /proc shows them: one of its threads
// has to ask. It is stopped with ptrace(2) for that, makes the system calls, and goes on with what it was in.
#ifndef CRASHPADCTL_CLINUX_SIGNAL_ACTIONS_H
#define CRASHPADCTL_CLINUX_SIGNAL_ACTIONS_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CCrashpadLinux.h"

// The kernel's struct sigaction.
struct linux_signal_action {
  uint64_t handler;
  uint64_t flags;
  uint64_t restorer;
  uint64_t mask;
};

// The registers of NT_PRSTATUS by their place; those of user_regs_struct in <sys/user.h>.
#if defined(__x86_64__)
enum { LINUX_REGISTERS = 27, LINUX_PLACE_CALL = 10, LINUX_PLACE_PC = 16, LINUX_PLACE_SP = 19 };
static const int linux_argument_places[] = {14, 13, 12, 7};  // rdi, rsi, rdx, r10
static const uint8_t linux_call_instruction[] = {0x0f, 0x05};
#elif defined(__aarch64__)
enum { LINUX_REGISTERS = 34, LINUX_PLACE_CALL = 8, LINUX_PLACE_PC = 32, LINUX_PLACE_SP = 31 };
static const int linux_argument_places[] = {0, 1, 2, 3};
static const uint8_t linux_call_instruction[] = {0x01, 0x00, 0x00, 0xd4};
#endif

static inline long linux_trace(long request, pid_t thread, long address, const void *_Nullable data) {
  return syscall(SYS_ptrace, request, thread, address, data);
}

static inline long linux_trace_registers(long request, pid_t thread, uint64_t *_Nonnull registers) {
  const long status = 1;  // NT_PRSTATUS
  struct iovec all = {registers, LINUX_REGISTERS * sizeof *registers};
  return linux_trace(request, thread, status, &all);
}

// Waits at most two seconds for a thread to stop. Returns 0, with the reason in `*stop` as waitpid(2) has it; or an
// errno value. A thread that ended is left for its parent.
static inline int linux_wait_stop(pid_t thread, int *_Nonnull stop) {
  const int all = 0x40000000;  // __WALL
  for (int tries = 0; tries < 2000; tries++) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid(P_PID, (id_t)thread, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | all) != 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (info.si_pid == thread) {
      if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) return ESRCH;
      waitid(P_PID, (id_t)thread, &info, WSTOPPED | WNOHANG | all);
      *stop = info.si_status;
      return 0;
    }
    usleep(1000);
  }
  return ETIMEDOUT;
}

// With `thread` stopped: makes it call rt_sigaction(2) for each signal. Its registers and 32 bytes below its stack are
// changed.
static inline int linux_ask_actions(pid_t thread, const uint64_t *_Nonnull before, uint64_t call, uint64_t place,
                                    const int *_Nonnull signals, size_t count,
                                    struct linux_signal_action *_Nonnull actions) {
  const long get_registers = 0x4204, set_registers = 0x4205, run_to_call = 24;
  for (size_t index = 0; index < count; index++) {
    uint64_t registers[LINUX_REGISTERS];
    memcpy(registers, before, sizeof registers);
    const uint64_t arguments[] = {(uint64_t)signals[index], 0, place, sizeof actions->mask};
    for (int argument = 0; argument < 4; argument++) registers[linux_argument_places[argument]] = arguments[argument];
    registers[LINUX_PLACE_CALL] = SYS_rt_sigaction;
    registers[LINUX_PLACE_PC] = call;
#if defined(__x86_64__)
    // The call that was interrupted is not begun again here.
    registers[15] = UINT64_MAX;
#endif
    if (linux_trace_registers(set_registers, thread, registers) != 0) return errno;
    // Stops where the call begins and where it ends.
    for (int stops = 0; stops < 2; stops++) {
      int stop;
      if (linux_trace(run_to_call, thread, 0, NULL) != 0) return errno;
      int failure = linux_wait_stop(thread, &stop);
      if (failure != 0) return failure;
      if (stop != (SIGTRAP | 0x80)) return EINTR;
    }
    if (linux_trace_registers(get_registers, thread, registers) != 0) return errno;
#if defined(__x86_64__)
    int64_t result = (int64_t)registers[LINUX_PLACE_CALL];
#else
    int64_t result = (int64_t)registers[0];
#endif
    if (result != 0) return result < 0 ? (int)-result : EINVAL;
    struct iovec own = {&actions[index], sizeof actions[index]};
    struct iovec other = {(void *)place, sizeof actions[index]};
    if (process_vm_readv(thread, &own, 1, &other, 1, 0) != (ssize_t)sizeof actions[index]) return EFAULT;
  }
  return 0;
}

// Asks for the actions of signals in the process of `thread`, which is stopped for less than a millisecond as a rule.
//
// call: the address of an instruction of that process that makes a system call. Returns 0 or an errno value: EBUSY if
// the process is stopped by job control.
static inline int linux_signal_actions(pid_t thread, uint64_t call, const int *_Nonnull signals, size_t count,
                                       struct linux_signal_action *_Nonnull actions) {
  const long seize = 0x4206, interrupt = 0x4207, get_mask = 0x420a, set_mask = 0x420b, go_on = 7, detach = 17;
  const long get_registers = 0x4204, set_registers = 0x4205, mark_calls = 1 /* PTRACE_O_TRACESYSGOOD */;
  // If this process is killed in between, the other one keeps wrong registers.
  sigset_t all, own_mask;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &own_mask);
  int failure = 0, stop = 0;
  bool is_changed = false;
  uint64_t before[LINUX_REGISTERS], mask = 0, none = UINT64_MAX, place = 0;
  char saved[sizeof *actions];
  memset(before, 0, sizeof before);
  struct iovec own = {saved, sizeof saved};
  if (linux_trace(seize, thread, 0, (const void *)mark_calls) != 0) {
    failure = errno;
    goto done;
  }
  if (linux_trace(interrupt, thread, 0, NULL) != 0) failure = errno;
  if (failure == 0) failure = linux_wait_stop(thread, &stop);
  // A signal that came first is delivered, and the interruption comes behind it.
  while (failure == 0 && (stop & 0xff00) == 0) {
    if (linux_trace(go_on, thread, 0, (const void *)(long)stop) != 0) failure = errno;
    if (failure == 0) failure = linux_wait_stop(thread, &stop);
  }
  if (failure != 0) goto leave;
  if ((stop & 0xff) != SIGTRAP) {
    failure = EBUSY;
    goto leave;
  }
  if (linux_trace_registers(get_registers, thread, before) != 0 ||
      linux_trace(get_mask, thread, sizeof mask, &mask) != 0) {
    failure = errno;
    goto leave;
  }
  // Below what leaf functions use without moving the stack pointer.
  place = (before[LINUX_PLACE_SP] - 512) & ~(uint64_t)15;
  struct iovec other = {(void *)place, sizeof saved};
  if (process_vm_readv(thread, &own, 1, &other, 1, 0) != (ssize_t)sizeof saved) {
    failure = EFAULT;
    goto leave;
  }
  // No signal is delivered while the registers are others.
  if (linux_trace(set_mask, thread, sizeof none, &none) != 0) {
    failure = errno;
    goto leave;
  }
  is_changed = true;
  failure = linux_ask_actions(thread, before, call, place, signals, count, actions);
  if (failure == ESRCH) goto leave;
  // Only from a stop that precedes signals does the kernel begin an interrupted call again.
  if (linux_trace(interrupt, thread, 0, NULL) == 0 && linux_trace(go_on, thread, 0, NULL) == 0) {
    int last = linux_wait_stop(thread, &stop);
    if (last != 0 && failure == 0) failure = last;
  }
leave:
  if (is_changed) {
    struct iovec target = {(void *)place, sizeof saved};
    process_vm_writev(thread, &own, 1, &target, 1, 0);
    linux_trace_registers(set_registers, thread, before);
    linux_trace(set_mask, thread, sizeof mask, &mask);
  }
  linux_trace(detach, thread, 0, NULL);
done:
  sigprocmask(SIG_SETMASK, &own_mask, NULL);
  return failure;
}

#endif
