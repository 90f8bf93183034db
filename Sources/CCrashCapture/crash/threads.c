// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <time.h>

#include "proc.h"
#include "state.h"
#include "tracer.h"

static struct {
  struct thread threads[kMaximumThreads];
  int count;
  // Finds threads by their ids, with open addressing; 0 is empty, otherwise the index plus one.
  _Atomic uint16_t index[2 * kMaximumThreads];
  // The number of threads that have stopped; the waiting thread sleeps on it.
  _Atomic uint32_t stopped;
  // Odd while threads are stopped; they sleep on it.
  _Atomic uint32_t epoch;
  // The earlier action of the stop signal, restored as soon as no such signal can be pending any more.
  struct signal_action earlier;
  bool is_installed;
  // Nanoseconds for which threads still stand after the resumption, and the word on which they sleep then, which never
  // changes.
  _Atomic uint64_t advance;
  _Atomic uint32_t never_woken;
  // The number of threads that have reached that sleep.
  _Atomic uint32_t released;
  // A thread may get the signal late or once more: it stood still in a handler other than ours, with the signal
  // blocked, or did not answer an earlier signal in time.
  _Atomic bool has_late_signal;
  // The number of threads in threads_wait that are about to stand still.
  _Atomic int arriving;
  // Some thread was not sent the signal.
  bool has_skipped_thread;
  // The first thread has ended; it stays listed until the others have ended, too.
  bool has_leader_exited;
  // The signal can't be sent, because its action can't be set.
  bool is_deaf;
  // The /proc of another namespace lists other thread numbers than system calls use.
  bool is_foreign;
  const char *problem;
  // When the stopping began, and how long it may take; where no clock can be read, the waits are summed up in `waited`.
  uint64_t start;
  uint64_t timeout;
  uint64_t waited;
  uint8_t listing[8192];
} thread_table;

enum { kMillisecond = 1000000 };

CRASH_TIME static uint64_t now(void) { return clock_time(CLOCK_MONOTONIC); }

// Sleeps for about a millisecond, where futex(2) is refused.
CRASH_TIME static void sleep_1ms(void) {
  struct timespec time = {0, kMillisecond};
  if (!is_refused(SYSTEM_CALL_2(SYS_nanosleep, &time, NULL))) return;
  for (volatile int turns = 0; turns < 1000000; turns++) {
  }
}

// 0 nanoseconds mean no timeout.
CRASH_TIME static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / (1000 * kMillisecond)), (long)(nanoseconds % (1000 * kMillisecond))};
  if (is_refused(SYSTEM_CALL_4(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds == 0 ? NULL : &time))) sleep_1ms();
}

// Nanoseconds since the stopping began.
CRASH_TIME static uint64_t elapsed(void) {
  uint64_t time = thread_table.start == 0 ? 0 : now();
  return time == 0 ? thread_table.waited : time - thread_table.start;
}

CRASH_TIME static uint64_t remaining(void) {
  uint64_t time = elapsed();
  return time < thread_table.timeout ? thread_table.timeout - time : 0;
}

