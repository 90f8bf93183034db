// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Digests of which signatures and keys are made.
enum SignatureDigest {
  /// Hexadecimal digits of the first 8 bytes of the SHA-256 of `text`.
  static func text(_ text: String) -> String { bytes(Array(text.utf8), count: 8) }

  /// The same of bytes.
  static func bytes(_ bytes: [UInt8], count: Int) -> String {
    let digest = unsafe SHA256.digest(bytes.span.bytes)
    return digest.prefix(count).map { hexadecimal(UInt64($0), width: 2) }.joined()
  }
}
