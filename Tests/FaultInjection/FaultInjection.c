// SPDX-License-Identifier: Apache-2.0
// See FaultInjection.h. Everything is asked of the kernel directly, so that no call here comes back to this file.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "FaultInjection.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PATHS (2 * PATH_MAX)

static const char *root, *calls, *pause_file, *disk;
static size_t root_length;
static long kill_before, kill_after, kill_within, pause_before, signal_before, first, step, count;
static int error_number, signal_number, is_short, skips_sync, log_descriptor = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void sync_all(void);
static void sync_from_root(const char *place, int with_data);
static long number(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

__attribute__((constructor)) static void start(void) {
  root = getenv("FAULT_ROOT");
  if (!root || !*root) {
    root = NULL;
    return;
  }
  root_length = strlen(root);
  calls = getenv("FAULT_CALLS");
  pause_file = getenv("FAULT_PAUSE_FILE");
  kill_before = number("FAULT_KILL_BEFORE");
  kill_after = number("FAULT_KILL_AFTER");
  kill_within = number("FAULT_KILL_WITHIN");
  pause_before = number("FAULT_PAUSE_BEFORE");
  signal_before = number("FAULT_SIGNAL_BEFORE");
  signal_number = (int)number("FAULT_SIGNAL");
  error_number = (int)number("FAULT_ERRNO");
  first = number("FAULT_FIRST");
  step = number("FAULT_STEP");
  is_short = number("FAULT_SHORT") != 0;
  skips_sync = number("FAULT_SKIP_SYNC") != 0;
  disk = getenv("FAULT_DISK");
  if (disk) {
    syscall(SYS_mkdirat, AT_FDCWD, disk, 0755);
    sync_all();
  }
  const char *log = getenv("FAULT_LOG");
  if (log) {
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    // Away from the numbers that the program may close and expect back.
    if (descriptor >= 0) {
      log_descriptor = (int)syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, 900);
      syscall(SYS_close, descriptor);
    }
  }
}

// What getrusage() says has the parent's memory in it when the process was started by vfork().
__attribute__((destructor)) static void write_memory(void) {
  if (root && disk) sync_from_root("all", 0);
  const char *file = getenv("FAULT_MEMORY");
  if (!file) return;
  char text[8192];
  long source = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
  long size = source < 0 ? 0 : syscall(SYS_read, source, text, sizeof text - 1);
  text[size < 0 ? 0 : size] = 0;
  const char *line = strstr(text, "VmHWM:");
  if (!line) return;
  size = (long)strcspn(line + 6, "k");
  long target = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (target >= 0) syscall(SYS_write, target, line + 6, (size_t)size);
}

// MARK: What a call is done to

static void path_of_descriptor(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = 0;
}

static void path_of_name(int directory, const char *name, char *path) {
  if (name[0] == '/') {
    snprintf(path, PATHS, "%s", name);
    return;
  }
  char folder[PATH_MAX];
  if (directory == AT_FDCWD) {
    if (syscall(SYS_getcwd, folder, sizeof folder) < 0) folder[0] = 0;
  } else {
    path_of_descriptor(directory, folder);
  }
  snprintf(path, PATHS, "%s/%s", folder, name);
}

// What is behind the root; NULL if the path is not below it, nor the root itself.
static const char *below_root(const char *path) {
  if (strncmp(path, root, root_length) != 0) return NULL;
  if (path[root_length] == 0) return ".";
  return path[root_length] == '/' ? path + root_length + 1 : NULL;
}

static int is_listed(const char *name) {
  if (!calls) return strcmp(name, "fcntl") != 0 && strncmp(name, "look", 4) != 0;
  size_t length = strlen(name);
  for (const char *place = calls; (place = strstr(place, name)); place += length) {
    if ((place == calls || place[-1] == ',') && (place[length] == 0 || place[length] == ',')) return 1;
  }
  return 0;
}

// MARK: What is done to a call

static _Noreturn void die(void) {
  if (disk) sync_from_root("all", 0);
  syscall(SYS_kill, (pid_t)syscall(SYS_getpid), SIGKILL);
  for (;;) syscall(SYS_sched_yield);
}

