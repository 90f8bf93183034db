// What is used of zlib's interface, declared here: the library is loaded when a report is compressed, and is needed for
// building only by tests. Layout and numbers are part of its binary interface since version 1.0 (zlib.h).
#ifndef CRASHPADCTL_CGZIP_H
#define CRASHPADCTL_CGZIP_H

#include <stddef.h>
#include <stdint.h>

// A z_stream: 112 bytes.
struct gzip_stream {
  const uint8_t *_Nullable next_in;
  unsigned avail_in;
  unsigned long total_in;
  uint8_t *_Nullable next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *_Nullable message;
  void *_Nullable state;
  // NULL for malloc and free.
  void *_Nullable allocate;
  void *_Nullable release;
  void *_Nullable opaque;
  int data_type;
  unsigned long checksum;
  unsigned long reserved;
};
_Static_assert(sizeof(struct gzip_stream) == 112, "zlib checks the size that it is passed");

enum {
  GZIP_NO_FLUSH = 0,    // Z_NO_FLUSH
  GZIP_FINISH = 4,      // Z_FINISH
  GZIP_OK = 0,          // Z_OK
  GZIP_STREAM_END = 1,  // Z_STREAM_END
};

// The functions that dlsym(3) finds.
typedef int (*gzip_begin_function)(struct gzip_stream *_Nonnull, int level, int method, int window_bits,
                                   int memory_level, int strategy, const char *_Nonnull version, int stream_size);
typedef int (*gzip_compress_function)(struct gzip_stream *_Nonnull, int flush);
typedef int (*gzip_stream_function)(struct gzip_stream *_Nonnull);

// deflateInit2: gzip's form (RFC 1952) with zlib's own window of 32 KiB, level and memory level.
static inline int gzip_begin(gzip_begin_function _Nonnull begin, struct gzip_stream *_Nonnull stream) {
  const int kDefaultLevel = -1;
  const int kDeflated = 8;
  const int kWindowBits = 15 + 16;
  const int kMemoryLevel = 8;
  const int kDefaultStrategy = 0;
  // zlib compares the first character.
  return begin(stream, kDefaultLevel, kDeflated, kWindowBits, kMemoryLevel, kDefaultStrategy, "1.2.11",
               (int)sizeof *stream);
}

#endif
