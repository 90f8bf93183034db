// SPDX-License-Identifier: Apache-2.0
// Precedes the functions that start a program. It inherits
// - the kernel's mask, which lacks the hidden signals (masks.c);
// - the environment. A script that preloads another library, such as an allocator, leaves this one out: it is put
//   behind. In another root directory that lacks this library, it is left out, as the loader would complain of it in
//   each program.
#if defined(CRASH_PRECEDES_LIBC)
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../crash/state.h"
#include "install.h"
#include "next.h"
#include "pass.h"

extern char **environ;

// MARK: The environment

static const char kPreload[] = "LD_PRELOAD=";

// The path by which this library was preloaded; NULL if it was not.
static const char *own_path;
// Whether the process went to another root directory.
static bool has_other_root;

void programs_inherit(const char *path) { own_path = path; }
void programs_change_root(void) { has_other_root = true; }

enum change { kStays, kIsAdded, kIsRemoved };

static enum change find_change(char *const environment[]) {
  if (own_path == NULL || own_path[0] != '/' || find_variable(environment, "CRASHPAD_HANDLER_DATABASE=") < 0) {
    return kStays;
  }
  int index = find_variable(environment, kPreload);
  // A program that was to be without any library is.
  if (index < 0 || environment[index][sizeof kPreload - 1] == 0) return kStays;
  bool is_there = strstr(environment[index], own_path) != NULL;
  if (has_other_root) return is_there && access(own_path, R_OK) != 0 ? kIsRemoved : kStays;
  // By another path it is another version, which the environment is meant for.
  return is_there || strstr(environment[index], "libcrashpad_handler.so") != NULL ? kStays : kIsAdded;
}

static size_t count_variables(char *const environment[]) {
  size_t count = 0;
  while (environment[count] != NULL) count++;
  return count;
}

// Copies a list of paths without this library's.
static void copy_others(char *target, const char *list) {
  while (*list != 0) {
    size_t length = strcspn(list, ": ");
    bool is_own = length == strlen(own_path) && strncmp(list, own_path, length) == 0;
    if (!is_own && length > 0) {
      if (target[0] != 0) strcat(target, ":");
      strncat(target, list, length);
    }
    list += length + (list[length] != 0);
  }
}

static void say_removal(void) {
  if (crash_state.flags & CRASH_CAPTURE_QUIET) return;
  char line[PATH_MAX + 128];
  int length = snprintf(
      line, sizeof line, "crashpad: programs in this root directory are not captured, as it has no %s\n", own_path);
  if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) return;
}

// The bytes of the environment that a program gets in place of this one; 0 if it gets this one. A larger one than this is
// passed as it is: it might not fit on the stack of a thread.
static size_t changed_size(char *const environment[]) {
  const size_t kMostBytes = 64 << 10;
  if (find_change(environment) == kStays) return 0;
  const char *preload = environment[find_variable(environment, kPreload)];
  size_t size = (count_variables(environment) + 1) * sizeof *environment + strlen(preload) + strlen(own_path) + 2;
  return size > kMostBytes ? 0 : size;
}

// memory: for the environment, which refers to the variables that stay. A program may be started where nothing can be
// allocated.
static char *const *change(char *const environment[], void *memory) {
  size_t count = count_variables(environment);
  int index = find_variable(environment, kPreload);
  const char *list = environment[index] + sizeof kPreload - 1;
  char **changed = memory;
  char *text = (char *)(changed + count + 1);
  memcpy(changed, environment, (count + 1) * sizeof *changed);
  strcpy(text, kPreload);
  if (find_change(environment) == kIsAdded) {
    strcat(strcat(strcat(text, list), ":"), own_path);
  } else {
    copy_others(text + sizeof kPreload - 1, list);
    say_removal();
  }
  changed[index] = text;
  return changed;
}

// In the frame of the function that calls the next one.
#define INHERITED(environment)                                          \
  ({                                                                    \
    size_t bytes = changed_size(environment);                           \
    bytes == 0 ? environment : change(environment, __builtin_alloca(bytes)); \
  })

