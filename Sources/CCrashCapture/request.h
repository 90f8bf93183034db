// SPDX-License-Identifier: Apache-2.0
// What a dump that somebody asked for leaves in a child of fork(2).
#ifndef CRASHPADCTL_REQUEST_H
#define CRASHPADCTL_REQUEST_H

// Closes the file that waits for a crash of the parent, where it was put aside for that of a dump.
void request_close_file(void);

#endif
