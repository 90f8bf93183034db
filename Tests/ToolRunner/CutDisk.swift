// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The content that a disk may have after a power failure, from the record that the library of faults keeps with
/// `FAULT_DISK`: the bytes of each file when it was last synced, and the names of one of three moments.
///
/// Files keep their inodes, by which programs know them again.
public struct CutDisk {
  /// File systems differ in how much they write besides what is waited for.
  public enum Names: String, CaseIterable, Sendable {
    /// Each directory as when it was synced itself. A renaming is there as a whole or not at all.
    case names
    /// All directories as when anything was synced, as with one journal for the file system.
    case journal
    /// All that was done, as if it was written just before the failure.
    case all
  }

  /// The bytes of a file besides those that were synced. One that was never synced has none of them.
  public enum Bytes: String, CaseIterable, Sendable {
    case synced
    /// All bytes that were written.
    case written
    /// The first half of those that were appended.
    case half
  }

  private struct Entry {
    let isDirectory: Bool
    let file: String
    /// How many names the file had.
    let linkCount: Int
    let name: String
  }

  private let record: URL
  private let run: URL
  private let names: Names
  private let bytes: Bytes
  /// By the directory's file.
  private var listings: [String: [Entry]] = [:]
  private let root: String
  /// The files that the run left.
  private var live: [String: URL] = [:]

  /// - Parameter run: the directory in which the run was that kept the record. `make` takes its files, and removes it.
  public init(_ record: URL, _ names: Names, _ bytes: Bytes = .synced, of run: URL) throws {
    self.record = record
    self.run = run
    self.names = names
    self.bytes = bytes
    root = try FileManager.default.contentsOfDirectory(atPath: record.appending(path: "root").path).first ?? ""
    listings = try Self.listings(record, names)
    let last = try Self.listings(record, .all)
    if names == .names { removeRenamed(last) }
    findLive(root, at: run, last)
    findMoved()
  }

  private static func listings(_ record: URL, _ names: Names) throws -> [String: [Entry]] {
    let folder = record.appending(path: names.rawValue)
    var listings: [String: [Entry]] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let text = String(decoding: try Data(contentsOf: folder.appending(path: file)), as: UTF8.self)
      listings[file] = text.split(separator: "\n").map { line in
        let words = line.split(separator: " ", maxSplits: 3)
        return Entry(
          isDirectory: words[0] == "d", file: String(words[1]), linkCount: Int(words[2]) ?? 1, name: String(words[3]))
      }
    }
    return listings
  }

  /// Removes the old names of files whose new names are on the disk. A second name of a file is no new one.
  private mutating func removeRenamed(_ last: [String: [Entry]]) {
    for (folder, entries) in listings {
      listings[folder] = entries.filter { entry in
        let isThere = last[folder]?.contains { $0.file == entry.file && $0.name == entry.name } == true
        let isElsewhere = listings.contains { other, entries in
          other != folder && entries.contains { $0.file == entry.file && $0.linkCount == 1 }
        }
        return isThere || !isElsewhere
      }
    }
  }

  private mutating func findLive(_ folder: String, at url: URL, _ last: [String: [Entry]]) {
    for entry in last[folder] ?? [] {
      let path = url.appending(path: entry.name)
      if entry.isDirectory { findLive(entry.file, at: path, last) } else { live[entry.file] = path }
    }
  }

  /// Finds the files that other threads moved after the names were written down, and before the process ended.
  private mutating func findMoved() {
    let manager = FileManager.default
    let gone = live.filter { !manager.fileExists(atPath: $0.value.path) }
    if gone.isEmpty { return }
    var places: [String: URL] = [:]
    for case let url as URL in manager.enumerator(at: run, includingPropertiesForKeys: nil) ?? .init() {
      let number = (try? manager.attributesOfItem(atPath: url.path))?[.systemFileNumber] as? UInt64
      if let number { places[String(number)] = url }
    }
    for file in gone.keys { live[file] = places[String(file.prefix { $0 != "-" })] }
  }

  /// Makes the files of the disk below `url`, on the file system of the run.
  public func make(at url: URL) throws {
    var made: [String: URL] = [:]
    try make(root, at: url, &made)
    // No file keeps a second name.
    try FileManager.default.removeItem(at: run)
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
    let recorded = record.appending(path: "data/\(file)")
    let isRecorded = manager.fileExists(atPath: recorded.path)
    let synced = isRecorded ? try Data(contentsOf: recorded) : Data()
    var content = synced
    // The file that says with what time and permissions it was written.
    var source = isRecorded ? recorded : nil
    if let live = live[file] {
      if bytes != .synced {
        let written = try Data(contentsOf: live)
        if bytes == .written {
          content = written
        } else if written.starts(with: synced) {
          content = written.prefix(synced.count + (written.count - synced.count) / 2)
        }
        source = live
      }
      try manager.linkItem(at: live, to: path)
    } else {
      try Data().write(to: path)
    }
    let attributes = try source.map { try manager.attributesOfItem(atPath: $0.path) } ?? [.posixPermissions: 0o600]
    let handle = try FileHandle(forWritingTo: path)
    try handle.write(contentsOf: content)
    try handle.truncate(atOffset: UInt64(content.count))
    try handle.close()
    try manager.setAttributes(
      attributes.filter { [.posixPermissions, .modificationDate].contains($0.key) }, ofItemAtPath: path.path)
  }
}
