// SPDX-License-Identifier: Apache-2.0
#ifndef CRASHPADCTL_INSTALL_H
#define CRASHPADCTL_INSTALL_H

#include <stdbool.h>

// Waits until no other thread captures, and makes the calling thread the capturing one (crash_state.owner). Returns
// false if that takes more than ten seconds.
bool install_take_capture(void);

#endif
