// SPDX-License-Identifier: Apache-2.0
// Finds the places where runtimes leave the reason for ending the process.
#ifndef CRASHPADCTL_MESSAGES_H
#define CRASHPADCTL_MESSAGES_H

// glibc's abort message, Swift's fatal error, and a terminate handler for C++ that records the exception and calls the
// earlier handler.
void messages_install(void);

#endif