// MARK: Programs

// If the program does not start, the kernel goes on blocking the signals, and they are no longer hidden: the mask stays
// what it was.

typedef int executor(const char *, char *const[], char *const[]);

static void *_Atomic real_execve;
static void *_Atomic real_execvpe;

EXPORTED int execve(const char *path, char *const arguments[], char *const environment[]) {
  executor *next = next_function(&real_execve, "execve", NULL, NULL);
  if (next == NULL) return missing();
  block_hidden();
  return next(path, arguments, INHERITED(environment));
}

EXPORTED int execv(const char *path, char *const arguments[]) { return execve(path, arguments, environ); }

EXPORTED int execvpe(const char *name, char *const arguments[], char *const environment[]) {
  executor *next = next_function(&real_execvpe, "execvpe", NULL, NULL);
  if (next == NULL) return missing();
  block_hidden();
  return next(name, arguments, INHERITED(environment));
}

EXPORTED int execvp(const char *name, char *const arguments[]) { return execvpe(name, arguments, environ); }

EXPORTED int fexecve(int file, char *const arguments[], char *const environment[]) {
  static void *_Atomic known;
  int (*next)(int, char *const[], char *const[]) = next_function(&known, "fexecve", NULL, NULL);
  if (next == NULL) return missing();
  block_hidden();
  return next(file, arguments, INHERITED(environment));
}

#if PASSES_CALLS

#define NOTICE_EXEC(name)                                                                      \
  static void *_Atomic next_##name;                                                            \
  __attribute__((used)) static void notice_##name(void) {                                      \
    if (next_function(&next_##name, #name, NULL, NULL) == NULL) {                              \
      /* An older libc: a program that asks whether there is such a function finds this one. */ \
      atomic_store(&next_##name, (void *)missing);                                             \
    }                                                                                          \
    block_hidden();                                                                            \
  }                                                                                            \
  PASS(#name, "notice_" #name, "next_" #name)
NOTICE_EXEC(execl);
NOTICE_EXEC(execlp);
NOTICE_EXEC(execle);
NOTICE_EXEC(execveat);

#endif

typedef int spawner(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                    char *const[], char *const[]);

static int spawn(spawner *function, pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  if (function == NULL) return ENOSYS;
  uint64_t hidden = block_hidden();
  int error = function(process, path, actions, attributes, arguments, INHERITED(environment));
  hide_again(hidden);
  return error;
}

EXPORTED int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  static void *_Atomic known;
  return spawn(next_function(&known, "posix_spawn", NULL, NULL), process, path, actions, attributes, arguments,
               environment);
}

EXPORTED int posix_spawnp(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  static void *_Atomic known;
  return spawn(next_function(&known, "posix_spawnp", NULL, NULL), process, path, actions, attributes, arguments,
               environment);
}

EXPORTED int system(const char *command) {
  static void *_Atomic known;
  int (*function)(const char *) = next_function(&known, "system", NULL, NULL);
  if (function == NULL) return missing();
  uint64_t hidden = block_hidden();
  int status = function(command);
  int saved = errno;
  hide_again(hidden);
  errno = saved;
  return status;
}

EXPORTED FILE *popen(const char *command, const char *mode) {
  static void *_Atomic known;
  FILE *(*function)(const char *, const char *) = next_function(&known, "popen", NULL, NULL);
  if (function == NULL) {
    missing();
    return NULL;
  }
  uint64_t hidden = block_hidden();
  FILE *file = function(command, mode);
  int saved = errno;
  hide_again(hidden);
  errno = saved;
  return file;
}

// Signal handlers may call these, where the loader must not be asked.
void programs_install(void) {
  next_function(&real_execve, "execve", NULL, NULL);
  next_function(&real_execvpe, "execvpe", NULL, NULL);
}

#else

#include "install.h"

void programs_install(void) {}
void programs_inherit(const char *path) { (void)path; }
void programs_change_root(void) {}

#endif
