// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/uio.h>

#include "guard.h"
#include "handlers.h"
#include "state.h"

enum read_method { kReadv, kPipe, kFile, kDirect, kNone };

static struct {
  enum read_method method;
  int process;
  int pipe[2];
  int file;
} reader;

// Far enough behind the end of a dump, and below the limits of file systems.
static const uint64_t kScratchOffset = UINT64_C(1) << 32;

// A byte that is surely readable, and room for its copy.
static uint8_t probe[2];

CRASH_TIME static size_t page_rest(uint64_t address, size_t count) {
  size_t rest = kPageSizeOfProbes - (address & (kPageSizeOfProbes - 1));
  return rest < count ? rest : count;
}

// MARK: Pages that another thread brings

// The name of a descriptor of userfaultfd(2) in /proc. The kernel lets a reader of a page that is not there wait for a thread
// of the program, and that thread is stopped.
static const char kUserFaults[] = "anon_inode:[userfaultfd]";
static bool skips_absent;

CRASH_TIME static bool leads_to_faults(int directory, const char *name) {
  char target[sizeof kUserFaults];
  long length = SYSTEM_CALL_4(SYS_readlinkat, directory, name, target, sizeof target - 1);
  if (length != sizeof kUserFaults - 1) return false;
  target[length] = 0;
  return begins_with(target, kUserFaults);
}

