// SPDX-License-Identifier: Apache-2.0
// See Poison.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "Poison.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);

static __thread char kind;
static __thread int allocations;

// The thread has begun to look at the dump by then: the first request of a process takes some 350 before. The names of the
// members are not all read.
#define BEGUN 3000

static void rest(void) {
  struct timespec time = {0, 1000000};
  nanosleep(&time, NULL);
}

static void act(char what) {
  if (what == 'c') *(volatile int *)8 = 0;
  while (what == 'h') rest();
  // 128 MB at once, then up to 4 GB in seconds: a limit is to come before the end of the machine's memory.
  for (int block = 0; what == 'm' && block < 4096; block++) {
    void *memory = __libc_malloc(1 << 20);
    if (memory) memset(memory, 1, 1 << 20);
    if (block >= 128) rest();
  }
}

void *malloc(size_t size) {
  if (kind && ++allocations == BEGUN) {
    char what = kind;
    kind = 0;
    act(what);
  }
  return __libc_malloc(size);
}

static pid_t first;

__attribute__((constructor)) static void begin(void) { first = getpid(); }

// A file with such a name acts when a copy of the process opens it.
static void act_for(const char *path) {
  if (getpid() == first) return;
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  if (strncmp(name, "POISON-", 7) == 0) act(name[7]);
}

int open(const char *path, int flags, ...) {
  act_for(path);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char *path, int flags, ...) {
  act_for(path);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

ssize_t read(int descriptor, void *buffer, size_t size) {
  ssize_t count = syscall(SYS_read, descriptor, buffer, size);
  const char *bytes = buffer;
  // Behind the header of the first member is its name.
  if (descriptor == 0 && count > 48 && memcmp(bytes, "PK\3\4", 4) == 0 && memcmp(bytes + 30, "POISON-", 7) == 0) {
    kind = bytes[37];
    allocations = 0;
  }
  return count;
}
