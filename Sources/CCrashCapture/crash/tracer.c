// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "tracer.h"

#include <elf.h>
#include <linux/futex.h>
#include <linux/ptrace.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "proc.h"
#include "threads.h"

static struct {
  struct registers registers[kTracedThreads];
  int used;
  // The helper's process; 0 if there is none.
  int helper;
  // 0: the helper may not begin yet; 1: it works; 2: it is done; 3: it has to release the threads and end.
  _Atomic uint32_t stage;
  // No thread waits for further results.
  _Atomic bool is_over;
  uint64_t milliseconds;
  bool is_seized[kMaximumThreads];
  uint8_t stack[64 << 10] __attribute__((aligned(16)));
} tracer;

CRASH_TIME static void wait_for_stage(uint32_t below, uint64_t milliseconds) {
  struct timespec step = {0, 1000000};
  for (uint64_t elapsed = 0; elapsed < milliseconds; elapsed++) {
    uint32_t stage = atomic_load(&tracer.stage);
    if (stage >= below) return;
    SYSTEM_CALL_4(SYS_futex, &tracer.stage, FUTEX_WAIT, stage, &step);
  }
}

CRASH_TIME static void set_stage(uint32_t stage) {
  atomic_store(&tracer.stage, stage);
  SYSTEM_CALL_3(SYS_futex, &tracer.stage, FUTEX_WAKE, INT32_MAX);
}

CRASH_TIME static struct registers *next_registers(void) {
  return tracer.used < kTracedThreads ? &tracer.registers[tracer.used++] : NULL;
}

CRASH_TIME static bool is_unstopped(struct thread *thread) {
  uint32_t state = atomic_load(&thread->state);
  return (state == kAsked || state == kSkipped) && thread->registers == NULL;
}

// MARK: In the helper

CRASH_TIME static void seize(int index) {
  struct thread *thread = threads_at(index);
  tracer.is_seized[index] = is_unstopped(thread) && !thread->waits_for_child &&
                            SYSTEM_CALL_4(SYS_ptrace, PTRACE_SEIZE, thread->id, 0, 0) >= 0 &&
                            SYSTEM_CALL_4(SYS_ptrace, PTRACE_INTERRUPT, thread->id, 0, 0) >= 0;
}

// Reads the registers of a stopped thread.
CRASH_TIME static void read_registers(struct thread *thread) {
  uint64_t general[40];
  struct iovec general_vector = {general, sizeof general};
  uint8_t floating[1024];
  struct iovec floating_vector = {floating, sizeof floating};
  if (SYSTEM_CALL_4(SYS_ptrace, PTRACE_GETREGSET, thread->id, NT_PRSTATUS, &general_vector) < 0) return;
  if (SYSTEM_CALL_4(SYS_ptrace, PTRACE_GETREGSET, thread->id, NT_PRFPREG, &floating_vector) < 0) {
    floating_vector.iov_len = 0;
  }
  struct registers *registers = atomic_load(&tracer.is_over) ? NULL : next_registers();
  if (registers == NULL) return;
  registers_of_ptrace(registers, general, floating, floating_vector.iov_len);
#if defined(__x86_64__)
  const int kFSBase = 21;
  thread->data_address = general[kFSBase];
#endif
  thread->capture = kCapturedByPtrace;
  thread->registers = registers;
}

// Reads the threads that have stopped by now. Returns whether others are still awaited.
CRASH_TIME static bool read_stopped(void) {
  bool are_awaited = false;
  for (int index = 0; index < threads_count(); index++) {
    if (!tracer.is_seized[index]) continue;
    struct thread *thread = threads_at(index);
    int status;
    long result = SYSTEM_CALL_4(SYS_wait4, thread->id, &status, __WALL | WNOHANG, NULL);
    if (result == 0 || result == -EINTR) {
      are_awaited = true;
      continue;
    }
    tracer.is_seized[index] = false;
    if (result == thread->id && WIFSTOPPED(status)) read_registers(thread);
  }
  return are_awaited;
}

