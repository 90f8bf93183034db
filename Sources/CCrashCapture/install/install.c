// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../crash/capture.h"
#include "../crash/dump_file.h"
#include "../crash/go.h"
#include "../crash/handlers.h"
#include "../crash/held_signals.h"
#include "../crash/process_facts.h"
#include "../crash/program_handlers.h"
#include "../crash/threads.h"
#include "install.h"

static const char kPendingDumps[] = "pending-serialized-ios-dump";

__attribute__((format(printf, 4, 5))) static int fail(int error, char *message, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(message, size, format, arguments);
  va_end(arguments);
  if (length >= 0 && (size_t)length < size) snprintf(message + length, size - (size_t)length, ": %s", strerror(error));
  return error;
}

// Makes a directory and its missing parents. Returns 0 or an errno value.
static int make_directories(char *path) {
  int error = 0;
  for (char *end = path + 1;; end++) {
    char mark = *end;
    if (mark != '/' && mark != 0) continue;
    *end = 0;
    // An existing directory is no failure, nor is a parent that may not be made. The first error is the most helpful.
    if (mkdir(path, 0700) == 0 || errno == EEXIST) {
      error = 0;
    } else if (error == 0) {
      error = errno;
    }
    *end = mark;
    if (mark == 0) return error;
  }
}

// Notes the path of the directory with the dumps. Returns 0 or an errno value.
static int note_directory(const char *database) {
  char *path = crash_state.start_paths + strlen(crash_state.started_path) + 1;
  size_t length = 0;
  if (database[0] != '/') {
    // The program may change its working directory.
    if (getcwd(path, PATH_MAX) == NULL) return errno;
    length = append_text(path, PATH_MAX, strlen(path), "/");
  }
  if (length + strlen(database) + sizeof kPendingDumps >= PATH_MAX) return ENAMETOOLONG;
  length = append_text(path, PATH_MAX, length, database);
  length = append_text(path, PATH_MAX, length, "/");
  append_text(path, PATH_MAX, length, kPendingDumps);
  crash_state.directory_path = path;
  return 0;
}

