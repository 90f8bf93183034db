// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadMeaning
import CrashpadText
import Glibc
import SystemPackage

/// Words that the shells offer for arguments that are more than files.
enum WordCompletion {
  /// Programs by name, in the directories of `$PATH`, or by path.
  static let programs = CompletionKind.custom { _, _, prefix in
    if prefix.contains("/") { return paths(prefix, areExecutable: true) }
    let folders = (Environment.text("PATH") ?? "").split(separator: ":").map { FilePath(argument: String($0)) }
    var names: Set<String> = []
    for folder in folders {
      for name in hint({ try Folder(folder).names() }) ?? [] where name.text.hasPrefix(prefix) {
        if isExecutable(folder.appending(name)) { names.insert(name.text) }
      }
    }
    return names.sorted()
  }

  /// Codes that are one word, and files.
  static let codes = CompletionKind.custom { _, _, prefix in
    let upper = prefix.uppercased()
    var names: [String] = []
    if !prefix.isEmpty, !prefix.contains("/") {
      for row in MeaningTable.all where !row.query.contains(" ") && row.query.uppercased().hasPrefix(upper) {
        names.append(row.query)
      }
    }
    return Array(Set(names)).sorted() + paths(prefix, areExecutable: false)
  }

  /// The files and directories whose paths begin so; directories with a slash.
  private static func paths(_ prefix: String, areExecutable: Bool) -> [String] {
    let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
    let start = prefix.dropFirst(folder.count)
    let path = FilePath(argument: folder.isEmpty ? "." : folder)
    let names = (hint { try Folder(path).names() } ?? []).filter { name in
      name.text.hasPrefix(start) && (!name.hasPrefix(".") || start.hasPrefix("."))
    }
    return names.sorted().compactMap { name in
      let entry = path.appending(name)
      if hint({ try FileKind(at: entry, followingLink: true) }) == .directory { return folder + name.text + "/" }
      return areExecutable && !isExecutable(entry) ? nil : folder + name.text
    }
  }

  private static func isExecutable(_ path: FilePath) -> Bool {
    unsafe path.withPlatformString { unsafe access($0, X_OK) } == 0
      && hint({ try FileKind(at: path, followingLink: true) }) != .directory
  }
}
