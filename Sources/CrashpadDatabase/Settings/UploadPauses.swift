// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles

/// A period during which a server gets no uploads.
package struct UploadPause: Sendable, Hashable {
  /// Seconds since 1970.
  package var until: Int64
  /// The number of successive runs that the server ended; the pause grows with it. 0 if the server itself requested the
  /// pause.
  package var failures: Int

  package init(until: Int64, failures: Int = 0) {
    self.until = until
    self.failures = failures
  }

  /// Whether the server requested it (HTTP's `Retry-After`).
  package var isRequested: Bool { failures == 0 }
}

/// The pauses of servers, in a file of our own beside the settings. Crashpad does not read it.
///
/// One line for each server: the seconds since 1970 at which the pause ends, the address, and, unless the server
/// requested the pause itself, the number of runs that it ended.
struct UploadPauses {
  /// The most bytes of a file that this program writes.
  static let maximumSize = 1 << 16
  private static let maximumCount = 256
  /// In seconds. A pause that ended a day ago has no meaning any more.
  private static let memory: Int64 = 24 * 60 * 60

  private(set) var entries: [(server: String, pause: UploadPause)] = []

  init(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard (2...3).contains(words.count), let until = Int64(words[0]), until > 0 else { continue }
      var pause = UploadPause(until: until)
      if words.count == 3 {
        // Other values are damage, and would overflow later.
        guard let failures = Int(words[2]), (1..<1 << 20).contains(failures) else { continue }
        pause.failures = failures
      }
      entries.append((String(words[1]), pause))
    }
  }

  subscript(server: String) -> UploadPause? { entries.first { $0.server == server }?.pause }

  /// Sets the pause of `server`, or removes it; old pauses are removed too.
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
  /// The pause of the server, even if it is over; nil if there is none. Throws `FileFailure`.
  package func uploadPause(of server: String) throws(FileFailure) -> UploadPause? {
    guard let file = try root.openIfPresent(DatabaseLayout.uploadPauses) else { return nil }
    return UploadPauses(try file.prefix(UploadPauses.maximumSize))[server]
  }
}

extension DatabaseSession {
  /// Stores the pause of a server, or removes it because the server works.
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