static void rest(void) {
  struct timespec moment = {0, 1000000};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
}

static void wait_for_others(void) {
  long file = syscall(SYS_openat, AT_FDCWD, pause_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) syscall(SYS_close, file);
  while (file >= 0 && syscall(SYS_faccessat, AT_FDCWD, pause_file, F_OK) == 0) rest();
}

static void write_log(long n, const char *name, const char *path, const char *second, int fails) {
  if (log_descriptor < 0) return;
  char line[2 * PATHS + 64];
  int length = snprintf(line, sizeof line, "%ld %s %s%s%s%s\n", n, name, path, second ? " -> " : "",
                        second ? second : "", fails ? " !" : "");
  syscall(SYS_write, log_descriptor, line, (size_t)length);
}

// Counts a call that is about to be made. Returns its number, 0 if it does not count, -1 if it has to fail.
static long begin(const char *name, const char *first_path, const char *second_path) {
  if (!root || !is_listed(name)) return 0;
  const char *path = below_root(first_path);
  const char *second = second_path ? below_root(second_path) : NULL;
  if (!path && !second) return 0;
  if (!path) path = first_path;
  if (!second) second = second_path;
  pthread_mutex_lock(&mutex);
  long n = ++count;
  int fails = error_number && first && (n == first || (step && n > first && (n - first) % step == 0));
  if (n == kill_before) die();
  if (n == pause_before && pause_file) wait_for_others();
  write_log(n, name, path, second, fails);
  pthread_mutex_unlock(&mutex);
  if (n == signal_before) syscall(SYS_kill, (pid_t)syscall(SYS_getpid), signal_number);
  return fails ? -1 : n;
}

static long end(long n, long result) {
  if (n > 0 && (n == kill_after || n == kill_within)) die();
  return result;
}

static long begin_at(const char *call, int directory, const char *name) {
  if (!root || !is_listed(call)) return 0;
  char path[PATHS];
  path_of_name(directory, name, path);
  return begin(call, path, NULL);
}

static long begin_descriptor(const char *call, int descriptor) {
  if (!root || !is_listed(call)) return 0;
  char path[PATHS];
  path_of_descriptor(descriptor, path);
  return begin(call, path, NULL);
}

static long begin_two(const char *call, int from, const char *name, int to, const char *new_name) {
  if (!root || !is_listed(call)) return 0;
  char path[PATHS], second[PATHS];
  path_of_name(from, name, path);
  path_of_name(to, new_name, second);
  return begin(call, path, second);
}

// Makes a call that was begun.
#define FINISH(n, ...)                             \
  do {                                             \
    if ((n) < 0) {                                 \
      errno = error_number;                        \
      return -1;                                   \
    }                                              \
    return end((n), syscall(__VA_ARGS__));         \
  } while (0)

static size_t shortened(long n, size_t size) {
  return n > 0 && size > 1 && (is_short || n == kill_within) ? size / 2 : size;
}

// MARK: What the disk has