CRASH_TIME static void futex_wake(_Atomic uint32_t *word) {
  SYSTEM_CALL_3(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

CRASH_TIME uint64_t own_data_address(void) {
#if defined(__x86_64__)
  const int kGetFS = 0x1003;  // ARCH_GET_FS
  uint64_t address = 0;
  if (SYSTEM_CALL_2(SYS_arch_prctl, kGetFS, &address) < 0) {
    // The first word there is its own address, by the ABI.
    __asm__ volatile("mov %%fs:0, %0" : "=r"(address));
  }
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
    uint16_t index = atomic_load_explicit(&thread_table.index[place], memory_order_acquire);
    if (index == 0) return NULL;
    if (thread_table.threads[index - 1].id == id) return &thread_table.threads[index - 1];
  }
  return NULL;
}

CRASH_TIME static struct thread *add(int id, int listed) {
  if (thread_table.count == kMaximumThreads) {
    thread_table.problem = "there are more than 4096 threads";
    return NULL;
  }
  struct thread *thread = &thread_table.threads[thread_table.count++];
  thread->id = id;
  thread->listed = listed;
  thread->waits_for_child = false;
  thread->data_address = 0;
  zero_bytes(&thread->program_stack, sizeof thread->program_stack);
  thread->name[0] = 0;
  thread->capture = kNotCaptured;
  thread->registers = NULL;
  atomic_store_explicit(&thread->context, NULL, memory_order_relaxed);
  atomic_store_explicit(&thread->state, kAsked, memory_order_relaxed);
  const uint32_t size = 2 * kMaximumThreads;
  uint32_t place = (uint32_t)id % size;
  while (atomic_load_explicit(&thread_table.index[place], memory_order_relaxed) != 0) place = (place + 1) % size;
  atomic_store_explicit(&thread_table.index[place], (uint16_t)thread_table.count, memory_order_release);
  return thread;
}

// Notes the alternate stack that the program gave the calling thread.
CRASH_TIME static void note_stack(struct thread *thread) {
  const struct thread_facts *facts = thread_facts();
  zero_bytes(&thread->program_stack, sizeof thread->program_stack);
  if (facts != NULL) thread->program_stack = facts->stacks[kProgramStack];
}

// Stops the calling thread until threads_resume.
CRASH_TIME static void park_until_resume(struct thread *thread, const ucontext_t *context, uint32_t epoch) {
  // The thread arrived so late that the signal belongs to an earlier dump.
  if (atomic_load(&thread_table.epoch) != epoch) return;
  thread->data_address = own_data_address();
  note_stack(thread);
  // Not from /proc/self/task: each file that was opened there makes the end of the process slower.
  if (SYSTEM_CALL_2(SYS_prctl, PR_GET_NAME, thread->name) < 0) thread->name[0] = 0;
  thread->capture = kCapturedBySignal;
  atomic_store_explicit(&thread->context, context, memory_order_relaxed);
  atomic_store_explicit(&thread->state, kStopped, memory_order_release);
  atomic_fetch_add(&thread_table.stopped, 1);
  futex_wake(&thread_table.stopped);
  while (atomic_load(&thread_table.epoch) == epoch) futex_wait(&thread_table.epoch, epoch, 0);
  // A signal that is to stop the thread meanwhile arrives before its next instruction. The signal must not look blocked
  // to its sender: Swift's backtracer chooses one that is not.
  uint64_t advance = atomic_load(&thread_table.advance);
  if (advance == 0) return;
  change_mask(SIG_SETMASK, (const uint64_t *)&context->uc_sigmask, NULL);
  atomic_fetch_add(&thread_table.released, 1);
  futex_wake(&thread_table.released);
  futex_wait(&thread_table.never_woken, 0, advance);
}

#if defined(CRASH_TEST_LATE_ANSWERS)
// For tests: some threads answer so late that the signal belongs to an earlier dump.
static _Atomic uint32_t answers;
CRASH_TIME static void answer_late(void) {
  uint32_t chance = atomic_fetch_add(&answers, 1) * UINT32_C(2654435761);
  if (chance >> 30 == 0) futex_wait(&thread_table.never_woken, 0, (uint64_t)(chance >> 8) % (9 * kMillisecond) + 1);
}
#else
CRASH_TIME static void answer_late(void) {}
#endif

HANDLER CRASH_TIME static void stop_here(int number, siginfo_t *information, void *context) {
  allow_unaligned();
  (void)number;
  (void)information;
  uint32_t epoch = atomic_load(&thread_table.epoch);
  // A profiler's signal may come when no stop was requested, or before ours.
  struct thread *thread = epoch % 2 == 1 ? find(current_thread()) : NULL;
  answer_late();
  // The thread that crashed goes on to its end, and its own timer's signal may arrive on the way.
  bool is_needed = thread != NULL && thread->capture != kCapturedItself;
  if (is_needed) park_until_resume(thread, context, epoch);
}

CRASH_TIME void threads_wait(const ucontext_t *context) {
  uint32_t epoch = atomic_load(&thread_table.epoch);
  atomic_store(&thread_table.has_late_signal, true);
  atomic_fetch_add(&thread_table.arriving, 1);
  // If another handler called ours, the stop signal is not blocked, and would stop the thread a second time, here.
  uint64_t stop = signal_bit(kStopSignal);
  uint64_t mask = 0;
  change_mask(SIG_BLOCK, &stop, &mask);
  while (epoch % 2 == 1 && atomic_load(&thread_table.epoch) == epoch) {
    struct thread *thread = find(current_thread());
    if (thread != NULL) {
      atomic_fetch_sub(&thread_table.arriving, 1);
      park_until_resume(thread, context, epoch);
      change_mask(SIG_SETMASK, &mask, NULL);
      return;
    }
    futex_wait(&thread_table.epoch, epoch, kMillisecond);
  }
  atomic_fetch_sub(&thread_table.arriving, 1);
  change_mask(SIG_SETMASK, &mask, NULL);
}

// MARK: Finding them

CRASH_TIME static void skip_thread(struct thread *thread) {
  atomic_store(&thread->state, kSkipped);
  thread_table.has_skipped_thread = true;
}

// The thread has ended, but /proc lists it: the first thread of a process whose others went on.
CRASH_TIME static void mark_leader_exited(struct thread *thread) {
  atomic_store(&thread->state, kGone);
  thread_table.has_leader_exited = true;
}

CRASH_TIME static void send_stop(int process, struct thread *thread) {
  long result = SYSTEM_CALL_3(SYS_tgkill, process, thread->id, kStopSignal);
  if (is_refused(result)) result = SYSTEM_CALL_2(SYS_tkill, thread->id, kStopSignal);
  if (result == -ESRCH) {
    atomic_store(&thread->state, kGone);
  } else if (result < 0) {
    thread_table.problem = "signals may not be sent to threads";
    skip_thread(thread);
  }
}

// Sends the stop signal to a thread that is not known yet. Returns whether it is a new thread that lives. directory: a
// descriptor of /proc/self/task, negative if it can't be opened. listed: the thread's number there.
CRASH_TIME static bool request_stop(int process, int directory, int id, int listed) {
  if (find(id) != NULL) return false;
  struct thread *thread = add(id, listed);
  if (thread == NULL) return false;
  switch (proc_attention(directory, listed, kStopSignal)) {
    case kListens:
      break;
    case kAwaitsSignal:
      skip_thread(thread);
      return true;
    case kHasEnded:
      mark_leader_exited(thread);
      return false;
  }
  bool is_running;
  bool has_descriptor = atomic_load_explicit(&crash_state.described_signals, memory_order_relaxed) & signal_bit(kStopSignal);
  if (thread_table.is_deaf || (has_descriptor && proc_blocks_signal(listed, kStopSignal, &is_running))) {
    skip_thread(thread);
    return true;
  }
  send_stop(process, thread);
  return atomic_load(&thread->state) != kGone;
}

// The number of a listed thread for system calls; 0 if it has none.
CRASH_TIME static int own_number(int listed) { return thread_table.is_foreign ? proc_own_number(listed) : listed; }

CRASH_TIME static long open_tasks(void) {
  return open_at(AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

// Asks all threads in the directory to stop. Returns the number of new ones, or an errno value below zero.
CRASH_TIME static int stop_listed(int process) {
  long directory = open_tasks();
  if (directory < 0) return (int)directory;
  int found = 0;
  bool has_caller = thread_table.is_foreign;
  long size;
  while ((size = SYSTEM_CALL_3(SYS_getdents64, directory, thread_table.listing, sizeof thread_table.listing)) > 0) {
    for (long offset = 0; offset < size;) {
      const struct dirent64 *entry = (const struct dirent64 *)(thread_table.listing + offset);
      offset += entry->d_reclen;
      int listed = (int)parse_number(entry->d_name);
      int id = listed > 0 ? own_number(listed) : 0;
      has_caller |= listed == thread_table.threads[0].id;
      if (id > 0 && request_stop(process, (int)directory, id, listed)) found++;
    }
  }
  SYSTEM_CALL_1(SYS_close, directory);
  if (size < 0) return (int)size;
  // The numbers differ from ours, although no link in /proc showed that.
  return has_caller ? found : -ESRCH;
}

// Without a list: thread ids follow the process id, so the next numbers are tried.
CRASH_TIME static int stop_guessed(int process) {
  const int kReach = 65536;
  long directory = thread_table.is_foreign ? -1 : open_tasks();
  int found = 0;
  bool can_signal = !is_refused(SYSTEM_CALL_3(SYS_tgkill, process, thread_table.threads[0].id, 0));
  for (int id = process; can_signal && id < process + kReach; id++) {
    int listed = directory < 0 ? -1 : id;
    if (SYSTEM_CALL_3(SYS_tgkill, process, id, 0) == 0 && request_stop(process, (int)directory, id, listed)) found++;
  }
  thread_table.problem = directory < 0 ? "there is no /proc, so threads were looked for among the next 65536 ids"
                              : "threads can't be listed, so they were looked for among the next 65536 ids";
  if (!can_signal) thread_table.problem = "threads can neither be listed nor asked for";
  if (directory >= 0) SYSTEM_CALL_1(SYS_close, directory);
  return found;
}

// MARK: Waiting for them

CRASH_TIME static int unfinished(void) {
  int count = 0;
  for (int index = 0; index < thread_table.count; index++) {
    if (atomic_load_explicit(&thread_table.threads[index].state, memory_order_acquire) == kAsked) count++;
  }
  return count;
}

// Whether the threads that have not answered never will: they block the signal, or wait for a child that shares their
// memory.
CRASH_TIME static bool all_block(bool is_late) {
  if (atomic_load(&thread_table.arriving) > 0) return false;
  for (int index = 0; index < thread_table.count; index++) {
    struct thread *thread = &thread_table.threads[index];
    if (atomic_load(&thread->state) != kAsked) continue;
    bool is_running = false;
    bool blocks = proc_blocks_signal(thread->listed, kStopSignal, &is_running);
    if (!blocks && is_late && proc_waits_for_child(thread->listed)) {
      thread->waits_for_child = true;
      continue;
    }
    if (!blocks || (is_running && !is_late)) return false;
  }
  return true;
}

// Marks the threads that have ended.
CRASH_TIME static void look_for_ends(int process) {
  for (int index = 0; index < thread_table.count; index++) {
    struct thread *thread = &thread_table.threads[index];
    if (atomic_load(&thread->state) == kAsked && SYSTEM_CALL_3(SYS_tgkill, process, thread->id, 0) == -ESRCH) {
      atomic_store(&thread->state, kGone);
    }
  }
}

// Waits until all asked threads have stopped, or the time is over. Soon after the start it checks why some have not.
CRASH_TIME static void wait_for_all(int process) {
  // The others stand still meanwhile, so this is no longer than a thread takes to get the signal.
  const uint64_t kSoon = 2 * kMillisecond;
  const uint64_t kLate = 20 * kMillisecond;
  while (true) {
    uint32_t stopped = atomic_load(&thread_table.stopped);
    if (unfinished() == 0) return;
    uint64_t time = elapsed();
    uint64_t rest_time = remaining();
    if (rest_time == 0 || (time >= kSoon && all_block(time >= kLate))) return;
    uint64_t step = time < kSoon ? kMillisecond : 5 * kMillisecond;
    if (step > rest_time) step = rest_time;
    futex_wait(&thread_table.stopped, stopped, step);
    if (atomic_load(&thread_table.stopped) != stopped) continue;
    thread_table.waited += step;
    look_for_ends(process);
  }
}

CRASH_TIME void threads_stop(int self, const ucontext_t *context, uint32_t timeout, bool with_ptrace) {
  int process = current_process();
  int listed = listed_thread();
  thread_table.count = 0;
  thread_table.problem = "";
  thread_table.has_skipped_thread = false;
  thread_table.has_leader_exited = false;
  thread_table.is_deaf = false;
  thread_table.is_foreign = listed > 0 && listed != self;
  for (uint32_t place = 0; place < 2 * kMaximumThreads; place++) {
    _Atomic uint16_t *entry = &thread_table.index[place];
    if (atomic_load_explicit(entry, memory_order_relaxed) != 0) atomic_store(entry, 0);
  }
  atomic_store(&thread_table.stopped, 0);
  // The thread that crashed comes first.
  struct thread *own = add(self, listed > 0 ? listed : self);
  own->data_address = own_data_address();
  note_stack(own);
  own->capture = kCapturedItself;
  atomic_store(&own->context, context);
  atomic_store(&own->state, kStopped);

  atomic_store(&thread_table.has_late_signal, thread_table.is_installed);
  if (!thread_table.is_installed) {
    // Fault signals stay unblocked: a trapped system call raises one.
    struct signal_action action = make_action(stop_here, mask_without_faults(), SA_RESTART);
    thread_table.is_installed = set_action(kStopSignal, &action, &thread_table.earlier) == 0;
    // Its own action might end the process.
    thread_table.is_deaf = !thread_table.is_installed;
    if (thread_table.is_deaf)
      thread_table.problem = "threads could not be stopped, as the action of a signal can't be set";
  }
  atomic_fetch_add(&thread_table.epoch, 1);

  thread_table.start = now();
  thread_table.waited = 0;
  thread_table.timeout = (uint64_t)timeout * kMillisecond;
  // A thread that is about to stop may have started another one.
  const int kRounds = 16;
  for (int round = 0; round < kRounds; round++) {
    int found = stop_listed(process);
    if (found < 0) found = stop_guessed(process);
    if (found == 0) break;
    wait_for_all(process);
  }
  if (unfinished() == 0 && !thread_table.has_skipped_thread) return;
  // The helper's time is part of the timeout, except the little that it needs at least.
  const uint64_t kLeast = 50 * kMillisecond;
  uint64_t rest_time = remaining();
  capture_unstopped(with_ptrace, (rest_time < kLeast ? kLeast : rest_time) / kMillisecond);
}

// Whether a stop signal is pending for any thread. A stopped thread blocks it, so it can't arrive in between.
CRASH_TIME static bool is_on_its_way(void) {
  if (unfinished() > 0) return true;
  if (!atomic_load(&thread_table.has_late_signal)) return false;
  for (int index = 0; index < thread_table.count; index++) {
    struct thread *thread = &thread_table.threads[index];
    if (atomic_load(&thread->state) != kGone && proc_may_have_pending(thread->listed, kStopSignal)) return true;
  }
  return false;
}

CRASH_TIME void threads_resume(uint64_t advance) {
  // No thread was stopped, because there was no file to write to.
  if (atomic_load(&thread_table.epoch) % 2 == 0) return;
  release_traced();
  // A signal that is still pending must not meet the default action, which ends the process.
  if (thread_table.is_installed && !is_on_its_way()) {
    set_action(kStopSignal, &thread_table.earlier, NULL);
    thread_table.is_installed = false;
  }
  atomic_store(&thread_table.advance, advance * kMillisecond);
  atomic_store(&thread_table.released, 0);
  uint32_t count = atomic_load(&thread_table.stopped);
  atomic_fetch_add(&thread_table.epoch, 1);
  futex_wake(&thread_table.epoch);
  // Waits until all can be stopped again, but not for a thread that gets no processor.
  const int kTries = 20;
  for (int tries = 0; advance > 0 && tries < kTries; tries++) {
    uint32_t released = atomic_load(&thread_table.released);
    if (released >= count) break;
    futex_wait(&thread_table.released, released, kMillisecond);
  }
}

CRASH_TIME void threads_forget(void) {
  // For nearly every child, the parent was not in the middle of a dump. Then nothing is written here, and the kernel
  // copies no page.
  if (thread_table.is_installed) {
    struct signal_action current = make_action(NULL, 0, 0);
    // Pending signals are not inherited, so none can meet the earlier action. The copied state may be older or newer
    // than the child's handlers.
    if (set_action(kStopSignal, NULL, &current) == 0 && current.handler == stop_here) {
      set_action(kStopSignal, &thread_table.earlier, NULL);
    }
    thread_table.is_installed = false;
  }
  if (thread_table.count != 0) thread_table.count = 0;
  if (atomic_load(&thread_table.has_late_signal)) atomic_store(&thread_table.has_late_signal, false);
  if (atomic_load(&thread_table.arriving) != 0) atomic_store(&thread_table.arriving, 0);
  if (atomic_load(&thread_table.epoch) % 2 == 1) atomic_fetch_add(&thread_table.epoch, 1);
}

CRASH_TIME int threads_known(void) {
  int count = thread_table.has_leader_exited ? 1 : 0;
  for (int index = 0; index < thread_table.count; index++) {
    if (atomic_load(&thread_table.threads[index].state) != kGone) count++;
  }
  return count;
}
CRASH_TIME bool threads_lost_leader(void) { return thread_table.has_leader_exited; }

CRASH_TIME int threads_count(void) { return thread_table.count; }
CRASH_TIME struct thread *threads_at(int index) { return &thread_table.threads[index]; }
CRASH_TIME const char *threads_problem(void) { return thread_table.problem == NULL ? "" : thread_table.problem; }
