// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
package import CrashpadSymbolication
package import CrashpadUpload
internal import Glibc
internal import Synchronization
package import SystemPackage

/// The settings for asking symbol servers.
package struct SymbolServerOptions: Sendable {
  package var http = HTTPOptions()
  package var limits = DownloadLimits()
  /// Whether only what the cache has is used.
  package var isOffline = false
  /// Other programs' caches in debuginfod's layout, from which files are used and into which none are put.
  package var otherCaches: [FilePath] = []

  package init() {}
}

/// Something that happens while servers are asked.
package enum SymbolServerEvent: Sendable {
  /// A server gave no answer, and is not asked again by this run.
  case leftOut(server: String, reason: String)
  /// A server could not give a file. Of several failures with one reason, the first is passed.
  case failed(url: String, reason: String)
  /// The cache can't be written.
  case cacheFailed(path: FilePath, reason: String)
  /// The number of files and bytes that were downloaded so far.
  case progress(files: Int, bytes: Int64)
}

/// Servers that are asked for the symbols of modules, with a cache for their files.
package final class SymbolServers: SymbolServerClient {
  private let servers: [SymbolServer]
  private let cache: ServerCache
  private let options: SymbolServerOptions
  private let report: @Sendable (SymbolServerEvent) -> Void
  private let state: Mutex<State>
  /// Connections that no download uses, the last one used at the end.
  private let idle = Mutex<[IdleConnection]>([])

  private struct ServerState {
    /// Why the server is not asked any more.
    var obstacle: String?
    /// The number of failures since the last answer.
    var failures = 0
    var reasons: Set<String> = []
  }
  private struct State {
    var servers: [ServerState]
    var hasFailed = false
    var hasOpenQuestions = false
    var files = 0
    var bytes: Int64 = 0
    var isCacheReported = false
  }

  /// A connection that one thread passes to another.
  private final class IdleConnection: @unchecked Sendable {
    let connection: HTTPConnection
    init(_ connection: HTTPConnection) { self.connection = connection }
  }

  /// A server that fails so often in a row is left out.
  private static let mostFailures = 3

  package init(
    _ servers: [SymbolServer], _ cache: ServerCache, _ options: SymbolServerOptions,
    report: @escaping @Sendable (SymbolServerEvent) -> Void
  ) {
    (self.servers, self.cache, self.options, self.report) = (servers, cache, options, report)
    state = Mutex(State(servers: servers.map { _ in ServerState() }))
  }

  package var asks: Bool { !options.isOffline && servers.contains { $0.address != nil } }

  package var hasFailed: Bool { state.withLock { $0.hasFailed } }

  package var hasOpenQuestions: Bool { state.withLock { $0.hasOpenQuestions } }

  // MARK: Files

  package func requests(for identity: ModuleIdentity) -> [ServerRequest] {
    let paths = ServerPaths(identity)
    return servers.enumerated().flatMap { paths.requests($0.offset, $0.element.layout) }
  }

  package func kept(_ request: ServerRequest, _ identity: ModuleIdentity) -> (path: FilePath, url: String?)? {
    let place = cache.place(request)
    switch look(at: place, for: identity) {
    case .found:
      if cache.isWhole(request) { return (place, cache.origin(of: request)) }
      report(.failed(url: place.string, reason: "it has not all of its bytes, and is not used"))
    case .failed(let failure): reportCache(failure)
    case .absent: break
    }
    guard servers[request.server].layout == .debuginfod else { return nil }
    let others = options.otherCaches.map { cache in request.place.reduce(cache) { $0.appending($1) } }
    return others.first { isFile($0, of: identity) }.map { ($0, nil) }
  }

  /// Whether the cache has the file. One that is not whole is downloaded again.
  private func isKept(_ request: ServerRequest, _ identity: ModuleIdentity) -> Bool {
    isFile(cache.place(request), of: identity) && cache.isWhole(request)
  }

  private func isFile(_ path: FilePath, of identity: ModuleIdentity) -> Bool {
    switch look(at: path, for: identity) {
    case .found: true
    case .absent, .failed: false
    }
  }

  /// Looks for a file with the module's id. One that is damaged, or another one, is downloaded again.
  private func look(at path: FilePath, for identity: ModuleIdentity) -> Look<Void> {
    do { return identity.isBuild(of: try SymbolFileIdentity(path)) ? .found(()) : .absent } catch {
      guard let errno = error as? Errno else { return .absent }
      let absences: [Errno] = [.noSuchFileOrDirectory, .notDirectory, .fileNameTooLong]
      return absences.contains(errno) ? .absent : .failed(FileFailure(path, errno))
    }
  }

  package func get(_ request: ServerRequest, _ identity: ModuleIdentity) -> ServerAnswer? {
    let server = servers[request.server]
    guard let address = server.address?.appending(request.path) else { return nil }
    let url = address.publicText
    func answer(_ outcome: ServerAnswer.Outcome) -> ServerAnswer { ServerAnswer(url: url, outcome: outcome) }
    func open(_ outcome: ServerAnswer.Outcome) -> ServerAnswer { self.open(url, outcome) }

    if options.isOffline { return answer(.notAsked("not asked, as the run is offline")) }
    if let obstacle = obstacle(to: request.server) { return open(.notAsked("not asked again: \(obstacle)")) }
    let question = question(address)
    if cache.isAbsent(question, now: Int64(time(nil))) { return answer(.absentBefore) }
    let place = cache.place(request)
    do {
      let claimed = try PartialFile.claim(
        ServerCache.key(address.text), in: cache.parts, patience: options.limits.stall + .seconds(1)
      ) { isKept(request, identity) || cache.isAbsent(question, now: Int64(time(nil))) }
      guard let part = claimed else {
        // Another run got it, or was answered that it is not there.
        guard isKept(request, identity) else { return answer(.absentBefore) }
        return ServerAnswer(url: cache.origin(of: request), outcome: .kept, path: place)
      }
      // Another thread may have found out meanwhile.
      if let obstacle = obstacle(to: request.server) { return open(.notAsked("not asked again: \(obstacle)")) }
      return try get(address, request, identity, part)
    } catch {
      reportCache(error)
      return open(.failed("the cache can't be used"))
    }
  }

  /// An answer that says nothing about the file.
  private func open(_ url: String, _ outcome: ServerAnswer.Outcome) -> ServerAnswer {
    state.withLock { $0.hasOpenQuestions = true }
    return ServerAnswer(url: url, outcome: outcome, isOpen: true)
  }

  /// All that a server is sent, by which an absence is remembered.
  private func question(_ address: WebAddress) -> String {
    ([address.text] + options.http.headers.map { "\($0.name): \($0.value)" }).joined(separator: "\n")
  }

  private func get(
    _ address: WebAddress, _ request: ServerRequest, _ identity: ModuleIdentity, _ part: PartialFile
  ) throws -> ServerAnswer {
    let url = address.publicText
    var status = 200
    part.check = { try Self.check($0, identity) }
    do throws(DownloadFailure) {
      status = try download(address, to: part)
    } catch {
      if case .file(let failure) = error { throw failure }
      if case .transfer = error { part.leave() }
      if part.refusal == nil {
        let outcome = ServerAnswer.Outcome.failed(failed(request.server, url, error))
        return error.isAnswer ? ServerAnswer(url: url, outcome: outcome) : open(url, outcome)
      }
    }
    switch status {
    case 200: break
    case 404:
      state.withLock { $0.servers[request.server].failures = 0 }
      do { try cache.keepAbsence(question(address), name: url) } catch { reportCache(error) }
      return ServerAnswer(url: url, outcome: .absent)
    // As for another file of the same server, it is no word about this one.
    case 403: return ServerAnswer(url: url, outcome: .failed(failed(request.server, url, status)))
    default: return open(url, .failed(failed(request.server, url, status)))
    }
    do {
      if let refusal = part.refusal { throw refusal }
      let file = try unpacked(part)
      if !part.isCertain || file !== part {
        guard try identity.isCertainBuild(of: try SymbolFileIdentity(file.path)) else { throw OtherBuild() }
      }
      let place = cache.place(request)
      do { try cache.keepOrigin(url, size: file.count, of: request) } catch { reportCache(error) }
      try file.move(to: place)
      state.withLock { $0.servers[request.server].failures = 0 }
      return ServerAnswer(url: url, outcome: .downloaded, path: place)
    } catch is OtherBuild {
      return refuse(request.server, url, "a file of another build, which is not used")
    } catch is SymbolFileIdentity.NoID {
      return refuse(request.server, url, "a file that does not name its build, which is not used")
    } catch let error as SymbolFileIdentity.UnknownFormat {
      // A page of a portal or of an intermediary, which says nothing of the file.
      return refuse(request.server, url, error.other?.description ?? "no symbol file", isOpen: true)
    } catch is SymbolInputs.SeveralFiles {
      return refuse(request.server, url, "an archive with several symbol files")
    } catch let error as SymbolInputs.Compressed {
      return refuse(request.server, url, "a file that is compressed and \(error.reason)")
    } catch let error as DownloadFailure {
      return refuse(request.server, url, "a file that is compressed: \(error.words)")
    } catch DecompressionFailure.unsupported {
      // The file may be what it should be: a library is missing here.
      let reason = "it sent a file that is compressed and \(DecompressionFailure.unsupported)"
      note(request.server, url, reason, .file)
      return ServerAnswer(url: url, outcome: .failed(reason))
    } catch DecompressionFailure.bomb {
      return refuse(
        request.server, url,
        "a file that is compressed and has more than \(Self.mostTimes) times as many bytes as it sent")
    } catch let error as DecompressionFailure {
      return refuse(request.server, url, "a file that is compressed and \(error.description)")
    }
  }

  private struct OtherBuild: Error {}

  /// Throws if a file that begins with the bytes of `part` is not one of the module, whatever follows: a server may send without
  /// end. Returns whether these bytes have the module's id.
  private static func check(_ part: PartialFile, _ identity: ModuleIdentity) throws -> Bool {
    let count = SymbolFileIdentity.startLength
    var start = try part.prefix(count)
    if let compression = unsafe Compression.of(start.span.bytes) {
      let input = try part.input()
      start = try input.checkingReading {
        try input.withBytes { try Decompression.start(of: $0, compression, count: count) }
      }
    }
    switch try identity.isBuild(ofFileWith: start) {
    case true?: return true
    case false?: throw OtherBuild()
    case nil: return false
    }
  }

  /// A compressed file that grows by more is refused once it is large. Symbols grow by 3 to 30; gzip can't do more than 1,030, so
  /// that the limit for dumps, which may be memory of zeros, would never refuse one.
  private static let mostTimes = 100

  /// The file that a compressed one holds, or the file itself.
  private func unpacked(_ part: PartialFile) throws -> PartialFile {
    guard let compression = try part.compression() else { return part }
    let input = try part.input()
    let whole = try part.companion()
    var count: Int64 = 0
    try input.checkingReading {
      try input.withBytes { bytes in
        try Decompression.forEachBlock(of: bytes, compression, largestRatio: Self.mostTimes) { block in
          count += Int64(block.byteCount)
          guard count <= options.limits.size else { throw DownloadFailure.tooLarge(limit: options.limits.size) }
          try whole.write(block)
        }
      }
    }
    return whole
  }

  /// A connection that breaks off so often before a file is whole is not tried again by this run.
  private static let mostBreaks = 5

  /// Gets a file, or the rest of it. One whose connection breaks off is continued at once.
  private func download(_ address: WebAddress, to part: PartialFile) throws(DownloadFailure) -> Int {
    var breaks = 0
    while true {
      let start = part.start
      do throws(DownloadFailure) {
        let status = try download(address, from: start, to: part)
        // 416: there is no such range.
        guard status == 416, start != nil else { return status }
      } catch {
        switch error {
        case .otherPart: break
        case .transfer(let failure) where failure.kind == .interrupted:
          breaks += 1
          guard breaks < Self.mostBreaks, let rest = part.start, rest.offset > start?.offset ?? 0 else { throw error }
          continue
        default: throw error
        }
        guard start != nil else { throw error }
      }
      do throws(FileFailure) { try part.restart() } catch { throw .file(error) }
    }
  }

  private func download(
    _ address: WebAddress, from start: DownloadStart?, to part: PartialFile
  ) throws(DownloadFailure) -> Int {
    let connection: IdleConnection
    if let idle = idle.withLock({ $0.popLast() }) {
      connection = idle
    } else {
      do throws(UploadFailure) { connection = IdleConnection(try HTTPConnection(options.http)) } catch {
        throw .noLibrary("\(error)")
      }
    }
    defer { idle.withLock { $0.append(connection) } }
    let answer = try connection.connection.get(address, limits: options.limits, from: start, to: part) {
      self.advance($0)
    }
    if answer.status == 200 { state.withLock { $0.files += 1 } }
    return answer.status
  }

  private func advance(_ bytes: Int64) {
    let (files, all) = state.withLock { state in
      state.bytes += bytes
      return (state.files, state.bytes)
    }
    report(.progress(files: files, bytes: all))
  }

  // MARK: Failures

  private func obstacle(to server: Int) -> String? { state.withLock { $0.servers[server].obstacle } }

  /// - Parameter isOpen: whether the server may have the file all the same.
  private func refuse(_ server: Int, _ url: String, _ text: String, isOpen: Bool = false) -> ServerAnswer {
    note(server, url, "it sent \(text)", .open)
    let outcome = ServerAnswer.Outcome.refused("it sent \(text)")
    return isOpen ? open(url, outcome) : ServerAnswer(url: url, outcome: outcome)
  }

  private func failed(_ server: Int, _ url: String, _ status: Int) -> String {
    let reason = "it answered \(status)"
    let reach: Reach =
      switch status {
      case 401, 407, 429, 511: .server
      // Stores answer it for what is not there.
      case 403: .file
      default: .open
      }
    note(server, url, reason, reach)
    return reason
  }

  private func failed(_ server: Int, _ url: String, _ failure: DownloadFailure) -> String {
    let reason = failure.words
    note(server, url, reason, failure.isOfServer ? .server : .open)
    return reason
  }

  /// The meaning of a failure for requests for other files.
  private enum Reach {
    /// Nothing: other files may be there.
    case file
    /// They would fail, too.
    case server
    /// They may fail, too: several such failures in a row end the server.
    case open
  }

  /// Remembers a failure, and leaves the server out if others would follow.
  private func note(_ server: Int, _ url: String, _ reason: String, _ reach: Reach) {
    let (isOut, isNew) = state.withLock { state in
      state.hasFailed = true
      var own = state.servers[server]
      if reach != .file { own.failures += 1 }
      let isOut = own.obstacle == nil && (reach == .server || own.failures >= Self.mostFailures)
      if isOut { own.obstacle = reason }
      let isNew = own.reasons.insert(reason).inserted
      state.servers[server] = own
      return (isOut, isNew)
    }
    if isOut {
      report(.leftOut(server: servers[server].name, reason: reason))
    } else if isNew {
      report(.failed(url: url, reason: reason))
    }
  }

  private func reportCache(_ error: any Error) {
    let isNew = state.withLock { state in
      state.hasFailed = true
      defer { state.isCacheReported = true }
      return !state.isCacheReported
    }
    guard isNew else { return }
    let failure = error as? FileFailure
    let reason = failure?.errno ?? error as? Errno
    report(.cacheFailed(path: failure?.path ?? cache.path, reason: reason?.description ?? "\(error)"))
  }
}

extension DownloadFailure {
  var words: String {
    switch self {
    case .transfer(let failure): failure.description
    case .tooLarge(let limit): "its answer has more than \(limit) bytes"
    case .file(let failure): failure.description
    case .redirect: "it redirects to an address that is not used"
    case .otherPart: "it sent another part of the file than it was asked for"
    case .noEnd: "its answer has no length, so that one that was cut could not be recognized"
    case .notWanted: "it sent a file that is not used"
    case .noLibrary(let text): text
    }
  }

  /// Whether the server has answered, though not with a file that can be used: it would the next time. A redirect to a page for a
  /// login is no word about the file.
  fileprivate var isAnswer: Bool {
    switch self {
    case .tooLarge, .noEnd, .notWanted: true
    case .transfer, .file, .redirect, .otherPart, .noLibrary: false
    }
  }

  /// Whether other files can't be had, either.
  fileprivate var isOfServer: Bool {
    switch self {
    case .transfer(let failure): ![.interrupted, .other, .notHTTP].contains(failure.kind)
    case .noLibrary: true
    case .tooLarge, .file, .redirect, .noEnd, .otherPart, .notWanted: false
    }
  }
}
