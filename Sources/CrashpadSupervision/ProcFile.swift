// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

/// Files of /proc and /sys.
enum ProcFile {
  /// The whole content, without the line feed at its end; nil if it can't be read.
  static func text(_ path: String) -> String? {
    guard let text = hint({ try InputFile(FilePath(path)).text }) else { return nil }
    return text.utf8.last == 0x0a ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text
  }

  /// The values of a file with lines such as `Name: value`.
  static func members(_ path: String) -> [String: String] {
    var members: [String: String] = [:]
    for line in (text(path) ?? "").split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      members[String(line[..<colon])] = String(line[line.index(after: colon)...].drop { $0 == "\t" || $0 == " " })
    }
    return members
  }
}