// Whether the program has such a descriptor. False if that is not known, as without /proc.
CRASH_TIME static bool may_wait_for_pages(void) {
  long directory = open_at(AT_FDCWD, "/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (directory < 0) return false;
  _Alignas(8) uint8_t listing[2048];
  bool found = false;
  long size;
  while (!found && (size = SYSTEM_CALL_3(SYS_getdents64, directory, listing, sizeof listing)) > 0) {
    for (long offset = 0; offset < size && !found;) {
      const struct dirent64 *entry = (const struct dirent64 *)(listing + offset);
      offset += entry->d_reclen;
      found = leads_to_faults((int)directory, entry->d_name);
    }
  }
  SYSTEM_CALL_1(SYS_close, directory);
  return found;
}

// The bytes from `address` on that are in memory, at most `count`.
CRASH_TIME static uint64_t resident(uint64_t address, uint64_t count) {
  enum { kPages = 64 };
  uint8_t pages[kPages];
  const uint64_t page_size = crash_state.page_size;
  const uint64_t end = address + count;
  for (uint64_t start = address & ~(page_size - 1); start < end;) {
    uint64_t asked = (end - start + page_size - 1) / page_size;
    if (asked > kPages) asked = kPages;
    // Fails if one of them is not mapped.
    if (SYSTEM_CALL_3(SYS_mincore, start, asked * page_size, pages) != 0) asked = 1;
    if (asked == 1 && SYSTEM_CALL_3(SYS_mincore, start, page_size, pages) != 0) pages[0] = 0;
    for (uint64_t page = 0; page < asked; page++, start += page_size) {
      if ((pages[page] & 1) == 0) return start > address ? start - address : 0;
    }
  }
  return count;
}

// MARK: Methods

// Reads one page at a time: a pipe has room for sixteen, and is empty again afterwards.
CRASH_TIME static long read_by_file(void *to, uint64_t address, size_t count) {
  bool is_pipe = reader.method == kPipe;
  long got = is_pipe ? SYSTEM_CALL_3(SYS_write, reader.pipe[1], address, count)
                     : SYSTEM_CALL_4(SYS_pwrite64, reader.file, address, count, kScratchOffset);
  if (got <= 0) return got;
  return is_pipe ? SYSTEM_CALL_3(SYS_read, reader.pipe[0], to, got)
                 : SYSTEM_CALL_4(SYS_pread64, reader.file, to, got, kScratchOffset);
}

CRASH_TIME static bool works(enum read_method method) {
  reader.method = method;
  probe[0] = 0x5a;
  probe[1] = 0;
  return read_by_file(&probe[1], (uint64_t)&probe[0], 1) == 1 && probe[1] == probe[0];
}

CRASH_TIME static bool make_pipe(void) {
  long result = SYSTEM_CALL_2(SYS_pipe2, reader.pipe, O_CLOEXEC | O_NONBLOCK);
#if defined(__x86_64__)
  if (is_refused(result)) result = SYSTEM_CALL_1(SYS_pipe, reader.pipe);
#endif
  if (result < 0) reader.pipe[0] = reader.pipe[1] = -1;
  return result == 0;
}

CRASH_TIME static void use_pipe(void) {
  if (make_pipe() && works(kPipe)) return;
  if (reader.file >= 0 && works(kFile)) return;
  // A fault has to reach our handler.
  reader.method = reader.file >= 0 && handles_faults() ? kDirect : kNone;
}

struct copy {
  void *to;
  uint64_t address;
  size_t count;
};

CRASH_TIME static void copy_part(void *argument) {
  struct copy *copy = argument;
  copy_bytes(copy->to, (const void *)copy->address, copy->count);
}

CRASH_TIME static long read_directly(void *to, uint64_t address, size_t count) {
  struct copy copy;
  copy.to = to;
  copy.address = address;
  copy.count = count;
  return guard_call(copy_part, &copy) ? (long)count : -EFAULT;
}

CRASH_TIME static long read_page(void *to, uint64_t address, size_t count) {
  count = page_rest(address, count);
  return reader.method == kDirect ? read_directly(to, address, count) : read_by_file(to, address, count);
}

CRASH_TIME void memory_begin(int dump_file) {
  reader.process = current_process();
  reader.pipe[0] = reader.pipe[1] = -1;
  reader.file = dump_file;
  reader.method = kReadv;
  skips_absent = may_wait_for_pages();
  // A filter of system calls may end the process for trying a forbidden call.
  if (has_filter()) use_pipe();
}

CRASH_TIME void memory_end(void) {
  for (int end = 0; end < 2; end++) {
    if (reader.pipe[end] >= 0) SYSTEM_CALL_1(SYS_close, reader.pipe[end]);
    reader.pipe[end] = -1;
  }
  reader.method = kNone;
}

CRASH_TIME bool memory_can_be_read(void) { return reader.method != kNone; }

// The kernel reads whole pieces or nothing, so each page is a piece.
CRASH_TIME static long read_by_readv(void *to, uint64_t address, size_t count) {
  enum { kPieces = 32 };
  struct iovec pieces[kPieces];
  size_t total = 0;
  int piece = 0;
  while (piece < kPieces && total < count) {
    size_t part = page_rest(address + total, count - total);
    pieces[piece].iov_base = (void *)(address + total);
    pieces[piece].iov_len = part;
    total += part;
    piece++;
  }
  struct iovec target = {to, total};
  return SYSTEM_CALL_6(SYS_process_vm_readv, reader.process, &target, 1, pieces, piece, 0);
}

CRASH_TIME size_t memory_read(void *to, uint64_t address, size_t count) {
  if (skips_absent) count = resident(address, count);
  size_t done = 0;
  while (done < count && reader.method != kNone) {
    uint8_t *place = (uint8_t *)to + done;
    long got = reader.method == kReadv ? read_by_readv(place, address + done, count - done)
                                    : read_page(place, address + done, count - done);
    if (got == -EINTR) continue;
    if (got < 0 && got != -EFAULT && reader.method == kReadv) {
      use_pipe();
      continue;
    }
    if (got <= 0) break;
    done += (size_t)got;
  }
  return done;
}

CRASH_TIME uint64_t memory_readable(uint64_t address, uint64_t limit) {
  if (limit > UINT64_MAX - address) limit = UINT64_MAX - address;
  if (skips_absent) limit = resident(address, limit);
  uint64_t done = 0;
  while (done < limit) {
    if (reader.method == kReadv) {
      enum { kPieces = 64 };
      struct iovec pieces[kPieces];
      uint8_t bytes[kPieces];
      uint64_t next = done;
      int piece = 0;
      while (piece < kPieces && next < limit) {
        pieces[piece].iov_base = (void *)(address + next);
        pieces[piece].iov_len = 1;
        next += page_rest(address + next, limit - next);
        piece++;
      }
      struct iovec target = {bytes, (size_t)piece};
      long got = SYSTEM_CALL_6(SYS_process_vm_readv, reader.process, &target, 1, pieces, piece, 0);
      if (got < 0 && got != -EFAULT) {
        use_pipe();
        continue;
      }
      for (long page = 0; page < got; page++) done += page_rest(address + done, limit - done);
      if (got < piece) return done;
    } else {
      uint8_t byte;
      if (memory_read(&byte, address + done, 1) == 0) return done;
      done += page_rest(address + done, limit - done);
    }
  }
  return done;
}

CRASH_TIME size_t memory_read_text(char *to, size_t size, uint64_t address) {
  size_t read = memory_read(to, address, size - 1);
  size_t length = text_length(to, read);
  to[length] = 0;
  return length;
}
