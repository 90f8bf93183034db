// SPDX-License-Identifier: Apache-2.0
// A program in C with the handler alone, without Swift: capture DATABASE
#include <stdio.h>

#include "CCrashCapture.h"

static char last_line[64] = "the last line";
static struct crash_annotation annotation = {.name = "last-line", .value = last_line, .size = sizeof last_line, .type = 1};

int main(int count, char **arguments) {
  if (count < 2) return 64;
  struct crash_capture_options options = {.database = arguments[1], .program_id = "capture"};
  char message[256];
  if (crash_capture_install(&options, message, sizeof message) != 0) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  crash_annotation_register(&annotation);
  *(volatile int *)(size_t)(count - 2) = 1;
  return 0;
}
