// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "dump_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "process_facts.h"

// Reads the status of an open file by the call that libc uses or, if a filter refuses that, by another call.
CRASH_TIME static long status_of(int descriptor, struct stat *status) {
  // On the stack: a literal lies in a page that each child of fork(2) would have to map first.
  const char none = 0;
  long result = SYSTEM_CALL_4(SYS_newfstatat, descriptor, &none, status, AT_EMPTY_PATH);
  if (is_refused(result)) result = SYSTEM_CALL_2(SYS_fstat, descriptor, status);
  if (!is_refused(result)) return result;
  struct statx facts;
  result = system_call(SYS_statx, descriptor, (long)&none, AT_EMPTY_PATH, STATX_BASIC_STATS, (long)&facts, 0);
  if (result < 0) return result;
  // In the encoding of the other calls; makedev(3) belongs to libc.
  uint64_t minor_number = facts.stx_dev_minor;
  status->st_dev = (minor_number & 0xff) | (uint64_t)facts.stx_dev_major << 8 | (minor_number & ~UINT64_C(0xff)) << 12;
  status->st_ino = facts.stx_ino;
  status->st_nlink = facts.stx_nlink;
  status->st_size = (off_t)facts.stx_size;
  return 0;
}

CRASH_TIME void remember_file(struct known_file *file, int descriptor) {
  struct stat status;
  file->is_made = false;
  file->descriptor = 0;
  if (descriptor <= 0) return;
  long result = status_of(descriptor, &status);
  if (result < 0 && !is_refused(result)) return;
  file->is_made = true;
  file->descriptor = descriptor;
  file->flags = SYSTEM_CALL_3(SYS_fcntl, descriptor, F_GETFL, 0);
  file->device = result < 0 ? 0 : status.st_dev;
  file->inode = result < 0 ? 0 : status.st_ino;
}

// Guesses where every status call is refused: the handler's files have unusual flags, and are still empty.
CRASH_TIME static bool looks_like(const struct known_file *file) {
  bool is_directory = (file->flags & O_DIRECTORY) != 0;
  return file->flags > 0 && SYSTEM_CALL_3(SYS_fcntl, file->descriptor, F_GETFL, 0) == file->flags &&
         (is_directory || SYSTEM_CALL_3(SYS_lseek, file->descriptor, 0, SEEK_END) == 0);
}

// The number of names of the file; below zero if the descriptor is closed, or belongs to another file by now.
AFTER_FORK CRASH_TIME static long count_names(const struct known_file *file) {
  struct stat status;
  if (file->descriptor == 0) return -1;
  long result = status_of(file->descriptor, &status);
  if (is_refused(result)) return looks_like(file) ? 1 : -1;
  if (result < 0) return -1;
  bool was_unknown = file->inode == 0 && looks_like(file);
  return was_unknown || (status.st_dev == file->device && status.st_ino == file->inode) ? (long)status.st_nlink : -1;
}

// A file without a name, because it was removed, disappears with the process, together with everything written to it.
CRASH_TIME bool is_own_file(const struct known_file *file) { return count_names(file) > 0; }

CRASH_TIME static void close_descriptor(struct known_file *file) {
  if (file->descriptor == 0) return;
  if (count_names(file) >= 0) SYSTEM_CALL_1(SYS_close, file->descriptor);
  file->descriptor = 0;
}

CRASH_TIME void close_own_file(struct known_file *file) {
  close_descriptor(file);
  file->is_made = false;
}

AFTER_FORK void close_parents_file(int process) {
  struct known_file *file = &crash_state.file;
  // A child in a pid namespace of its own may have the same process id as its parent.
  if (crash_state.file_process == process) {
    close_own_file(file);
    crash_state.lock_page = NULL;
  } else if (count_names(file) >= 0) {
    SYSTEM_CALL_1(SYS_close, file->descriptor);
  }
}

