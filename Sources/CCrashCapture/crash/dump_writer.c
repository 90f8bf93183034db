// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "dump_writer.h"

#include <sys/uio.h>
#include <unistd.h>

#include "memory.h"

enum command { kMapStart = 1, kMapEnd, kArrayStart, kArrayEnd, kProperty, kRootMapStart, kRootMapEnd };

CRASH_TIME void dump_writer_start(struct dump_writer *writer, int file, uint8_t *buffer, uint32_t size) {
  writer->file = file;
  writer->error = 0;
  writer->buffer = buffer;
  writer->size = size;
  writer->used = 0;
  writer->flushed = 0;
  writer->writes_at_offset = false;
}

// Like write(2); a filter may allow only one of the similar calls.
CRASH_TIME static long write_some(struct dump_writer *writer, const uint8_t *bytes, uint32_t count, uint64_t offset) {
  long result = -ENOSYS;
  if (!writer->writes_at_offset) result = SYSTEM_CALL_3(SYS_write, writer->file, bytes, count);
  if (!is_refused(result)) return result;
  long at_offset = SYSTEM_CALL_4(SYS_pwrite64, writer->file, bytes, count, offset);
  if (!is_refused(at_offset)) {
    writer->writes_at_offset = true;
    return at_offset;
  }
  struct iovec piece = {(void *)bytes, count};
  return writer->writes_at_offset ? at_offset : SYSTEM_CALL_3(SYS_writev, writer->file, &piece, 1);
}

CRASH_TIME void dump_writer_flush(struct dump_writer *writer) {
  if (writer->file < 0) {
    writer->error = ENOSPC;
    return;
  }
  uint32_t done = 0;
  while (done < writer->used && writer->error == 0) {
    long result = write_some(writer, writer->buffer + done, writer->used - done, writer->flushed + done);
    if (result > 0) {
      done += (uint32_t)result;
    } else if (result != -EINTR && !(result == -EFBIG && raise_file_size())) {
      // On a full disk the first write is short, and the next one fails.
      writer->error = result == 0 ? EIO : (int)-result;
    }
  }
  writer->flushed += done;
  writer->used = 0;
}

CRASH_TIME void dump_writer_bytes(struct dump_writer *writer, const void *bytes, size_t count) {
  const uint8_t *source = bytes;
  while (count > 0 && writer->error == 0) {
    if (writer->used == writer->size) {
      dump_writer_flush(writer);
      continue;
    }
    size_t room = writer->size - writer->used;
    size_t part = count < room ? count : room;
    copy_bytes(writer->buffer + writer->used, source, part);
    writer->used += (uint32_t)part;
    source += part;
    count -= part;
  }
}

CRASH_TIME uint64_t dump_writer_position(const struct dump_writer *writer) { return writer->flushed + writer->used; }

CRASH_TIME void dump_writer_rewind(struct dump_writer *writer, uint64_t position) {
  if (writer->error != 0) return;
  if (position >= writer->flushed) {
    writer->used = (uint32_t)(position - writer->flushed);
    return;
  }
  writer->used = 0;
  long result = SYSTEM_CALL_3(SYS_lseek, writer->file, position, SEEK_SET);
  if (is_refused(result)) {
    writer->writes_at_offset = true;
    result = 0;
  }
  if (result >= 0) result = SYSTEM_CALL_2(SYS_ftruncate, writer->file, position);
  // If the file can't be cut, later writes replace the bytes behind the position.
  if (result < 0 && !is_refused(result)) writer->error = (int)-result;
  writer->flushed = position;
}

CRASH_TIME static void command(struct dump_writer *writer, uint8_t command) { dump_writer_bytes(writer, &command, 1); }

CRASH_TIME static void command_key(struct dump_writer *writer, uint8_t command, enum dump_key key) {
  uint8_t bytes[3] = {command, (uint8_t)key, (uint8_t)(key >> 8)};
  dump_writer_bytes(writer, bytes, sizeof bytes);
}

CRASH_TIME void dump_root_start(struct dump_writer *writer) { command(writer, kRootMapStart); }
CRASH_TIME void dump_root_end(struct dump_writer *writer) { command(writer, kRootMapEnd); }
CRASH_TIME void dump_map_start(struct dump_writer *writer, enum dump_key key) { command_key(writer, kMapStart, key); }
CRASH_TIME void dump_element_start(struct dump_writer *writer) { command(writer, kMapStart); }
CRASH_TIME void dump_map_end(struct dump_writer *writer) { command(writer, kMapEnd); }
CRASH_TIME void dump_array_start(struct dump_writer *writer, enum dump_key key) {
  command_key(writer, kArrayStart, key);
}
CRASH_TIME void dump_array_end(struct dump_writer *writer) { command(writer, kArrayEnd); }

CRASH_TIME void dump_property_start(struct dump_writer *writer, enum dump_key key, uint64_t size) {
  command_key(writer, kProperty, key);
  dump_writer_bytes(writer, &size, sizeof size);
}

CRASH_TIME void dump_property(struct dump_writer *writer, enum dump_key key, const void *value, uint64_t size) {
  dump_property_start(writer, key, size);
  dump_writer_bytes(writer, value, size);
}

CRASH_TIME void dump_text(struct dump_writer *writer, enum dump_key key, const char *text) {
  dump_property(writer, key, text, text_length(text, kMaximumPropertySize));
}

CRASH_TIME void dump_u32(struct dump_writer *writer, enum dump_key key, uint32_t value) {
  dump_property(writer, key, &value, sizeof value);
}

CRASH_TIME void dump_u64(struct dump_writer *writer, enum dump_key key, uint64_t value) {
  dump_property(writer, key, &value, sizeof value);
}

CRASH_TIME void dump_time(struct dump_writer *writer, enum dump_key key, int64_t seconds, int32_t microseconds) {
  struct {
    int64_t seconds;
    int32_t microseconds;
    int32_t padding;
  } time = {seconds, microseconds, 0};
  dump_property(writer, key, &time, sizeof time);
}

CRASH_TIME void dump_duration(struct dump_writer *writer, enum dump_key key, int64_t seconds, int32_t microseconds) {
  int32_t time[2] = {(int32_t)seconds, microseconds};
  dump_property(writer, key, time, sizeof time);
}

CRASH_TIME uint64_t dump_memory(struct dump_writer *writer, enum dump_key key, uint64_t address, uint64_t size) {
  dump_property_start(writer, key, size);
  uint64_t read = 0;
  while (size > 0 && writer->error == 0) {
    if (writer->used == writer->size) {
      dump_writer_flush(writer);
      continue;
    }
    uint64_t room = writer->size - writer->used;
    size_t part = size < room ? size : room;
    // Reads straight into the buffer.
    uint8_t *place = writer->buffer + writer->used;
    size_t done = memory_read(place, address, part);
    if (done < part) {
      // Only the rest of the page is known to be unreadable.
      size_t gap = kPageSizeOfProbes - ((address + done) & (kPageSizeOfProbes - 1));
      if (gap > part - done) gap = part - done;
      zero_bytes(place + done, gap);
      part = done + gap;
    }
    writer->used += (uint32_t)part;
    read += done;
    address += part;
    size -= part;
  }
  return read;
}