CRASH_TIME static void help(void) {
  // The helper must not outlive the process, whose files it has open.
  SYSTEM_CALL_2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  wait_for_stage(1, 1000);
  for (int index = 0; index < threads_count(); index++) seize(index);
  // Waits for all together: a thread that can't be stopped takes no time from the others.
  struct timespec step = {0, 200000};
  const uint64_t kStepsInMillisecond = 5;
  uint64_t steps = tracer.milliseconds * kStepsInMillisecond;
  while (read_stopped() && steps-- > 0 && !atomic_load(&tracer.is_over)) SYSTEM_CALL_2(SYS_nanosleep, &step, NULL);
  set_stage(2);
  // Its end resumes all threads that it traces.
  wait_for_stage(3, 60000);
  SYSTEM_CALL_1(SYS_exit, 0);
}

// clone(2) with a function that the child starts with, on a stack of its own.
CRASH_TIME static long clone_into(void (*function)(void) __attribute__((nonblocking)), void *stack_end, long flags) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  register void *r9 __asm__("r9") = (void *)function;
  __asm__ volatile(
      "syscall\n"
      "test %%rax, %%rax\n"
      "jnz 1f\n"
      "xor %%ebp, %%ebp\n"
      "call *%%r9\n"
      "ud2\n"
      "1:\n"
      : "=a"(result)
      : "a"((long)SYS_clone), "D"(flags), "S"(stack_end), "d"(0L), "r"(r10), "r"(r8), "r"(r9)
      : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = SYS_clone;
  register long x0 __asm__("x0") = flags;
  register void *x1 __asm__("x1") = stack_end;
  register long x2 __asm__("x2") = 0;
  register long x3 __asm__("x3") = 0;
  register long x4 __asm__("x4") = 0;
  register void *x9 __asm__("x9") = (void *)function;
  __asm__ volatile(
      "svc 0\n"
      "cbnz x0, 1f\n"
      "mov x29, xzr\n"
      "blr x9\n"
      "brk 0\n"
      "1:\n"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x9)
      : "x30", "memory");
  return x0;
#endif
}

// MARK: In the process

CRASH_TIME static void start_helper(uint64_t milliseconds) {
  atomic_store(&tracer.stage, 0);
  atomic_store(&tracer.is_over, false);
  tracer.milliseconds = milliseconds;
  // A process, because a thread may not trace threads of its own process; without a signal at its end, so that no
  // handler of the program is called for it.
  long helper =
      clone_into(help, tracer.stack + sizeof tracer.stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED);
  if (helper < 0) return;
  tracer.helper = (int)helper;
  SYSTEM_CALL_2(SYS_prctl, PR_SET_PTRACER, helper);
  set_stage(1);
  wait_for_stage(2, milliseconds);
  atomic_store(&tracer.is_over, true);
}

CRASH_TIME static bool needs_helper(void) {
  for (int index = 0; index < threads_count(); index++) {
    if (is_unstopped(threads_at(index)) && !threads_at(index)->waits_for_child) return true;
  }
  return false;
}

CRASH_TIME void capture_unstopped(bool with_ptrace, uint64_t milliseconds) {
  tracer.used = 0;
  tracer.helper = 0;
  // A filter of system calls may end the process for trying.
  if (with_ptrace && needs_helper() && !has_filter()) start_helper(milliseconds);
  for (int index = 0; index < threads_count(); index++) {
    struct thread *thread = threads_at(index);
    if (!is_unstopped(thread)) continue;
    uint64_t stack_pointer;
    uint64_t program_counter;
    if (!proc_pointers(thread->listed, &stack_pointer, &program_counter)) continue;
    struct registers *registers = next_registers();
    if (registers == NULL) continue;
    registers_of_pointers(registers, stack_pointer, program_counter);
    thread->capture = kCapturedByProc;
    thread->registers = registers;
  }
}

CRASH_TIME void release_traced(void) {
  if (tracer.helper == 0) return;
  set_stage(3);
  int status;
  while (SYSTEM_CALL_4(SYS_wait4, tracer.helper, &status, __WALL, NULL) == -EINTR) {
  }
  tracer.helper = 0;
}
