// SPDX-License-Identifier: Apache-2.0
/// The last component of a path without separators at its end; the whole path if it has nothing else.
///
/// Backslashes separate where the path is of Windows: it begins with a drive, or has no slash.
package func lastPathComponent(_ path: String) -> String {
  let bytes = path.utf8.span
  let (slash, backslash) = (UInt8(ascii: "/"), UInt8(ascii: "\\"))
  var isWindows = bytes.count > 2 && bytes[1] == UInt8(ascii: ":") && bytes[2] == backslash
  if !isWindows { isWindows = !bytes.indices.contains { bytes[$0] == slash } }
  func isSeparator(_ index: Int) -> Bool { bytes[index] == slash || (isWindows && bytes[index] == backslash) }
  var end = bytes.count
  while end > 0, isSeparator(end - 1) { end -= 1 }
  guard end > 0 else { return path }
  var start = end
  while start > 0, !isSeparator(start - 1) { start -= 1 }
  guard start > 0 || end < bytes.count else { return path }
  let text = path.utf8
  return String(
    path[text.index(text.startIndex, offsetBy: start)..<text.index(text.startIndex, offsetBy: end)])
}

/// Whether a name leads other processes to the same file: a relative one depends on the directory of its process, and one such as
/// /proc/self/fd/3 on its open files.
package func isSharedPath(_ name: [UInt8]) -> Bool {
  name.first == UInt8(ascii: "/") && !["/proc/", "/dev/fd/"].contains { name.starts(with: $0.utf8) }
}
