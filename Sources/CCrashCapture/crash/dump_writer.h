// SPDX-License-Identifier: Apache-2.0
// Writes the tokens of an intermediate dump through one fixed buffer.
#ifndef CRASHPADCTL_DUMP_WRITER_H
#define CRASHPADCTL_DUMP_WRITER_H

#include "crash_time.h"
#include "dump_keys.h"

// The most bytes of a property's value: 64 MiB.
enum { kMaximumPropertySize = 64 << 20 };

struct dump_writer {
  // The descriptor for full buffers; below 0 for none: then excess bytes are lost, and `error` is ENOSPC.
  int file;
  // The first failure, an errno value; nothing is written after it.
  int error;
  uint8_t *buffer;
  uint32_t size;
  uint32_t used;
  // The number of bytes that went to the file.
  uint64_t flushed;
  // A filter refuses write(2) or lseek(2), so each write gives its offset.
  bool writes_at_offset;
};

CRASH_TIME void dump_writer_start(struct dump_writer *writer, int file, uint8_t *buffer, uint32_t size);
CRASH_TIME void dump_writer_flush(struct dump_writer *writer);
CRASH_TIME void dump_writer_bytes(struct dump_writer *writer, const void *bytes, size_t count);

// The number of bytes written so far, and a return to such a position, which drops the bytes after it.
CRASH_TIME uint64_t dump_writer_position(const struct dump_writer *writer);
CRASH_TIME void dump_writer_rewind(struct dump_writer *writer, uint64_t position);

CRASH_TIME void dump_root_start(struct dump_writer *writer);
CRASH_TIME void dump_root_end(struct dump_writer *writer);
CRASH_TIME void dump_map_start(struct dump_writer *writer, enum dump_key key);
// A map in an array has no key.
CRASH_TIME void dump_element_start(struct dump_writer *writer);
CRASH_TIME void dump_map_end(struct dump_writer *writer);
CRASH_TIME void dump_array_start(struct dump_writer *writer, enum dump_key key);
CRASH_TIME void dump_array_end(struct dump_writer *writer);
// Writes the header of a value; its `size` bytes follow.
CRASH_TIME void dump_property_start(struct dump_writer *writer, enum dump_key key, uint64_t size);
CRASH_TIME void dump_property(struct dump_writer *writer, enum dump_key key, const void *value, uint64_t size);
CRASH_TIME void dump_text(struct dump_writer *writer, enum dump_key key, const char *text);
CRASH_TIME void dump_u32(struct dump_writer *writer, enum dump_key key, uint32_t value);
CRASH_TIME void dump_u64(struct dump_writer *writer, enum dump_key key, uint64_t value);
// Darwin's timeval: i64 seconds, i32 microseconds, 4 bytes of padding.
CRASH_TIME void dump_time(struct dump_writer *writer, enum dump_key key, int64_t seconds, int32_t microseconds);
// Mach's time_value_t: two i32.
CRASH_TIME void dump_duration(struct dump_writer *writer, enum dump_key key, int64_t seconds, int32_t microseconds);
// Writes memory of this process in its current state; unreadable bytes are zero. Returns the number of readable ones.
CRASH_TIME uint64_t dump_memory(struct dump_writer *writer, enum dump_key key, uint64_t address, uint64_t size);

#endif
