// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The choices that are the same for all forms of archives: the members that are dumps or reports, and the one that is meant.
enum ArchiveChoice {
  static func failure(_ compression: Compression, _ reason: DecompressionFailure) -> DumpInputFailure {
    .compressed(compression == .deflate ? "zip" : compression.rawValue, reason)
  }

  /// Whether macOS put the member beside another, for attributes that the archive has no place for.
  static func isCompanion(_ name: String) -> Bool {
    name.hasPrefix("__MACOSX/") || name.hasPrefix("._") || name.contains("/._")
  }

  /// Whether a member is a dump or report, by its first bytes; nil if they do not say.
  static func begins(_ start: [UInt8], named name: String) -> Bool? {
    switch unsafe InputFormat.of(start.span.bytes) {
    case nil, .json: nil
    case .core: InputFormat.isCore(start)
    // An intermediate dump is recognized by one byte, with which other files begin, too; so the extension must agree.
    case .intermediateDump: FormatRow.named(name) == .intermediateDump
    default: true
    }
  }

  /// The same, with compressed members, which are unpacked when they are opened.
  static func isDump(_ start: [UInt8], named name: String) -> Bool {
    if let isKnown = begins(start, named: name) { return isKnown }
    return unsafe Compression.of(start.span.bytes) != nil
  }

  /// The dump or report of an archive that has a single one. Throws `DumpInputFailure`.
  ///
  /// - Parameters:
  ///   - title: "a zip archive"
  ///   - part: the path of no member, which may be a part of the only one.
  static func only<Member>(
    of found: [Member], in title: String, _ part: String, name: (Member) -> String
  ) throws -> Member {
    guard let member = found.first else {
      throw DumpInputFailure.noDumpIn(archive: "\(title) without a dump or report")
    }
    guard found.count == 1 else {
      throw part.isEmpty
        ? DumpInputFailure.archiveOfMany(found.map { ArchiveMemberPath.path(of: name($0)) }) : .noSuchPart(part)
    }
    return member
  }
}
