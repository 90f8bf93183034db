// SPDX-License-Identifier: Apache-2.0
import CZlib

/// Expands gzip while it comes.
@safe final class Expansion {
  private var stream = unsafe z_stream()
  private var output = [UInt8](repeating: 0, count: 128 << 10)
  /// Whether the end of the compressed data was seen, with the right checksum.
  private(set) var isComplete = false

  init() throws(Ended) {
    guard unsafe zlib_begin_expansion(&stream) == Z_OK else { throw Ended(reason: "no zlib") }
  }

  deinit { unsafe inflateEnd(&stream) }

  func push(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard unsafe !bytes.isEmpty else { return }
    if isComplete { throw Ended(reason: "bytes behind the end of gzip") }
    unsafe stream.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
    unsafe stream.avail_in = UInt32(bytes.count)
    repeat {
      let room = output.count
      let (code, made) = unsafe output.withUnsafeMutableBufferPointer { buffer in
        unsafe stream.next_out = buffer.baseAddress
        unsafe stream.avail_out = UInt32(room)
        let code = unsafe inflate(&stream, Z_NO_FLUSH)
        return unsafe (code, room - Int(stream.avail_out))
      }
      guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
        throw Ended(reason: "damaged gzip: error \(code)")
      }
      try unsafe output.withUnsafeBytes { try unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<made])) }
      if code == Z_STREAM_END {
        isComplete = true
        guard unsafe stream.avail_in == 0 else { throw Ended(reason: "bytes behind the end of gzip") }
        return
      }
      if code == Z_BUF_ERROR { return }
    } while unsafe stream.avail_out == 0 || stream.avail_in > 0
  }
}
