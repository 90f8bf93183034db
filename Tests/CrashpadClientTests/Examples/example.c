/* A program in C with the client: example DATABASE crash|report */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "crashpad_client.h"

int main(int count, char **arguments) {
  const char *annotations[] = {"version", "1.2.3", "channel", "test", NULL};
  char message[256] = "";
  static char memory[64] = "extra memory of a program in C";
  int error;
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
  printf("process %d\n", crashpad_process_intermediate_dumps(annotations));
  printf("dump %d\n", crashpad_dump_without_crash());
  printf("pending %d\n", crashpad_start_processing_pending_reports());
  printf("allowed %d", crashpad_uploads_enabled());
  printf(" %d", crashpad_set_uploads_enabled(1));
  printf(" %d\n", crashpad_uploads_enabled());
  return 0;
}
