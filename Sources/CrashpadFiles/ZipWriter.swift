// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A zip archive with one member (PKWARE's APPNOTE.TXT), made in memory.
package enum ZipWriter {
  /// The content can't be in an archive of this form, or zlib is not installed.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// - Parameter name: the path of the member in the archive.
  package static func archive(_ name: String, _ content: InputFile) throws(Failure) -> [UInt8] {
    guard name.utf8.count < 1 << 16 else { throw Failure(description: "its name has 64 KiB or more") }
    guard content.byteCount < Int(UInt32.max) else { throw Failure(description: "it has more than 4 GiB") }
    let packed = try deflated(content)
    guard packed.count < Int(UInt32.max) - 1 << 17 else { throw Failure(description: "it has more than 4 GiB") }
    let sizes =
      littleEndian(content.withBytes { CyclicRedundancyCheck.of($0) }) + littleEndian(UInt32(packed.count))
      + littleEndian(UInt32(content.byteCount))
    let path = Array(name.utf8)
    // Version 2.0, names in UTF-8, deflated, and no time: the same content gives the same archive.
    let fields: [UInt8] = [20, 0, 0, 8, 8, 0, 0, 0, 0x21, 0] + sizes + littleEndian(UInt16(path.count)) + [0, 0]
    let local = [0x50, 0x4b, 3, 4] + fields + path
    let directory =
      [0x50, 0x4b, 1, 2, 20, 3] + fields + [0, 0, 0, 0, 0, 0] + littleEndian(UInt32(0o100644 << 16))
      + littleEndian(UInt32(0)) + path
    let end =
      [0x50, 0x4b, 5, 6, 0, 0, 0, 0, 1, 0, 1, 0] + littleEndian(UInt32(directory.count))
      + littleEndian(UInt32(local.count + packed.count)) + [0, 0]
    return local + packed + directory + end
  }

  /// The bytes of a gzip stream without its header and its end, which are those of `deflate`.
  private static func deflated(_ content: InputFile) throws(Failure) -> [UInt8] {
    guard let stream = CompressionStream.gzip() else { throw Failure(description: "zlib is not installed") }
    let all = content.withBytes { stream.compressed($0) }
    guard let all, all.count >= 18 else { throw Failure(description: "it can't be compressed") }
    return Array(all[10..<all.count - 8])
  }
}
