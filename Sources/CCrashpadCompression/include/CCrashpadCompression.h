// SPDX-License-Identifier: Apache-2.0
// zlib, liblzma and libzstd behind one interface. A release build links them statically if it finds the archives; other
// builds load each library when the first stream needs it, and no program needs one of them to be built or started.
#ifndef CRASHPADCTL_CCOMPRESSION_H
#define CRASHPADCTL_CCOMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum compression_form {
  COMPRESSION_FROM_GZIP,     // RFC 1952
  COMPRESSION_FROM_ZLIB,     // RFC 1950
  COMPRESSION_FROM_DEFLATE,  // RFC 1951, without a frame: members of zip archives
  COMPRESSION_FROM_XZ,
  COMPRESSION_FROM_ZSTD,
  COMPRESSION_TO_GZIP,  // compresses, with zlib's default level and 260 KiB of tables
};

enum compression_result {
  COMPRESSION_MORE,     // room in the target or bytes of the source are needed
  COMPRESSION_END,      // the end of the stream; more may follow it
  COMPRESSION_DAMAGED,  // the source is not a valid stream, or needs more memory than is allowed
};

struct compression;

// Returns NULL if the library is missing or memory is exhausted.
struct compression *_Nullable compression_begin(enum compression_form form);

// Consumes bytes of the source and fills bytes of the target; sets `taken` and `filled` to their numbers. With `is_last`,
// a stream that compresses ends after these bytes.
enum compression_result compression_step(struct compression *_Nonnull stream, const uint8_t *_Nullable source,
                                         size_t count, bool is_last, size_t *_Nonnull taken,
                                         uint8_t *_Nullable target, size_t capacity, size_t *_Nonnull filled);

// Begins again; only for a stream that compresses.
void compression_reset(struct compression *_Nonnull stream);

void compression_end(struct compression *_Nonnull stream);

#endif
