// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "state.h"

#include <sys/auxv.h>

#include "program_handlers.h"

// All zero at first, so that it takes no space in the file.
struct state crash_state __attribute__((aligned(4096)));

// The facts of the calling thread. They lie in a page that glibc copies for the child of a fork(2) anyway, at a fixed
// distance from the thread pointer: the access allocates nothing, which it might for other thread-local variables.
_Thread_local struct thread_facts crash_own_facts __attribute__((tls_model("initial-exec"), visibility("hidden")));

enum { kSmallestPage = 4096 };

CRASH_TIME static uint64_t thread_pointer(void) {
  uint64_t pointer = 0;
#if defined(__x86_64__)
  const int kGetFS = 0x1003;  // ARCH_GET_FS
  if (crash_state.can_read_base) {
    __asm__ volatile("rdfsbase %0" : "=r"(pointer));
  } else {
    SYSTEM_CALL_2(SYS_arch_prctl, kGetFS, &pointer);
  }
#else
  __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
  return pointer;
}

void state_install(void) {
#if defined(__x86_64__)
  const unsigned long kHasFSGSBASE = 1 << 1;  // HWCAP2_FSGSBASE
  crash_state.can_read_base = (getauxval(AT_HWCAP2) & kHasFSGSBASE) != 0;
#endif
  crash_state.facts_offset = (int64_t)((uint64_t)&crash_own_facts - thread_pointer());
}

CRASH_TIME struct thread_facts *thread_facts(void) {
  uint64_t pointer = thread_pointer();
  uint64_t place = pointer + (uint64_t)crash_state.facts_offset;
  if (pointer == 0 || crash_state.facts_offset == 0 || pointer % sizeof pointer != 0 || !is_readable(place)) return NULL;
#if defined(__x86_64__)
  // By the ABI the first word there is its own address.
  bool is_near = (pointer ^ place) / kSmallestPage == 0;
  if ((!is_near && !is_readable(pointer)) || *(const uint64_t *)pointer != pointer) return NULL;
#endif
  return (struct thread_facts *)place;
}

// Whether this is a copy of the process that made the file, as fork by a system call makes it: the page is in no child,
// except one that shares the memory.
CRASH_TIME static bool is_copy(void) {
  unsigned char residence;
  void *page = crash_state.lock_page;
  return page != NULL && SYSTEM_CALL_3(SYS_mincore, page, crash_state.page_size, &residence) == -ENOMEM;
}

CRASH_TIME bool is_captured_process(void) {
  int process = current_process();
  if (process == atomic_load(&crash_state.process)) return true;
  // A thread of which nothing is known is taken for one of a child of fork(2), because a crash in a child of vfork(2)
  // is far rarer.
  const struct thread_facts *facts = thread_facts();
  if (facts != NULL && facts->process != 0 && process != facts->process && !is_copy()) return false;
  atomic_store(&crash_state.process, process);
  return true;
}

struct thread_facts *own_facts(void) { return &crash_own_facts; }

struct thread_facts *facts_of(uint64_t thread, uint64_t own_thread) {
  return (struct thread_facts *)((uint64_t)&crash_own_facts - own_thread + thread);
}

uint64_t hidden_signals(void) {
  if (crash_own_facts.unresolved > 0) {
    stack_t stack;
    uint64_t pointer = (uint64_t)__builtin_frame_address(0);
    if (SYSTEM_CALL_2(SYS_sigaltstack, NULL, &stack) == 0) resolve_calls(&crash_own_facts, &stack, pointer);
  }
  return crash_own_facts.hidden_signals;
}

void adopt_thread(int process) { crash_own_facts.process = process; }

void set_hidden_signals(uint64_t signals) { crash_own_facts.hidden_signals = signals; }
