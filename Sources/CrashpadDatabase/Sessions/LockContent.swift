// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The content of a lock file `<uuid>.lock`.
///
/// Crashpad writes the time, eight bytes, and reads no more than these. We append a mark: the owner also holds an
/// open-file-description lock on the file, so that the kernel knows whether the owner lives.
package struct LockContent: Sendable, Hashable {
  /// The time at which the lock was made, in seconds since 1970.
  package var time: Int64
  /// Whether the kernel knows whether the owner lives.
  package var isMarked: Bool

  static let mark = Array("crashpadctl\n".utf8)
  static let maximumSize = 8 + mark.count

  package init(time: Int64, isMarked: Bool) {
    self.time = time
    self.isMarked = isMarked
  }

  /// Returns nil for fewer than eight bytes: the owner was stopped before it wrote them, or is about to.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= 8 else { return nil }
    time = Int64(bitPattern: unsafe bytes.span.bytes.uint64(at: 0))
    isMarked = bytes.dropFirst(8).starts(with: Self.mark)
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: time)
    return isMarked ? bytes + Self.mark : bytes
  }
}

/// The state of a lock file's owner.
public enum LockState: Sendable, Hashable {
  /// A live program holds it. A nil time means that only the kernel reports this.
  case held(since: Int64?)
  /// The program that made it is gone.
  case abandoned
  /// A lock by Crashpad, or on a file system that keeps no locks: whether its owner lives is unknown until it expires.
  case unknown(since: Int64)

  /// Determines the state of an existing lock file.
  ///
  /// - Parameters:
  ///   - content: its content; nil for fewer than eight bytes.
  ///   - modified: the file's modification time, in seconds since 1970.
  ///   - isOwned: whether a process holds the file's open-file-description lock; nil if that is not known.
  package static func of(content: LockContent?, modified: Int64, isOwned: Bool?) -> LockState {
    if isOwned == true { return .held(since: content?.time) }
    // The mark is written while the lock is held already, so a file with the mark that is not held has lost its owner.
    if let content, content.isMarked, isOwned == false { return .abandoned }
    return .unknown(since: content?.time ?? modified)
  }
}

/// The expiry of report locks.
package enum LockExpiry {
  /// Three days, in seconds, as in Crashpad's callers of `CleanDatabase`.
  package static let timeToLive: Int64 = 3 * 86400

  /// Whether a lock of an unknown owner has expired: `now >= since + timeToLive`, as Crashpad intends. (Its own
  /// function also checks the file's time, with the wrong sign, which makes a difference only for files from the
  /// future.)
  package static func isExpired(since: Int64, now: Int64, timeToLive: Int64 = timeToLive) -> Bool {
    let (end, overflow) = since.addingReportingOverflow(timeToLive)
    return !overflow && now >= end
  }

  /// Whether a lock of an unknown owner counts no more: it has expired, or its time is as far in the future. The clock was set
  /// back then, so its age is not known; but no program holds a lock over such a change.
  package static func isOver(since: Int64, now: Int64, timeToLive: Int64 = timeToLive) -> Bool {
    isExpired(since: since, now: now, timeToLive: timeToLive)
      || isExpired(since: now, now: since, timeToLive: timeToLive)
  }
}
