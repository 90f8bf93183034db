// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadJSON
internal import CrashpadSnapshot
internal import CrashpadSymbolication
package import CrashpadUpload
internal import Glibc
internal import SystemPackage

/// The settings for sending symbol files.
package struct SymbolUploadOptions: Sendable {
  package var http = HTTPOptions()
  /// The most requests for one file.
  package var attempts = 5
  /// The pause after the first failed request; each further one doubles it.
  package var pause: Duration = .seconds(1)
  /// The longest pause that a server may ask for.
  package var longestPause: Duration = .seconds(300)

  package init() {}
}

/// The outcome for one symbol file.
package enum SymbolUploadOutcome: Sendable, Hashable {
  case sent
  /// The server has it already.
  case present
  /// The server refuses it.
  case refused(String)
  case failed(String)
  /// It was not sent, because of the server.
  case notSent(String)
  /// The run was asked to end.
  case notTried
}

/// Sends symbol files to a server, and each of them once: the record has those that the server has. Used by one thread only.
package final class SymbolUploads {
  private let receiver: SymbolReceiver
  private let record: UploadRecord
  private let options: SymbolUploadOptions
  private var connection: HTTPConnection?
  private var hasAccepted = false
  /// Why nothing more is sent.
  private var obstacle: String?

  /// The most bytes of an answer that lists files.
  private static let longestList = 1 << 20

  /// - Parameter token: shows the server who sends; empty for none.
  package init(_ receiver: SymbolReceiver, _ record: UploadRecord, _ options: SymbolUploadOptions, token: String) {
    (self.receiver, self.record) = (receiver, record)
    var options = options
    if !token.isEmpty, let field = receiver.field(token) { options.http.headers.append(field) }
    self.options = options
  }

  /// The outcome that is expected for a file, without a request.
  package func plan(_ file: SymbolUploadFile) -> SymbolUploadOutcome {
    do {
      let content = try InputFile(regular: file.path)
      if case .sent = record.state(UploadRecord.key(content, file.place)) { return .present }
      return .sent
    } catch { return .failed("\(error)") }
  }

  /// Sends a file that the server does not have.
  package func send(_ file: SymbolUploadFile) -> SymbolUploadOutcome {
    if options.http.runEnd.isRequested { return .notTried }
    do {
      let content = try InputFile(regular: file.path)
      let key = UploadRecord.key(content, file.place)
      try content.checkReading()
      switch record.state(key) {
      case .sent: return .present
      case .open:
        // A run ended while it sent the file.
        if let obstacle { return .notSent(obstacle) }
        if try has(file) {
          try record.finish(key)
          return .present
        }
      case nil: break
      }
      if let obstacle { return .notSent(obstacle) }
      let archive = try ZipWriter.archive(file.place, content)
      try content.checkReading()
      return try send(archive, file, key)
    } catch let failure as Unknown {
      return .failed("whether the server has it is not known: \(failure.reason)")
    } catch {
      return .failed("\(error)")
    }
  }

  private func send(_ archive: [UInt8], _ file: SymbolUploadFile, _ key: String) throws -> SymbolUploadOutcome {
    try record.begin(key)
    for attempt in 1...max(options.attempts, 1) {
      let outcome = try connect().send(
        archive, fileName: "symbols.zip", to: receiver.target, hasAccepted: hasAccepted,
        now: Int64(time(nil)))
      switch outcome {
      case .accepted:
        hasAccepted = true
        try record.finish(key)
        return .sent
      case .refused(let reason):
        try record.forget(key)
        return .refused(reason)
      case .wrongAddress(let reason):
        try record.forget(key)
        obstacle = reason
        return .notSent(reason)
      case .unavailable(let pause, let reason, let mayHaveIt):
        if mayHaveIt, isThere(file) {
          try record.finish(key)
          return .sent
        }
        // Without an answer the line of the record stays: the next run asks.
        let hasEnded = options.http.runEnd.isRequested
        if attempt == options.attempts || hasEnded {
          if !mayHaveIt { try record.forget(key) }
          if hasEnded { return .notTried }
          obstacle = reason
          return .failed(reason)
        }
        wait(pause, attempt)
      }
    }
    return .failed("not sent")
  }

  private func wait(_ pause: Int64?, _ attempt: Int) {
    let own = options.pause * (1 << min(attempt - 1, 16))
    let time = min(max(pause.map { .seconds($0) } ?? own, own), options.longestPause)
    // The connection may be the reason.
    connection = nil
    let end = Duration.sinceBoot + time
    while .sinceBoot < end, !options.http.runEnd.isRequested { usleep(50_000) }
  }

  private func connect() throws -> HTTPConnection {
    if let connection { return connection }
    let new = try HTTPConnection(options.http)
    connection = new
    return new
  }

  // MARK: Questions

  private struct Unknown: Error { let reason: String }

  private final class Answer: DownloadSink {
    var bytes: [UInt8] = []
    func write(_ more: RawSpan) throws(FileFailure) { bytes += more.array() }
  }

  /// Whether the server has a file. Throws `Unknown` if it does not say.
  private func has(_ file: SymbolUploadFile) throws -> Bool {
    let answer = Answer()
    var limits = DownloadLimits()
    // That it begins to send a file is enough.
    limits.size = receiver.kind == .tecken ? 0 : Int64(Self.longestList)
    limits.stall = options.http.timeout
    let connection = try connect()
    let status: Int
    do throws(DownloadFailure) {
      let place = receiver.address(of: file.place, file.debugID)
      status = try connection.get(place, limits: limits, to: answer) { _ in }.status
    } catch {
      self.connection = nil
      if case .tooLarge(0) = error, receiver.kind == .tecken { return true }
      throw Unknown(reason: "\(error)")
    }
    switch status {
    case 200 where receiver.kind == .tecken: return true
    case 200: return try lists(file.debugID, answer.bytes)
    case 404, 410: return false
    default: throw Unknown(reason: "the server answered \(status)")
    }
  }

  /// Whether the server says that it has a file. Otherwise the file is sent again.
  private func isThere(_ file: SymbolUploadFile) -> Bool {
    do { return try has(file) } catch { return false }
  }

  /// Whether Sentry's list of files has one with an id: a server that does not know the question lists others.
  private func lists(_ id: DebugID?, _ bytes: [UInt8]) throws -> Bool {
    let tree = unsafe JSONTree(bytes.span.bytes)
    guard tree.failure == nil, let root = tree.root, root.kind == .array else {
      throw Unknown(reason: "its answer is no list")
    }
    // The age may follow the UUID.
    return root.elements.contains { file in
      let uuid = file["debugId"]?.string.flatMap { UUIDBytes(text: String($0.prefix(36))) }
      return uuid != nil && uuid == id?.uuid
    }
  }
}
