// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "proc.h"

#include <fcntl.h>

#include "memory.h"
#include "signals.h"

CRASH_TIME int64_t parse_number(const char *text) {
  if (*text < '0' || *text > '9') return -1;
  int64_t number = 0;
  while (*text >= '0' && *text <= '9' && number < INT64_MAX / 16) number = number * 10 + (*text++ - '0');
  return number;
}

// With or without 0x.
CRASH_TIME static uint64_t parse_hexadecimal(const char *text, const char **end) {
  if (text[0] == '0' && text[1] == 'x') text += 2;
  uint64_t number = 0;
  while (true) {
    char digit = *text;
    if (digit >= '0' && digit <= '9') {
      number = number << 4 | (uint64_t)(digit - '0');
    } else if (digit >= 'a' && digit <= 'f') {
      number = number << 4 | (uint64_t)(digit - 'a' + 10);
    } else {
      *end = text;
      return number;
    }
    text++;
  }
}

CRASH_TIME long proc_read(const char *path, char *to, size_t size) {
  long file = open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return file;
  size_t done = 0;
  long got = 0;
  while (done + 1 < size) {
    got = SYSTEM_CALL_3(SYS_read, file, to + done, size - 1 - done);
    if (got == -EINTR) continue;
    if (got <= 0) break;
    done += (size_t)got;
  }
  SYSTEM_CALL_1(SYS_close, file);
  to[done] = 0;
  return got < 0 && done == 0 ? got : (long)done;
}

// The start of a line of /proc/self/maps, or a whole one, and its length.
static char maps_line[4096 + 128];
static char maps_part[4096];
static const char kRemoved[] = " (deleted)";

// Copies the path at the end of a line: no field before it has a slash. One with "\012" is not known: the kernel writes
// a line feed so, and a file's own name may have these characters.
CRASH_TIME static size_t copy_path(char *path, size_t size) {
  const char *place = maps_line;
  while (*place != 0 && *place != '/') place++;
  for (const char *part = place; *part != 0; part++) {
    if (begins_with(part, "\\012")) return 0;
  }
  size_t length = append_text(path, size, 0, place);
  size_t suffix = sizeof kRemoved - 1;
  if (length > suffix && is_equal(path + length - suffix, kRemoved)) length -= suffix;
  path[length] = 0;
  return length;
}

CRASH_TIME static bool is_line_of(uint64_t address) {
  const char *end;
  uint64_t start = parse_hexadecimal(maps_line, &end);
  if (*end != '-') return false;
  return address >= start && address < parse_hexadecimal(end + 1, &end);
}

