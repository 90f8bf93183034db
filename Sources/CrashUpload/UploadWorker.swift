internal import CrashDatabase
internal import FileSystem
internal import Snapshot

/// Uploads one report after the other over one connection.
final class UploadWorker {
  private let run: UploadRun
  private let uploading: Uploading
  private var connection: HTTPConnection?
  private lazy var compressor = GzipCompressor()

  private var options: Uploading.Options { uploading.options }

  init(_ run: UploadRun) {
    self.run = run
    uploading = run.uploading
  }

  func work() {
    while let id = run.next() {
      let outcome: Uploading.Outcome
      do { outcome = try upload(id) } catch let failure as ReportChangeFailure {
        outcome = if case .busy(let state) = failure { .busy(state) } else { .unusable(failure) }
      } catch { outcome = .unusable(error) }
      run.tell(Uploading.Result(id: id, outcome: outcome))
      run.syncSometimes()
    }
  }

  private func upload(_ id: UUIDBytes) throws -> Uploading.Outcome {
    // What the caller named is wanted, also by later runs, and if this one ends before.
    if options.reports != nil { try run.session.requestUpload(id) }
    if let reason = run.stopReason {
      if case .paused(let until) = reason { return .pausedUntil(until) }
      return .notTried
    }
    guard let claim = try run.session.claimForUpload(id) else {
      let isCompleted = try run.session.database.report(id)?.metadata.value?.isUploaded == true
      return isCompleted ? .completedEarlierUpload : .gone
    }
    let now = uploading.now
    let decision = options.policy.decide(
      claim.metadata, isNamed: uploading.isNamed, uploadsEnabled: run.uploadsEnabled, lastAttempt: run.lastAttempt,
      now: now)
    switch decision {
    case .waitAfterFailure, .waitForRate: return .waits(decision)
    case .skip:
      try claim.skip()
      return .skipped
    case .upload:
      if let destination = options.destination { return try send(claim, to: destination) }
      // Nowhere to send it to: as with uploads that are not allowed.
      if uploading.isNamed || claim.metadata.isUploadExplicitlyRequested { return .notTried }
      try claim.skip()
      return .skipped
    }
  }

  // MARK: Sending

  private func send(_ claim: UploadClaim, to destination: UploadDestination) throws -> Uploading.Outcome {
    let (request, byteCount) = try request(for: claim, to: destination)
    let connection = try self.connection ?? HTTPConnection(options.http)
    self.connection = connection
    let response: HTTPResponse
    do { response = try connection.post(request) } catch { return try record(error, claim) }
    let now = uploading.now
    switch UploadPolicy.verdict(response, now: now) {
    case .accepted where !options.acceptsWebPages && response.isWebPage:
      run.stop(.wrongAddress(.webPage))
      return try record(.webPage, claim)
    case .accepted:
      if let reason = destination.rejection(in: response.body) {
        try claim.giveUp(now: now)
        run.recordAttempt(at: now)
        run.count(failed: false)
        return .givenUp(.discarded(reason))
      }
      do { try claim.complete(serverID: response.body, now: now) } catch {
        // Every further report would be sent twice.
        run.stop(.unrecorded(error))
        return .unrecorded(serverID: response.body, error)
      }
      run.recordAttempt(at: now)
      run.count(failed: false)
      return .uploaded(serverID: response.body, byteCount: byteCount)
    case .pause(let seconds):
      run.stop(.paused(until: now + seconds))
      run.recordAttempt(at: now)
      try run.session.pauseUploads(to: destination.displayName, until: now + seconds, now: now)
      return .pausedUntil(now + seconds)
    case .refused:
      try claim.giveUp(now: now)
      if UploadPolicy.concernsAddress(response.status) { run.stop(.wrongAddress(.status(response.status))) }
      run.recordAttempt(at: now)
      // One may be too large or too old for a server; ten in a row are not what is wrong.
      run.count(failed: true)
      return .givenUp(.status(response.status))
    case .retry where (300...399).contains(response.status):
      let failure = Uploading.Failure.redirection(response.status, location: response.location)
      run.stop(.wrongAddress(failure))
      return try record(failure, claim)
    case .retry: return try record(.status(response.status), claim)
    }
  }

  private func record(_ failure: TransferFailure, _ claim: UploadClaim) throws -> Uploading.Outcome {
    // The report itself is at fault, or its disk: nothing was wrong with the server.
    if case .unreadable(let file) = failure.kind { throw file }
    if failure.isUnreachable { run.stop(.unreachable(failure)) }
    return try record(.transfer(failure), claim)
  }

  private func record(_ failure: Uploading.Failure, _ claim: UploadClaim) throws -> Uploading.Outcome {
    let now = uploading.now
    run.count(failed: true)
    var metadata = claim.metadata
    metadata.uploadAttempts = options.policy.attempts(after: failure, before: metadata.uploadAttempts)
    metadata.lastUploadAttemptTime = now
    let givesUp = options.policy.givesUp(attempts: metadata.uploadAttempts, after: failure)
    if givesUp {
      try claim.giveUp(now: now)
    } else {
      try claim.recordFailure(attempts: metadata.uploadAttempts, now: now)
    }
    run.recordAttempt(at: now)
    return givesUp ? .givenUp(failure) : .failed(failure, nextAttempt: options.policy.nextAttempt(metadata) ?? now)
  }

  // MARK: The request

  private func request(for claim: UploadClaim, to destination: UploadDestination) throws
    -> (request: HTTPRequest, byteCount: Int)
  {
    var minidump = claim.file
    var input = try InputFile(minidump)
    if let redact = options.redaction {
      minidump = try claim.scratchFile()
      try redact(input, minidump)
      try minidump.rewind()
      input = try InputFile(minidump)
    }
    let fields = uploading.fields(input)
    let minidumpName = Array(destination.minidumpName.utf8)
    let minidumpFileName = Array("\(claim.report.id.text).dmp".utf8)
    var files = [
      MultipartBody.File(
        name: minidumpName, fileName: minidumpFileName, file: minidump, size: try minidump.status().size)
    ]
    for attachment in claim.report.attachments where options.sendsAttachments {
      let name = attachment.name.bytes
      // As with Crashpad, the minidump takes the place of what has its names.
      if name == minidumpName || name == minidumpFileName { continue }
      let file = try claim.open(attachment)
      files.append(MultipartBody.File(name: name, fileName: name, file: file, size: try file.status().size))
    }
    files.sort { $0.name.lexicographicallyPrecedes($1.name) }
    // And a file takes the place of a field.
    let taken = Set(files.map(\.fileName) + [minidumpName])
    let form = MultipartBody(
      fields: fields.fields.filter { !taken.contains($0.name) }, files: files, boundary: MultipartBody.makeBoundary())
    let address = options.identifiesClient ? destination.address(of: fields) : destination.address
    // Without zlib the report is sent as it is: servers take both.
    let compressor = options.compresses ?? destination.usesGzip ? compressor : nil
    var request = HTTPRequest(url: address.text, body: compressor.map { GzipBody(form, $0) } ?? form)
    request.headers = destination.headers
    if let header = HTTPHeader(name: HTTPHeader.contentType, value: form.contentType) { request.headers.append(header) }
    if compressor != nil, let header = HTTPHeader(name: "Content-Encoding", value: "gzip") {
      request.headers.append(header)
    }
    return (request, form.byteCount ?? 0)
  }
}
