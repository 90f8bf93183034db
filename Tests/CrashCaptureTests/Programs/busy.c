// SPDX-License-Identifier: Apache-2.0
// A program that crashes at a random moment while its threads do what programs do: busy SEED
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 6 };

static volatile pid_t threads[kThreads];
static volatile int ready;

static unsigned random_number(unsigned *state) { return rand_r(state) >> 8; }

static void allocate(unsigned *state) {
  void *pieces[32];
  for (int index = 0; index < 32; index++) {
    size_t size = random_number(state) % 20000;
    pieces[index] = malloc(size);
    if (pieces[index] != NULL) memset(pieces[index], index, size);
  }
  for (int index = 0; index < 32; index++) free(pieces[index]);
}

static void *end(void *argument) {
  free(malloc(1000));
  return argument;
}

static void start_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, end, NULL) == 0) pthread_join(thread, NULL);
}

static void start_child(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, NULL, 0);
}

static void change_masks(void) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  getppid();
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void jump(void) {
  sigjmp_buf place;
  if (sigsetjmp(place, 1) == 0) siglongjmp(place, 1);
}

static int count_module(struct dl_phdr_info *info, size_t size, void *count) {
  (void)info;
  (void)size;
  ++*(int *)count;
  return 0;
}

static void ask_loader(void) {
  int count = 0;
  dl_iterate_phdr(count_module, &count);
  void *library = dlopen("libm.so.6", RTLD_NOW);
  if (library != NULL) dlclose(library);
}

static void map(void) {
  void *memory = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) munmap(memory, 1 << 16);
}

static void print(void) {
  char text[200];
  FILE *file = fopen("/dev/null", "w");
  if (file == NULL) return;
  snprintf(text, sizeof text, "%f %s", 3.5, "text");
  fprintf(file, "%s\n", text);
  fclose(file);
}

static void on_signal(int number) {
  (void)number;
  getpid();
}

static void *work(void *argument) {
  unsigned state = (unsigned)(size_t)argument;
  threads[state % kThreads] = (pid_t)syscall(SYS_gettid);
  __sync_fetch_and_add(&ready, 1);
  for (;;) {
    switch (random_number(&state) % 9) {
      case 0: start_thread(); break;
      case 1: start_child(); break;
      case 2: change_masks(); break;
      case 3: jump(); break;
      case 4: ask_loader(); break;
      case 5: map(); break;
      case 6: print(); break;
      case 7: raise(SIGUSR1); break;
      default: allocate(&state); break;
    }
  }
}

static void overflow(volatile char *below) {
  volatile char room[4096];
  room[0] = below == NULL ? 0 : below[0];
  overflow(room);
}

// By itself, from outside as far as the thread can tell, or with a heap that says so.
static void crash(unsigned *state) {
  pid_t thread = threads[random_number(state) % kThreads];
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  switch (random_number(state) % 5) {
    case 0: *(volatile int *)8 = 1; break;
    case 1: abort();
    case 2: overflow(NULL); break;
    default: syscall(SYS_tgkill, getpid(), thread, signals[random_number(state) % 5]);
  }
  for (;;) pause();
}

int main(int count, char **arguments) {
  unsigned state = count > 1 ? (unsigned)atoi(arguments[1]) : 0;
  signal(SIGUSR1, on_signal);
  for (size_t number = 0; number < kThreads; number++) {
    pthread_t thread;
    size_t seed = (size_t)(random_number(&state) / kThreads * kThreads) + number;
    if (pthread_create(&thread, NULL, work, (void *)seed) != 0) return 1;
  }
  while (ready < kThreads) usleep(100);
  struct timespec time = {0, (long)(random_number(&state) % 15000) * 1000};
  nanosleep(&time, NULL);
  crash(&state);
}
