// SPDX-License-Identifier: Apache-2.0
// Cleans up after a requested dump in a child of fork(2).
#ifndef CRASHPADCTL_REQUEST_H
#define CRASHPADCTL_REQUEST_H

// Closes the file that waits for a crash of the parent, if it was set aside for the file of a dump.
void request_close_file(void);

#endif
