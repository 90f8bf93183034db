// SPDX-License-Identifier: Apache-2.0
// Precedes the functions that wait with another mask. The kernel exchanges the masks, so it has to know the whole one
// of the program: a signal that only the wait lets in is to end the wait.
#if defined(CRASH_PRECEDES_LIBC)
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "../crash/postponed.h"
#include "../crash/state.h"
#include "install.h"
#include "next.h"

static void *_Atomic real_sigsuspend;
static void *_Atomic real_ppoll;
static void *_Atomic real_checked_ppoll;
static void *_Atomic real_pselect;
static void *_Atomic real_epoll_pwait;
static void *_Atomic real_epoll_pwait2;

static uint64_t begin(const sigset_t *mask) { return mask == NULL ? 0 : block_hidden(); }

static int end(uint64_t hidden, int result) {
  int saved = errno;
  hide_again(hidden);
  errno = saved;
  return result;
}

// The wait, with hidden signals blocked meanwhile. As usual none is hidden: then the compiler makes a tail call of libc's
// function, which adds no frame to the stacks that the program prints.
#define WAIT_UNHIDDEN(hidden, wait) ((hidden) == 0 ? (wait) : end(hidden, wait))

EXPORTED int sigsuspend(const sigset_t *mask) {
  int (*wait)(const sigset_t *) = next_function(&real_sigsuspend, "sigsuspend", NULL, NULL);
  if (wait == NULL) return missing();
  uint64_t hidden = begin(mask);
  return WAIT_UNHIDDEN(hidden, wait(mask));
}

EXPORTED int ppoll(struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *mask) {
  int (*wait)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *) =
      next_function(&real_ppoll, "ppoll", NULL, NULL);
  if (wait == NULL) return missing();
  uint64_t hidden = begin(mask);
  return WAIT_UNHIDDEN(hidden, wait(files, count, time, mask));
}

// The name of ppoll in programs that are built with checks.
EXPORTED int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *mask,
                         size_t size) {
  int (*wait)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t) =
      next_function(&real_checked_ppoll, "__ppoll_chk", NULL, NULL);
  if (wait == NULL) return missing();
  uint64_t hidden = begin(mask);
  return WAIT_UNHIDDEN(hidden, wait(files, count, time, mask, size));
}

EXPORTED int pselect(int count, fd_set *to_read, fd_set *to_write, fd_set *exceptional, const struct timespec *time,
                     const sigset_t *mask) {
  int (*wait)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *) =
      next_function(&real_pselect, "pselect", NULL, NULL);
  if (wait == NULL) return missing();
  uint64_t hidden = begin(mask);
  return WAIT_UNHIDDEN(hidden, wait(count, to_read, to_write, exceptional, time, mask));
}

EXPORTED int epoll_pwait(int file, struct epoll_event *events, int count, int milliseconds, const sigset_t *mask) {
  int (*wait)(int, struct epoll_event *, int, int, const sigset_t *) =
      next_function(&real_epoll_pwait, "epoll_pwait", NULL, NULL);
  if (wait == NULL) return missing();
  uint64_t hidden = begin(mask);
  return WAIT_UNHIDDEN(hidden, wait(file, events, count, milliseconds, mask));
}

EXPORTED int epoll_pwait2(int file, struct epoll_event *events, int count, const struct timespec *time,
                          const sigset_t *mask) {
  int (*wait)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *) =
      next_function(&real_epoll_pwait2, "epoll_pwait2", NULL, NULL);
  if (wait == NULL) return missing();
  uint64_t hidden = begin(mask);
  return WAIT_UNHIDDEN(hidden, wait(file, events, count, time, mask));
}

// MARK: Signals that are taken

static int take(int number, siginfo_t *information) {
  int saved = errno;
  if (number > 0) signals_were_taken(signal_bit(number));
  if (number > 0 && information != NULL) restore_sender(number, information);
  errno = saved;
  return number;
}

EXPORTED int sigtimedwait(const sigset_t *signals, siginfo_t *information, const struct timespec *time) {
  static void *_Atomic known;
  int (*wait)(const sigset_t *, siginfo_t *, const struct timespec *) =
      next_function(&known, "sigtimedwait", NULL, NULL);
  return wait == NULL ? missing() : take(wait(signals, information, time), information);
}

EXPORTED int sigwaitinfo(const sigset_t *signals, siginfo_t *information) {
  static void *_Atomic known;
  int (*wait)(const sigset_t *, siginfo_t *) = next_function(&known, "sigwaitinfo", NULL, NULL);
  return wait == NULL ? missing() : take(wait(signals, information), information);
}

#if defined(__GLIBC__)
// Such a signal is for one thread, and has nothing that says so.
EXPORTED int pthread_sigqueue(pthread_t thread, int number, const union sigval value) {
  static void *_Atomic known;
  int (*queue)(pthread_t, int, const union sigval) = next_function(&known, "pthread_sigqueue", NULL, NULL);
  if (queue == NULL) return ENOSYS;
  if (number <= 0 || number > 64 || !(fault_signals() & signal_bit(number)) || !interposes()) {
    return queue(thread, number, value);
  }
  struct thread_facts *facts = facts_of((uint64_t)thread, (uint64_t)pthread_self());
  uint64_t mask = facts->hidden_signals & signal_bit(number);
  atomic_fetch_or(&facts->sent_here, mask);
  int error = queue(thread, number, value);
  if (error != 0) atomic_fetch_and(&facts->sent_here, ~mask);
  return error;
}
#endif

// System V's: waits with the mask of the moment, without one signal.
EXPORTED int __xpg_sigpause(int number) {
  sigset_t mask;
  if (sigprocmask(SIG_BLOCK, NULL, &mask) != 0 || sigdelset(&mask, number) != 0) return -1;
  return sigsuspend(&mask);
}

void waits_install(void) {
  next_function(&real_sigsuspend, "sigsuspend", NULL, NULL);
  next_function(&real_ppoll, "ppoll", NULL, NULL);
  next_function(&real_pselect, "pselect", NULL, NULL);
  next_function(&real_epoll_pwait, "epoll_pwait", NULL, NULL);
}

#else

#include "install.h"

void waits_install(void) {}

#endif
