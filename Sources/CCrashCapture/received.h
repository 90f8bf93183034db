// SPDX-License-Identifier: Apache-2.0
// What a handler of a crash was called with. A program may call it as `old(signal)`, with one argument of the three.
#ifndef CRASHPADCTL_RECEIVED_H
#define CRASHPADCTL_RECEIVED_H

#include <signal.h>
#include <ucontext.h>

#include "crash_time.h"

struct received {
  siginfo_t *information;
  ucontext_t *context;
};

// Checks both arguments before anything reads them. Where they are not what the kernel gave, it looks for that in the
// frames above, and takes the registers of the caller where it finds nothing.
CRASH_TIME struct received received_check(int number, siginfo_t *information, void *context);

// The siginfo_t beside the ucontext_t in a frame of the kernel's.
CRASH_TIME siginfo_t *received_information(uint64_t context);

#endif
