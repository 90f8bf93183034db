// SPDX-License-Identifier: Apache-2.0
#include "CCrashpadArguments.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int count;
static char **words;

// glibc hands main's arguments to constructors too.
__attribute__((constructor)) static void keep(int argc, char **argv) {
  count = argc;
  words = argv;
}

static const char backtrace[] = "SWIFT_BACKTRACE=";
static char *hidden;

// Swift's runtime reads the variable in a constructor of no priority, and warns of each thing that it does not find. It is for
// the programs that this one starts.
__attribute__((constructor(101))) static void hide(int argc, char **argv, char **variables) {
  (void)argc, (void)argv;
  for (char **next = variables; *next != NULL; next++) {
    if (strncmp(*next, backtrace, sizeof backtrace - 1) != 0) continue;
    hidden = *next;
    do next[0] = next[1];
    while (*next++ != NULL);
    return;
  }
}

void arguments_restore_environment(void) {
  if (hidden != NULL) setenv("SWIFT_BACKTRACE", hidden + sizeof backtrace - 1, 1);
}

int arguments_count(void) { return count; }

const char *arguments_at(int index) { return index >= 0 && index < count ? words[index] : NULL; }
