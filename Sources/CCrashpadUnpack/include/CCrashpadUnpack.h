// The functions of zlib, libzstd and liblzma that are used, declared here: a release build links them statically if it
// finds the archives, and other builds load the libraries on demand. The functions are part of the libraries' stable
// binary interfaces (zlib.h, zstd.h, lzma/container.h).
#ifndef CRASHPADCTL_CUNPACK_H
#define CRASHPADCTL_CUNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns 0 (Z_OK) for success; the size becomes the number of bytes written.
typedef int (*zlib_uncompress_function)(void *_Nonnull target, unsigned long *_Nonnull size,
                                        const void *_Nonnull source, unsigned long count);

// Returns the number of bytes written, or an error: a number above any size.
typedef size_t (*zstd_decompress_function)(void *_Nonnull target, size_t capacity, const void *_Nonnull source,
                                           size_t count);

// Returns 0 (LZMA_OK) for success.
typedef int (*lzma_decode_function)(uint64_t *_Nonnull memory_limit, uint32_t flags, const void *_Nullable allocator,
                                    const void *_Nonnull source, size_t *_Nonnull source_position, size_t source_count,
                                    void *_Nonnull target, size_t *_Nonnull target_position, size_t target_count);

extern int uncompress(void *_Nonnull, unsigned long *_Nonnull, const void *_Nonnull, unsigned long)
    __attribute__((weak));
extern size_t ZSTD_decompress(void *_Nonnull, size_t, const void *_Nonnull, size_t) __attribute__((weak));
extern int lzma_stream_buffer_decode(uint64_t *_Nonnull, uint32_t, const void *_Nullable, const void *_Nonnull,
                                     size_t *_Nonnull, size_t, void *_Nonnull, size_t *_Nonnull, size_t)
    __attribute__((weak));

// Null if the library was not linked in.
static inline zlib_uncompress_function _Nullable zlib_linked(void) { return uncompress; }
static inline zstd_decompress_function _Nullable zstd_linked(void) { return ZSTD_decompress; }
static inline lzma_decode_function _Nullable lzma_linked(void) { return lzma_stream_buffer_decode; }

// Decompresses one stream piece by piece.

enum unpack_form {
  UNPACK_GZIP,     // RFC 1952
  UNPACK_DEFLATE,  // RFC 1951, without a frame: members of zip archives
  UNPACK_XZ,
  UNPACK_ZSTD,
};

enum unpack_result {
  UNPACK_MORE,     // room in the target or bytes of the source are needed
  UNPACK_END,      // the end of the stream; more may follow it
  UNPACK_DAMAGED,  // the source is not a valid stream, or needs more memory than is allowed
};

struct unpack;

// Returns NULL if the library is missing or memory is exhausted.
struct unpack *_Nullable unpack_begin(enum unpack_form form);

// Consumes bytes of the source and fills bytes of the target; sets `taken` and `filled` to their numbers.
enum unpack_result unpack_step(struct unpack *_Nonnull stream, const uint8_t *_Nullable source, size_t count,
                               size_t *_Nonnull taken, uint8_t *_Nonnull target, size_t capacity,
                               size_t *_Nonnull filled);

void unpack_end(struct unpack *_Nonnull stream);

#endif