static int open_database(const struct crash_capture_options *options, char *message, size_t message_size) {
  struct state *state = &crash_state;
  int error = note_directory(options->database);
  if (error == ENAMETOOLONG) return fail(error, message, message_size, "%s", options->database);
  if (error != 0) return fail(error, message, message_size, "the working directory");
  // A program that needs no file yet finds out only at a crash whether a file can be made.
  if (options->flags & CRASH_CAPTURE_NO_FILE_AT_START) return 0;
  error = make_directories(state->directory_path);
  if (error != 0) return fail(error, message, message_size, "%s", state->directory_path);
  int directory = open(state->directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // With so low a limit the program needs all of its descriptors; a crash may raise the limit.
  if (directory < 0 && errno != EMFILE) return fail(errno, message, message_size, "%s", state->directory_path);
  if (directory >= 0) remember_file(&state->directory, raise_descriptor(directory));
  if (faccessat(AT_FDCWD, state->directory_path, W_OK, AT_EACCESS) != 0) {
    return fail(errno, message, message_size, "%s", state->directory_path);
  }
  return 0;
}

static uint32_t limit(uint32_t wanted, uint32_t otherwise) { return wanted == 0 ? otherwise : wanted; }

static int open_file(const struct crash_capture_options *options, char *message, size_t message_size) {
  if (options->flags & CRASH_CAPTURE_NO_FILE_AT_START) return 0;
  long result = dump_file_make();
  if (result == -EMFILE) {
    close_own_file(&crash_state.directory);
    return 0;
  }
  if (result < 0)
    return fail((int)-result, message, message_size, "%s/%s", crash_state.directory_path, crash_state.locked_name);
  // A disk that fills up later can't take the reserved space. The reserve is optional: not every file system supports
  // it.
  uint64_t reserve = limit(options->reserve, CRASH_CAPTURE_RESERVE);
  if (reserve == UINT32_MAX) return 0;
  // On some file systems a reserve beyond the limit of file sizes counts as a write: SIGXFSZ ends the program.
  struct rlimit file_size;
  if (getrlimit(RLIMIT_FSIZE, &file_size) == 0 && file_size.rlim_cur < reserve) reserve = file_size.rlim_cur;
  if (reserve > 0) fallocate(crash_state.file.descriptor, FALLOC_FL_KEEP_SIZE, 0, (off_t)reserve);
  return 0;
}

// A child of fork(2) is a process of its own: its crash goes to a file of its own, which is made when it crashes.
//
// Every fork(2) of the program waits for this function. So it writes only where it must, because the kernel copies a
// page for the first write to it, and reads only from the beginning of crash_state, because the kernel maps a page for
// the first access to it.
AFTER_FORK static void after_fork_in_child(void) {
  struct state *state = &crash_state;
  if (atomic_load(&state->annotation_users) != 0) annotations_release();
  // The child has neither the threads nor the pending signals of its parent.
  if (atomic_load(&state->postponing) != 0) atomic_store(&state->postponing, 0);
  if (atomic_load(&state->sent_again) != 0) atomic_store(&state->sent_again, 0);
  if (!atomic_load(&state->is_installed)) return;
  const int process = current_process();
  adopt_thread(process);
  // The lock belongs to the open file, which the child shares; the child must not keep its parent's lock alive.
  if (state->file.is_made) close_parents_file(process);
  if (!atomic_load(&state->has_captured) && atomic_load(&state->owner) == 0) return;
  // Another thread of the parent may have been in the middle of a dump.
  request_close_file();
  threads_forget();
  release_signals();
  crash_capture.is_under_way = false;
  atomic_store(&state->owner, 0);
}

bool install_take_capture(void) {
  const int kTries = 10000;
  const int self = current_thread();
  for (int tries = 0; tries < kTries; tries++) {
    int owner = 0;
    if (atomic_compare_exchange_strong(&crash_state.owner, &owner, self) || owner == self) return true;
    usleep(1000);
  }
  return false;
}

// Takes the file that waits for a crash out of the state and removes it. Waits for other captures: after a crash in
// another thread the process ends, and a dump has to be complete.
static void discard_file(void) {
  struct state *state = &crash_state;
  if (!install_take_capture()) return;
  forget_parents_file();
  struct known_file file = state->file;
  char name[sizeof state->locked_name];
  strcpy(name, state->locked_name);
  state->file.is_made = false;
  state->file.descriptor = 0;
  // A thread that crashes from now on makes a new file.
  atomic_store(&state->owner, 0);
  dump_file_discard(&file, name);
  dump_file_unlock();
  // Such a thread may be in the middle of that.
  if (install_take_capture()) atomic_store(&state->owner, 0);
}

#if defined(CRASH_HANDLER_LIBRARY)
// In glibc pthread_atfork is not in the shared library, and the function that it calls has a name that musl does not
// have.
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *) __attribute__((weak));
// Defined here, because the compiler's own start files put it into a writable page: one more page and one more mapping.
extern void *const __dso_handle __attribute__((visibility("hidden")));
void *const __dso_handle = (void *)&__dso_handle;

static void register_fork_handler(void (*in_child)(void)) {
  if (__register_atfork != NULL) {
    __register_atfork(NULL, NULL, in_child, (void *)&__dso_handle);
    return;
  }
  typedef int registrar(void (*)(void), void (*)(void), void (*)(void));
  registrar *function = (registrar *)dlsym(RTLD_DEFAULT, "pthread_atfork");
  if (function != NULL) function(NULL, NULL, in_child);
}
#else
static void register_fork_handler(void (*in_child)(void)) { pthread_atfork(NULL, NULL, in_child); }
#endif

static void at_exit(void) {
  // A child without a file of its own returns before it writes to memory.
  if (!crash_state.file.is_made || crash_state.file_process != current_process()) return;
  if (is_captured_process()) discard_file();
}

