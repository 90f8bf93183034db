// SPDX-License-Identifier: Apache-2.0
// Precedes libc's functions for masks of signals.
//
// Faults are raised even where their signals are blocked, and then the kernel ends the process without calling a
// handler. So the kernel's mask leaves them unblocked, and the mask that the program believes it has adds
// hidden_signals().
//
// Only where the functions that save and restore masks are preceded too (contexts.c, waits.c): elsewhere a jump would
// leave the program with a mask that it did not set.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "../crash/postponed.h"
#include "../crash/state.h"
#include "install.h"
#include "next.h"

uint64_t first_word_of(const sigset_t *set) {
  uint64_t word;
  memcpy(&word, set, sizeof word);
  return word;
}

#if defined(CRASH_PRECEDES_LIBC)

typedef int mask_setter(int, const sigset_t *, sigset_t *);

extern mask_setter __interceptor_sigprocmask __attribute__((weak));
extern mask_setter __interceptor_pthread_sigmask __attribute__((weak));

static void *_Atomic real_sigprocmask;
static void *_Atomic real_pthread_sigmask;

// A child that shares its parent's memory, and so its hidden signals, but has a mask of its own.
static bool is_child_of_vfork(void) {
  const struct thread_facts *facts = own_facts();
  return atomic_load(&crash_state.is_installed) && facts->process != 0 && facts->process != current_process();
}

// Lets the kernel block in such a child what its parent hides; from then on the kernel's mask is the child's.
static void block_for_child(void) {
  struct thread_facts *facts = own_facts();
  const int process = current_process();
  if (!is_child_of_vfork() || facts->child == process) return;
  facts->child = process;
  change_mask(SIG_BLOCK, &facts->hidden_signals, NULL);
}

uint64_t block_hidden(void) {
  uint64_t hidden = hidden_signals();
  if (hidden == 0) return 0;
  if (!interposes()) {
    block_for_child();
    return 0;
  }
  // Blocked before it is shown: a signal that arrives in between waits, as it would without this library.
  change_mask(SIG_BLOCK, &hidden, NULL);
  set_hidden_signals(0);
  return hidden;
}

void hide_again(uint64_t hidden) {
  if (hidden == 0) return;
  // A handler may have run meanwhile, and what it changed is restored first.
  hidden_signals();
  set_hidden_signals(hidden);
  change_mask(SIG_UNBLOCK, &hidden, NULL);
}

void hide_blocked(void) {
  if (!interposes()) return;
  uint64_t blocked = 0;
  change_mask(SIG_BLOCK, NULL, &blocked);
  uint64_t hidden = blocked & fault_signals() & ~atomic_load(&crash_state.ignored_signals);
  if (hidden == 0) return;
  set_hidden_signals(hidden_signals() | hidden);
  change_mask(SIG_UNBLOCK, &hidden, NULL);
}

// A signal that is pending arrives before the call returns that unblocks it: so does one that another thread has to send again
// first, as it has it blocked, too. The wait is bounded: a signal may have been taken where this library does not see it.
static void await_postponed(uint64_t unblocked) {
  if (!is_postponing(unblocked)) return;
  const int kYields = 1000;
  const int kSleeps = 20;
  for (int count = 0; count < kYields && is_postponing(unblocked); count++) sched_yield();
  for (int count = 0; count < kSleeps && is_postponing(unblocked); count++) {
    struct timespec time = {.tv_nsec = 1000000};
    SYSTEM_CALL_2(SYS_nanosleep, &time, NULL);
  }
  if (is_postponing(unblocked)) signals_were_taken(unblocked);
  // It is delivered when a system call returns.
  SYSTEM_CALL_1(SYS_getpid, 0);
}

static int set_mask(mask_setter *setter, int how, const sigset_t *mask, sigset_t *old) {
  uint64_t before = hidden_signals();
  uint64_t faults = mask == NULL ? 0 : first_word_of(mask) & fault_signals();
  // Most calls concern other signals.
  if ((before | faults) == 0) return setter(how, mask, old);
  if (!interposes()) {
    // A child of vfork(2) has the mask of its parent, but changes one of its own.
    block_for_child();
    return setter(how, mask, old);
  }
  uint64_t hideable = faults & ~atomic_load(&crash_state.ignored_signals);
  sigset_t changed;
  int result;
  if (mask == NULL) {
    result = setter(how, NULL, old);
  } else {
    changed = *mask;
    uint64_t word = first_word_of(mask);
    if (how != SIG_UNBLOCK) word &= ~hideable;
    memcpy(&changed, &word, sizeof word);
    // Changed first, because a signal that arrives in between is sent again to where it is blocked.
    if (how == SIG_BLOCK) set_hidden_signals(before | hideable);
    if (how == SIG_UNBLOCK) set_hidden_signals(before & ~faults);
    if (how == SIG_SETMASK) set_hidden_signals(hideable);
    result = setter(how, &changed, old);
    if (result != 0) set_hidden_signals(before);
    uint64_t unblocked = how == SIG_BLOCK ? 0 : before & ~hidden_signals();
    if (unblocked != 0) await_postponed(unblocked);
  }
  if (result != 0 || old == NULL) return result;
  uint64_t shown = first_word_of(old) | before;
  memcpy(old, &shown, sizeof shown);
  return 0;
}

static mask_setter *next_process_mask(void) {
  return next_function(&real_sigprocmask, "sigprocmask", (void *)__interceptor_sigprocmask, NULL);
}

static mask_setter *next_thread_mask(void) {
  return next_function(&real_pthread_sigmask, "pthread_sigmask", (void *)__interceptor_pthread_sigmask, NULL);
}

EXPORTED int sigprocmask(int how, const sigset_t *mask, sigset_t *old) {
  mask_setter *setter = next_process_mask();
  return setter == NULL ? missing() : set_mask(setter, how, mask, old);
}

EXPORTED int pthread_sigmask(int how, const sigset_t *mask, sigset_t *old) {
  mask_setter *setter = next_thread_mask();
  return setter == NULL ? ENOSYS : set_mask(setter, how, mask, old);
}

void masks_install(void) {
  next_process_mask();
  next_thread_mask();
}

// MARK: The functions of System V and BSD

static int change_one(int how, int number) {
  sigset_t one;
  sigemptyset(&one);
  return sigaddset(&one, number) != 0 ? -1 : sigprocmask(how, &one, NULL);
}

EXPORTED int sighold(int number) { return change_one(SIG_BLOCK, number); }
EXPORTED int sigrelse(int number) { return change_one(SIG_UNBLOCK, number); }

EXPORTED int sigignore(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_IGN;
  return sigaction(number, &action, NULL);
}

// The older functions have the first 32 signals in a number.
static int change_number(int how, int mask) {
  sigset_t set;
  sigset_t old;
  uint64_t word = (unsigned)mask;
  sigemptyset(&set);
  memcpy(&set, &word, sizeof word);
  return sigprocmask(how, &set, &old) != 0 ? -1 : (int)first_word_of(&old);
}

EXPORTED int sigblock(int mask) { return change_number(SIG_BLOCK, mask); }
EXPORTED int sigsetmask(int mask) { return change_number(SIG_SETMASK, mask); }
EXPORTED int siggetmask(void) { return change_number(SIG_BLOCK, 0); }

#else

void hide_blocked(void) {}
void masks_install(void) {}

#endif
