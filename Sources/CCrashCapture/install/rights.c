// SPDX-License-Identifier: Apache-2.0
// Precedes the calls after which a crash may be unable to open its file, and opens the file before them:
// - a process of root changes its user, as workers of servers do: that user may not make files in root's database, so
//   the file is made, too;
// - the root directory is changed: the database has no path there, so its directory stays open;
// - a filter of system calls is set, which may refuse to open files: a child of fork(2) makes its file before, too;
// - hardly any descriptors are allowed: likewise.
// In all other processes no descriptor of this library is open before a crash.
#if defined(CRASH_PRECEDES_LIBC)
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../crash/dump_file.h"
#include "../crash/handlers.h"
#include "../crash/state.h"
#include "install.h"
#include "next.h"
#include "pass.h"

// user: the new effective user.
static void make_file_before(uid_t user) {
  struct state *state = &crash_state;
  if (user == 0 || user == (uid_t)-1 || geteuid() != 0 || !atomic_load(&state->is_installed) ||
      !is_captured_process()) {
    return;
  }
  int saved = errno;
  if (install_take_capture()) {
    dump_file_hold();
    atomic_store(&state->owner, 0);
  }
  errno = saved;
}

// Opens the directory, and the file if there is one, for as long as the process lives.
//
// makes: makes the file of a process that has none yet, because it can't be made later.
static void hold_files(bool makes) {
  struct state *state = &crash_state;
  int saved = errno;
  if (atomic_load(&state->is_installed) && is_captured_process() && install_take_capture()) {
    forget_parents_file();
    state->holds_files = true;
    if (makes || state->file.is_made) dump_file_hold();
    dump_file_reach();
    atomic_store(&state->owner, 0);
  }
  errno = saved;
}

EXPORTED int chroot(const char *path) {
  hold_files(false);
  programs_change_root();
  static void *_Atomic known;
  int (*setter)(const char *) = next_function(&known, "chroot", NULL, NULL);
  return setter == NULL ? missing() : setter(path);
}

EXPORTED int setuid(uid_t user) {
  make_file_before(user);
  static void *_Atomic known;
  int (*setter)(uid_t) = next_function(&known, "setuid", NULL, NULL);
  return setter == NULL ? missing() : setter(user);
}

EXPORTED int seteuid(uid_t user) {
  make_file_before(user);
  static void *_Atomic known;
  int (*setter)(uid_t) = next_function(&known, "seteuid", NULL, NULL);
  return setter == NULL ? missing() : setter(user);
}

EXPORTED int setreuid(uid_t real, uid_t effective) {
  make_file_before(effective);
  static void *_Atomic known;
  int (*setter)(uid_t, uid_t) = next_function(&known, "setreuid", NULL, NULL);
  return setter == NULL ? missing() : setter(real, effective);
}

EXPORTED int setresuid(uid_t real, uid_t effective, uid_t saved) {
  make_file_before(effective);
  static void *_Atomic known;
  int (*setter)(uid_t, uid_t, uid_t) = next_function(&known, "setresuid", NULL, NULL);
  return setter == NULL ? missing() : setter(real, effective, saved);
}

// So few descriptors that the capture may find none.
static bool is_tight(int resource, const struct rlimit *limit) {
  const rlim_t kFew = 64;
  return resource == RLIMIT_NOFILE && limit != NULL && limit->rlim_max < kFew;
}

// Under other names here, because glibc and musl declare them with different types.
EXPORTED int set_limit(int resource, const struct rlimit *limit) __asm__("setrlimit");
EXPORTED int set_limit_64(int resource, const struct rlimit *limit) __asm__("setrlimit64");

int set_limit(int resource, const struct rlimit *limit) {
  if (is_tight(resource, limit)) hold_files(true);
  static void *_Atomic known;
  int (*setter)(int, const struct rlimit *) = next_function(&known, "setrlimit", NULL, NULL);
  return setter == NULL ? missing() : setter(resource, limit);
}
// On 64-bit machines both have the same structure.
int set_limit_64(int resource, const struct rlimit *limit) { return set_limit(resource, limit); }

// In strict mode a thread may only read, write and end: no call that a capture needs is left, nor one that restores the
// default action later. So the process runs its handlers and ends as it would without this library.
static void prepare_filter(bool is_strict) {
  int saved = errno;
  if (is_strict && is_captured_process()) {
    block_hidden();
    give_handlers_back();
    give_stack_back();
    crash_capture_uninstall();
  } else {
    hold_files(true);
  }
  errno = saved;
}

EXPORTED int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (int index = 0; index < 4; index++) arguments[index] = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP) prepare_filter(arguments[0] == SECCOMP_MODE_STRICT);
  static void *_Atomic known;
  int (*setter)(int, ...) = next_function(&known, "prctl", NULL, NULL);
  return setter == NULL ? missing() : setter(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

#if PASSES_CALLS
static void *_Atomic next_syscall;

__attribute__((used)) static void notice_syscall(long number, long operation) {
  if (number == SYS_seccomp && operation <= SECCOMP_SET_MODE_FILTER) {
    prepare_filter(operation == SECCOMP_SET_MODE_STRICT);
  }
  if (number == SYS_pivot_root) {
    hold_files(false);
    programs_change_root();
  }
  if ((number == SYS_clone && (operation & CLONE_VM)) || number == SYS_clone3) note_sharing(false);
  next_function(&next_syscall, "syscall", NULL, NULL);
}

// libseccomp and bubblewrap make these calls by syscall(2).
_Static_assert(SYS_seccomp == 317 && SYS_pivot_root == 155 && SYS_clone == 56 && SYS_clone3 == 435, "the numbers below");
PASS_AFTER("syscall", "notice_syscall", "next_syscall", "",
           "cmp $317, %rdi\nje 1f\ncmp $155, %rdi\nje 1f\ncmp $56, %rdi\nje 1f\ncmp $435, %rdi\njne 2f\n");
#endif

#endif
