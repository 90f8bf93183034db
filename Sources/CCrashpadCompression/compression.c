// SPDX-License-Identifier: Apache-2.0
#include "CCrashpadCompression.h"

#include <dlfcn.h>
#include <stdlib.h>

// The layouts and numbers are part of the libraries' stable binary interfaces: zlib.h, lzma/base.h, zstd.h.

struct zlib_stream {
  const uint8_t *next_in;
  unsigned avail_in;
  unsigned long total_in;
  uint8_t *next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *message;
  void *state;
  void *allocate, *release, *opaque;
  int data_type;
  unsigned long checksum, reserved;
};
_Static_assert(sizeof(struct zlib_stream) == 112, "zlib checks the size that it is passed");

struct xz_stream {
  const uint8_t *next_in;
  size_t avail_in;
  uint64_t total_in;
  uint8_t *next_out;
  size_t avail_out;
  uint64_t total_out;
  const void *allocator;
  void *state;
  void *reserved_pointers[4];
  uint64_t seek_position, reserved_number;
  size_t reserved_sizes[2];
  int reserved_kinds[2];
};
_Static_assert(sizeof(struct xz_stream) == 136, "lzma_stream of liblzma 5");

struct zstd_source {
  const void *bytes;
  size_t size, position;
};

struct zstd_target {
  void *bytes;
  size_t size, position;
};

extern int inflateInit2_(struct zlib_stream *, int, const char *, int) __attribute__((weak));
extern int inflate(struct zlib_stream *, int) __attribute__((weak));
extern int inflateEnd(struct zlib_stream *) __attribute__((weak));
extern int deflateInit2_(struct zlib_stream *, int, int, int, int, int, const char *, int) __attribute__((weak));
extern int deflate(struct zlib_stream *, int) __attribute__((weak));
extern int deflateReset(struct zlib_stream *) __attribute__((weak));
extern int deflateEnd(struct zlib_stream *) __attribute__((weak));
extern int lzma_stream_decoder(struct xz_stream *, uint64_t, uint32_t) __attribute__((weak));
extern int lzma_code(struct xz_stream *, int) __attribute__((weak));
extern void lzma_end(struct xz_stream *) __attribute__((weak));
extern void *ZSTD_createDStream(void) __attribute__((weak));
extern size_t ZSTD_decompressStream(void *, struct zstd_target *, struct zstd_source *) __attribute__((weak));
extern size_t ZSTD_freeDStream(void *) __attribute__((weak));
extern unsigned ZSTD_isError(size_t) __attribute__((weak));

struct compression {
  enum compression_form form;
  union {
    struct zlib_stream zlib;
    struct xz_stream xz;
    void *zstd;
  } state;
  // The functions of zlib in one direction, and of the other libraries.
  int (*zlib_step)(struct zlib_stream *, int);
  int (*zlib_reset)(struct zlib_stream *);
  int (*zlib_end)(struct zlib_stream *);
  int (*xz_step)(struct xz_stream *, int);
  void (*xz_end)(struct xz_stream *);
  size_t (*zstd_step)(void *, struct zstd_target *, struct zstd_source *);
  size_t (*zstd_end)(void *);
  unsigned (*zstd_is_error)(size_t);
};

// Returns the linked function, or else loads it from the library, which is never unloaded.
static void *find(void *linked, const char *library, const char *name) {
  if (linked != NULL) return linked;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle == NULL ? NULL : dlsym(handle, name);
}

static const char kZlib[] = "libz.so.1";
// zlib compares only the first character of the version.
static const char kZlibVersion[] = "1.2.11";

static bool begin_inflate(struct compression *stream, int window_bits) {
  int (*begin)(struct zlib_stream *, int, const char *, int) = find(inflateInit2_, kZlib, "inflateInit2_");
  stream->zlib_step = find(inflate, kZlib, "inflate");
  stream->zlib_end = find(inflateEnd, kZlib, "inflateEnd");
  if (begin == NULL || stream->zlib_step == NULL || stream->zlib_end == NULL) return false;
  return begin(&stream->state.zlib, window_bits, kZlibVersion, (int)sizeof stream->state.zlib) == 0;
}

static bool begin_deflate(struct compression *stream) {
  enum { kDefaultLevel = -1, kDeflated = 8, kGzipWindowBits = 15 + 16, kMemoryLevel = 8, kDefaultStrategy = 0 };
  int (*begin)(struct zlib_stream *, int, int, int, int, int, const char *, int) =
      find(deflateInit2_, kZlib, "deflateInit2_");
  stream->zlib_step = find(deflate, kZlib, "deflate");
  stream->zlib_reset = find(deflateReset, kZlib, "deflateReset");
  stream->zlib_end = find(deflateEnd, kZlib, "deflateEnd");
  if (begin == NULL || stream->zlib_step == NULL || stream->zlib_reset == NULL || stream->zlib_end == NULL)
    return false;
  return begin(&stream->state.zlib, kDefaultLevel, kDeflated, kGzipWindowBits, kMemoryLevel, kDefaultStrategy,
               kZlibVersion, (int)sizeof stream->state.zlib) == 0;
}

