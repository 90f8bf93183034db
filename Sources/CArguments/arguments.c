#include "CArguments.h"

#include <stddef.h>

static int count;
static char **words;

// glibc hands main's arguments to constructors too.
__attribute__((constructor)) static void keep(int argc, char **argv) {
  count = argc;
  words = argv;
}

int arguments_count(void) { return count; }

const char *arguments_at(int index) { return index >= 0 && index < count ? words[index] : NULL; }
