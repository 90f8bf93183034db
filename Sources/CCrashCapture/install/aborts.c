// SPDX-License-Identifier: Apache-2.0
// Precedes abort(3). If the program ignores SIGABRT, or its handler returns, libc sets the default action by itself
// before it raises the signal once more, and that is the end: so the crash is captured before.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>

#include "../crash/program_handlers.h"
#include "../crash/state.h"
#include "install.h"
#include "next.h"
#include "pass.h"

#if PASSES_CALLS

// place: where the caller's address lies.
__attribute__((used)) static void notice_abort(const uint64_t *place, uint64_t caller) {
  struct thread_facts *facts = own_facts();
  facts->abort_place = place;
  facts->abort_caller = caller;
  struct signal_action current = make_action(NULL, 0, 0);
  bool is_active = atomic_load(&crash_state.is_installed) && is_captured_process();
  if (is_active && set_action(SIGABRT, NULL, &current) == 0 && is_ignored(&current)) {
    struct signal_action own = own_action();
    crash_state.earlier[crash_signal_index(SIGABRT)] = make_action(NULL, 0, 0);
    set_action(SIGABRT, &own, NULL);
  }
  next_function(&next_abort, "abort", NULL, NULL);
}

PASS_AFTER("abort", "notice_abort", "next_abort", "mov (%rsp), %rsi\nmov %rsp, %rdi\n", "");

void aborts_install(void) { next_function(&next_abort, "abort", NULL, NULL); }

#else

void aborts_install(void) {}

#endif
