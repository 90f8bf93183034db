// SPDX-License-Identifier: Apache-2.0
// Reads memory of this process that may not be there.
#ifndef CRASHPADCTL_MEMORY_H
#define CRASHPADCTL_MEMORY_H

#include "crash_time.h"

// Pages may be larger; none is smaller, so what is known of an address holds to the next multiple of this.
enum { kPageSizeOfProbes = 4096 };

// How it is done: process_vm_readv(2) on ourselves, or where that is forbidden, the kernel's own reading of what it is
// given to write into a pipe, or into the dump's file, behind its end; where all that is forbidden, by reading it, while
// the handler of faults is ours.
CRASH_TIME void memory_begin(int dump_file);
// Closes what memory_begin opened.
CRASH_TIME void memory_end(void);

// Whether there is a way to read at all.
CRASH_TIME bool memory_can_be_read(void);

// Reads up to `count` bytes; returns how many were there to be read before the first that was not.
CRASH_TIME size_t memory_read(void *to, uint64_t address, size_t count);

// How many bytes from `address` on can be read, at most `limit`.
CRASH_TIME uint64_t memory_readable(uint64_t address, uint64_t limit);

// Reads a text up to its NUL, which is always there afterwards; returns its length.
CRASH_TIME size_t memory_read_text(char *to, size_t size, uint64_t address);

#endif
