// SPDX-License-Identifier: Apache-2.0
// Threads that do what threads do, each checking its results, while dumps are taken of them:
//   unharmed DATABASE SECONDS DUMPS-PER-SECOND (0: one after the other)
// Says on standard output what was done; ends with 1, and says why on standard error, when anything went wrong.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CCrashCapture.h"

static atomic_bool ends;
static atomic_int failures;

// Whether a thread goes on that did something so often: once at least, though the machine may have no time for it
// before the end.
static bool goes_on(long done) { return done == 0 || !atomic_load(&ends); }

static void fail(const char *what, long one, long other) {
  if (atomic_fetch_add(&failures, 1) < 20) fprintf(stderr, "unharmed: %s: %ld, %ld\n", what, one, other);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// Calls that POSIX allows to be interrupted, and how often they were.
static atomic_long interrupted;

static void nap(long microseconds) {
  struct timespec rest = {microseconds / 1000000, microseconds % 1000000 * 1000};
  while (nanosleep(&rest, &rest) != 0) {
    if (errno != EINTR) fail("nanosleep", errno, 0);
    atomic_fetch_add(&interrupted, 1);
  }
}

// MARK: Locks and conditions

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turns;  // behind the mutex; whose it is says its last bit

// Two threads take turns. A wakeup that is lost stops both, and the watchdog tells.
static void *take_turns(void *argument) {
  long own = (long)argument;
  long taken = 0;
  pthread_mutex_lock(&mutex);
  while (goes_on(taken)) {
    while (turns % 2 != own && goes_on(taken)) {
      int result = pthread_cond_wait(&changed, &mutex);
      if (result != 0) fail("pthread_cond_wait", result, 0);
    }
    if (turns % 2 == own) {
      turns++;
      taken++;
    }
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
  return (void *)taken;
}

static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *count(void *argument) {
  (void)argument;
  long counted = 0;
  while (goes_on(counted)) {
    pthread_mutex_lock(&counter_lock);
    counter++;
    pthread_mutex_unlock(&counter_lock);
    counted++;
  }
  return (void *)counted;
}

static void *wait_for_time(void *argument) {
  (void)argument;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  long waited = 0;
  pthread_mutex_lock(&lock);
  while (goes_on(waited)) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 2000000;
    if (time.tv_nsec >= 1000000000) {
      time.tv_nsec -= 1000000000;
      time.tv_sec++;
    }
    int result = pthread_cond_timedwait(&never, &lock, &time);
    if (result != ETIMEDOUT && result != 0) fail("pthread_cond_timedwait", result, 0);
    waited++;
  }
  pthread_mutex_unlock(&lock);
  return (void *)waited;
}

// MARK: Memory and registers

static void *allocate(void *argument) {
  unsigned random = (unsigned)(long)argument;
  long rounds = 0;
  enum { kBlocks = 64 };
  unsigned char *blocks[kBlocks] = {0};
  size_t sizes[kBlocks] = {0};
  while (goes_on(rounds)) {
    random = random * 1664525 + 1013904223;
    unsigned index = random >> 8 & (kBlocks - 1);
    unsigned char expected = (unsigned char)index;
    for (size_t place = 0; place < sizes[index]; place += 61) {
      if (blocks[index][place] != expected) fail("a block of memory", blocks[index][place], expected);
    }
    size_t size = 1 + (random >> 16) % 5000;
    unsigned char *block = rounds % 3 == 0 ? malloc(size) : realloc(blocks[index], size);
    if (rounds % 3 == 0) free(blocks[index]);
    if (block == NULL) abort();
    memset(block, expected, size);
    blocks[index] = block;
    sizes[index] = size;
    rounds++;
  }
  for (int index = 0; index < kBlocks; index++) free(blocks[index]);
  return (void *)rounds;
}

// Always the same sum, of values that live in vector registers.
static double compute(void) {
  double sums[8] = {0};
  for (int step = 1; step < 4000; step++) {
    for (int lane = 0; lane < 8; lane++) sums[lane] = sums[lane] * 0.999 + 1.0 / (step + lane);
  }
  double total = 0;
  for (int lane = 0; lane < 8; lane++) total += sums[lane];
  return total;
}

static void *calculate(void *argument) {
  (void)argument;
  const double expected = compute();
  long rounds = 0;
  for (; goes_on(rounds); rounds++) {
    if (compute() != expected) fail("a sum", rounds, 0);
  }
  return (void *)rounds;
}

// MARK: Input and output

static int channel[2];
static int sockets[2];

// Blocking calls that are restarted: none may say that it was interrupted.
static void *send_numbers(void *argument) {
  int descriptor = *(int *)argument;
  long number = 0;
  while (goes_on(number)) {
    long result = write(descriptor, &number, sizeof number);
    if (result != sizeof number) {
      fail("write", result, errno);
      break;
    }
    number++;
  }
  const long end = -1;
  if (write(descriptor, &end, sizeof end) != sizeof end) fail("the last write", errno, 0);
  return (void *)number;
}

static void *receive_numbers(void *argument) {
  int descriptor = *(int *)argument;
  for (long expected = 0;; expected++) {
    long number = 0;
    size_t done = 0;
    while (done < sizeof number) {
      long result = read(descriptor, (char *)&number + done, sizeof number - done);
      if (result <= 0) {
        fail("read", result, errno);
        return (void *)expected;
      }
      done += (size_t)result;
    }
    if (number == -1) return (void *)expected;
    if (number != expected) fail("a number", number, expected);
  }
}

static void *poll_nothing(void *argument) {
  (void)argument;
  long rounds = 0;
  for (; goes_on(rounds); rounds++) {
    int result = poll(NULL, 0, 3);
    if (result < 0 && errno != EINTR) fail("poll", errno, 0);
    if (result < 0) atomic_fetch_add(&interrupted, 1);
  }
  return (void *)rounds;
}

// MARK: Time

// All ticks are seen, however long the thread stood still in between.
static void *tick(void *argument) {
  (void)argument;
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  struct itimerspec period = {{0, 1000000}, {0, 1000000}};
  uint64_t start = now();
  timerfd_settime(timer, 0, &period, NULL);
  uint64_t ticks = 0;
  uint64_t before = start;
  while (goes_on((long)ticks)) {
    uint64_t more;
    before = now();
    if (read(timer, &more, sizeof more) != sizeof more) {
      fail("read of a timer", errno, 0);
      break;
    }
    ticks += more;
  }
  uint64_t least = (before - start) / 1000000;
  uint64_t most = (now() - start) / 1000000;
  if (ticks > most || ticks + 1 < least) fail("ticks", (long)ticks, (long)least);
  close(timer);
  return (void *)ticks;
}

static _Atomic uint64_t largest_gap;

// How long it stood still at most.
static void *watch_clock(void *argument) {
  (void)argument;
  long rounds = 0;
  uint64_t last = now();
  for (; goes_on(rounds); rounds++) {
    uint64_t time = now();
    if (time < last) fail("the clock", (long)time, (long)last);
    if (time - last > atomic_load(&largest_gap)) atomic_store(&largest_gap, time - last);
    last = time;
  }
  return (void *)rounds;
}

// MARK: Signals, threads and processes

static sem_t caught;
static void catch_signal(int number) {
  (void)number;
  sem_post(&caught);
}

// The sender says when no more signals will come: one that is on its way at the end is awaited by the sender.
static atomic_bool last_was_sent;

static void *stand(void *argument) {
  sigset_t only;
  sigfillset(&only);
  sigdelset(&only, SIGUSR1);
  while (!atomic_load(&last_was_sent)) sigsuspend(&only);
  return argument;
}

// Each signal that is sent is caught, once.
static void *send_signals(void *argument) {
  pthread_t target = *(pthread_t *)argument;
  long sent = 0;
  for (; goes_on(sent); sent++) {
    if (pthread_kill(target, SIGUSR1) != 0) fail("pthread_kill", sent, 0);
    // Restarted: SA_RESTART.
    while (sem_wait(&caught) != 0) {
      if (errno != EINTR) fail("sem_wait", errno, sent);
      atomic_fetch_add(&interrupted, 1);
    }
  }
  atomic_store(&last_was_sent, true);
  pthread_kill(target, SIGUSR1);
  return (void *)sent;
}

static void *pass(void *argument) { return (void *)((long)argument + 1); }

static void *make_threads(void *argument) {
  (void)argument;
  long made = 0;
  for (; goes_on(made); made++) {
    pthread_t thread;
    void *result = NULL;
    int error = pthread_create(&thread, NULL, pass, (void *)made);
    if (error != 0) {
      fail("pthread_create", error, 0);
      break;
    }
    error = pthread_join(thread, &result);
    if (error != 0 || (long)result != made + 1) fail("pthread_join", error, (long)result);
  }
  return (void *)made;
}

static void *make_processes(void *argument) {
  (void)argument;
  long made = 0;
  char name[] = "true";
  char *arguments[] = {name, NULL};
  char *environment[] = {NULL};
  for (; goes_on(made); made++) {
    pid_t child;
    int status = 0;
    int error = posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environment);
    if (error != 0) {
      fail("posix_spawn", error, 0);
      break;
    }
    if (waitpid(child, &status, 0) != child) fail("waitpid", errno, 0);
    if (status != 0) fail("the status of a child", status, 0);
    nap(20000);
  }
  return (void *)made;
}