static bool begin_xz(struct compression *stream) {
  static const char kLibrary[] = "liblzma.so.5";
  // The largest dictionary of the xz presets is 64 MiB.
  const uint64_t kMemoryLimit = (uint64_t)128 << 20;
  int (*begin)(struct xz_stream *, uint64_t, uint32_t) = find(lzma_stream_decoder, kLibrary, "lzma_stream_decoder");
  stream->xz_step = find(lzma_code, kLibrary, "lzma_code");
  stream->xz_end = find(lzma_end, kLibrary, "lzma_end");
  if (begin == NULL || stream->xz_step == NULL || stream->xz_end == NULL) return false;
  return begin(&stream->state.xz, kMemoryLimit, 0) == 0;
}

static bool begin_zstd(struct compression *stream) {
  static const char kLibrary[] = "libzstd.so.1";
  void *(*begin)(void) = find(ZSTD_createDStream, kLibrary, "ZSTD_createDStream");
  stream->zstd_step = find(ZSTD_decompressStream, kLibrary, "ZSTD_decompressStream");
  stream->zstd_end = find(ZSTD_freeDStream, kLibrary, "ZSTD_freeDStream");
  stream->zstd_is_error = find(ZSTD_isError, kLibrary, "ZSTD_isError");
  if (begin == NULL || stream->zstd_step == NULL || stream->zstd_end == NULL || stream->zstd_is_error == NULL)
    return false;
  stream->state.zstd = begin();
  return stream->state.zstd != NULL;
}

struct compression *compression_begin(enum compression_form form) {
  struct compression *stream = calloc(1, sizeof *stream);
  if (stream == NULL) return NULL;
  stream->form = form;
  bool has_begun = false;
  switch (form) {
  case COMPRESSION_FROM_GZIP: has_begun = begin_inflate(stream, 15 + 16); break;
  case COMPRESSION_FROM_ZLIB: has_begun = begin_inflate(stream, 15); break;
  case COMPRESSION_FROM_DEFLATE: has_begun = begin_inflate(stream, -15); break;
  case COMPRESSION_FROM_XZ: has_begun = begin_xz(stream); break;
  case COMPRESSION_FROM_ZSTD: has_begun = begin_zstd(stream); break;
  case COMPRESSION_TO_GZIP: has_begun = begin_deflate(stream); break;
  }
  if (has_begun) return stream;
  free(stream);
  return NULL;
}

static enum compression_result step_zlib(struct compression *stream, const uint8_t *source, size_t count, bool is_last,
                                         size_t *taken, uint8_t *target, size_t capacity, size_t *filled) {
  enum { kNoFlush = 0, kFinish = 4, kOK = 0, kStreamEnd = 1, kBufferError = -5 };
  const size_t kMost = 1 << 30;
  struct zlib_stream *state = &stream->state.zlib;
  unsigned in = (unsigned)(count < kMost ? count : kMost), out = (unsigned)(capacity < kMost ? capacity : kMost);
  state->next_in = source;
  state->avail_in = in;
  state->next_out = target;
  state->avail_out = out;
  bool is_end = is_last && in == count && stream->form == COMPRESSION_TO_GZIP;
  int result = stream->zlib_step(state, is_end ? kFinish : kNoFlush);
  *taken = in - state->avail_in;
  *filled = out - state->avail_out;
  if (result == kStreamEnd) return COMPRESSION_END;
  return result == kOK || result == kBufferError ? COMPRESSION_MORE : COMPRESSION_DAMAGED;
}

static enum compression_result step_xz(struct compression *stream, const uint8_t *source, size_t count, size_t *taken,
                                       uint8_t *target, size_t capacity, size_t *filled) {
  enum { kRun = 0, kOK = 0, kStreamEnd = 1, kBufferError = 10 };
  struct xz_stream *state = &stream->state.xz;
  state->next_in = source;
  state->avail_in = count;
  state->next_out = target;
  state->avail_out = capacity;
  int result = stream->xz_step(state, kRun);
  *taken = count - state->avail_in;
  *filled = capacity - state->avail_out;
  if (result == kStreamEnd) return COMPRESSION_END;
  return result == kOK || result == kBufferError ? COMPRESSION_MORE : COMPRESSION_DAMAGED;
}

static enum compression_result step_zstd(struct compression *stream, const uint8_t *source, size_t count,
                                         size_t *taken, uint8_t *target, size_t capacity, size_t *filled) {
  struct zstd_source in = {source, count, 0};
  struct zstd_target out = {target, capacity, 0};
  size_t result = stream->zstd_step(stream->state.zstd, &out, &in);
  *taken = in.position;
  *filled = out.position;
  if (stream->zstd_is_error(result)) return COMPRESSION_DAMAGED;
  return result == 0 ? COMPRESSION_END : COMPRESSION_MORE;
}

enum compression_result compression_step(struct compression *stream, const uint8_t *source, size_t count, bool is_last,
                                         size_t *taken, uint8_t *target, size_t capacity, size_t *filled) {
  *taken = *filled = 0;
  switch (stream->form) {
  case COMPRESSION_FROM_XZ: return step_xz(stream, source, count, taken, target, capacity, filled);
  case COMPRESSION_FROM_ZSTD: return step_zstd(stream, source, count, taken, target, capacity, filled);
  default: return step_zlib(stream, source, count, is_last, taken, target, capacity, filled);
  }
}

void compression_reset(struct compression *stream) { stream->zlib_reset(&stream->state.zlib); }

void compression_end(struct compression *stream) {
  switch (stream->form) {
  case COMPRESSION_FROM_XZ: stream->xz_end(&stream->state.xz); break;
  case COMPRESSION_FROM_ZSTD: stream->zstd_end(stream->state.zstd); break;
  default: stream->zlib_end(&stream->state.zlib); break;
  }
  free(stream);
}
