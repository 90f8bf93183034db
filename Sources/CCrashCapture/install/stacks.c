// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "../crash/state.h"
#include "../crash/threads.h"
#include "install.h"
#include "next.h"
#include "stacks.h"

#if !defined(AT_MINSIGSTKSZ)
#define AT_MINSIGSTKSZ 51
#endif

// The size in bytes. Our own need is small, but later handlers may need more, and wide vector registers are saved there
// too. Only pages that are used take memory.
static size_t stack_size(void) {
  size_t least = getauxval(AT_MINSIGSTKSZ);
  return (64 << 10) + (least > 4096 ? (least + 4095) / 4096 * 4096 : 0);
}

static size_t guard_size(void) { return getauxval(AT_PAGESZ); }

void *make_stack(void) {
  size_t guard = guard_size();
  uint8_t *memory =
      mmap(NULL, guard + stack_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  mprotect(memory, guard, PROT_NONE);
  return memory + guard;
}

static int set_stack(const stack_t *stack, stack_t *old) {
  return (int)finish_call(SYSTEM_CALL_2(SYS_sigaltstack, stack, old));
}

#if defined(CRASH_PRECEDES_LIBC)

static int fail_with(int error) {
  errno = error;
  return -1;
}

// Lets the kernel check a stack of the program, and then gives it ours again.
static int check_stack(const stack_t *stack, const struct alternate_stack *own) {
  stack_t kept = {.ss_sp = own->low, .ss_size = own->size};
  if (set_stack(stack, NULL) != 0) return -1;
  return set_stack(&kept, NULL);
}

// The kernel keeps the stack of this library, and handlers of the program move to the program's (program_handlers.c):
// its own may be too small for the frame of a second signal, which would end the process.
static int exchange_stack(struct thread_facts *facts, const stack_t *stack, stack_t *old) {
  struct alternate_stack *program = &facts->stacks[kProgramStack];
  struct alternate_stack before = *program;
  uint64_t pointer = (uint64_t)__builtin_frame_address(0);
  bool is_on = pointer - (uint64_t)before.low < before.size;
  if (stack != NULL) {
    if (is_on) return fail_with(EPERM);
    if (check_stack(stack, &facts->stacks[kOwnStack]) != 0) return -1;
    bool is_removed = (stack->ss_flags & SS_DISABLE) != 0;
    *program = (struct alternate_stack){is_removed ? NULL : stack->ss_sp, is_removed ? 0 : stack->ss_size};
  }
  if (old == NULL) return 0;
  *old = (stack_t){.ss_sp = before.low, .ss_size = before.size, .ss_flags = is_on ? SS_ONSTACK : 0};
  if (before.size == 0) old->ss_flags = SS_DISABLE;
  return 0;
}

void give_stack_back(void) {
  struct thread_facts *facts = own_facts();
  const struct alternate_stack *program = &facts->stacks[kProgramStack];
  stack_t stack = {.ss_sp = program->low, .ss_size = program->size, .ss_flags = program->size == 0 ? SS_DISABLE : 0};
  if (facts->stacks[kOwnStack].size == 0 || set_stack(&stack, NULL) != 0) return;
  facts->stacks[kOwnStack] = (struct alternate_stack){NULL, 0};
}

EXPORTED int sigaltstack(const stack_t *stack, stack_t *old) {
  struct thread_facts *facts = own_facts();
  // The kernel's size may have the mark of a handler.
  hidden_signals();
  const unsigned kDisarms = 1U << 31;  // SS_AUTODISARM
  stack_t current;
  bool has_own = !leaves_handlers() && facts->stacks[kOwnStack].size != 0 && set_stack(NULL, &current) == 0 &&
                 current.ss_sp == facts->stacks[kOwnStack].low;
  if (has_own && (stack == NULL || !((unsigned)stack->ss_flags & kDisarms))) return exchange_stack(facts, stack, old);
  facts->stacks[kProgramStack] = (struct alternate_stack){NULL, 0};
  return set_stack(stack, old);
}

#endif

// MARK: The stacks of threads

// Stacks of threads that ended, kept for new ones.
enum { kKeptStacks = 16 };
static void *_Atomic kept_stacks[kKeptStacks];

void *take_stack(void) {
  for (int index = 0; index < kKeptStacks; index++) {
    if (atomic_load(&kept_stacks[index]) == NULL) continue;
    void *stack = atomic_exchange(&kept_stacks[index], NULL);
    if (stack != NULL) return stack;
  }
  return make_stack();
}

void keep_stack(void *stack) {
  for (int index = 0; index < kKeptStacks; index++) {
    void *none = NULL;
    if (atomic_compare_exchange_strong(&kept_stacks[index], &none, stack)) return;
  }
  size_t guard = guard_size();
  munmap((uint8_t *)stack - guard, guard + stack_size());
}

void free_stack(void *stack) {
  stack_t none = {.ss_flags = SS_DISABLE};
  stack_t current;
  // Fails while a handler runs on the stack; then it is never freed.
  if (set_stack(&none, &current) != 0) return;
  // The program had set a stack of its own: put it back.
  if (current.ss_sp != stack && !(current.ss_flags & SS_DISABLE)) set_stack(&current, NULL);
  if (stack != crash_state.first_stack) keep_stack(stack);
}

int use_stack(void *stack) {
  stack_t own = {.ss_sp = stack, .ss_size = stack_size()};
  if (!leaves_stacks()) {
    if (set_stack(&own, NULL) != 0) return errno;
    own_facts()->stacks[kOwnStack] = (struct alternate_stack){stack, own.ss_size};
  }
  thread_key_set(stack);
  return 0;
}

int crash_capture_prepare_thread(void) {
  stack_t current;
  if (set_stack(NULL, &current) != 0) return errno;
  // The runtime of a language may have set one already.
  if (!(current.ss_flags & SS_DISABLE)) return 0;
  void *stack = take_stack();
  if (stack == NULL) return ENOMEM;
  int error = use_stack(stack);
  if (error != 0) keep_stack(stack);
  return error;
}

static void prepare_first_thread(void) {
  stack_t current;
  if (set_stack(NULL, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
  if (current_thread() == current_process() && stack_size() <= sizeof crash_state.first_stack) {
    use_stack(crash_state.first_stack);
  } else {
    crash_capture_prepare_thread();
  }
}

void stacks_install(void) {
  new_threads_install();
  thread_key_install(free_stack);
  prepare_first_thread();
  // glibc knows whether there are other threads; with another libc they are searched for.
  extern char __libc_single_threaded __attribute__((weak));
  bool may_have_others = &__libc_single_threaded == NULL || !__libc_single_threaded;
  if (may_have_others && !leaves_stacks()) running_threads_install();
}
