// SPDX-License-Identifier: Apache-2.0
// zlib, with what it defines as macros.
#ifndef CRASHPADCTL_CZLIB_H
#define CRASHPADCTL_CZLIB_H

#include <zlib.h>

// Begins to compress in the form of gzip (RFC 1952), with zlib's own window of 32 KiB and memory level 8.
static inline int zlib_begin_gzip(z_stream *_Nonnull stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

// Begins to expand what has gzip's or zlib's form.
static inline int zlib_begin_expansion(z_stream *_Nonnull stream) { return inflateInit2(stream, 15 + 32); }

#endif
