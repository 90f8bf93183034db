// SPDX-License-Identifier: Apache-2.0
// Reads memory of this process that may not be mapped.
#ifndef CRASHPADCTL_MEMORY_H
#define CRASHPADCTL_MEMORY_H

#include "crash_time.h"

// Pages may be larger, but none is smaller, so a result for an address holds up to the next multiple of this.
enum { kPageSizeOfProbes = 4096 };

// Chooses the method: process_vm_readv(2) on this process; or, where that is forbidden, writing the memory into a pipe
// or into the dump's file, behind its end, so that the kernel does the reading; or, where all that is forbidden, direct
// access, as long as the handler of faults is ours.
CRASH_TIME void memory_begin(int dump_file);
// Closes the descriptors that memory_begin opened.
CRASH_TIME void memory_end(void);

// Whether there is any method to read memory.
CRASH_TIME bool memory_can_be_read(void);

// Reads up to `count` bytes; returns the number of bytes before the first that can't be read.
CRASH_TIME size_t memory_read(void *to, uint64_t address, size_t count);

// The number of bytes from `address` on that can be read, at most `limit`.
CRASH_TIME uint64_t memory_readable(uint64_t address, uint64_t limit);

// Reads a text up to its NUL, and always ends it with NUL; returns its length.
CRASH_TIME size_t memory_read_text(char *to, size_t size, uint64_t address);

#endif
