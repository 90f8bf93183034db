// SPDX-License-Identifier: Apache-2.0
// The goroutine for which a thread of a Go program runs on a stack of Go's runtime: after a fatal error, the program's own
// frames are on the goroutine's stack alone.
#ifndef CRASHPADCTL_GOROUTINE_H
#define CRASHPADCTL_GOROUTINE_H

#include "registers.h"

struct goroutine {
  // The record in the register (`g`), the runtime's record of the thread, and that of its own stack for it (`m`, `m.g0`).
  uint64_t current;
  uint64_t machine;
  uint64_t system;
  // The goroutine's record (`m.curg`); 0 if the thread runs none.
  uint64_t address;
  // Its stack, which is used from the pointer on.
  uint64_t stack_start;
  uint64_t stack_pointer;
  uint64_t stack_end;
};

enum {
  // The bytes of each record that lead to the goroutine, and those of an `m`.
  kGoroutineSize = 80,
  kMachineSize = 512
};

// Returns false if the registers are not those of a thread of Go's runtime.
CRASH_TIME bool goroutine_of(struct goroutine *goroutine, const struct registers *registers);
// The same for a thread in C that a goroutine called: searches the stack for the word that Go leaves there.
CRASH_TIME bool goroutine_on_stack(struct goroutine *goroutine, uint64_t pointer);

#endif