struct entry {
  unsigned long inode;
  long offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

static void name_of(const struct statx *status, char *name, size_t size) {
  snprintf(name, size, "%llu-%lld.%09u", (unsigned long long)status->stx_ino, (long long)status->stx_btime.tv_sec,
           status->stx_btime.tv_nsec);
}

static int make_on_disk(const char *folder, const char *name) {
  char path[PATHS];
  snprintf(path, sizeof path, "%s/%s", disk, folder);
  syscall(SYS_mkdirat, AT_FDCWD, path, 0755);
  snprintf(path, sizeof path, "%s/%s/%s", disk, folder, name);
  return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

static void sync_data(int descriptor, const struct statx *status) {
  char name[64], block[65536];
  name_of(status, name, sizeof name);
  int copy = make_on_disk("data", name);
  if (copy < 0) return;
  long count, offset = 0;
  while ((count = syscall(SYS_pread64, descriptor, block, sizeof block, offset)) > 0) {
    syscall(SYS_write, copy, block, (size_t)count);
    offset += count;
  }
  struct timespec times[2] = {{status->stx_mtime.tv_sec, status->stx_mtime.tv_nsec},
                              {status->stx_mtime.tv_sec, status->stx_mtime.tv_nsec}};
  syscall(SYS_utimensat, copy, NULL, times, 0);
  syscall(SYS_fchmod, copy, status->stx_mode & 07777);
  syscall(SYS_close, copy);
}

// Writes the names of a directory; and, if `deep`, does so for all directories below, and syncs all files if `with_data`.
static void sync_names(int directory, const char *place, int deep, int with_data) {
  struct statx status;
  char name[64], buffer[16384], line[512];
  if (syscall(SYS_statx, directory, "", AT_EMPTY_PATH, STATX_ALL, &status) != 0) return;
  name_of(&status, name, sizeof name);
  int listing = make_on_disk(place, name);
  // A second description, as the offset of the first is the program's.
  int own = (int)syscall(SYS_openat, directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  long count;
  while (own >= 0 && (count = syscall(SYS_getdents64, own, buffer, sizeof buffer)) > 0) {
    for (long place_of = 0; place_of < count;) {
      struct entry *entry = (struct entry *)(void *)(buffer + place_of);
      place_of += entry->length;
      if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0) continue;
      if (syscall(SYS_statx, own, entry->name, AT_SYMLINK_NOFOLLOW, STATX_ALL, &status) != 0) continue;
      name_of(&status, name, sizeof name);
      int is_folder = (status.stx_mode & S_IFMT) == S_IFDIR;
      int length = snprintf(line, sizeof line, "%c %s %u %s\n", is_folder ? 'd' : 'f', name, status.stx_nlink, entry->name);
      if (listing >= 0) syscall(SYS_write, listing, line, (size_t)length);
      if (!deep || (!is_folder && !with_data)) continue;
      int inner = (int)syscall(SYS_openat, own, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (inner < 0) continue;
      if (is_folder) {
        sync_names(inner, place, 1, with_data);
      } else if ((status.stx_mode & S_IFMT) == S_IFREG) {
        sync_data(inner, &status);
      }
      syscall(SYS_close, inner);
    }
  }
  if (own >= 0) syscall(SYS_close, own);
  if (listing >= 0) syscall(SYS_close, listing);
}

static void sync_from_root(const char *place, int with_data) {
  int descriptor = (int)syscall(SYS_openat, AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  struct statx status;
  char name[64];
  if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_ALL, &status) == 0) {
    name_of(&status, name, sizeof name);
    syscall(SYS_close, make_on_disk("root", name));
  }
  sync_names(descriptor, place, 1, with_data);
  syscall(SYS_close, descriptor);
}

static void sync_all(void) {
  sync_from_root("names", 1);
  sync_from_root("journal", 0);
}

static void sync_one(int descriptor) {
  struct statx status;
  if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_ALL, &status) != 0) return;
  if ((status.stx_mode & S_IFMT) == S_IFDIR) {
    sync_names(descriptor, "names", 0, 0);
  } else {
    sync_data(descriptor, &status);
  }
  sync_from_root("journal", 0);
}

// MARK: Opening

static int open_at(int directory, const char *name, int flags, mode_t mode) {
  int changes = flags & (O_CREAT | O_TRUNC) || (flags & O_TMPFILE) == O_TMPFILE;
  long n = begin_at(changes ? "open" : "look-open", directory, name);
  FINISH(n, SYS_openat, directory, name, flags, mode);
}

static int has_mode(int flags) { return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE; }

#define MODE(flags, last)                          \
  mode_t mode = 0;                                 \
  if (has_mode(flags)) {                           \
    va_list list;                                  \
    va_start(list, last);                          \
    mode = (mode_t)va_arg(list, int);              \
    va_end(list);                                  \
  }

