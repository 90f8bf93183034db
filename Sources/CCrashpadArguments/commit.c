// SPDX-License-Identifier: Apache-2.0
#include "CCrashpadArguments.h"

// scripts/release-tool links another one before this. A build by itself does not know its commit.
__attribute__((weak)) const char *arguments_commit(void) { return ""; }
