// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import SystemPackage

/// The files below a directory in which symbols may be.
struct TreeListing {
  /// The maximum number of files; further ones are not looked at.
  static let maximumFiles = 200_000

  private(set) var directories: [TreeContents.Directory] = []
  /// Files whose paths contain an id, and those that have to be opened for it.
  private(set) var named: [(id: UUIDBytes, path: FilePath)] = []
  private(set) var files: [FilePath] = []
  /// Directories with the name of an id, which are not listed.
  private(set) var folders: [(id: UUIDBytes, path: FilePath)] = []
  /// Links that lead to no regular file.
  private(set) var links: [FilePath] = []
  private(set) var hasPerfMap = false
  private(set) var unreadable: [(path: FilePath, errno: Errno)] = []
  /// Whether there are more files than are looked at.
  private(set) var isCut = false

  init(_ folder: FilePath) {
    do { try list(folder) } catch { unreadable.append((folder, error as? Errno ?? .ioError)) }
  }

  private mutating func list(_ folder: FilePath) throws {
    try list(folder, DirectoryListing(folder, hidden: true))
  }

  private mutating func list(_ folder: FilePath, _ listing: DirectoryListing, isInBundle: Bool = false) throws {
    directories.append(
      TreeContents.Directory(path: folder, identity: listing.identity, isInBundle: isInBundle))
    var below: [DirectoryListing.Entry] = []
    for entry in listing.entries {
      let path = folder.appending(entry.name)
      switch entry.kind {
      case .regular: add(path)
      case .directory: below.append(entry)
      case .symbolicLink: follow(path)
      case .unknown(let errno): unreadable.append((path, errno))
      case .other: break
      }
    }
    for entry in below { enter(folder.appending(entry.name), entry.name) }
  }

  private mutating func enter(_ path: FilePath, _ name: FileName) {
    if let id = Self.id(ofFolder: name) { return folders.append((id, path)) }
    do {
      if name.hasSuffix(".dSYM"), try listBundle(path) { return }
      try list(path)
    } catch { unreadable.append((path, error as? Errno ?? .ioError)) }
  }

  private static let inBundle = FilePath("Contents/Resources/DWARF")

  /// Lists the directory of a bundle that has its symbols, without those between: 10,000 bundles have 30,000 of these.
  private mutating func listBundle(_ path: FilePath) throws -> Bool {
    let folder = path.pushing(Self.inBundle)
    let listing: DirectoryListing
    do { listing = try DirectoryListing(folder, hidden: true) } catch let error as Errno {
      guard [.noSuchFileOrDirectory, .notDirectory].contains(error) else { throw error }
      return false
    }
    try list(folder, listing, isInBundle: true)
    return true
  }

  private mutating func follow(_ path: FilePath) {
    switch FileKind.look(at: path, followingLink: true) {
    case .found(.regular): add(path)
    // The target of a link is gone, or is no file.
    case .found, .absent: links.append(path)
    case .failed(let failure):
      if [.tooManySymbolicLinkLevels, .notDirectory].contains(failure.errno) {
        links.append(path)
      } else {
        unreadable.append((path, failure.errno))
      }
    }
  }

  private mutating func add(_ file: FilePath) {
    guard named.count + files.count < Self.maximumFiles else {
      isCut = true
      return
    }
    if let id = Self.id(in: file) {
      named.append((id.uuid, file))
    } else if file.string.hasSuffix(".map"), PerfMap.processID(file) != nil {
      hasPerfMap = true
    } else {
      files.append(file)
    }
  }

  // MARK: Ids in paths

  /// The id that a folder `NAME/ID` has as its name: a UUID and the age, which is below 16 in practice. Longer names
  /// may be build ids.
  private static func id(ofFolder name: FileName) -> UUIDBytes? {
    name.bytes.count == 33 ? DebugID(text: String(decoding: name.bytes, as: UTF8.self))?.uuid : nil
  }

  /// The id in `NAME/ID/NAME.sym`, which may be compressed, or `.build-id/ab/cdef.debug`; nil for other paths.
  private static func id(in path: FilePath) -> DebugID? {
    // FilePath's own components are slower, and there may be many thousand paths.
    let parts = path.string.utf8.split(separator: UInt8(ascii: "/")).suffix(3)
    guard parts.count == 3, let name = parts.last, let folder = parts.dropLast().last, let first = parts.first else {
      return nil
    }
    if folder.count == 2, first.elementsEqual(".build-id".utf8) {
      let digits = String(decoding: Array(folder) + Array(name.prefix { $0 != UInt8(ascii: ".") }), as: UTF8.self)
      return buildID(digits).flatMap { DebugID(buildID: $0) }
    }
    // 40 digits are a build id, not a UUID with an age of eight.
    guard (33...39).contains(folder.count), isSymName(name) else { return nil }
    return DebugID(text: String(decoding: Array(folder), as: UTF8.self))
  }

  private static func isSymName(_ name: Substring.UTF8View) -> Bool {
    var stem = name
    if let dot = name.lastIndex(of: UInt8(ascii: ".")),
      ["gz", "xz", "zst", "lz4"].contains(where: { name[name.index(after: dot)...].elementsEqual($0.utf8) })
    {
      stem = name[..<dot]
    }
    return stem.count > 4 && stem.suffix(4).elementsEqual(".sym".utf8)
  }

  private static func buildID(_ digits: String) -> [UInt8]? {
    let bytes = Array(digits.utf8)
    guard bytes.count >= 16, bytes.count % 2 == 0 else { return nil }
    var result: [UInt8] = []
    for index in stride(from: 0, to: bytes.count, by: 2) {
      guard let value = UInt8(String(decoding: bytes[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
      result.append(value)
    }
    return result
  }
}
