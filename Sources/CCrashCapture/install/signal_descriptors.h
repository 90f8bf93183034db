// SPDX-License-Identifier: Apache-2.0
// Descriptors that signals are read from, signalfd(2).
#ifndef CRASHPADCTL_SIGNAL_DESCRIPTORS_H
#define CRASHPADCTL_SIGNAL_DESCRIPTORS_H

#include "../crash/crash_time.h"

// Whether the program made a descriptor for the signal: a thread that blocks the signal would read it there as its own.
CRASH_TIME bool signal_descriptors_take(int number);

#endif
