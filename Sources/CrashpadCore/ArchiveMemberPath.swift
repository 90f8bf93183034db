// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import SystemPackage

/// A part of a file, named as if the file were a directory: `feedback.zip/crash.ips`, `stackshot.ips/SpringBoard`.
struct ArchiveMemberPath {
  let file: FilePath
  /// The path of an archive's member, and behind it or alone the part of a report: see `ReportParts`.
  let name: String

  /// Nil unless a path above `path` is that of a regular file.
  init?(_ path: FilePath) {
    var file = path
    var names: [String] = []
    repeat {
      guard let name = file.lastComponent?.string, file.removeLastComponent(), !file.isEmpty else { return nil }
      if name != "." { names.append(name) }
    } while hint({ try FileKind(at: file, followingLink: true) }) == nil
    guard case .regular? = hint({ try FileKind(at: file, followingLink: true) }) else { return nil }
    self.file = file
    name = names.reversed().joined(separator: "/")
  }

  /// The name of an archive's member as a path has it: relative, without empty components and those that lead
  /// nowhere.
  static func path(of member: String) -> String {
    FilePath(member).components.filter { $0.kind != .currentDirectory }.map(\.string).joined(separator: "/")
  }

  /// The rest of `part` after the path of a member; nil if it does not begin with the path.
  static func rest(of part: String, behind member: String) -> String? {
    let path = path(of: member)
    if part == path { return "" }
    return part.hasPrefix(path + "/") ? String(part.dropFirst(path.count + 1)) : nil
  }
}
