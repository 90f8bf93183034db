package import FileSystem

/// How long a server is left alone.
package struct UploadPause: Sendable, Hashable {
  /// Seconds since 1970.
  package var until: Int64
  /// How many runs in a row the server ended; the pause grows with it. 0 if the server itself asked for the pause.
  package var failures: Int

  package init(until: Int64, failures: Int = 0) {
    self.until = until
    self.failures = failures
  }

  /// Whether the server asked for it (HTTP's `Retry-After`).
  package var isRequested: Bool { failures == 0 }
}

/// The pauses of servers, in a file of our own beside the settings. Crashpad does not read it.
///
/// A line for each server: the seconds since 1970 at which the pause ends, the address, and, unless the server asked for the
/// pause itself, the number of runs that it ended.
struct UploadPauses {
  /// A file that is longer was not written by us.
  static let maximumSize = 1 << 16
  private static let maximumCount = 256
  /// Seconds. A pause that ended a day ago says nothing about the server any more.
  private static let memory: Int64 = 24 * 60 * 60

  private(set) var entries: [(server: String, pause: UploadPause)] = []

  init(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard (2...3).contains(words.count), let until = Int64(words[0]) else { continue }
      var pause = UploadPause(until: until)
      if words.count == 3 {
        guard let failures = Int(words[2]), failures > 0 else { continue }
        pause.failures = failures
      }
      entries.append((String(words[1]), pause))
    }
  }

  subscript(server: String) -> UploadPause? { entries.first { $0.server == server }?.pause }

  /// Sets the pause of `server`, or removes it; old ones are removed too.
  mutating func set(_ server: String, _ pause: UploadPause?, now: Int64) {
    let (oldest, overflow) = now.subtractingReportingOverflow(Self.memory)
    entries.removeAll { $0.server == server || (!overflow && $0.pause.until <= oldest) }
    if let pause { entries.append((server, pause)) }
    entries = entries.suffix(Self.maximumCount)
  }

  var bytes: [UInt8] {
    let lines = entries.map { server, pause in
      "\(pause.until) \(server)" + (pause.isRequested ? "" : " \(pause.failures)") + "\n"
    }
    return Array(lines.joined().utf8)
  }
}

extension CrashDatabase {
  /// The pause of the server, also one that is over; nil if there is none. Throws `FileFailure`.
  package func uploadPause(of server: String) throws(FileFailure) -> UploadPause? {
    guard let file = try root.openIfPresent(DatabaseLayout.uploadPauses) else { return nil }
    return UploadPauses(try file.prefix(UploadPauses.maximumSize))[server]
  }
}

extension DatabaseSession {
  /// Stores how long the server is left alone, or that it is in order.
  ///
  /// - Parameters:
  ///   - server: its address, without spaces and line feeds.
  ///   - pause: nil to remove the pause.
  ///   - now: seconds since 1970; pauses that ended a day before are removed.
  /// - Throws: `FileFailure`.
  package func setUploadPause(of server: String, _ pause: UploadPause?, now: Int64) throws(FileFailure) {
    let root = database.root
    let bytes = try root.openIfPresent(DatabaseLayout.uploadPauses)?.prefix(UploadPauses.maximumSize) ?? []
    var pauses = UploadPauses(bytes)
    pauses.set(server, pause, now: now)
    try replace(DatabaseLayout.uploadPauses, in: root, with: pauses.bytes)
  }
}
