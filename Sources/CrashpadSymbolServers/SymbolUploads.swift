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
  /// Called before a pause of some seconds.
  package var willPause: @Sendable (_ time: Duration) -> Void = { _ in }

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
  let receiver: SymbolReceiver
  let record: UploadRecord
  let options: SymbolUploadOptions
  private var connection: HTTPConnection?
  var hasAccepted = false
  /// Why nothing more is sent.
  var obstacle: String?
  /// How the server takes files in parts; nil before it was asked, and of nil if it does not.
  var settings: ChunkSettings??

  /// The most bytes of an answer that lists files.
  static let longestList = 1 << 20

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
      let content = try SymbolInputs().open(file.path)
      if case .sent = record.state(UploadRecord.key(content, file.place)) { return .present }
      return .sent
    } catch { return .failed("\(error)") }
  }

  /// The state of a file behind the requests for it.
  enum Step {
    case finished(SymbolUploadOutcome)
    /// The server has all parts of it.
    case waiting(ChunkedFile)
  }

  /// Files of which the server has all parts are waited for together.
  private static let mostWaiting = 64

  /// Sends the files that the server does not have, and passes the outcome of each.
  package func send(_ files: [SymbolUploadFile], _ take: (SymbolUploadFile, SymbolUploadOutcome) -> Void) {
    var waiting: [ChunkedFile] = []
    for file in files {
      switch send(file) {
      case .finished(let outcome): take(file, outcome)
      case .waiting(let chunked): waiting.append(chunked)
      }
      if waiting.count == Self.mostWaiting {
        finish(waiting, take)
        waiting = []
      }
    }
    finish(waiting, take)
  }

  private func send(_ file: SymbolUploadFile) -> Step {
    if options.http.runEnd.isRequested { return .finished(.notTried) }
    return step {
      let inputs = SymbolInputs()
      let content = try inputs.open(file.path)
      let key = UploadRecord.key(content, file.place)
      try inputs.checkReading()
      let state = record.state(key)
      if case .sent = state { return .finished(.present) }
      if obstacle == nil, let settings = try chunkSettings() {
        let step = try send(ChunkedFile(file, content, key, chunkSize: settings.chunkSize), settings)
        try inputs.checkReading()
        return step
      }
      if let obstacle { return .finished(.notSent("not tried after the failure before: \(obstacle)")) }
      // A run ended while it sent the file.
      if case .open = state, try has(file) {
        try record.finish(key)
        return .finished(.present)
      }
      let archive = try ZipWriter.archive(file.place, content)
      try inputs.checkReading()
      return .finished(try send(archive, file, key))
    }
  }

  func step(_ body: () throws -> Step) -> Step {
    do { return try body() } catch let failure as Unknown {
      return .finished(.failed("whether the server has it is not known: \(failure.reason)"))
    } catch {
      return .finished(.failed("\(error)"))
    }
  }

  private func send(_ archive: [UInt8], _ file: SymbolUploadFile, _ key: String) throws -> SymbolUploadOutcome {
    try record.begin(key)
    let part = FormPart(field: "file", fileName: "symbols.zip", content: archive)
    let outcome = try repeating(isDone: { isThere(file) }) { connection, now in
      connection.send([part], to: receiver.target, hasAccepted: hasAccepted, now: now)
    }
    return try settle(outcome, key)
  }

  /// Repeats a request while the server has no answer that counts.
  ///
  /// - Parameter isDone: asked after a request that the server may have got.
  func repeating(
    isDone: () -> Bool = { false }, _ request: (_ connection: HTTPConnection, _ now: Int64) throws -> FormOutcome
  ) throws -> FormOutcome {
    var attempt = 1
    while true {
      let outcome = try request(connect(), Int64(time(nil)))
      guard case .unavailable(let pause, _, let mayHaveIt) = outcome else { return outcome }
      if mayHaveIt, isDone() { return .accepted }
      if attempt >= options.attempts || options.http.runEnd.isRequested { return outcome }
      wait(pause, attempt)
      attempt += 1
    }
  }

  /// Keeps what the last answer about a file says.
  func settle(_ outcome: FormOutcome, _ key: String) throws -> SymbolUploadOutcome {
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
    case .unavailable(_, let reason, let mayHaveIt):
      // Without an answer the line of the record stays: the next run asks.
      if !mayHaveIt { try record.forget(key) }
      if options.http.runEnd.isRequested { return .notTried }
      obstacle = reason
      return .failed(reason)
    }
  }

  /// The shortest pause that is said: people would take a longer one for a run that hangs.
  private static let saidPause = Duration.seconds(5)

  func wait(_ pause: Int64?, _ attempt: Int) {
    let own = options.pause * (1 << min(attempt - 1, 16))
    // The connection may be the reason.
    connection = nil
    let time = min(max(pause.map { .seconds($0) } ?? own, own), options.longestPause)
    if time >= Self.saidPause { options.willPause(time) }
    wait(time)
  }

  func wait(_ time: Duration) {
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

  /// The server does not say what was asked.
  struct Unknown: Error { let reason: String }

  private final class Answer: DownloadSink {
    var bytes: [UInt8] = []
    func write(_ more: RawSpan) throws(FileFailure) { bytes += more.array() }
  }

  /// - Parameter size: the most bytes of the answer.
  func get(_ place: WebAddress, size: Int) throws -> (status: Int, bytes: [UInt8]) {
    let answer = Answer()
    var limits = DownloadLimits()
    limits.size = Int64(size)
    limits.stall = options.http.timeout
    let connection = try connect()
    do throws(DownloadFailure) {
      return (try connection.get(place, limits: limits, to: answer) { _ in }.status, answer.bytes)
    } catch {
      self.connection = nil
      throw error
    }
  }

  /// Whether the server has a file. Throws `Unknown` if it does not say.
  private func has(_ file: SymbolUploadFile) throws -> Bool {
    let answer: (status: Int, bytes: [UInt8])
    do {
      // That it begins to send a file is enough.
      answer = try get(
        receiver.address(of: file.place, file.debugID), size: receiver.kind == .tecken ? 0 : Self.longestList)
    } catch let error as DownloadFailure {
      if case .tooLarge(0) = error, receiver.kind == .tecken { return true }
      throw Unknown(reason: "\(error)")
    }
    switch answer.status {
    case 200 where receiver.kind == .tecken: return true
    case 200: return try lists(file.debugID, answer.bytes)
    case 404, 410: return false
    default: throw Unknown(reason: "the server answered \(answer.status)")
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
      guard let id, let other = file["debugId"]?.string.flatMap({ DebugID(text: $0) }) else { return false }
      return id.isOfSameLink(as: other)
    }
  }
}
