// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <time.h>

#include "proc.h"
#include "tracer.h"

static struct {
  struct thread threads[kMaximumThreads];
  int count;
  // Which thread has an id: open addressing; 0 is empty, otherwise the index and one.
  _Atomic uint16_t index[2 * kMaximumThreads];
  // Threads that stopped since the beginning; what the waiting one sleeps on.
  _Atomic uint32_t stopped;
  // Odd while threads stand; they sleep on it.
  _Atomic uint32_t epoch;
  // What the stop signal did before; it comes back as soon as no such signal can be on its way any more.
  struct signal_action earlier;
  bool is_installed;
  // Nanoseconds for which they stand still after that, and what they sleep on then, which never changes.
  _Atomic uint64_t advance;
  _Atomic uint32_t nothing;
  // A thread may get the signal yet, or once more: it stood still in another handler than ours, with the signal
  // blocked, or did not answer to an earlier one in time.
  _Atomic bool has_late_signal;
  // How many are about to stand there.
  _Atomic int arriving;
  // There is a thread that was not asked.
  bool has_left_alone;
  const char *problem;
  uint8_t listing[8192];
} all;

enum { kMillisecond = 1000000 };

CRASH_TIME static uint64_t now(void) { return clock_time(CLOCK_MONOTONIC); }

// A timeout of 0 nanoseconds is none.
CRASH_TIME static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / (1000 * kMillisecond)), (long)(nanoseconds % (1000 * kMillisecond))};
  SYSTEM_CALL_4(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds == 0 ? NULL : &time);
}

