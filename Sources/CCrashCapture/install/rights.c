// SPDX-License-Identifier: Apache-2.0
// Precedes the calls by which a process of root becomes one of another user, as workers of servers do. That user may
// not make files in root's database, so the file for a crash is made before the change. Also precedes chroot(2), which
// may make the database's path unreachable.
#if defined(CRASH_HANDLER_LIBRARY)
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "../crash/dump_file.h"
#include "install.h"
#include "../crash/next.h"
#include "../crash/state.h"

#define EXPORTED __attribute__((visibility("default")))

typedef int one_setter(uid_t);
typedef int two_setter(uid_t, uid_t);
typedef int three_setter(uid_t, uid_t, uid_t);

static struct {
  one_setter *_Atomic real;
  one_setter *_Atomic effective;
  two_setter *_Atomic both;
  three_setter *_Atomic all;
} next;

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

typedef int root_setter(const char *);
static root_setter *_Atomic next_root;

EXPORTED int chroot(const char *path) {
  int saved = errno;
  if (atomic_load(&crash_state.is_installed) && is_captured_process() && install_take_capture()) {
    dump_file_reach();
    atomic_store(&crash_state.owner, 0);
  }
  errno = saved;
  root_setter *setter = atomic_load(&next_root);
  if (setter == NULL) {
    setter = (root_setter *)next_function("chroot", NULL, NULL);
    atomic_store(&next_root, setter);
  }
  if (setter != NULL) return setter(path);
  errno = ENOSYS;
  return -1;
}

#define NEXT(place, name) \
  (atomic_load(&next.place) != NULL ? atomic_load(&next.place) : (next.place = next_function(name, NULL, NULL)))

static int missing(void) {
  errno = ENOSYS;
  return -1;
}

EXPORTED int setuid(uid_t user) {
  make_file_before(user);
  one_setter *setter = NEXT(real, "setuid");
  return setter == NULL ? missing() : setter(user);
}

EXPORTED int seteuid(uid_t user) {
  make_file_before(user);
  one_setter *setter = NEXT(effective, "seteuid");
  return setter == NULL ? missing() : setter(user);
}

EXPORTED int setreuid(uid_t real, uid_t effective) {
  make_file_before(effective);
  two_setter *setter = NEXT(both, "setreuid");
  return setter == NULL ? missing() : setter(real, effective);
}

EXPORTED int setresuid(uid_t real, uid_t effective, uid_t saved) {
  make_file_before(effective);
  three_setter *setter = NEXT(all, "setresuid");
  return setter == NULL ? missing() : setter(real, effective, saved);
}

#endif
