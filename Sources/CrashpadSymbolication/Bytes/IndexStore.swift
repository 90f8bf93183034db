// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import Glibc
package import SystemPackage

/// The directory in which indexes are kept between runs.
///
/// Runs at once share it: a file in it appears whole, by rename. No result depends on it: an index that is missing, damaged, of
/// another form or of another file is made anew, and one that can't be written is made again by the next run.
package struct IndexStore: Sendable {
  package let path: FilePath
  /// Whether to wait until an index is on the disk, so that it counts after a loss of power, too.
  var isDurable = false
  package var thresholds = Thresholds()

  package init(_ path: FilePath) { self.path = path }

  /// Limits: what is below is read again faster than an index is worth.
  package struct Thresholds: Sendable {
    /// Files and directories in a tree.
    package var entries = 256
    /// The bytes of a file, and of the entries of its debug information when they are unpacked.
    package var fileSize = 1 << 20
    package var information = 2 << 20
    /// The age of a change in nanoseconds: a younger one may be followed by another one within the same tick of the file
    /// system's clock.
    package var age: Int64 = 3_000_000_000

    package init() {}
  }

  enum Kind: String, CaseIterable {
    /// The ids of the files in directories.
    case trees
    /// The parts that were read from large files with debug information.
    case files

    /// The size in bytes of all indexes of the kind, beyond which those that were not used for longest are removed.
    var limit: Int {
      switch self {
      case .trees: 256 << 20
      case .files: 4 << 30
      }
    }
  }

  private func folder(_ kind: Kind) -> FilePath { path.appending(kind.rawValue) }

  /// The place of the index of the file or directory at a path without links.
  func place(_ kind: Kind, of subject: FilePath) -> FilePath {
    let digest = unsafe SHA256.digest(subject.bytes.span.bytes)
    return folder(kind).appending(hexadecimalDigits(Array(digest.prefix(20))))
  }

  /// Opens the index at a place and marks it as used. Returns nil if it can't be read.
  func open(_ place: FilePath) -> InputFile? {
    guard let input = hint({ try InputFile(regular: place) }) else { return nil }
    // Its time of access may not be kept. Once a day is enough to know which were not used for longest.
    if let status = hint({ try FileStatus(at: place, followingLink: true) }),
      FileIdentity.now / 1_000_000_000 - status.accessed > 86_400
    {
      FileStatus.markUsed(place)
    }
    return input
  }

  /// The part of a file system that indexes leave free.
  private static let freePart: UInt64 = 10

  /// Makes an index appear at its place. Returns whether that succeeded; on a disk that is nearly full it does not.
  @discardableResult
  func write(_ kind: Kind, at place: FilePath, byteCount: Int, _ body: (OutputFile) throws -> Void) -> Bool {
    switch FileKind.look(at: place) {
    case .absent, .found(.regular): break
    case .found, .failed: return false
    }
    do {
      try createDirectories(folder(kind))
      let room = try FileSystemRoom(of: folder(kind))
      // Some file systems do not know theirs.
      guard room.total == 0 || room.free >= UInt64(byteCount) + room.total / Self.freePart else { return false }
      let output = try OutputFile(place)
      try body(output)
      try output.commit(durable: isDurable)
    } catch { return false }
    trim(kind)
    return true
  }

  private func trim(_ kind: Kind) {
    let files = hint { try regularFiles(in: folder(kind), recursive: false, hidden: true).files } ?? []
    var known: [(path: FilePath, status: FileStatus)] = []
    for file in files {
      if let status = hint({ try FileStatus(at: file, followingLink: false) }) { known.append((file, status)) }
    }
    known.sort { $0.status.accessed > $1.status.accessed }
    var room = kind.limit
    for (file, status) in known {
      room -= status.size
      if room < 0 { unsafe file.withPlatformString { unsafe _ = unlink($0) } }
    }
  }
}

/// A sum over bytes that finds damage, though no intent. It reads eight bytes at once: an index is checked at each start.
struct IndexChecksum {
  private var value: UInt64 = 0x9e37_79b9_7f4a_7c15

  static func of(_ bytes: RawSpan) -> UInt64 {
    var sum = IndexChecksum()
    let whole = bytes.byteCount & ~7
    var place = 0
    while place < whole {
      sum.add(bytes.uint64(at: place))
      place += 8
    }
    while place < bytes.byteCount {
      sum.add(UInt64(bytes.uint8(at: place)))
      place += 1
    }
    sum.add(UInt64(bytes.byteCount))
    return sum.value ^ sum.value >> 29
  }

  @inline(__always)
  private mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0xff51_afd7_ed55_8ccd
    value = value << 31 | value >> 33
  }
}
