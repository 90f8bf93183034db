// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
package import CrashpadSnapshot

/// An intermediate dump that waits in `pending-serialized-ios-dump/`, under the name `<bundle-id>@<uuid>`, with
/// `.locked` appended while its program runs. Dumps that were put there by hand may have other names.
public struct PendingDump: Sendable, Hashable {
  /// The name in `pending-serialized-ios-dump/`.
  public let name: FileName
  /// The size in bytes.
  public let size: Int
  /// The time of the file's last change, in seconds since 1970.
  public let modified: Int64
  /// The part of a second in that time, in nanoseconds.
  package let modifiedNanoseconds: Int64
  /// Whether a live program holds the file's open-file-description lock. Only checked for locked dumps.
  package let isOwned: Bool

  package init(name: FileName, size: Int, modified: Int64, modifiedNanoseconds: Int64 = 0, isOwned: Bool) {
    self.name = name
    self.size = size
    self.modified = modified
    self.modifiedNanoseconds = modifiedNanoseconds
    self.isOwned = isOwned
  }

  /// Throws `FileFailure` if a locked dump can't be opened, since it is not known then whether a program holds it.
  init(_ name: FileName, _ status: FileStatus, in folder: Folder) throws(FileFailure) {
    let isLocked = name.hasSuffix(DatabaseLayout.lockedExtension)
    self.init(
      name: name, size: status.size, modified: status.modified,
      modifiedNanoseconds: status.modifiedNanoseconds,
      isOwned: isLocked ? try Self.isOwned(name, in: folder) : false)
  }

  static func isOwned(_ name: FileName, in folder: Folder) throws(FileFailure) -> Bool {
    try folder.openIfPresent(name)?.ownership() == .owned
  }

  /// Whether the name ends with `.locked`.
  public var isLocked: Bool { name.hasSuffix(DatabaseLayout.lockedExtension) }

  /// The name without `.locked`.
  package var unlockedName: FileName { name.removing(suffix: DatabaseLayout.lockedExtension) ?? name }

  /// The part before the last `@`; nil if there is none.
  public var bundleID: String? {
    let bytes = unlockedName.bytes
    return bytes.lastIndex(of: UInt8(ascii: "@")).map { String(decoding: bytes[..<$0], as: UTF8.self) }
  }

  /// The UUID after the last `@`, or the whole name if it is a UUID.
  package var uuid: UUIDBytes? {
    let bytes = unlockedName.bytes
    let start = bytes.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? 0
    guard bytes.count - start == 36 else { return nil }
    return UUIDBytes(text: String(decoding: bytes[start...], as: UTF8.self))
  }

  /// Whether the name begins with `bundleID` and `@`, as Crashpad requires.
  package func belongs(to bundleID: String) -> Bool { name.hasPrefix(bundleID + "@") }
}

/// The lock protocol of pending dumps, from `client/ios_handler/prune_intermediate_dumps_and_crash_reports_thread.cc`.
public enum PendingDumpLock {
  /// The seconds after which a locked dump of an own bundle expires: 24 hours.
  package static let matchingTimeToLive: Int64 = 24 * 3600
  /// The seconds after which a locked dump of any bundle expires: 60 days.
  package static let maximumTimeToLive: Int64 = 60 * 86400

  /// The rule by which a lock expires.
  public enum Rule: String, Sendable, Hashable {
    /// After 24 hours, as the dump is of an own bundle.
    case matchingBundle = "matching-bundle"
    /// After 60 days.
    case anyBundle = "any-bundle"
  }

  /// The state of a dump's lock.
  public enum Decision: Sendable, Hashable {
    /// The dump has no lock.
    case notLocked
    /// Its program lives, and holds the file. Ours, not Crashpad's: on Linux a program may run for months.
    case owned
    /// The lock is too old to count.
    case expired(by: Rule)
    /// The lock expires at that time, in seconds since 1970.
    case locked(by: Rule, until: Int64)
    /// The file was changed in the future: one of two clocks is wrong, so its age is unknown.
    case fromFuture(by: Rule, until: Int64)
  }

  /// - Parameters:
  ///   - dump: its name, modification time and owner decide.
  ///   - bundleIDs: the own bundles.
  ///   - now: in seconds since 1970.
  package static func decide(_ dump: PendingDump, bundleIDs: [String], now: Int64) -> Decision {
    guard dump.isLocked else { return .notLocked }
    if dump.isOwned { return .owned }
    let matches = bundleIDs.contains { dump.belongs(to: $0) }
    let rule: Rule = matches ? .matchingBundle : .anyBundle
    let timeToLive = matches ? matchingTimeToLive : maximumTimeToLive
    let (end, overflow) = dump.modified.addingReportingOverflow(timeToLive)
    let until = overflow ? Int64.max : end
    if dump.modified > now { return .fromFuture(by: rule, until: until) }
    let (difference, isLonger) = now.subtractingReportingOverflow(dump.modified)
    let age = isLonger ? Int64.max : difference
    guard age >= timeToLive else { return .locked(by: rule, until: until) }
    // Both rules may apply; the older one is more informative.
    return .expired(by: age >= maximumTimeToLive ? .anyBundle : rule)
  }
}
