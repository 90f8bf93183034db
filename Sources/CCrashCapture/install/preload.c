// SPDX-License-Identifier: Apache-2.0
// The handler as a library that is preloaded (LD_PRELOAD) into programs that do not know it. Its settings are in the
// environment: see crashpadctl-run(1).
#if defined(CRASH_HANDLER_LIBRARY)
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../crash/state.h"
#include "CCrashCapture.h"
#include "install.h"

static void complain(const char *text) {
  char line[512];
  int length = snprintf(line, sizeof line, "crashpad: %s\n", text);
  if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

static bool parse_uuid(const char *text, uint8_t uuid[16]) {
  int digits = 0;
  for (; *text != 0; text++) {
    if (*text == '-') continue;
    const char *hexadecimal = "0123456789abcdef";
    const char *found = strchr(hexadecimal, *text | ('A' <= *text && *text <= 'F' ? 0x20 : 0));
    if (found == NULL || digits == 32) return false;
    uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | (found - hexadecimal));
    digits++;
  }
  return digits == 32;
}

// Splits names separated by colons into a list that ends with NULL. Changes `text`.
static void split(char *text, const char **names, size_t count) {
  size_t used = 0;
  char *rest = NULL;
  for (char *name = strtok_r(text, ":", &rest); name != NULL && used + 1 < count; name = strtok_r(NULL, ":", &rest)) {
    names[used++] = name;
  }
  names[used] = NULL;
}

struct settings {
  struct crash_capture_options capture;
  const char *environment[64];
  bool is_for_children;
};

static bool parse_number(const char *text, uint32_t *number) {
  uint64_t value = 0;
  const char *digit = text;
  // Not strtoul(3): newer versions of glibc give it a name that musl does not have.
  for (; '0' <= *digit && *digit <= '9' && value <= UINT32_MAX; digit++) value = value * 10 + (uint64_t)(*digit - '0');
  if (digit == text || *digit != 0 || value > UINT32_MAX) return false;
  *number = (uint32_t)value;
  return true;
}

static bool parse_option(struct settings *settings, const char *name, char *value) {
  if (strcmp(name, "quiet") == 0) {
    settings->capture.flags |= CRASH_CAPTURE_QUIET;
    return true;
  }
  if (value == NULL) return false;
  if (strcmp(name, "stack") == 0) return parse_number(value, &settings->capture.stack_limit);
  if (strcmp(name, "crashed-stack") == 0) return parse_number(value, &settings->capture.crashed_stack_limit);
  if (strcmp(name, "timeout") == 0) return parse_number(value, &settings->capture.stop_timeout);
  if (strcmp(name, "reserve") == 0) return parse_number(value, &settings->capture.reserve);
  if (strcmp(name, "children") == 0) {
    settings->is_for_children = strcmp(value, "no") != 0;
    return true;
  }
  if (strcmp(name, "ptrace") == 0) {
    if (strcmp(value, "no") == 0) settings->capture.flags |= CRASH_CAPTURE_NO_PTRACE;
    return true;
  }
  if (strcmp(name, "environment") == 0) {
    split(value, settings->environment, sizeof settings->environment / sizeof *settings->environment);
    settings->capture.environment = settings->environment;
    return true;
  }
  return false;
}

static void parse_options(struct settings *settings, char *text) {
  char *rest = NULL;
  for (char *option = strtok_r(text, ",", &rest); option != NULL; option = strtok_r(NULL, ",", &rest)) {
    char *value = strchr(option, '=');
    if (value != NULL) *value++ = 0;
    if (parse_option(settings, option, value)) continue;
    char line[256];
    snprintf(line, sizeof line, "CRASHPAD_HANDLER_OPTIONS: %s is not understood", option);
    complain(line);
  }
}

static void set_annotations(char *text) {
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    char *value = strchr(line, '=');
    if (value == NULL) continue;
    *value++ = 0;
    crash_capture_set_annotation(line, value);
  }
}

// MARK: The environment

extern char **environ;

static const char *variable(const char *name) { return find_value(environ, name); }

static void remove_variable(const char *name) {
  int index;
  while ((index = find_variable(environ, name)) >= 0) {
    char **place = environ + index;
    do place[0] = place[1];
    while (*place++ != NULL);
  }
}

// Whether this process is a descendant, not a child, of the process that set the environment. Compares process ids
// instead of changing the environment: not every program passes on a library's changes to it. A program that replaced
// itself (exec) keeps its parent.
static bool is_descendant(void) {
  const char *text = variable("CRASHPAD_HANDLER_PARENT=");
  uint32_t parent = 0;
  return text != NULL && parse_number(text, &parent) && (uint32_t)getppid() != parent;
}

