// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles

/// Compressed files and zip archives: what they hold is unpacked, or refused.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  let file = InputFile(bytes: bytes)
  let span = unsafe bytes.span.bytes
  if let compression = Compression.of(span) { _ = try? Decompression.unpack(span, compression, like: file) }
  guard let archive = ZipArchive(span) else { return 0 }
  for member in archive.members.prefix(4) {
    _ = try? archive.start(of: member, in: span, count: 1024)
    _ = try? archive.unpack(member, in: span, like: file)
  }
  return 0
}
