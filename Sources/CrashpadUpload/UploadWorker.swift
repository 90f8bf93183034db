// SPDX-License-Identifier: Apache-2.0
internal import CrashpadDatabase
internal import CrashpadFiles
internal import CrashpadSnapshot

/// Uploads reports one after the other over one connection.
final class UploadWorker {
  private let run: UploadRunState
  private var connection: HTTPConnection?
  private lazy var compressor = CompressionStream.gzip()

  private var options: ReportUploader.Options { run.options }

  init(_ run: UploadRunState) { self.run = run }

  func work() {
    while let id = run.next() { handle(id) }
  }

  /// Sends one report after the other until the server accepts one or the run ends.
  func probe() {
    while run.isProbing, let id = run.next() { handle(id) }
  }

  private func handle(_ id: UUIDBytes) {
    let result: AttemptResult
    do { result = try upload(id) } catch ReportChangeFailure.busy(let state) {
      result = .done(.busy(state))
    } catch { result = .done(.unusable(error)) }
    // The lock of the report is released by now.
    switch result {
    case .done(let outcome): run.report(id, outcome)
    case .failed(let failure, let pause): run.suspect(id, failure, pause: pause)
    case .accepted(let outcome):
      run.report(id, outcome)
      judge(run.accepted())
    }
  }

  /// The result of handling one report.
  private enum AttemptResult {
    case done(ReportUploader.Outcome)
    /// The server accepted the report, and so works.
    case accepted(ReportUploader.Outcome)
    /// The attempt failed, and it is not known yet whether the report is at fault. The
    /// server may ask for a pause, in seconds.
    case failed(ReportUploader.Failure, pause: Int64?)
  }

  private func upload(_ id: UUIDBytes) throws -> AttemptResult {
    // Reports that the caller named stay requested for later runs if this one ends early.
    if options.reports != nil { try run.session.requestUpload(id) }
    // The settings may have changed since the last report.
    guard let settings = run.settings() else { return .done(.notTried) }
    // Most reports that are not sent need no lock.
    if let metadata = try run.session.database.pendingReport(id)?.metadata.value, !metadata.isUploaded,
      let outcome = options.held(metadata, settings)
    {
      if case .skipped = outcome {} else { return .done(outcome) }
    }
    if let reason = run.stopReason { return .done(outcome(after: reason)) }
    guard let claim = try run.session.claimForUpload(id) else {
      if let failure = try run.session.database.obstacle(to: id) { throw failure }
      let isCompleted = try run.session.database.report(id)?.metadata.value?.isUploaded == true
      return .done(isCompleted ? .completedEarlierUpload : .gone)
    }
    if let outcome = options.held(claim.metadata, settings) {
      if case .skipped = outcome { try claim.skip() }
      return .done(outcome)
    }
    guard let destination = options.destination else { return .done(.notTried) }
    if options.policy.limitsRate, !options.isNamed, !claim.metadata.isUploadExplicitlyRequested,
      let next = try run.takeTurn(at: options.currentTime)
    {
      return .done(.waits(until: next, limitsRate: true))
    }
    return try send(claim, to: destination)
  }

  private func outcome(after reason: ReportUploader.Stop) -> ReportUploader.Outcome {
    switch reason {
    case .paused(let until), .backsOff(let until, _): .pausedUntil(until)
    default: .notTried
    }
  }

  // MARK: Sending

  private func send(_ claim: UploadClaim, to destination: UploadDestination) throws -> AttemptResult {
    try claim.openRecord()
    let (request, byteCount) = try request(for: claim, to: destination)
    let connection = try self.connection ?? HTTPConnection(options.http)
    self.connection = connection
    let response: HTTPResponse
    do { response = try connection.post(request) } catch {
      // The report or the disk is at fault, not the server.
      if case .unreadable(let file) = error.kind { throw file }
      if case .ended = error.kind {
        run.stop(.ended)
        return .done(.deferred(.transfer(error)))
      }
      return .failed(.transfer(error), pause: nil)
    }
    let now = options.currentTime
    let verdict = UploadPolicy.verdict(
      response, hasAccepted: run.hasAccepted, isCompressed: compressor(for: destination) != nil, now: now)
    switch verdict {
    case .accepted where !options.acceptsWebPages && response.isWebPage: return .failed(.webPage, pause: nil)
    case .accepted: return try record(response, byteCount, claim, destination)
    case .unavailable(let pause): return .failed(failure(response), pause: pause)
    case .unclear, .wrongAddress: return .failed(failure(response), pause: nil)
    case .refused:
      try claim.giveUp(now: now)
      run.recordAttempt(at: now)
      run.refused()
      return .done(.givenUp(destination.rejection(in: response.body).map { .discarded($0) } ?? failure(response)))
    }
  }

