// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "program_stacks.h"

#include <sys/auxv.h>

#if !defined(AT_MINSIGSTKSZ)
#define AT_MINSIGSTKSZ 51
#endif

enum { kStacks = 1024 };

struct program_stack {
  // 0: free.
  _Atomic int thread;
  _Atomic uint64_t low;
  _Atomic uint64_t size;
  // The context of the innermost handler on it.
  const ucontext_t *_Atomic context;
};
static struct program_stack stacks[kStacks];
// The number of places that were ever taken.
static _Atomic int count;
// The bytes that the kernel's frame and the handler that stops a thread take.
static uint64_t needed;

static struct program_stack *take_place(int thread) {
  int used = atomic_load(&count);
  for (int index = 0; index < used; index++) {
    int none = 0;
    if (atomic_compare_exchange_strong(&stacks[index].thread, &none, thread)) return &stacks[index];
  }
  int index = atomic_fetch_add(&count, 1);
  if (index >= kStacks) {
    atomic_store(&count, kStacks);
    return NULL;
  }
  atomic_store(&stacks[index].thread, thread);
  return &stacks[index];
}

void program_stack_note(uint64_t low, uint64_t size) {
  const uint64_t kRoomy = 64 << 10;
  const uint64_t kOwnUse = 2048;
  const uint64_t kFrame = 4096;
  uint64_t least = getauxval(AT_MINSIGSTKSZ);
  needed = (least > kFrame ? least : kFrame) + kOwnUse;
  struct thread_facts *facts = own_facts();
  struct program_stack *stack = facts->program_stack;
  if (size == 0 || size >= kRoomy) {
    if (stack != NULL) atomic_store(&stack->thread, 0);
    facts->program_stack = NULL;
    return;
  }
  if (stack == NULL) stack = facts->program_stack = take_place(current_thread());
  if (stack == NULL) return;
  atomic_store(&stack->low, low);
  atomic_store(&stack->size, size);
  atomic_store(&stack->context, NULL);
}

CRASH_TIME void program_stack_enter(const struct thread_facts *facts, const ucontext_t *context) {
  struct program_stack *stack = facts->program_stack;
  if (stack == NULL || (uint64_t)context - atomic_load(&stack->low) >= atomic_load(&stack->size)) return;
  atomic_store(&stack->context, context);
}

CRASH_TIME void program_stack_leave(const struct thread_facts *facts, const ucontext_t *context) {
  struct program_stack *stack = facts->program_stack;
  if (stack != NULL && atomic_load(&stack->context) == context) atomic_store(&stack->context, NULL);
}

CRASH_TIME bool program_stack_is_tight(int thread, uint64_t stack_pointer) {
  int used = atomic_load(&count);
  for (int index = 0; index < used && index < kStacks; index++) {
    struct program_stack *stack = &stacks[index];
    if (atomic_load(&stack->thread) != thread) continue;
    // A thread that runs has its stack pointer somewhere below the frame of its handler.
    uint64_t place = stack_pointer != 0 ? stack_pointer : (uint64_t)atomic_load(&stack->context);
    uint64_t used_by_handler = stack_pointer != 0 ? 0 : needed;
    uint64_t above = place - atomic_load(&stack->low);
    return above < atomic_load(&stack->size) && above < needed + used_by_handler;
  }
  return false;
}