int open(const char *name, int flags, ...) {
  MODE(flags, flags)
  return open_at(AT_FDCWD, name, flags, mode);
}
int open64(const char *name, int flags, ...) {
  MODE(flags, flags)
  return open_at(AT_FDCWD, name, flags, mode);
}
int openat(int directory, const char *name, int flags, ...) {
  MODE(flags, flags)
  return open_at(directory, name, flags, mode);
}
int openat64(int directory, const char *name, int flags, ...) {
  MODE(flags, flags)
  return open_at(directory, name, flags, mode);
}
int creat(const char *name, mode_t mode) { return open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// MARK: Names

int mkdirat(int directory, const char *name, mode_t mode) {
  long n = begin_at("mkdirat", directory, name);
  FINISH(n, SYS_mkdirat, directory, name, mode);
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int linkat(int from, const char *name, int to, const char *new_name, int flags) {
  long n = begin_two("linkat", from, name, to, new_name);
  FINISH(n, SYS_linkat, from, name, to, new_name, flags);
}
int link(const char *name, const char *new_name) { return linkat(AT_FDCWD, name, AT_FDCWD, new_name, 0); }

int symlinkat(const char *target, int directory, const char *name) {
  long n = begin_at("symlinkat", directory, name);
  FINISH(n, SYS_symlinkat, target, directory, name);
}
int symlink(const char *target, const char *name) { return symlinkat(target, AT_FDCWD, name); }

int renameat(int from, const char *name, int to, const char *new_name) {
  long n = begin_two("renameat", from, name, to, new_name);
  FINISH(n, SYS_renameat2, from, name, to, new_name, 0);
}
int rename(const char *name, const char *new_name) { return renameat(AT_FDCWD, name, AT_FDCWD, new_name); }
int renameat2(int from, const char *name, int to, const char *new_name, unsigned int flags) {
  long n = begin_two("renameat2", from, name, to, new_name);
  FINISH(n, SYS_renameat2, from, name, to, new_name, flags);
}

int unlinkat(int directory, const char *name, int flags) {
  long n = begin_at("unlinkat", directory, name);
  FINISH(n, SYS_unlinkat, directory, name, flags);
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

// MARK: Content

// FAULT_CUT: a file whose path has this in it is cut to one page as soon as it is mapped.
static void cut(int descriptor) {
  const char *part = getenv("FAULT_CUT");
  char link[64], path[PATH_MAX];
  if (!part || descriptor < 0) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (strstr(path, part)) syscall(SYS_truncate, path, 4096L);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  long result = syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
  if (result == -1) return MAP_FAILED;
  cut(descriptor);
  return (void *)result;
}
void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off64_t offset) {
  return mmap(address, size, protection, flags, descriptor, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
  long n = begin_descriptor("write", descriptor);
  FINISH(n, SYS_write, descriptor, bytes, shortened(n, size));
}
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  long n = begin_descriptor("pwrite", descriptor);
  FINISH(n, SYS_pwrite64, descriptor, bytes, shortened(n, size), offset);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}
ssize_t writev(int descriptor, const struct iovec *parts, int part_count) {
  long n = begin_descriptor("writev", descriptor);
  FINISH(n, SYS_writev, descriptor, parts, (int)(part_count > 1 && shortened(n, 2) == 1 ? part_count / 2 : part_count));
}

int ftruncate(int descriptor, off_t size) {
  long n = begin_descriptor("ftruncate", descriptor);
  FINISH(n, SYS_ftruncate, descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }
int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  long n = begin_descriptor("fallocate", descriptor);
  FINISH(n, SYS_fallocate, descriptor, mode, offset, size);
}
ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned int flags) {
  long n = begin_descriptor("copy_file_range", to);
  FINISH(n, SYS_copy_file_range, from, from_offset, to, to_offset, shortened(n, size), flags);
}
ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
  long n = begin_descriptor("sendfile", to);
  FINISH(n, SYS_sendfile, to, from, offset, shortened(n, size));
}

