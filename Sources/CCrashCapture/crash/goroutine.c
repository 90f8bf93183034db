// SPDX-License-Identifier: Apache-2.0
// Go's runtime gives each thread a stack for its own work. Fatal errors are raised there, and nothing on that stack leads to the
// goroutine that caused one: only the runtime's records do. No symbol tells their places in a stripped program, but they refer to
// each other.
//
// Sources: `g`, `m` and `gobuf` in Go's src/runtime/runtime2.go.
#define _GNU_SOURCE
#include "goroutine.h"

#include "memory.h"

enum {
#if defined(__x86_64__)
  kGoroutineRegister = 14,
  // The upper half of the addresses where Go's memory begins: src/runtime/malloc.go.
  kHeap = 0xc0,
#else
  kGoroutineRegister = 28,
  kHeap = 0x40,
#endif
  // The words of a `g`.
  kStackStart = 0,
  kStackEnd = 1,
  kMachine = 6,
  kSavedStack = 7,
  kSavedCode = 8,
  kSavedSelf = 9,
  kWords = kGoroutineSize / 8
};

CRASH_TIME static bool read_record(uint64_t words[kWords], uint64_t address) {
  if (address < kPageSizeOfProbes || address % 8 != 0) return false;
  return memory_read(words, address, kGoroutineSize) == kGoroutineSize && words[kStackStart] < words[kStackEnd];
}

// current: the address of the record of the running goroutine.
CRASH_TIME static bool read_thread(struct goroutine *goroutine, uint64_t current) {
  uint64_t words[kWords];
  uint64_t machine[kMachineSize / 8];
  goroutine->current = current;
  if (!read_record(words, goroutine->current)) return false;
  goroutine->machine = words[kMachine];
  if (goroutine->machine < kPageSizeOfProbes || goroutine->machine % 8 != 0) return false;
  size_t count = memory_read(machine, goroutine->machine, sizeof machine) / 8;
  if (count == 0) return false;
  goroutine->system = machine[0];
  if (!read_record(words, goroutine->system) || words[kMachine] != goroutine->machine) return false;
  goroutine->address = 0;
  // The place in `m` differs by version. A record of another kind does not belong to this `m`, or does not name itself.
  for (size_t index = 1; index < count; index++) {
    uint64_t address = machine[index];
    if (address == goroutine->system || !read_record(words, address)) continue;
    if (words[kMachine] != goroutine->machine || words[kSavedSelf] != address) continue;
    uint64_t pointer = words[kSavedStack];
    if (pointer < words[kStackStart] || pointer >= words[kStackEnd] || words[kSavedCode] < kPageSizeOfProbes) continue;
    goroutine->address = address;
    goroutine->stack_start = words[kStackStart];
    goroutine->stack_pointer = pointer;
    goroutine->stack_end = words[kStackEnd];
    break;
  }
  return true;
}

CRASH_TIME bool goroutine_of(struct goroutine *goroutine, const struct registers *registers) {
  return read_thread(goroutine, registers_general(registers, kGoroutineRegister));
}

// Only one thread writes a dump.
enum { kWindow = 8 << 10 };
static uint64_t window[kWindow / 8];

CRASH_TIME bool goroutine_on_stack(struct goroutine *goroutine, uint64_t pointer) {
  enum { kReach = 32 << 10, kMaximumTries = 64 };
  int tries = 0;
  for (uint64_t start = pointer & ~UINT64_C(7); start - pointer + 8 < kReach; start += kWindow) {
    size_t count = memory_read(window, start, sizeof window) / 8;
    for (size_t index = 0; index < count; index++) {
      if (window[index] >> 32 != kHeap || window[index] % 8 != 0) continue;
      if (read_thread(goroutine, window[index]) && goroutine->address == window[index]) return true;
      if (++tries == kMaximumTries) return false;
    }
    if (count < kWindow / 8) break;
  }
  return false;
}
