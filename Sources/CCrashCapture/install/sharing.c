// SPDX-License-Identifier: Apache-2.0
// Precedes the calls that start a process which shares this one's memory: there, handlers and masks are the child's
// own. A thread that made no such call need not ask the kernel which process it is in, which takes as long as to change
// a mask.
#define _GNU_SOURCE
#include <sched.h>

#include "../crash/state.h"
#include "install.h"
#include "next.h"
#include "pass.h"

#if PASSES_CALLS

bool is_own_process(void) {
  struct thread_facts *facts = own_facts();
  if (facts->process != 0 && facts->sharing == kSharesNothing) return true;
  if (!is_captured_process()) return false;
  if (facts->sharing == kSharesUntilReturn && facts->process == current_process()) facts->sharing = kSharesNothing;
  return true;
}

void note_sharing(bool waits) {
  struct thread_facts *facts = own_facts();
  if (facts->sharing != kShares) facts->sharing = waits ? kSharesUntilReturn : kShares;
}

static void *_Atomic next_vfork;
static void *_Atomic next_clone;

__attribute__((used)) static void notice_vfork(void) {
  next_function(&next_vfork, "vfork", NULL, NULL);
  note_sharing(true);
}
__attribute__((used)) static void notice_clone(void *function, void *stack, int flags) {
  (void)function;
  (void)stack;
  next_function(&next_clone, "clone", NULL, NULL);
  if ((flags & CLONE_VM) && !(flags & CLONE_THREAD)) note_sharing((flags & CLONE_VFORK) != 0);
}
PASS("vfork", "notice_vfork", "next_vfork");
PASS("clone", "notice_clone", "next_clone");

#else

bool is_own_process(void) { return is_captured_process(); }
void note_sharing(bool waits) { (void)waits; }

#endif
