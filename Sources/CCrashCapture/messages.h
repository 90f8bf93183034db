// SPDX-License-Identifier: Apache-2.0
// Finds where runtimes leave the reason when they end the process.
#ifndef CRASHPADCTL_MESSAGES_H
#define CRASHPADCTL_MESSAGES_H

// glibc's abort message, Swift's fatal error, and a terminate handler for C++ that notes the exception and calls the
// earlier one.
void messages_install(void);

#endif
