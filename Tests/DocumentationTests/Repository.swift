// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files that these tests read.
enum Repository {
  /// The package's directory: the first above this file that has a directory `man`.
  static let root: URL = {
    var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appendingPathComponent("man").path) {
      folder.deleteLastPathComponent()
    }
    return folder
  }()

  /// `UPDATE_DOCS=1 swift test --filter DocumentationTests` writes anew what the documents repeat of the sources: the key
  /// table of crashpadctl-dump(5), and the output of the commands in README.md.
  static let isUpdating = ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1"

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  static func write(_ text: String, to path: String) throws {
    try text.write(to: root.appendingPathComponent(path).resolvingSymlinksInPath(), atomically: true, encoding: .utf8)
  }

  /// The names of the man pages, as `crashpadctl.1`.
  static let manPages: [String] = {
    let folder = root.appendingPathComponent("man").resolvingSymlinksInPath().path
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .filter { name in [".1", ".5", ".7"].contains { name.hasSuffix($0) } }.sorted()
  }()

  static func manPage(_ name: String) throws -> ManPage { ManPage(try text("man/\(name)")) }
}