CRASH_TIME static void futex_wake(_Atomic uint32_t *word) {
  SYSTEM_CALL_3(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

CRASH_TIME uint64_t own_data_address(void) {
#if defined(__x86_64__)
  const int kGetFS = 0x1003;  // ARCH_GET_FS
  uint64_t address = 0;
  SYSTEM_CALL_2(SYS_arch_prctl, kGetFS, &address);
  return address;
#else
  uint64_t address;
  __asm__("mrs %0, tpidr_el0" : "=r"(address));
  return address;
#endif
}

CRASH_TIME static struct thread *find(int id) {
  const uint32_t size = 2 * kMaximumThreads;
  for (uint32_t place = (uint32_t)id % size, tries = 0; tries < size; place = (place + 1) % size, tries++) {
    uint16_t index = atomic_load_explicit(&all.index[place], memory_order_acquire);
    if (index == 0) return NULL;
    if (all.threads[index - 1].id == id) return &all.threads[index - 1];
  }
  return NULL;
}

CRASH_TIME static struct thread *add(int id) {
  if (all.count == kMaximumThreads) {
    all.problem = "there are more than 4096 threads";
    return NULL;
  }
  struct thread *thread = &all.threads[all.count++];
  thread->id = id;
  thread->data_address = 0;
  thread->capture = kNotCaptured;
  thread->registers = NULL;
  atomic_store_explicit(&thread->context, NULL, memory_order_relaxed);
  atomic_store_explicit(&thread->state, kAsked, memory_order_relaxed);
  const uint32_t size = 2 * kMaximumThreads;
  uint32_t place = (uint32_t)id % size;
  while (atomic_load_explicit(&all.index[place], memory_order_relaxed) != 0) place = (place + 1) % size;
  atomic_store_explicit(&all.index[place], (uint16_t)all.count, memory_order_release);
  return thread;
}

// The calling thread stands still until threads_resume.
CRASH_TIME static void stand(struct thread *thread, const ucontext_t *context, uint32_t epoch) {
  // It took so long to get here that this is about another dump already.
  if (atomic_load(&all.epoch) != epoch) return;
  thread->data_address = own_data_address();
  thread->capture = kCapturedBySignal;
  atomic_store_explicit(&thread->context, context, memory_order_relaxed);
  atomic_store_explicit(&thread->state, kStopped, memory_order_release);
  atomic_fetch_add(&all.stopped, 1);
  futex_wake(&all.stopped);
  while (atomic_load(&all.epoch) == epoch) futex_wait(&all.epoch, epoch, 0);
  // A signal that is to stop it meanwhile comes before its next instruction.
  uint64_t advance = atomic_load(&all.advance);
  if (advance > 0) futex_wait(&all.nothing, 0, advance);
}

#if defined(CRASH_TEST_LATE_ANSWERS)
// A test has threads that answer so late that it is about another dump already.
static _Atomic uint32_t answers;
CRASH_TIME static void answer_late(void) {
  uint32_t chance = atomic_fetch_add(&answers, 1) * UINT32_C(2654435761);
  if (chance >> 30 == 0) futex_wait(&all.nothing, 0, (uint64_t)(chance >> 8) % (9 * kMillisecond) + 1);
}
#else
CRASH_TIME static void answer_late(void) {}
#endif

CRASH_TIME static void stop_here(int number, siginfo_t *information, void *context) {
  (void)number;
  (void)information;
  uint32_t epoch = atomic_load(&all.epoch);
  // A profiler's signal may come when nobody asked, or before.
  struct thread *thread = epoch % 2 == 1 ? find(current_thread()) : NULL;
  answer_late();
  if (thread != NULL) stand(thread, context, epoch);
}

CRASH_TIME void threads_wait(const ucontext_t *context) {
  uint32_t epoch = atomic_load(&all.epoch);
  atomic_store(&all.has_late_signal, true);
  atomic_fetch_add(&all.arriving, 1);
  // Where another handler called ours it is not blocked, and would stop the thread a second time, here.
  uint64_t stop = UINT64_C(1) << (kStopSignal - 1);
  uint64_t mask = 0;
  change_mask(SIG_BLOCK, &stop, &mask);
  while (epoch % 2 == 1 && atomic_load(&all.epoch) == epoch) {
    struct thread *thread = find(current_thread());
    if (thread != NULL) {
      atomic_fetch_sub(&all.arriving, 1);
      stand(thread, context, epoch);
      change_mask(SIG_SETMASK, &mask, NULL);
      return;
    }
    futex_wait(&all.epoch, epoch, kMillisecond);
  }
  atomic_fetch_sub(&all.arriving, 1);
  change_mask(SIG_SETMASK, &mask, NULL);
}

// MARK: Finding them

// Asks a thread that is not known yet. Returns whether there is one. directory: of threads; below zero if there is
// none.
CRASH_TIME static bool ask(int process, int directory, int id) {
  if (find(id) != NULL) return false;
  struct thread *thread = add(id);
  if (thread == NULL) return false;
  if (proc_awaits_signal(directory, id, kStopSignal)) {
    atomic_store(&thread->state, kLeftAlone);
    all.has_left_alone = true;
    return true;
  }
  long result = SYSTEM_CALL_3(SYS_tgkill, process, id, kStopSignal);
  if (result == -ESRCH) atomic_store(&thread->state, kGone);
  if (result < 0 && result != -ESRCH) all.problem = "signals may not be sent to threads";
  return result == 0;
}

// Asks all that the directory lists. Returns how many were new, or below zero if there is no such directory.
CRASH_TIME static int ask_listed(int process) {
  long directory = SYSTEM_CALL_4(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (directory < 0) return (int)directory;
  int found = 0;
  long size;
  while ((size = SYSTEM_CALL_3(SYS_getdents64, directory, all.listing, sizeof all.listing)) > 0) {
    for (long offset = 0; offset < size;) {
      const struct dirent64 *entry = (const struct dirent64 *)(all.listing + offset);
      offset += entry->d_reclen;
      int id = (int)parse_number(entry->d_name);
      if (id > 0 && ask(process, (int)directory, id)) found++;
    }
  }
  SYSTEM_CALL_1(SYS_close, directory);
  return found;
}

// Without /proc: thread ids follow the process's, so the next ones are tried.
CRASH_TIME static int ask_guessed(int process) {
  const int kReach = 65536;
  const int kNoDirectory = -1;
  int found = 0;
  for (int id = process; id < process + kReach; id++) {
    if (SYSTEM_CALL_3(SYS_tgkill, process, id, 0) == 0 && ask(process, kNoDirectory, id)) found++;
  }
  all.problem = "there is no /proc, so threads were looked for among the next 65536 ids";
  return found;
}

// MARK: Waiting for them

CRASH_TIME static int unfinished(void) {
  int count = 0;
  for (int index = 0; index < all.count; index++) {
    if (atomic_load_explicit(&all.threads[index].state, memory_order_acquire) == kAsked) count++;
  }
  return count;
}

// Whether those that do not answer never will: the signal is blocked there.
CRASH_TIME static bool all_block(bool is_late) {
  if (atomic_load(&all.arriving) > 0) return false;
  for (int index = 0; index < all.count; index++) {
    struct thread *thread = &all.threads[index];
    if (atomic_load(&thread->state) != kAsked) continue;
    bool is_running = false;
    bool blocks = proc_blocks_signal(thread->id, kStopSignal, &is_running);
    if (!blocks || (is_running && !is_late)) return false;
  }
  return true;
}

// Waits until all asked threads stand, or until `end`. Soon after `start` it looks why they do not.
CRASH_TIME static void wait_for_all(int process, uint64_t start, uint64_t end) {
  // Others stand still meanwhile: no longer than it takes a thread that gets the signal.
  const uint64_t kSoon = 2 * kMillisecond;
  const uint64_t kLate = 20 * kMillisecond;
  while (true) {
    uint32_t stopped = atomic_load(&all.stopped);
    if (unfinished() == 0) return;
    uint64_t time = now();
    if (time >= end || (time - start >= kSoon && all_block(time - start >= kLate))) return;
    uint64_t step = time - start < kSoon ? kMillisecond : 5 * kMillisecond;
    futex_wait(&all.stopped, stopped, end - time < step ? end - time : step);
    if (atomic_load(&all.stopped) != stopped) continue;
    // Nobody came; perhaps because somebody ended.
    for (int index = 0; index < all.count; index++) {
      struct thread *thread = &all.threads[index];
      if (atomic_load(&thread->state) == kAsked && SYSTEM_CALL_3(SYS_tgkill, process, thread->id, 0) == -ESRCH) {
        atomic_store(&thread->state, kGone);
      }
    }
  }
}

CRASH_TIME void threads_stop(int self, const ucontext_t *context, uint32_t timeout, bool with_ptrace) {
  int process = current_process();
  all.count = 0;
  all.problem = "";
  all.has_left_alone = false;
  for (uint32_t place = 0; place < 2 * kMaximumThreads; place++) {
    if (atomic_load_explicit(&all.index[place], memory_order_relaxed) != 0) atomic_store(&all.index[place], 0);
  }
  atomic_store(&all.stopped, 0);
  // The thread that crashed comes first.
  struct thread *own = add(self);
  own->data_address = own_data_address();
  own->capture = kCapturedItself;
  atomic_store(&own->context, context);
  atomic_store(&own->state, kStopped);

  atomic_store(&all.has_late_signal, all.is_installed);
  if (!all.is_installed) {
    struct signal_action action = make_action(stop_here, ~UINT64_C(0), SA_RESTART);
    set_action(kStopSignal, &action, &all.earlier);
    all.is_installed = true;
  }
  atomic_fetch_add(&all.epoch, 1);

  uint64_t start = now();
  uint64_t end = start + (uint64_t)timeout * kMillisecond;
  // A thread that is about to stop may have started another one.
  const int kRounds = 16;
  for (int round = 0; round < kRounds; round++) {
    int found = ask_listed(process);
    if (found < 0) found = ask_guessed(process);
    if (found == 0) break;
    wait_for_all(process, start, end);
  }
  if (unfinished() > 0 || all.has_left_alone) capture_unstopped(with_ptrace);
}

// Whether a stop signal waits for a thread. One that stands has it blocked, so it can't come in between.
CRASH_TIME static bool is_on_its_way(void) {
  if (unfinished() > 0) return true;
  if (!atomic_load(&all.has_late_signal)) return false;
  for (int index = 0; index < all.count; index++) {
    struct thread *thread = &all.threads[index];
    if (atomic_load(&thread->state) != kGone && proc_may_have_pending(thread->id, kStopSignal)) return true;
  }
  return false;
}

CRASH_TIME void threads_resume(uint64_t advance) {
  // Nobody was stopped, as there was nowhere to write to.
  if (atomic_load(&all.epoch) % 2 == 0) return;
  release_traced();
  // A signal that is still on its way must not meet the default action, which ends the process.
  if (!is_on_its_way()) {
    set_action(kStopSignal, &all.earlier, NULL);
    all.is_installed = false;
  }
  atomic_store(&all.advance, advance * kMillisecond);
  atomic_fetch_add(&all.epoch, 1);
  futex_wake(&all.epoch);
}

CRASH_TIME void threads_forget(void) {
  struct signal_action current = make_action(NULL, 0, 0);
  // Signals on their way are not inherited, so none can meet the earlier action. What the copy says may be older or
  // newer than the child's handlers are.
  if (set_action(kStopSignal, NULL, &current) == 0 && current.handler == stop_here) {
    set_action(kStopSignal, &all.earlier, NULL);
  }
  all.is_installed = false;
  all.count = 0;
  atomic_store(&all.has_late_signal, false);
  atomic_store(&all.arriving, 0);
  if (atomic_load(&all.epoch) % 2 == 1) atomic_fetch_add(&all.epoch, 1);
}

CRASH_TIME int threads_count(void) { return all.count; }
CRASH_TIME struct thread *threads_at(int index) { return &all.threads[index]; }
CRASH_TIME const char *threads_problem(void) { return all.problem == NULL ? "" : all.problem; }