CRASH_TIME size_t proc_mapped_path(uint64_t address, char *path, size_t size) {
  path[0] = 0;
  long file = open_at(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return 0;
  size_t line_end = 0;
  size_t length = 0;
  bool is_found = false;
  long got;
  while (!is_found && (got = SYSTEM_CALL_3(SYS_read, file, maps_part, sizeof maps_part)) > 0) {
    for (long index = 0; index < got && !is_found; index++) {
      if (maps_part[index] != '\n') {
        if (line_end + 1 < sizeof maps_line) maps_line[line_end++] = maps_part[index];
        continue;
      }
      maps_line[line_end] = 0;
      line_end = 0;
      is_found = is_line_of(address);
      if (is_found) length = copy_path(path, size);
    }
  }
  SYSTEM_CALL_1(SYS_close, file);
  return length;
}

CRASH_TIME long proc_read_of_thread(int thread, const char *name, char *to, size_t size) {
  char path[64];
  size_t end = append_text(path, sizeof path, 0, "/proc/self/task/");
  end = append_number(path, sizeof path, end, (uint64_t)thread);
  end = append_text(path, sizeof path, end, "/");
  append_text(path, sizeof path, end, name);
  return proc_read(path, to, size);
}

// The text after a line's name; NULL if there is no such line.
CRASH_TIME static const char *find_line(const char *text, const char *name) {
  while (*text != 0) {
    if (begins_with(text, name)) return text + text_length(name, SIZE_MAX);
    while (*text != 0 && *text++ != '\n') {
    }
  }
  return NULL;
}

CRASH_TIME bool proc_blocks_signal(int thread, int number, bool *is_running) {
  char status[2048];
  if (proc_read_of_thread(thread, "status", status, sizeof status) <= 0) return false;
  const char *state = find_line(status, "State:\t");
  *is_running = state != NULL && *state == 'R';
  const char *blocked = find_line(status, "SigBlk:\t");
  const char *end;
  return blocked != NULL && (parse_hexadecimal(blocked, &end) & signal_bit(number)) != 0;
}

CRASH_TIME bool proc_may_have_pending(int thread, int number) {
  char status[2048];
  if (proc_read_of_thread(thread, "status", status, sizeof status) <= 0) return true;
  const char *pending = find_line(status, "SigPnd:\t");
  const char *end;
  return pending == NULL || (parse_hexadecimal(pending, &end) & signal_bit(number)) != 0;
}

CRASH_TIME static bool is_zombie(int thread) {
  char status[512];
  if (proc_read_of_thread(thread, "status", status, sizeof status) <= 0) return false;
  const char *state = find_line(status, "State:\t");
  return state != NULL && (*state == 'Z' || *state == 'X');
}

// "NUMBER SIX ARGUMENTS SP PC", "-1 SP PC" outside of a call, or "running".
CRASH_TIME static bool parse_pointers(const char *text, uint64_t *stack_pointer, uint64_t *program_counter) {
  if (text[0] == 'r') return false;
  uint64_t before_last = 0;
  uint64_t last = 0;
  const char *place = text;
  while (*place != 0) {
    while (*place == ' ' || *place == '-') place++;
    if (*place == '\n' || *place == 0) break;
    const char *end;
    uint64_t number = parse_hexadecimal(place, &end);
    if (end == place) break;
    before_last = last;
    last = number;
    place = end;
  }
  *stack_pointer = before_last;
  *program_counter = last;
  return *stack_pointer != 0;
}

CRASH_TIME enum attention proc_attention(int directory, int thread, int number) {
  if (directory < 0) return kListens;
  // Takes the shortest path and a single read, because this runs for every thread and adds to the duration of a dump.
  char text[256];
  size_t path_end = append_number(text, sizeof text, 0, (uint64_t)thread);
  append_text(text, sizeof text, path_end, "/syscall");
  long file = open_at(directory, text, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return kListens;
  long size = SYSTEM_CALL_3(SYS_read, file, text, sizeof text - 1);
  SYSTEM_CALL_1(SYS_close, file);
  if (size <= 0) return kListens;
  text[size] = 0;
  // The number of the call and its arguments, or "running", as in proc_pointers. An ended thread has no stack.
  const char *end = text;
  if (begins_with(text, "-1 0x0 0x0")) return is_zombie(thread) ? kHasEnded : kListens;
  while (*end >= '0' && *end <= '9') end++;
  if (*end != ' ' || parse_number(text) != SYS_rt_sigtimedwait) return kListens;
  // The first argument is the set. Our signal interrupts a thread that waits only for others, like any other thread.
  uint64_t set;
  uint64_t address = parse_hexadecimal(end + 1, &end);
  bool awaits = memory_read(&set, address, sizeof set) != sizeof set || (set & signal_bit(number)) != 0;
  return awaits ? kAwaitsSignal : kListens;
}

CRASH_TIME bool proc_waits_for_child(int thread) {
  char text[256];
  if (proc_read_of_thread(thread, "syscall", text, sizeof text) <= 0) return false;
  int64_t number = parse_number(text);
#if defined(__x86_64__)
  if (number == SYS_vfork) return true;
#endif
  return number == SYS_clone || number == SYS_clone3;
}

CRASH_TIME int proc_own_number(int thread) {
  char status[1024];
  if (proc_read_of_thread(thread, "status", status, sizeof status) <= 0) return 0;
  const char *numbers = find_line(status, "NSpid:");
  int64_t number = 0;
  while (numbers != NULL && *numbers == '\t') {
    number = parse_number(++numbers);
    while (*numbers >= '0' && *numbers <= '9') numbers++;
  }
  return number > 0 ? (int)number : 0;
}

CRASH_TIME int proc_thread_count(const char *status) {
  const char *count = find_line(status, "Threads:\t");
  return count == NULL ? -1 : (int)parse_number(count);
}

CRASH_TIME bool proc_pointers(int thread, uint64_t *stack_pointer, uint64_t *program_counter) {
  char text[256];
  if (proc_read_of_thread(thread, "syscall", text, sizeof text) <= 0) return false;
  return parse_pointers(text, stack_pointer, program_counter);
}