// The header of this library, defined by the linker.
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

static int find_own_name(struct dl_phdr_info *information, size_t size, void *name) {
  (void)size;
  if ((uintptr_t)information->dlpi_phdr != (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff) return 0;
  *(const char **)name = information->dlpi_name;
  return 1;
}

// The path by which the loader was given this library. It lasts as long as the library.
static const char *own_name(void) {
  const char *name = "";
  dl_iterate_phdr(find_own_name, &name);
  return name;
}

static bool is_own(const char *path) {
  return strstr(path, "libcrashpad_handler.so") != NULL || strcmp(path, own_name()) == 0;
}

// Removes this library and its settings from the environment, so that children do not inherit them.
static void leave_environment(void) {
  const char *names[] = {
      "CRASHPAD_HANDLER_DATABASE=",    "CRASHPAD_HANDLER_PROGRAM_ID=", "CRASHPAD_HANDLER_RUN=",
      "CRASHPAD_HANDLER_ANNOTATIONS=", "CRASHPAD_HANDLER_OPTIONS=",    "CRASHPAD_HANDLER_PARENT=",
      "CRASHPAD_HANDLER_TIME_ZONE=",
  };
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) remove_variable(names[index]);
  const char *preload = variable("LD_PRELOAD=");
  if (preload == NULL) return;
  const char *start = "LD_PRELOAD=";
  // Never freed: like all of the environment, it lasts as long as the process.
  char *others = malloc(strlen(start) + strlen(preload) + 1);
  char *copy = strdup(preload);
  if (others == NULL || copy == NULL) return;
  strcpy(others, start);
  char *rest = NULL;
  for (char *path = strtok_r(copy, ": ", &rest); path != NULL; path = strtok_r(NULL, ": ", &rest)) {
    if (is_own(path)) continue;
    if (strlen(others) > strlen(start)) strcat(others, ":");
    strcat(others, path);
  }
  free(copy);
  if (strlen(others) > strlen(start)) {
    environ[find_variable(environ, start)] = others;
  } else {
    remove_variable("LD_PRELOAD=");
    free(others);
  }
}

// Not inlined: its array would make the stack of each start larger.
__attribute__((noinline)) static void complain_about_failure(void) {
  char line[sizeof crash_state.failure + 64];
  int length = snprintf(line, sizeof line, "crashpad: %s; crashes are not captured\n", crash_state.failure);
  if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

static void install(void) {
  const char *database = variable("CRASHPAD_HANDLER_DATABASE=");
  if (database == NULL || database[0] == 0) {
    complain("CRASHPAD_HANDLER_DATABASE is not set, so crashes are not captured");
    return;
  }
  struct settings settings = {.is_for_children = true};
  const char *id = variable("CRASHPAD_HANDLER_PROGRAM_ID=");
  settings.capture.database = database;
  settings.capture.program_id = id != NULL && id[0] != 0 ? id : NULL;
  settings.capture.time_zone = variable("CRASHPAD_HANDLER_TIME_ZONE=");
  uint8_t run[16];
  const char *run_text = variable("CRASHPAD_HANDLER_RUN=");
  if (run_text != NULL && parse_uuid(run_text, run)) settings.capture.run_id = run;
  // The options are used as long as the process lives; the environment may change before.
  const char *options = variable("CRASHPAD_HANDLER_OPTIONS=");
  static char *own_options;
  own_options = options == NULL ? NULL : strdup(options);
  if (own_options != NULL) parse_options(&settings, own_options);
  // There may be thousands of descendants, and many end without any notice (_exit): their files would stay, each with
  // its reserved disk space.
  if (is_descendant()) settings.capture.flags |= CRASH_CAPTURE_NO_FILE_AT_START;
  // Not on the stack: each page of it that is touched makes the start slower.
  if (crash_capture_install(&settings.capture, crash_state.failure, sizeof crash_state.failure) != 0) {
    if (!(settings.capture.flags & CRASH_CAPTURE_QUIET)) complain_about_failure();
    return;
  }
  const char *annotations = variable("CRASHPAD_HANDLER_ANNOTATIONS=");
  char *own_annotations = annotations == NULL ? NULL : strdup(annotations);
  if (own_annotations != NULL) set_annotations(own_annotations);
  free(own_annotations);
  if (!settings.is_for_children) {
    leave_environment();
  } else {
    programs_inherit(own_name());
  }
}

__attribute__((constructor)) static void start(void) {
  // The program finds errno at 0 when main() begins.
  int saved = errno;
  install();
  errno = saved;
}

#endif