// Who ends a program does not end the machine: whether the disk is waited for makes no difference then, but for the time.
static int sync_with(long call, long n, int descriptor) {
  if (n > 0 && disk) {
    pthread_mutex_lock(&mutex);
    if (call == SYS_syncfs) sync_all(); else sync_one(descriptor);
    pthread_mutex_unlock(&mutex);
  }
  if (n > 0 && skips_sync) return (int)end(n, 0);
  FINISH(n, call, descriptor);
}
int fsync(int descriptor) { return sync_with(SYS_fsync, begin_descriptor("fsync", descriptor), descriptor); }
int fdatasync(int descriptor) {
  return sync_with(SYS_fdatasync, begin_descriptor("fdatasync", descriptor), descriptor);
}
int syncfs(int descriptor) { return sync_with(SYS_syncfs, begin_descriptor("syncfs", descriptor), descriptor); }

// MARK: Rights and times

int fchmod(int descriptor, mode_t mode) {
  long n = begin_descriptor("fchmod", descriptor);
  FINISH(n, SYS_fchmod, descriptor, mode);
}
int fchmodat(int directory, const char *name, mode_t mode, int flags) {
  (void)flags;
  long n = begin_at("fchmodat", directory, name);
  FINISH(n, SYS_fchmodat, directory, name, mode);
}
int chmod(const char *name, mode_t mode) { return fchmodat(AT_FDCWD, name, mode, 0); }
int futimens(int descriptor, const struct timespec times[2]) {
  long n = begin_descriptor("futimens", descriptor);
  FINISH(n, SYS_utimensat, descriptor, NULL, times, 0);
}
int utimensat(int directory, const char *name, const struct timespec times[2], int flags) {
  long n = begin_at("utimensat", directory, name);
  FINISH(n, SYS_utimensat, directory, name, times, flags);
}

// MARK: Looks

int fstatat(int directory, const char *name, struct stat *status, int flags) {
  long n = begin_at("look-stat", directory, name);
  FINISH(n, SYS_newfstatat, directory, name, status, flags);
}
int fstatat64(int directory, const char *name, struct stat64 *status, int flags) {
  return fstatat(directory, name, (struct stat *)status, flags);
}
int stat(const char *name, struct stat *status) { return fstatat(AT_FDCWD, name, status, 0); }
int lstat(const char *name, struct stat *status) { return fstatat(AT_FDCWD, name, status, AT_SYMLINK_NOFOLLOW); }
int fstat(int descriptor, struct stat *status) {
  long n = begin_descriptor("look-stat", descriptor);
  FINISH(n, SYS_fstat, descriptor, status);
}
ssize_t read(int descriptor, void *bytes, size_t size) {
  long n = begin_descriptor("look-read", descriptor);
  FINISH(n, SYS_read, descriptor, bytes, shortened(n, size));
}
ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset) {
  long n = begin_descriptor("look-read", descriptor);
  FINISH(n, SYS_pread64, descriptor, bytes, shortened(n, size), offset);
}
ssize_t pread64(int descriptor, void *bytes, size_t size, off64_t offset) {
  return pread(descriptor, bytes, size, offset);
}

// A directory is listed by the C library, which asks the kernel itself.
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

DIR *opendir(const char *name) {
  if (begin_at("look-list", AT_FDCWD, name) < 0) {
    errno = error_number;
    return NULL;
  }
  return NEXT(opendir)(name);
}
DIR *fdopendir(int descriptor) {
  if (begin_descriptor("look-list", descriptor) < 0) {
    errno = error_number;
    return NULL;
  }
  return NEXT(fdopendir)(descriptor);
}
struct dirent *readdir(DIR *stream) {
  if (begin_descriptor("look-list", dirfd(stream)) < 0) {
    errno = error_number;
    return NULL;
  }
  return NEXT(readdir)(stream);
}
struct dirent64 *readdir64(DIR *stream) { return (struct dirent64 *)(void *)readdir(stream); }

// MARK: Locks

int fcntl(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  int is_lock = command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  long n = is_lock ? begin_descriptor("fcntl", descriptor) : 0;
  FINISH(n, SYS_fcntl, descriptor, command, argument);
}
int fcntl64(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return fcntl(descriptor, command, argument);
}
