// SPDX-License-Identifier: Apache-2.0
// The arguments of a crash handler. A program may call it as `old(signal)`, with one argument of the three.
#ifndef CRASHPADCTL_RECEIVED_H
#define CRASHPADCTL_RECEIVED_H

#include <signal.h>
#include <ucontext.h>

#include "crash_time.h"

struct received {
  siginfo_t *information;
  ucontext_t *context;
  // It is a fault before the signal, known by its registers.
  bool is_raised_again;
};

// Checks both arguments before anything reads them. If they are not the kernel's, searches for the kernel's in the
// frames above, and if there are none, takes the registers of the caller.
CRASH_TIME struct received received_check(int number, siginfo_t *information, void *context);

// The siginfo_t beside the ucontext_t in a frame that the kernel made.
CRASH_TIME siginfo_t *received_information(uint64_t context);

#endif
