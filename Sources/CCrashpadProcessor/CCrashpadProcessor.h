// SPDX-License-Identifier: Apache-2.0
// An operation of processors that Swift does not have.
#ifndef CRASHPADCTL_CPROCESSOR_H
#define CRASHPADCTL_CPROCESSOR_H

// Loads the cache line at an address while the program goes on. Never faults.
static inline void processor_prefetch(const void *_Nonnull address) { __builtin_prefetch(address, 0, 3); }

#endif
