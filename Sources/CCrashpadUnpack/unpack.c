#include "CCrashpadUnpack.h"

#include <dlfcn.h>
#include <stdlib.h>

// The layouts are part of the libraries' stable binary interfaces: zlib.h, lzma/base.h, zstd.h.

struct deflate_stream {
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
_Static_assert(sizeof(struct deflate_stream) == 112, "zlib checks the size that it is passed");

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

extern int inflateInit2_(struct deflate_stream *, int, const char *, int) __attribute__((weak));
extern int inflate(struct deflate_stream *, int) __attribute__((weak));
extern int inflateEnd(struct deflate_stream *) __attribute__((weak));
extern int lzma_stream_decoder(struct xz_stream *, uint64_t, uint32_t) __attribute__((weak));
extern int lzma_code(struct xz_stream *, int) __attribute__((weak));
extern void lzma_end(struct xz_stream *) __attribute__((weak));
extern void *ZSTD_createDStream(void) __attribute__((weak));
extern size_t ZSTD_decompressStream(void *, struct zstd_target *, struct zstd_source *) __attribute__((weak));
extern size_t ZSTD_freeDStream(void *) __attribute__((weak));
extern unsigned ZSTD_isError(size_t) __attribute__((weak));

struct unpack {
  enum unpack_form form;
  union {
    struct deflate_stream deflate;
    struct xz_stream xz;
    void *zstd;
  } state;
  int (*inflate)(struct deflate_stream *, int);
  int (*inflate_end)(struct deflate_stream *);
  int (*xz_code)(struct xz_stream *, int);
  void (*xz_end)(struct xz_stream *);
  size_t (*zstd_step)(void *, struct zstd_target *, struct zstd_source *);
  size_t (*zstd_free)(void *);
  unsigned (*zstd_is_error)(size_t);
};

// Returns the linked function, or else loads it from the library.
static void *find(void *linked, const char *library, const char *name) {
  if (linked != NULL) return linked;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle == NULL ? NULL : dlsym(handle, name);
}

static bool begin_deflate(struct unpack *stream, int window_bits) {
  static const char kLibrary[] = "libz.so.1";
  int (*begin)(struct deflate_stream *, int, const char *, int) = find(inflateInit2_, kLibrary, "inflateInit2_");
  stream->inflate = find(inflate, kLibrary, "inflate");
  stream->inflate_end = find(inflateEnd, kLibrary, "inflateEnd");
  if (begin == NULL || stream->inflate == NULL || stream->inflate_end == NULL) return false;
  // zlib compares only the first character of the version.
  return begin(&stream->state.deflate, window_bits, "1.2.11", (int)sizeof stream->state.deflate) == 0;
}

static bool begin_xz(struct unpack *stream) {
  static const char kLibrary[] = "liblzma.so.5";
  // The largest dictionary of the xz presets is 64 MiB.
  const uint64_t kMemoryLimit = (uint64_t)128 << 20;
  int (*begin)(struct xz_stream *, uint64_t, uint32_t) = find(lzma_stream_decoder, kLibrary, "lzma_stream_decoder");
  stream->xz_code = find(lzma_code, kLibrary, "lzma_code");
  stream->xz_end = find(lzma_end, kLibrary, "lzma_end");
  if (begin == NULL || stream->xz_code == NULL || stream->xz_end == NULL) return false;
  return begin(&stream->state.xz, kMemoryLimit, 0) == 0;
}

static bool begin_zstd(struct unpack *stream) {
  static const char kLibrary[] = "libzstd.so.1";
  void *(*begin)(void) = find(ZSTD_createDStream, kLibrary, "ZSTD_createDStream");
  stream->zstd_step = find(ZSTD_decompressStream, kLibrary, "ZSTD_decompressStream");
  stream->zstd_free = find(ZSTD_freeDStream, kLibrary, "ZSTD_freeDStream");
  stream->zstd_is_error = find(ZSTD_isError, kLibrary, "ZSTD_isError");
  if (begin == NULL || stream->zstd_step == NULL || stream->zstd_free == NULL || stream->zstd_is_error == NULL)
    return false;
  stream->state.zstd = begin();
  return stream->state.zstd != NULL;
}

struct unpack *unpack_begin(enum unpack_form form) {
  struct unpack *stream = calloc(1, sizeof *stream);
  if (stream == NULL) return NULL;
  stream->form = form;
  bool has_begun = false;
  switch (form) {
  case UNPACK_GZIP: has_begun = begin_deflate(stream, 15 + 16); break;
  case UNPACK_DEFLATE: has_begun = begin_deflate(stream, -15); break;
  case UNPACK_XZ: has_begun = begin_xz(stream); break;
  case UNPACK_ZSTD: has_begun = begin_zstd(stream); break;
  }
  if (has_begun) return stream;
  free(stream);
  return NULL;
}

static enum unpack_result step_deflate(struct unpack *stream, const uint8_t *source, size_t count, size_t *taken,
                                       uint8_t *target, size_t capacity, size_t *filled) {
  enum { kNoFlush = 0, kOK = 0, kStreamEnd = 1, kBufferError = -5 };
  const size_t kMost = 1 << 30;
  struct deflate_stream *state = &stream->state.deflate;
  unsigned in = (unsigned)(count < kMost ? count : kMost), out = (unsigned)(capacity < kMost ? capacity : kMost);
  state->next_in = source;
  state->avail_in = in;
  state->next_out = target;
  state->avail_out = out;
  int result = stream->inflate(state, kNoFlush);
  *taken = in - state->avail_in;
  *filled = out - state->avail_out;
  if (result == kStreamEnd) return UNPACK_END;
  return result == kOK || result == kBufferError ? UNPACK_MORE : UNPACK_DAMAGED;
}

static enum unpack_result step_xz(struct unpack *stream, const uint8_t *source, size_t count, size_t *taken,
                                  uint8_t *target, size_t capacity, size_t *filled) {
  enum { kRun = 0, kOK = 0, kStreamEnd = 1, kBufferError = 10 };
  struct xz_stream *state = &stream->state.xz;
  state->next_in = source;
  state->avail_in = count;
  state->next_out = target;
  state->avail_out = capacity;
  int result = stream->xz_code(state, kRun);
  *taken = count - state->avail_in;
  *filled = capacity - state->avail_out;
  if (result == kStreamEnd) return UNPACK_END;
  return result == kOK || result == kBufferError ? UNPACK_MORE : UNPACK_DAMAGED;
}

static enum unpack_result step_zstd(struct unpack *stream, const uint8_t *source, size_t count, size_t *taken,
                                    uint8_t *target, size_t capacity, size_t *filled) {
  struct zstd_source in = {source, count, 0};
  struct zstd_target out = {target, capacity, 0};
  size_t result = stream->zstd_step(stream->state.zstd, &out, &in);
  *taken = in.position;
  *filled = out.position;
  if (stream->zstd_is_error(result)) return UNPACK_DAMAGED;
  return result == 0 ? UNPACK_END : UNPACK_MORE;
}

enum unpack_result unpack_step(struct unpack *stream, const uint8_t *source, size_t count, size_t *taken,
                               uint8_t *target, size_t capacity, size_t *filled) {
  *taken = *filled = 0;
  switch (stream->form) {
  case UNPACK_GZIP:
  case UNPACK_DEFLATE: return step_deflate(stream, source, count, taken, target, capacity, filled);
  case UNPACK_XZ: return step_xz(stream, source, count, taken, target, capacity, filled);
  case UNPACK_ZSTD: return step_zstd(stream, source, count, taken, target, capacity, filled);
  }
  return UNPACK_DAMAGED;
}

void unpack_end(struct unpack *stream) {
  switch (stream->form) {
  case UNPACK_GZIP:
  case UNPACK_DEFLATE: stream->inflate_end(&stream->state.deflate); break;
  case UNPACK_XZ: stream->xz_end(&stream->state.xz); break;
  case UNPACK_ZSTD: stream->zstd_free(stream->state.zstd); break;
  }
  free(stream);
}