CRASH_TIME void forget_parents_file(void) {
  if (!crash_state.file.is_made || crash_state.file_process == current_process()) return;
  crash_state.file.is_made = false;
  crash_state.file.descriptor = 0;
  crash_state.lock_page = NULL;
}

CRASH_TIME int raise_descriptor(int descriptor) {
  // Above the numbers that programs use by themselves, and below 64: with a higher number the kernel allocates a larger
  // table for each child of fork(2), and copies it.
  const int kHigh = 50;
  const int kBehindStandardStreams = 3;
  long raised = SYSTEM_CALL_3(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, kHigh);
  if (raised < 0 && descriptor >= kBehindStandardStreams) return descriptor;
  // The limit of the program is lower.
  if (raised < 0) raised = SYSTEM_CALL_3(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, kBehindStandardStreams);
  SYSTEM_CALL_1(SYS_close, descriptor);
  return (int)raised;
}

// MARK: Names

CRASH_TIME static void make_uuid(uint8_t uuid[16], bool is_first_of_run) {
  if (is_first_of_run) {
    copy_bytes(uuid, crash_state.run_id, 12);
    uint32_t process = (uint32_t)current_process();
    for (int index = 0; index < 4; index++) uuid[12 + index] = (uint8_t)(process >> (24 - 8 * index));
    return;
  }
  if (SYSTEM_CALL_3(SYS_getrandom, uuid, 16, 0) != 16) {
    // Not random, but unique: from the time, the process id and our load address.
    uint64_t words[2];
    words[0] = clock_time(CLOCK_REALTIME);
    words[1] = (uint64_t)current_process() << 32 ^ (uint64_t)&crash_state;
    copy_bytes(uuid, words, 16);
  }
  // Version 4 of RFC 9562.
  uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
  uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
  // A further dump of the process belongs to the same run.
  if (crash_state.has_run_id) copy_bytes(uuid, crash_state.run_id, 12);
}

CRASH_TIME static void make_names(const uint8_t uuid[16]) {
  char digits[37];
  int end = 0;
  for (int index = 0; index < 16; index++) {
    if (index == 4 || index == 6 || index == 8 || index == 10) digits[end++] = '-';
    digits[end++] = "0123456789abcdef"[uuid[index] >> 4];
    digits[end++] = "0123456789abcdef"[uuid[index] & 15];
  }
  digits[end] = 0;
  size_t size = sizeof crash_state.name;
  size_t length = append_text(crash_state.name, size, 0, crash_state.program_id);
  length = append_text(crash_state.name, size, length, "@");
  append_text(crash_state.name, size, length, digits);
  length = append_text(crash_state.locked_name, size, 0, crash_state.name);
  append_text(crash_state.locked_name, size, length, ".locked");
  size = sizeof crash_state.path;
  length = append_text(crash_state.path, size, 0, crash_state.directory_path);
  length = append_text(crash_state.path, size, length, "/");
  append_text(crash_state.path, size, length, crash_state.name);
}

// MARK: The file

// Locks the file. Another process with the same id in another pid namespace may own the file of that name.
CRASH_TIME static bool take_ownership(int descriptor) {
  struct flock lock;
  zero_bytes(&lock, sizeof lock);
  lock.l_type = F_WRLCK;
  long result = SYSTEM_CALL_3(SYS_fcntl, descriptor, F_OFD_SETLK, &lock);
  // On a file system without locks the name alone marks the owner.
  return result != -EAGAIN && result != -EACCES;
}

// Whether the file is empty, and was not removed as abandoned before it was locked.
CRASH_TIME static bool is_empty(int descriptor) {
  struct stat status;
  long result = status_of(descriptor, &status);
  if (is_refused(result)) return SYSTEM_CALL_3(SYS_lseek, descriptor, 0, SEEK_END) == 0;
  return result == 0 && status.st_size == 0 && status.st_nlink > 0;
}

static char database[PATH_MAX];

