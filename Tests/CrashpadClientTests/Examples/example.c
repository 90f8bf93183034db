// SPDX-License-Identifier: Apache-2.0
/* A program in C with the client: example DATABASE crash|report */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "crashpad_client.h"

static int refuse(const char *lines, size_t size, void *context) {
  (void)lines, (void)size, (void)context;
  return EBUSY;
}

/* Counts crashes, their lines, and those that are events of the default form. */
static int count_events(const char *lines, size_t size, void *context) {
  int *counts = context;
  const char *line = lines;
  counts[0] += 1;
  counts[2] += lines[size] == 0 && size == strlen(lines) && strstr(lines, "$AppCrashed") != NULL;
  while ((line = strchr(line, '\n')) != NULL) counts[1] += 1, line += 1;
  return 0;
}

int main(int count, char **arguments) {
  const char *annotations[] = {"version", "1.2.3", "channel", "test", NULL};
  char message[256] = "";
  static char memory[64] = "extra memory of a program in C";
  int error, round, events[3] = {0, 0, 0};
  void *path, *log;
  if (count < 3) return 64;
  error = crashpad_start(arguments[1], NULL, "c-example", annotations, message, sizeof message);
  if (error != 0) {
    printf("%d: %s\n", error, message);
    return 1;
  }
  printf("again %d\n", crashpad_start(arguments[1], NULL, NULL, NULL, message, sizeof message) != 0);
  printf("crashed last run: %d, start crashes: %d\n", crashpad_crashed_last_run(), crashpad_start_crashes());
  path = crashpad_string_annotation("path", 16);
  crashpad_string_annotation_set(path, "/index.html");
  log = crashpad_ring_buffer_annotation("log", 3, 64);
  printf("push %d\n", crashpad_ring_buffer_annotation_push(log, "a line", 6));
  printf("set %d\n", crashpad_set_annotation("user", "anna"));
  printf("memory %d\n", crashpad_add_memory(memory, sizeof memory));
  printf("refused %d", crashpad_add_memory(NULL, sizeof memory) == EINVAL);
  printf(" %d", crashpad_add_memory(memory, (size_t)-1) == E2BIG);
  printf(" %d", crashpad_ring_buffer_annotation_push(log, NULL, 6) == EINVAL);
  printf(" %d\n", crashpad_ring_buffer_annotation_push(log, "a line", (size_t)-1) == EAGAIN);
  printf("thread %d\n", crashpad_prepare_thread());
  fflush(stdout);
  if (strcmp(arguments[2], "crash") == 0) *(volatile int *)(size_t)(count - 3) = 1;
  printf("events %d", crashpad_send_crash_events("none", count_events, events) == EINVAL);
  printf(" %d", crashpad_send_crash_events(NULL, NULL, NULL) == EINVAL);
  printf(" %d", crashpad_send_crash_events("otel", refuse, NULL) == EBUSY);
  for (round = 0; round < 2; ++round) {
    printf(" %d", crashpad_send_crash_events(NULL, count_events, events));
    printf(" %d %d %d", events[0], events[1], events[2]);
  }
  printf("\n");
  printf("process %d\n", crashpad_process_intermediate_dumps(annotations));
  printf("dump %d\n", crashpad_dump_without_crash());
  printf("pending %d\n", crashpad_start_processing_pending_reports());
  printf("allowed %d", crashpad_uploads_enabled());
  printf(" %d", crashpad_set_uploads_enabled(1));
  printf(" %d\n", crashpad_uploads_enabled());
  return 0;
}
