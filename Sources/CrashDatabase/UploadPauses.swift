public import FileSystem

/// Until when servers asked to be left alone (HTTP's `Retry-After`), in a file of our own beside the settings: a line for
/// each, with the seconds since 1970 and the server's address. Crashpad knows nothing of it.
struct UploadPauses {
  /// A file that is longer was not written by us.
  static let maximumSize = 1 << 16
  private static let maximumCount = 256

  private(set) var times: [(server: String, until: Int64)] = []

  init(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1)
      if words.count == 2, let until = Int64(words[0]) { times.append((String(words[1]), until)) }
    }
  }

  /// Those that are over by `now` are forgotten.
  mutating func set(_ server: String, until: Int64, now: Int64) {
    times.removeAll { $0.server == server || $0.until <= now }
    times.append((server, until))
    times = times.suffix(Self.maximumCount)
  }

  var bytes: [UInt8] { Array(times.map { "\($0.until) \($0.server)\n" }.joined().utf8) }
}

extension CrashDatabase {
  /// Until when the server asked to be left alone, in seconds since 1970; nil if it did not. Throws `FileFailure`.
  public func uploadPause(of server: String) throws(FileFailure) -> Int64? {
    guard let file = try root.openIfPresent(DatabaseLayout.uploadPauses) else { return nil }
    return UploadPauses(try file.prefix(UploadPauses.maximumSize)).times.first { $0.server == server }?.until
  }
}

extension DatabaseSession {
  /// Remembers that the server asked to be left alone until `until`, in seconds since 1970.
  ///
  /// - Parameters:
  ///   - server: its address, without a line feed.
  ///   - until: the end of it.
  ///   - now: by which earlier ones are over.
  /// - Throws: `FileFailure`.
  public func pauseUploads(to server: String, until: Int64, now: Int64) throws(FileFailure) {
    let root = database.root
    let bytes = try root.openIfPresent(DatabaseLayout.uploadPauses)?.prefix(UploadPauses.maximumSize) ?? []
    var pauses = UploadPauses(bytes)
    pauses.set(server, until: until, now: now)
    try replace(DatabaseLayout.uploadPauses, in: root, with: pauses.bytes)
  }
}