// Makes the directory and its parent, the database. A failure shows when the directory is opened.
CRASH_TIME static void make_directory(void) {
  const char *path = crash_state.directory_path;
  size_t end = append_text(database, sizeof database, 0, path);
  while (end > 0 && database[end] != '/') end--;
  database[end] = 0;
  SYSTEM_CALL_3(SYS_mkdirat, AT_FDCWD, database, 0700);
  SYSTEM_CALL_3(SYS_mkdirat, AT_FDCWD, path, 0700);
}

// A name for calls that take a directory and a path: an absolute path if the directory can't be open.
struct place {
  int directory;
  const char *name;
  char path[sizeof crash_state.path];
};

CRASH_TIME static void find_place(struct place *place, const char *name) {
  place->directory = crash_state.directory.descriptor;
  place->name = name;
  if (place->directory > 0) return;
  place->directory = AT_FDCWD;
  place->name = place->path;
  size_t end = append_text(place->path, sizeof place->path, 0, crash_state.directory_path);
  end = append_text(place->path, sizeof place->path, end, "/");
  append_text(place->path, sizeof place->path, end, name);
}

// The places of the locked file and of the dump. Only one thread makes or finishes files at a time.
static struct place locked_place;
static struct place final_place;

CRASH_TIME static long open_in_directory(const char *name, int flags) {
  find_place(&locked_place, name);
  return open_at(locked_place.directory, locked_place.name, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

// Opens the directory again by its path if the program has closed it. If it was removed and a dump is to be written,
// makes it again. Where no directory can be opened, absolute paths are used.
CRASH_TIME static long open_directory(bool is_made) {
  if (is_own_file(&crash_state.directory)) return 0;
  const int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  long directory = open_at(AT_FDCWD, crash_state.directory_path, kFlags, 0);
  if (directory == -ENOENT && is_made) {
    make_directory();
    directory = open_at(AT_FDCWD, crash_state.directory_path, kFlags, 0);
  }
  bool does_without = directory == -EMFILE || directory == -EPERM || directory == -ENOSYS;
  if (directory < 0 && !does_without) return directory;
  close_own_file(&crash_state.directory);
  if (directory >= 0) remember_file(&crash_state.directory, raise_descriptor((int)directory));
  return 0;
}

CRASH_TIME static bool exists(const char *name) {
  struct stat status;
  find_place(&final_place, name);
  return SYSTEM_CALL_4(SYS_newfstatat, final_place.directory, final_place.name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

// A program that replaced itself (exec) finds its earlier empty file by its name, and takes it over.
CRASH_TIME static long make_with(bool is_first_of_run) {
  uint8_t uuid[16];
  make_uuid(uuid, is_first_of_run);
  make_names(uuid);
  if (exists(crash_state.name)) return -EEXIST;
  int exclusive = is_first_of_run ? 0 : O_EXCL;
  long file = open_in_directory(crash_state.locked_name, O_CREAT | exclusive);
  if (file < 0) return file;
  if (!take_ownership((int)file) || !is_empty((int)file)) {
    SYSTEM_CALL_1(SYS_close, file);
    return -EEXIST;
  }
  remember_file(&crash_state.file, raise_descriptor((int)file));
  crash_state.file_process = current_process();
  return 0;
}

CRASH_TIME long dump_file_reach(void) { return open_directory(false); }

CRASH_TIME long dump_file_make(void) {
  facts_name_program();
  long result = open_directory(true);
  if (result < 0) return result;
  if (crash_state.has_run_id) result = make_with(true);
  // Another process may mistake a new file for one that a dead process left, and remove it before it is locked.
  const int kTries = 4;
  for (int tries = 0; tries < kTries && (result == -EEXIST || !crash_state.has_run_id); tries++) {
    result = make_with(false);
    if (result != -EEXIST) break;
  }
  return result;
}

// Opens the file by its name: no descriptor of it is open, or the program has closed it, as daemons close all of
// theirs.
CRASH_TIME static bool find_again(struct known_file *file, const char *locked_name) {
  if (!file->is_made || open_directory(false) < 0) return false;
  long again = open_in_directory(locked_name, 0);
  if (again >= 0) again = raise_descriptor((int)again);
  if (again < 0) return false;
  int earlier = file->descriptor;
  file->descriptor = (int)again;
  if (is_own_file(file)) return true;
  SYSTEM_CALL_1(SYS_close, again);
  file->descriptor = earlier;
  return false;
}

CRASH_TIME static bool is_open(void) {
  return is_own_file(&crash_state.file) || find_again(&crash_state.file, crash_state.locked_name);
}

CRASH_TIME long dump_file_prepare(void) {
  forget_parents_file();
  if (is_open()) {
    int descriptor = crash_state.file.descriptor;
    if (is_empty(descriptor)) return 0;
    // The program took the descriptor for its own: what it wrote is no dump.
    long result = SYSTEM_CALL_2(SYS_ftruncate, descriptor, 0);
    if (result == 0) result = SYSTEM_CALL_3(SYS_lseek, descriptor, 0, SEEK_SET);
    if (result == 0) return 0;
  }
  close_own_file(&crash_state.file);
  return dump_file_make();
}

void dump_file_let_go(void) {
  struct state *state = &crash_state;
  if (state->holds_files) return;
  close_own_file(&state->directory);
  struct known_file *file = &state->file;
  // Without its number in the file system, the file can't be recognized when it is opened again.
  if (file->descriptor == 0 || file->inode == 0) return;
  if (state->lock_page == NULL) {
    void *page = mmap(NULL, state->page_size, PROT_NONE, MAP_PRIVATE, file->descriptor, 0);
    if (page == MAP_FAILED) return;
    // A child would keep its parent's lock alive.
    madvise(page, state->page_size, MADV_DONTFORK);
    state->lock_page = page;
  }
  close_descriptor(file);
}

void dump_file_unlock(void) {
  if (crash_state.lock_page != NULL) munmap(crash_state.lock_page, crash_state.page_size);
  crash_state.lock_page = NULL;
}

void dump_file_hold(void) {
  forget_parents_file();
  crash_state.holds_files = true;
  if (!is_open()) dump_file_make();
}

CRASH_TIME static long rename_locked(void) {
  find_place(&locked_place, crash_state.locked_name);
  find_place(&final_place, crash_state.name);
  int directory = locked_place.directory;
  const char *from = locked_place.name;
  const char *to = final_place.name;
  long result = system_call(SYS_renameat2, directory, (long)from, directory, (long)to, RENAME_NOREPLACE, 0);
  if (is_refused(result)) result = SYSTEM_CALL_4(SYS_renameat, directory, from, directory, to);
#if defined(__x86_64__)
  if (is_refused(result)) {
    struct known_file known = crash_state.directory;
    crash_state.directory.descriptor = 0;
    find_place(&locked_place, crash_state.locked_name);
    find_place(&final_place, crash_state.name);
    crash_state.directory = known;
    result = SYSTEM_CALL_2(SYS_rename, locked_place.path, final_place.path);
  }
#endif
  return result;
}

CRASH_TIME long dump_file_finish(void) {
  long result = open_directory(false);
  if (result == 0) result = rename_locked();
  SYSTEM_CALL_1(SYS_close, crash_state.file.descriptor);
  crash_state.file.is_made = false;
  crash_state.file.descriptor = 0;
  return result;
}

CRASH_TIME void dump_file_discard(struct known_file *file, const char *locked_name) {
  bool is_there = is_own_file(file) || find_again(file, locked_name);
  // Bytes in it are of the program: a capture forgets its file.
  bool is_known = file->inode != 0 || is_empty(file->descriptor);
  if (is_there && is_known && open_directory(false) == 0) {
    find_place(&locked_place, locked_name);
    SYSTEM_CALL_3(SYS_unlinkat, locked_place.directory, locked_place.name, 0);
  }
  close_own_file(file);
}
