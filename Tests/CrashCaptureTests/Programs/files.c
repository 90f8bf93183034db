// SPDX-License-Identifier: Apache-2.0
// What happens to the files of the handler while its program runs:
//   files DATABASE limit BYTES     asks for dumps of which none may be so large, and says what came of it
//   files DATABASE crash COMMAND   runs a command, and crashes
//   files DATABASE dump COMMAND    runs a command, asks for a dump, and ends in good order
//   files DATABASE exit COMMAND    runs a command, and ends in good order
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "CCrashCapture.h"

static int dump(const char *path) {
  char written[4096];
  return crash_capture_dump(path, written, sizeof written);
}

static int stay_below(const char *bytes) {
  struct rlimit limit = {strtoul(bytes, NULL, 10), RLIM_INFINITY};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
  printf("%s\n", strerror(dump(NULL)));
  printf("%s\n", strerror(dump("own-dump")));
  // What was pending before stays.
  sigset_t only, pending;
  sigemptyset(&only);
  sigaddset(&only, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &only, NULL);
  raise(SIGXFSZ);
  printf("%s\n", strerror(dump(NULL)));
  sigpending(&pending);
  printf("%s\n", sigismember(&pending, SIGXFSZ) == 1 ? "pending" : "lost");
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  struct crash_capture_options options = {.database = argv[1], .program_id = "files"};
  char message[512];
  if (crash_capture_install(&options, message, sizeof message) != 0) {
    fprintf(stderr, "files: %s\n", message);
    return 3;
  }
  if (strcmp(argv[2], "limit") == 0) return stay_below(argv[3]);
  if (system(argv[3]) != 0) return 4;
  if (strcmp(argv[2], "crash") == 0) *(volatile int *)8 = 0;
  return strcmp(argv[2], "dump") == 0 && dump(NULL) != 0 ? 5 : 0;
}
