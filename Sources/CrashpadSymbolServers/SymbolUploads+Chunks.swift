// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadUpload

/// Sentry's way to take files in parts, as sentry-cli uses it: the server says which parts it lacks, gets these, and makes a file of
/// all. A part that it has of another file or run is not sent.
extension SymbolUploads {
  /// Nil if files are sent as a whole: servers of others, and early ones of Sentry.
  func chunkSettings() throws -> ChunkSettings? {
    guard receiver.kind == .sentry else { return nil }
    if let settings { return settings }
    var attempt = 1
    while true {
      let reason: String
      do {
        let answer = try get(receiver.parts, size: Self.longestList)
        switch answer.status {
        case 200:
          let known = ChunkSettings(answer.bytes, own: receiver.parts)
          settings = .some(known)
          return known
        // Behind another address the answer to the file itself says so, too.
        case 400, 404, 405, 410, 501:
          settings = .some(nil)
          return nil
        case 401, 402, 403, 407, 300..<400:
          obstacle = "the server answered \(answer.status)"
          return nil
        default: reason = "the server answered \(answer.status)"
        }
      } catch let error as DownloadFailure { reason = error.words }
      if attempt >= options.attempts || options.http.runEnd.isRequested {
        obstacle = reason
        return nil
      }
      wait(nil, attempt)
      attempt += 1
    }
  }

  /// In bytes, of an answer that lists the parts of a file or the states of some.
  private static let longestAnswer = 16 << 20

  private enum Answer {
    case states([String: AssemblyState])
    case none(FormOutcome)
  }

  private func states(_ files: [ChunkedFile]) throws -> Answer {
    let request = AssemblyState.request(files)
    var bytes: [UInt8] = []
    let outcome = try repeating { connection, now in
      let result = connection.send(
        json: request, to: receiver.assembly, largestAnswer: Self.longestAnswer, hasAccepted: hasAccepted, now: now)
      bytes = result.answer
      return result.outcome
    }
    guard outcome == .accepted else { return .none(outcome) }
    hasAccepted = true
    guard let states = AssemblyState.all(bytes) else { throw Unknown(reason: "its answer names no states of files") }
    return .states(states)
  }

  /// Sends the parts that the server lacks.
  func send(_ file: ChunkedFile, _ settings: ChunkSettings) throws -> Step {
    if let most = settings.largestFile, file.content.byteCount > most {
      return .finished(.refused("the server takes files of up to \(most) bytes"))
    }
    let state: AssemblyState
    switch try states([file]) {
    case .none(let outcome): return .finished(try settle(outcome, file.key))
    case .states(let states):
      guard let own = states[file.digest] else { throw Unknown(reason: "its answer does not name the file") }
      state = own
    }
    if let outcome = try outcome(of: file, state) { return .finished(outcome) }
    guard state.progress == .missing else { return .waiting(file) }
    let parts = file.parts(state.missing)
    guard !parts.isEmpty else { throw Unknown(reason: "it has no such file, and asks for no part of it") }
    try record.begin(file.key)
    let compressor = settings.takesGzip ? CompressionStream.gzip() : nil
    for request in settings.requests(parts) {
      let form = request.map { file.formPart($0, compressor) }
      let outcome = try repeating { connection, now in
        connection.send(form, to: settings.address, hasAccepted: hasAccepted, now: now)
      }
      guard outcome == .accepted else { return .finished(try settle(outcome, file.key)) }
    }
    var sent = file
    sent.wasSent = true
    return .waiting(sent)
  }

  /// Nil while the file is not whole.
  private func outcome(of file: ChunkedFile, _ state: AssemblyState) throws -> SymbolUploadOutcome? {
    switch state.progress {
    case .whole:
      try record.finish(file.key)
      return file.wasSent ? .sent : .present
    case .failed:
      try record.forget(file.key)
      return .refused(state.detail.map { "the server says: \($0)" } ?? "the server can't make a file of its parts")
    case .missing, .created, .assembling: return nil
    }
  }

  /// Waits until the server has made files of their parts.
  func finish(_ files: [ChunkedFile], _ take: (SymbolUploadFile, SymbolUploadOutcome) -> Void) {
    var rest = files
    var pause = Duration.milliseconds(100)
    var progress = Duration.sinceBoot
    while !rest.isEmpty {
      let count = rest.count
      var all: Answer?
      let failure = step {
        all = try states(rest)
        return .finished(.sent)
      }
      rest = rest.filter { file in
        let own = all.map { answer in step { try step(file, answer) } } ?? failure
        if case .finished(let outcome) = own { take(file.file, outcome) }
        return if case .waiting = own { true } else { false }
      }
      if rest.count < count { progress = .sinceBoot }
      let isOver = .sinceBoot - progress > options.http.timeout
      if isOver || options.http.runEnd.isRequested {
        // The lines of the record stay: the next run asks.
        let outcome =
          isOver ? .failed("the server has all of it, and makes no file of it") : SymbolUploadOutcome.notTried
        for file in rest { take(file.file, outcome) }
        return
      }
      if !rest.isEmpty { wait(pause) }
      pause = min(pause * 2, .seconds(1))
    }
  }

  private func step(_ file: ChunkedFile, _ answer: Answer) throws -> Step {
    switch answer {
    case .none(let outcome): return .finished(try settle(outcome, file.key))
    case .states(let states):
      guard let state = states[file.digest] else { throw Unknown(reason: "its answer does not name the file") }
      if let outcome = try outcome(of: file, state) { return .finished(outcome) }
      guard state.progress != .missing else { throw Unknown(reason: "it lacks parts that it has accepted") }
      return .waiting(file)
    }
  }
}
