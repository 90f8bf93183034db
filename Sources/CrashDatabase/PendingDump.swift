public import FileSystem
public import Snapshot

/// An intermediate dump that waits in `pending-serialized-ios-dump/`, by its name `<bundle-id>@<uuid>`, with `.locked` behind
/// it while its program runs. Whoever puts dumps there by hand may name them otherwise.
public struct PendingDump: Sendable, Hashable {
  public let name: FileName
  /// Bytes.
  public let size: Int
  /// When the file was last written, in seconds since 1970.
  public let modified: Int64
  /// Whether a program that lives holds the file's open-file-description lock. Only asked of locked dumps.
  public let isOwned: Bool

  package init(name: FileName, size: Int, modified: Int64, isOwned: Bool) {
    self.name = name
    self.size = size
    self.modified = modified
    self.isOwned = isOwned
  }

  public var isLocked: Bool { name.hasSuffix(DatabaseLayout.lockedExtension) }

  /// The name without `.locked`.
  package var unlockedName: FileName { name.removing(suffix: DatabaseLayout.lockedExtension) ?? name }

  /// What stands before the last `@`; nil if there is none.
  public var bundleID: String? {
    let bytes = unlockedName.bytes
    return bytes.lastIndex(of: UInt8(ascii: "@")).map { String(decoding: bytes[..<$0], as: UTF8.self) }
  }

  /// What stands behind the last `@`, or the whole name, if that is a UUID.
  public var uuid: UUIDBytes? {
    let bytes = unlockedName.bytes
    let start = bytes.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? 0
    guard bytes.count - start == 36 else { return nil }
    return UUIDBytes(text: String(decoding: bytes[start...], as: UTF8.self))
  }

  /// Whether the name begins with `bundleID` and `@`, as Crashpad asks.
  public func belongs(to bundleID: String) -> Bool { name.hasPrefix(bundleID + "@") }
}

/// The lock protocol of pending dumps, from `client/ios_handler/prune_intermediate_dumps_and_crash_reports_thread.cc`.
package enum PendingDumpLock {
  /// A locked dump of the own bundle expires after 24 hours. In seconds.
  package static let matchingTimeToLive: Int64 = 24 * 3600
  /// Whoever's it is, it expires after 60 days. In seconds.
  package static let maximumTimeToLive: Int64 = 60 * 86400

  package enum Rule: String, Sendable, Hashable {
    case matchingBundle = "matching-bundle"
    case anyBundle = "any-bundle"
  }

  package enum Decision: Sendable, Hashable {
    case notLocked
    /// Its program lives, and holds the file. Ours, not Crashpad's: on Linux a program may run for months.
    case owned
    case expired(by: Rule)
    /// It will expire at that time, in seconds since 1970.
    case locked(by: Rule, until: Int64)
    /// The file was changed in the future: one of two clocks is wrong, so nobody knows its age.
    case fromFuture(by: Rule, until: Int64)
  }

  /// - Parameters:
  ///   - dump: its name, modification time and owner decide.
  ///   - bundleIDs: those that count as one's own.
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
    // Both rules may hold; the older says more.
    return .expired(by: age >= maximumTimeToLive ? .anyBundle : rule)
  }
}