// MARK: All

static struct {
  const char *name;
  void *(*run)(void *);
  void *argument;
  pthread_t thread;
} threads[] = {
    {"turns", take_turns, (void *)0, 0},
    {"turns", take_turns, (void *)1, 0},
    {"counts", count, NULL, 0},
    {"counts", count, NULL, 0},
    {"timed waits", wait_for_time, NULL, 0},
    {"allocations", allocate, (void *)1, 0},
    {"allocations", allocate, (void *)2, 0},
    {"sums", calculate, NULL, 0},
    {"sent", send_numbers, &channel[1], 0},
    {"received", receive_numbers, &channel[0], 0},
    {"sent", send_numbers, &sockets[1], 0},
    {"received", receive_numbers, &sockets[0], 0},
    {"polls", poll_nothing, NULL, 0},
    {"ticks", tick, NULL, 0},
    {"looks at the clock", watch_clock, NULL, 0},
    {"threads", make_threads, NULL, 0},
    {"processes", make_processes, NULL, 0},
};
enum { kThreads = sizeof threads / sizeof *threads };

// No waits last forever if a thread sleeps on.
static void time_out(int number) {
  (void)number;
  static const char text[] = "unharmed: a thread does not end: a wakeup was lost\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(3);
  _exit(2);
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  double seconds = atof(argv[2]);
  double rate = atof(argv[3]);
  char message[512];
  struct crash_capture_options options = {.database = argv[1], .program_id = "unharmed"};
  if (crash_capture_install(&options, message, sizeof message) != 0) {
    fprintf(stderr, "unharmed: %s\n", message);
    return 3;
  }
  if (pipe(channel) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 3;
  struct sigaction action = {.sa_handler = catch_signal, .sa_flags = SA_RESTART};
  sem_init(&caught, 0, 0);
  sigaction(SIGUSR1, &action, NULL);
  action.sa_handler = time_out;
  sigaction(SIGALRM, &action, NULL);
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, NULL);

  pthread_t target, sender;
  pthread_create(&target, NULL, stand, NULL);
  pthread_create(&sender, NULL, send_signals, &target);
  for (int index = 0; index < kThreads; index++) {
    if (pthread_create(&threads[index].thread, NULL, threads[index].run, threads[index].argument) != 0) return 3;
  }
  uint64_t start = now();
  uint64_t end = start + (uint64_t)(seconds * 1e9);
  long dumps = 0;
  uint64_t longest = 0;
  while (now() < end) {
    char path[4096];
    uint64_t began = now();
    int error = crash_capture_dump(NULL, path, sizeof path);
    if (error != 0) fail("crash_capture_dump", error, dumps);
    if (now() - began > longest) longest = now() - began;
    dumps++;
    if (rate > 0) nap((long)(1e6 / rate));
    // The last one stays, to be looked at.
    if (error == 0 && now() < end) unlink(path);
  }
  atomic_store(&ends, true);
  alarm(60);
  pthread_mutex_lock(&mutex);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  void *result;
  pthread_join(sender, &result);
  pthread_join(target, NULL);
  printf("signals %ld\n", (long)result);
  long counts[kThreads];
  for (int index = 0; index < kThreads; index++) {
    pthread_join(threads[index].thread, &result);
    counts[index] = (long)result;
    printf("%s %ld\n", threads[index].name, counts[index]);
    if (counts[index] == 0) fail(threads[index].name, 0, index);
  }
  if (counts[0] + counts[1] != turns) fail("turns", counts[0] + counts[1], turns);
  if (counts[2] + counts[3] != counter) fail("counts", counts[2] + counts[3], counter);
  if (counts[8] != counts[9] || counts[10] != counts[11]) fail("numbers", counts[8], counts[9]);
  printf("interrupted %ld\n", atomic_load(&interrupted));
  printf("largest gap %.3f ms, longest dump %.3f ms\n", (double)atomic_load(&largest_gap) / 1e6, (double)longest / 1e6);
  printf("dumps %ld\n", dumps);
  return atomic_load(&failures) == 0 ? 0 : 1;
}
