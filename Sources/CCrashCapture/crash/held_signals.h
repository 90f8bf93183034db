// SPDX-License-Identifier: Apache-2.0
// Signals that would end the process during the capture of a crash, or call a handler of the program that may end it.
#ifndef CRASHPADCTL_HELD_SIGNALS_H
#define CRASHPADCTL_HELD_SIGNALS_H

#include "signals.h"

// From now on such a signal waits: the thread that gets it stands still until the end of the process, or until
// threads_resume, and then gets the signal again. Called by the thread that crashed, which blocks them.
CRASH_TIME void hold_signals(void);
// Gives the signals back to the program. Called before threads resume, and in a child of fork(2), which has a copy of
// what another thread of its parent was doing.
CRASH_TIME void release_signals(void);

// The action that the program has set for a signal, if `action`, which the kernel has, stands in its place. Otherwise
// returns false.
CRASH_TIME bool find_held_action(int number, struct signal_action *action);

#endif
