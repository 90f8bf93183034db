// SPDX-License-Identifier: Apache-2.0
// Small functions of libc, for the preloaded library alone. The loader searches for each function of another library
// when a program starts, and each page of libc that the start touches is one more to map: with the variables of
// a start in as few pages, these took two fifths of the time that the handler added to posix_spawn(3).
#if defined(CRASH_HANDLER_LIBRARY)
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../crash/crash_time.h"
#include "install.h"

// MARK: Memory and text

// Otherwise the compiler may turn the body of a function into a call of the same one.
#if defined(__clang__)
#define AS_WRITTEN __attribute__((no_builtin))
#else
#define AS_WRITTEN __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

AS_WRITTEN void *memcpy(void *to, const void *from, size_t count) {
  copy_bytes(to, from, count);
  return to;
}

AS_WRITTEN void *memset(void *to, int byte, size_t count) {
  uint8_t *target = to;
  if (byte == 0) {
    zero_bytes(to, count);
    return to;
  }
  for (size_t index = 0; index < count; index++) target[index] = (uint8_t)byte;
  return to;
}

AS_WRITTEN size_t strlen(const char *text) { return text_length(text, SIZE_MAX); }

AS_WRITTEN int strncmp(const char *one, const char *other, size_t count) {
  size_t index = 0;
  while (index < count && one[index] == other[index] && one[index] != 0) index++;
  return index == count ? 0 : (uint8_t)one[index] - (uint8_t)other[index];
}

AS_WRITTEN int strcmp(const char *one, const char *other) { return strncmp(one, other, SIZE_MAX); }

AS_WRITTEN char *strchr(const char *text, int character) {
  for (;; text++) {
    if (*text == (char)character) return (char *)text;
    if (*text == 0) return NULL;
  }
}

AS_WRITTEN void *memchr(const void *bytes, int byte, size_t count) {
  const uint8_t *place = bytes;
  for (; count > 0; count--, place++) {
    if (*place == (uint8_t)byte) return (void *)place;
  }
  return NULL;
}

AS_WRITTEN char *strrchr(const char *text, int character) {
  const char *found = NULL;
  for (;; text++) {
    if (*text == (char)character) found = text;
    if (*text == 0) return (char *)found;
  }
}

AS_WRITTEN char *strstr(const char *text, const char *part) {
  for (;; text++) {
    if (begins_with(text, part)) return (char *)text;
    if (*text == 0) return NULL;
  }
}

AS_WRITTEN size_t strcspn(const char *text, const char *ends) {
  size_t length = 0;
  while (text[length] != 0 && strchr(ends, text[length]) == NULL) length++;
  return length;
}

AS_WRITTEN char *strcpy(char *to, const char *from) { return memcpy(to, from, strlen(from) + 1); }

AS_WRITTEN char *strcat(char *to, const char *from) {
  strcpy(to + strlen(to), from);
  return to;
}

AS_WRITTEN char *strncat(char *to, const char *from, size_t count) {
  size_t length = text_length(from, count);
  char *end = to + strlen(to);
  memcpy(end, from, length);
  end[length] = 0;
  return to;
}

// rest: what follows the word that was returned.
AS_WRITTEN char *strtok_r(char *text, const char *ends, char **rest) {
  if (text == NULL) text = *rest;
  while (*text != 0 && strchr(ends, *text) != NULL) text++;
  char *end = text + strcspn(text, ends);
  *rest = *end == 0 ? end : end + 1;
  if (text == end) return NULL;
  *end = 0;
  return text;
}

// MARK: System calls

pid_t getpid(void) { return current_process(); }
pid_t getppid(void) { return (pid_t)SYSTEM_CALL_1(SYS_getppid, 0); }
uid_t geteuid(void) { return (uid_t)SYSTEM_CALL_1(SYS_geteuid, 0); }
int access(const char *path, int rights) {
  return (int)finish_call(SYSTEM_CALL_3(SYS_faccessat, AT_FDCWD, path, rights));
}
int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = flags & O_CREAT ? va_arg(list, int) : 0;
  va_end(list);
  return (int)finish_call(SYSTEM_CALL_4(SYS_openat, AT_FDCWD, path, flags, mode));
}
int close(int file) { return (int)finish_call(SYSTEM_CALL_1(SYS_close, file)); }
int mkdir(const char *path, mode_t mode) { return (int)finish_call(SYSTEM_CALL_3(SYS_mkdirat, AT_FDCWD, path, mode)); }
int unlink(const char *path) { return (int)finish_call(SYSTEM_CALL_3(SYS_unlinkat, AT_FDCWD, path, 0)); }
int link(const char *path, const char *other) {
  return (int)finish_call(SYSTEM_CALL_6(SYS_linkat, AT_FDCWD, path, AT_FDCWD, other, 0, 0));
}
int fallocate(int file, int mode, off_t start, off_t size) {
  return (int)finish_call(SYSTEM_CALL_4(SYS_fallocate, file, mode, start, size));
}
int unlinkat(int directory, const char *path, int flags) {
  return (int)finish_call(SYSTEM_CALL_3(SYS_unlinkat, directory, path, flags));
}
ssize_t write(int file, const void *bytes, size_t count) {
  return finish_call(SYSTEM_CALL_3(SYS_write, file, bytes, count));
}
ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  return finish_call(SYSTEM_CALL_4(SYS_pread64, file, bytes, count, offset));
}
int madvise(void *memory, size_t size, int advice) {
  return (int)finish_call(SYSTEM_CALL_3(SYS_madvise, memory, size, advice));
}
int mprotect(void *memory, size_t size, int rights) {
  return (int)finish_call(SYSTEM_CALL_3(SYS_mprotect, memory, size, rights));
}
int munmap(void *memory, size_t size) { return (int)finish_call(SYSTEM_CALL_2(SYS_munmap, memory, size)); }
void *mmap(void *memory, size_t size, int rights, int flags, int file, off_t offset) {
  return (void *)finish_call(SYSTEM_CALL_6(SYS_mmap, memory, size, rights, flags, file, offset));
}
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
  return (int)finish_call(SYSTEM_CALL_4(SYS_prlimit64, 0, resource, NULL, limit));
}
int usleep(useconds_t microseconds) {
  struct timespec time = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
  return (int)finish_call(SYSTEM_CALL_2(SYS_nanosleep, &time, NULL));
}

#endif
