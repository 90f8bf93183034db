// SPDX-License-Identifier: Apache-2.0
// Precedes the calls by which a process of root becomes one of another user, as workers of servers do. That user may
// not make files in root's database, so the file for a crash is made before the change. Also precedes chroot(2), which
// may make the database's path unreachable.
#if defined(CRASH_HANDLER_LIBRARY)
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "../crash/dump_file.h"
#include "../crash/state.h"
#include "install.h"
#include "next.h"

// user: the new effective user.
static void make_file_before(uid_t user) {
  struct state *state = &crash_state;
  if (user == 0 || user == (uid_t)-1 || geteuid() != 0 || !atomic_load(&state->is_installed) ||
      !is_captured_process()) {
    return;
  }
  int saved = errno;
  if (install_take_capture()) {
    forget_parents_file();
    if (state->file.descriptor == 0) dump_file_make();
    atomic_store(&state->owner, 0);
  }
  errno = saved;
}

static int missing(void) {
  errno = ENOSYS;
  return -1;
}

EXPORTED int chroot(const char *path) {
  int saved = errno;
  if (atomic_load(&crash_state.is_installed) && is_captured_process() && install_take_capture()) {
    dump_file_reach();
    atomic_store(&crash_state.owner, 0);
  }
  errno = saved;
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

#endif
