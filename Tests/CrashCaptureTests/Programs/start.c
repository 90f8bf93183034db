// SPDX-License-Identifier: Apache-2.0
// Starts the client that a program is linked with, before its main function: the database is $HOME/db.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "crashpad_client.h"

__attribute__((constructor)) static void start(void) {
  char path[4096];
  char message[512];
  int saved = errno;
  snprintf(path, sizeof path, "%s/db", getenv("HOME"));
  if (crashpad_start(path, NULL, NULL, NULL, message, sizeof message) != 0) fprintf(stderr, "%s\n", message);
  errno = saved;
}
