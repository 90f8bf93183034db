// SPDX-License-Identifier: Apache-2.0
/// The last component of a path without separators at its end; the whole path if it has nothing else.
///
/// Backslashes separate where the path is of Windows: it begins with a drive, or has no slash.
package func lastPathComponent(_ path: String) -> String {
  let bytes = path.utf8
  let isWindows = path.dropFirst().hasPrefix(":\\") || !bytes.contains(UInt8(ascii: "/"))
  func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || (isWindows && byte == UInt8(ascii: "\\")) }
  guard let last = bytes.lastIndex(where: { !isSeparator($0) }) else { return path }
  let end = bytes.index(after: last)
  let start = bytes[..<end].lastIndex(where: isSeparator).map { bytes.index(after: $0) } ?? bytes.startIndex
  return start == bytes.startIndex && end == bytes.endIndex ? path : String(path[start..<end])
}

/// Whether a name leads other processes to the same file: a relative one depends on the directory of its process, and one such as
/// /proc/self/fd/3 on its open files.
package func isSharedPath(_ name: [UInt8]) -> Bool {
  name.first == UInt8(ascii: "/") && !["/proc/", "/dev/fd/"].contains { name.starts(with: $0.utf8) }
}
