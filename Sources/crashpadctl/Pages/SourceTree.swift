// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadReportPage
import Synchronization
import SystemPackage

/// A folder with the sources of a program, whose files pages quote.
///
/// Which file is quoted, a file with symbols says, and that may be hostile: only regular files below the folder are read, and
/// no `..` and no symbolic link leads out of it.
final class SourceTree: Sendable {
  private let folder: Folder
  private struct File {
    /// Below the folder.
    let path: String
    let lines: [String]
  }

  /// Files by the path that the symbols have; nil where there is none.
  private let files = Mutex<[String: File?]>([:])

  /// Lines before and behind the one of a frame.
  private static let context: UInt64 = 4
  /// Files larger than this many bytes are not read as source.
  private static let maximumSize = 8 << 20
  /// Characters of a line.
  private static let maximumLine = 240

  /// Throws `FileFailure` if there is no such folder.
  init(_ path: FilePath) throws { folder = try Folder(path) }

  /// The lines around `line`, which counts from 1; nil if the file is not there or is shorter.
  func lines(of path: String, around line: UInt64) -> CrashPage.Source? {
    guard let lines = file(path)?.lines, line >= 1, line <= UInt64(lines.count) else { return nil }
    let first = line > Self.context ? line - Self.context : 1
    let last = min(UInt64(lines.count), line + Self.context)
    return CrashPage.Source(
      first: Int(first), lines: lines[Int(first) - 1..<Int(last)].map { String($0.prefix(Self.maximumLine)) },
      line: Int(line))
  }

  /// The place below the folder of the file that the symbols name; nil if it is not there.
  func path(of path: String) -> String? { file(path)?.path }

  private func file(_ path: String) -> File? {
    if let known = files.withLock({ $0[path] }) { return known }
    let file = read(path)
    files.withLock { $0[path] = .some(file) }
    return file
  }

  /// The longest end of the path that is there: "/build/src/cart.cpp" is src/cart.cpp, or else cart.cpp.
  private func read(_ path: String) -> File? {
    let parts = path.split { $0 == "/" || $0 == "\\" }.map(String.init).filter { $0 != "." }
    if parts.isEmpty || parts.contains("..") { return nil }
    for start in parts.indices.suffix(16) {
      if let bytes = bytes(Array(parts[start...])) {
        let text = String(decoding: bytes, as: UTF8.self)
        return File(
          path: parts[start...].joined(separator: "/"),
          lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
      }
    }
    return nil
  }

  private func bytes(_ parts: [String]) -> [UInt8]? {
    let names = parts.compactMap { FileName(bytes: Array($0.utf8)) }
    guard names.count == parts.count, let last = names.last else { return nil }
    do {
      var place = folder
      for name in names.dropLast() { place = try place.folder(name) }
      let bytes = try place.open(last).prefix(Self.maximumSize + 1)
      return bytes.count > Self.maximumSize ? nil : bytes
    } catch {
      return nil
    }
  }
}
