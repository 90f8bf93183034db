internal import BinaryFormat

/// What stands in a lock file `<uuid>.lock`.
///
/// Crashpad writes the time, eight bytes, and reads no more than these. Behind them we write a mark: it says that the owner
/// also holds an open-file-description lock on the file, so that the kernel knows whether the owner lives.
package struct LockContent: Sendable, Hashable {
  /// When the lock was made, in seconds since 1970.
  package var time: Int64
  /// Whether the kernel can be asked for the owner.
  package var isMarked: Bool

  static let mark = Array("crashpadctl\n".utf8)
  static let maximumSize = 8 + mark.count

  package init(time: Int64, isMarked: Bool) {
    self.time = time
    self.isMarked = isMarked
  }

  /// Nil if there are not even eight bytes: the owner was stopped before it wrote them, or does so right now.
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

/// What a lock file says about its owner.
public enum LockState: Sendable, Hashable {
  /// A program that lives has it. With a nil time it says so by the kernel alone.
  case held(since: Int64?)
  /// The program that made it is gone.
  case abandoned
  /// Crashpad's, or one whose file system keeps no locks: nobody can tell before it expires.
  case unknown(since: Int64)

  /// The rule, for a lock file that is there.
  ///
  /// - Parameters:
  ///   - content: what stands in it; nil for fewer than eight bytes.
  ///   - modified: the file's modification time, in seconds since 1970.
  ///   - isOwned: whether a process holds the file's open-file-description lock; nil if that can't be known.
  package static func of(content: LockContent?, modified: Int64, isOwned: Bool?) -> LockState {
    if isOwned == true { return .held(since: content?.time) }
    // The mark comes into a file whose lock is held already, so an unheld file with the mark has lost its owner.
    if let content, content.isMarked, isOwned == false { return .abandoned }
    return .unknown(since: content?.time ?? modified)
  }
}

/// When locks of reports expire.
package enum LockExpiry {
  /// Three days, in seconds, as Crashpad's callers of `CleanDatabase` have it.
  package static let timeToLive: Int64 = 3 * 86400

  /// Whether a lock of an unknown owner expired: `now >= since + timeToLive`, as Crashpad means it. (Its own function also
  /// looks at the file's time, with a reversed sign, which makes no difference but for files from the future.)
  package static func isExpired(since: Int64, now: Int64, timeToLive: Int64 = timeToLive) -> Bool {
    let (end, overflow) = since.addingReportingOverflow(timeToLive)
    return !overflow && now >= end
  }
}
