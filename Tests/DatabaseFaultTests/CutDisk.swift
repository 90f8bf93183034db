// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolRunner

/// The content that a disk may have after a power failure, from the record that the library of faults keeps with
/// `FAULT_DISK`: the bytes of each file when it was last synced, and the names of one of three moments. A file that was never synced is
/// empty.
struct CutDisk {
  /// File systems differ in how much they write besides what is waited for.
  enum Names: String, CaseIterable, Sendable {
    /// Each directory as when it was synced itself. A renaming is there as a whole or not at all.
    case names
    /// All directories as when anything was synced, as with one journal for the file system.
    case journal
    /// All that was done, as if it was written just before the failure.
    case all
  }

  private struct Entry {
    let isDirectory: Bool
    let file: String
    let name: String
  }

  private let record: URL
  private let names: Names
  /// By the directory's file.
  private var listings: [String: [Entry]] = [:]
  private let root: String

  init(_ record: URL, _ names: Names) throws {
    self.record = record
    self.names = names
    root = try FileManager.default.contentsOfDirectory(atPath: record.appending(path: "root").path).first ?? ""
    listings = try Self.listings(record, names)
    if names == .names { removeRenamed(try Self.listings(record, .all)) }
  }

  private static func listings(_ record: URL, _ names: Names) throws -> [String: [Entry]] {
    let folder = record.appending(path: names.rawValue)
    var listings: [String: [Entry]] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let text = String(decoding: try Data(contentsOf: folder.appending(path: file)), as: UTF8.self)
      listings[file] = text.split(separator: "\n").map { line in
        let words = line.split(separator: " ", maxSplits: 2)
        return Entry(isDirectory: words[0] == "d", file: String(words[1]), name: String(words[2]))
      }
    }
    return listings
  }

  /// Removes the old names of files whose new names are on the disk.
  private mutating func removeRenamed(_ last: [String: [Entry]]) {
    for (folder, entries) in listings {
      listings[folder] = entries.filter { entry in
        let isThere = last[folder]?.contains { $0.file == entry.file && $0.name == entry.name } == true
        let isElsewhere = listings.contains { other, entries in
          other != folder && entries.contains { $0.file == entry.file }
        }
        return isThere || !isElsewhere
      }
    }
  }

  /// Makes the files of the disk below `url`.
  func make(at url: URL) throws {
    var made: [String: URL] = [:]
    try make(root, at: url, &made)
  }

  private func make(_ folder: String, at url: URL, _ made: inout [String: URL]) throws {
    let manager = FileManager.default
    try manager.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for entry in listings[folder] ?? [] {
      let path = url.appending(path: entry.name)
      if entry.isDirectory {
        try make(entry.file, at: path, &made)
      } else if let other = made[entry.file] {
        try manager.linkItem(at: other, to: path)
      } else {
        try makeFile(entry.file, at: path)
        made[entry.file] = path
      }
    }
  }

  private func makeFile(_ file: String, at path: URL) throws {
    let manager = FileManager.default
    let data = record.appending(path: "data/\(file)")
    guard manager.fileExists(atPath: data.path) else {
      try Data().write(to: path)
      return try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.path)
    }
    try Data(contentsOf: data).write(to: path)
    let attributes = try manager.attributesOfItem(atPath: data.path)
    try manager.setAttributes(
      attributes.filter { [.posixPermissions, .modificationDate].contains($0.key) }, ofItemAtPath: path.path)
  }
}