static void install_handlers(void) {
  struct signal_action action = own_action();
  for (int index = 0; index < kCrashSignalCount; index++) {
    struct signal_action *earlier = &crash_state.earlier[index];
    set_action(kCrashSignals[index], &action, earlier);
    if (is_ignored(earlier)) atomic_fetch_or(&crash_state.ignored_signals, signal_bit(kCrashSignals[index]));
  }
}

static int install(const struct crash_capture_options *options, char *message, size_t message_size) {
  static atomic_bool was_called;
  struct state *state = &crash_state;
  if (message_size > 0) message[0] = 0;
  const char *id = options->program_id;
  if (id != NULL && (id[0] == 0 || strchr(id, '/') != NULL || strlen(id) >= CRASH_CAPTURE_PROGRAM_ID_SIZE)) {
    return fail(EINVAL, message, message_size, "the program id \"%s\"", id);
  }
  if (id != NULL && id[0] == '.') {
    return fail(EINVAL, message, message_size, "the program id \"%s\" begins with a dot", id);
  }
  if (atomic_exchange(&was_called, true)) return fail(EALREADY, message, message_size, "crashes are captured already");
  state_install();
  adopt_thread(current_process());
  clock_install();
  state->installed_at = clock_time(CLOCK_MONOTONIC);
  if (id != NULL) strcpy(state->program_id, id);
  state->has_run_id = options->run_id != NULL;
  if (options->run_id != NULL) memcpy(state->run_id, options->run_id, sizeof state->run_id);
  state->flags = options->flags;
  state->crashed_stack_limit = limit(options->crashed_stack_limit, CRASH_CAPTURE_CRASHED_STACK_LIMIT);
  state->stack_limit = limit(options->stack_limit, CRASH_CAPTURE_STACK_LIMIT);
  state->stop_timeout = limit(options->stop_timeout, CRASH_CAPTURE_STOP_TIMEOUT);
  atomic_store(&state->process, current_process());

  facts_install(options->environment, options->time_zone);
  int error = open_database(options, message, message_size);
  if (error == 0) error = open_file(options, message, message_size);
#if defined(CRASH_PRECEDES_LIBC)
  // A filter that allows this now may refuse to open files later.
  if (has_filter()) state->holds_files = true;
#else
  // Nothing notices when a program with this library loses the way to its files (rights.c).
  state->holds_files = true;
#endif
  dump_file_let_go();
  if (error != 0) {
    close_own_file(&state->directory);
    atomic_store(&was_called, false);
    return error;
  }
  if (!(options->flags & CRASH_CAPTURE_NO_FILE_AT_START)) facts_complete();
  messages_install();
  static atomic_bool is_registered;
  if (!atomic_exchange(&is_registered, true)) {
    register_fork_handler(after_fork_in_child);
    atexit(at_exit);
  }
  if (!(options->flags & CRASH_CAPTURE_NO_SIGNALS)) {
    go_install();
    interpose_install();
    install_handlers();
    // Interrupts threads that run already, by the signal that a crash of theirs would use too: such a crash has to
    // wait.
    const bool is_alone = install_take_capture();
    stacks_install();
    if (is_alone) atomic_store(&state->owner, 0);
  }
  atomic_store(&state->is_installed, true);
  // The program may have been started with them blocked.
  hide_blocked();
  return 0;
}

int crash_capture_install(const struct crash_capture_options *options, char *message, size_t message_size) {
  // A program finds errno as it left it: 0 when main() begins.
  int saved = errno;
  int error = install(options, message, message_size);
  errno = saved;
  return error;
}

void crash_capture_uninstall(void) {
  if (!atomic_exchange(&crash_state.is_installed, false)) return;
  restore_earlier_handlers();
  discard_file();
}

int crash_capture_is_installed(void) { return atomic_load(&crash_state.is_installed); }

const char *crash_capture_path(void) { return crash_state.path; }
