// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// The id of a report whose dump has none: computed from the dump's bytes, so that the same dump gives the same report
/// again.
package enum ContentID {
  /// The first half of SHA-256, as a UUID of version 8 (RFC 9562: custom).
  package static func of(_ bytes: RawSpan) -> UUIDBytes {
    let digest = SHA256.digest(bytes)
    let span = unsafe digest.span.bytes
    return UUIDBytes(high: span.uint64(at: 0).byteSwapped, low: span.uint64(at: 8).byteSwapped).withVersion(8)
  }
}