  private func failure(_ response: HTTPResponse) -> ReportUploader.Failure {
    (300...399).contains(response.status)
      ? .redirection(response.status, location: response.location)
      : response.isThroughProxy ? .proxyStatus(response.status) : .status(response.status)
  }

  /// Records that the server accepted the report.
  private func record(
    _ response: HTTPResponse, _ byteCount: Int, _ claim: UploadClaim, _ destination: UploadDestination
  ) throws -> AttemptResult {
    let now = options.currentTime
    if let reason = destination.rejection(in: response.body) {
      try claim.giveUp(now: now)
      run.recordAttempt(at: now)
      return .accepted(.givenUp(.discarded(reason)))
    }
    let obstacle: ReportChangeFailure?
    do { obstacle = try claim.complete(serverID: response.body, now: now) } catch {
      // Without a record, every further report would be sent twice.
      run.stop(.unrecorded(error))
      return .done(.unrecorded(serverID: response.body, error))
    }
    run.recordAttempt(at: now)
    return .accepted(
      obstacle.map { .unmoved(serverID: response.body, byteCount: byteCount, $0) }
        ?? .uploaded(serverID: response.body, byteCount: byteCount))
  }

  // MARK: Failures

  /// Counts the failed attempts against their reports, because the server accepted other reports meanwhile.
  func judge(_ suspicions: [UploadRunState.Suspicion]) {
    for suspicion in suspicions {
      let outcome: ReportUploader.Outcome
      do { outcome = try charge(suspicion) } catch { outcome = .deferred(suspicion.failure) }
      run.report(suspicion.id, outcome)
    }
  }

  private func charge(_ suspicion: UploadRunState.Suspicion) throws -> ReportUploader.Outcome {
    guard let claim = try run.session.claimForUpload(suspicion.id) else { return .gone }
    let now = options.currentTime
    var metadata = claim.metadata
    if metadata.uploadAttempts < .max { metadata.uploadAttempts += 1 }
    metadata.lastUploadAttemptTime = now
    run.recordAttempt(at: now)
    if options.policy.givesUp(attempts: metadata.uploadAttempts, after: suspicion.failure) {
      try claim.giveUp(now: now)
      return .givenUp(suspicion.failure)
    }
    try claim.recordFailure(attempts: metadata.uploadAttempts, now: now)
    return .failed(suspicion.failure, nextAttempt: options.policy.nextAttempt(metadata) ?? now)
  }

  // MARK: The request

  /// Without zlib, reports are sent uncompressed, which all servers accept.
  private func compressor(for destination: UploadDestination) -> CompressionStream? {
    options.compresses ?? destination.server.takesGzip ? compressor : nil
  }

  private func request(for claim: UploadClaim, to destination: UploadDestination) throws
    -> (request: HTTPRequest, byteCount: Int)
  {
    let attachments = try options.attachments(of: claim.report, run.session.database)
    let (minidump, fields) = try options.prepare(claim.file, scratchFile: claim.scratchFile)
    let minidumpName = Array(UploadFields.minidumpName.utf8)
    let minidumpFileName = UploadFields.fileName(of: claim.report)
    var files = [
      MultipartBody.File(
        name: minidumpName, fileName: minidumpFileName, file: minidump, size: try minidump.status().size)
    ]
    for attachment in attachments {
      let name = attachment.name.bytes
      let file = try claim.open(attachment)
      files.append(MultipartBody.File(name: name, fileName: name, file: file, size: try file.status().size))
    }
    files.sort { $0.name.lexicographicallyPrecedes($1.name) }
    // Likewise, a file wins over a field with its name.
    let taken = Set(files.map(\.fileName) + [minidumpName])
    let form = MultipartBody(
      fields: fields.fields.filter { !taken.contains($0.name) }, files: files, boundary: MultipartBody.makeBoundary())
    let address = options.identifiesClient ? destination.address(of: fields) : destination.address
    let compressor = compressor(for: destination)
    var request = HTTPRequest(url: address.text, body: compressor.map { GzipBody(form, $0) } ?? form)
    request.asksFirst = destination.server.asksFirst
    let encoding = compressor.flatMap { _ in HTTPHeader(name: "Content-Encoding", value: "gzip") }
    request.headers = [HTTPHeader(name: HTTPHeader.contentType, value: form.contentType), encoding].compactMap(\.self)
    return (request, form.byteCount ?? 0)
  }
}
