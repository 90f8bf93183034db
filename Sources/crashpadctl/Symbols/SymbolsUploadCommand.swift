// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles
import CrashpadSymbolServers
import CrashpadSymbolication
import CrashpadText
import CrashpadUpload
import SystemPackage

struct SymbolsUploadCommand: Command {
  static let name = "upload"
  static var documents: [DocumentDescription] { [SymbolsUploadDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Send symbol files to a server.",
    discussion: flowing(
      """
      For CI. Sends the symbol files in directories to Tecken (Mozilla's symbol server)
      or Sentry, or copies them into a directory in the layout of symbol stores. What
      a server has is kept in a record: a second run sends nothing, and a run that was
      interrupted sends the rest.

      Examples:
        crashpadctl symbols upload symbols/ --to s3-layout=store/
        crashpadctl symbols upload -n symbols/ --to tecken=https://sym.example.com
      """))

  var paths: [String] = []
  var to = ""
  var token: String?
  var headers: [String] = []
  var caFile: String?
  var timeout = DurationArgument(seconds: 60)
  var attempts: Int = 5
  var record: String?
  var ending = EndingOptions()
  var dryRun = false
  var format: OutputFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.arguments(&paths, "<paths>", "Symbol files, and directories with them.", .file())
    row.option(
      &to, "--to <server>",
      "Where to: tecken=URL, sentry=URL, whose path ends with organization and project, or s3-layout=DIR.",
      .list(["tecken=", "sentry=", "s3-layout="]))
    row.option(
      &token, "--token <token>",
      "Token for the server; @FILE for a file that has it. Without it, $CRASHPADCTL_SYMBOLS_TOKEN.")
    row.option(
      &headers, "--header <field>",
      "Send a header field, 'Name: value'; @FILE for a file with one in each line. May be repeated.")
    row.option(
      &caFile, "--ca-file <file>", "Trust the certificates in this file, not the system's. Without it, $SSL_CERT_FILE.",
      .file())
    row.option(
      &timeout, "--timeout <duration>",
      "Give up after this long without progress, or without an answer when all is sent.")
    row.option(&attempts, "--attempts <n>", "Send a file at most so many times while the server does not answer.")
    row.option(
      &record, "--record <file>",
      "Record of what servers have; without it, a file for each server in crashpadctl/symbol-uploads in $XDG_STATE_HOME or ~/.local/state.",
      .file())
    row.group(&ending)
    row.dryRun(&dryRun, "Print what would be sent; send nothing.")
    row.format(&format, "Print text, or one JSON document.")
  }

  func validate() throws {
    try ending.validate()
    try ServerArguments.checkHeaders(headers, "--header")
    if attempts < 1 { throw ValidationError("--attempts takes 1 or more.") }
    if timeout.seconds < 1 || timeout.seconds > 24 * 3600 { throw ValidationError("--timeout takes 1s to 24h.") }
  }

  private enum Target {
    case store(FilePath)
    case server(SymbolReceiver)
  }

  /// Ends the tool if the option has another form.
  private func target() throws -> Target {
    let parts = to.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw Self.wrongTarget("it takes tecken=URL, sentry=URL or s3-layout=DIR") }
    if parts[0] == "s3-layout" { return .store(FilePath(argument: parts[1])) }
    guard let kind = SymbolReceiver.Kind(rawValue: parts[0]) else {
      throw Self.wrongTarget("it takes tecken=URL, sentry=URL or s3-layout=DIR")
    }
    let address: WebAddress
    // The message leaves out the text, which may contain a secret.
    do throws(WebAddressFailure) { address = try WebAddress(parts[1]) } catch { throw Self.wrongTarget("\(error)") }
    let receiver = SymbolReceiver(kind, address)
    guard receiver.isWhole else { throw Self.wrongTarget("the URL of sentry=URL ends with organization and project") }
    return .server(receiver)
  }

  private static func wrongTarget(_ reason: String) -> ExitStatus { Terminal.failure("--to: \(reason).", .usage) }

  func run() throws {
    var result = SymbolsUploadDocument(isDryRun: dryRun)
    let target = try target()
    let runEnd = dryRun ? RunEnd() : ending.begin()
    switch target {
    case .store(let folder): copy(to: folder, runEnd, &result)
    case .server(let receiver): try send(to: receiver, runEnd, &result)
    }
    if result.hasEnded { Terminal.error("crashpadctl: asked to end; the next run sends the rest") }
    switch format {
    case .json: SymbolsUploadDocument.document.print(result)
    case .text: Terminal.error("crashpadctl: \(result.summary)")
    }
    let isOne = paths.count == 1 && result.rows.isEmpty
    let status = isOne ? result.statuses.first ?? .success : ExitStatus(of: result.statuses)
    Terminal.end(EndSignals.status(status, isPartial: result.hasEnded))
  }

  /// Calls `body` with each symbol file.
  private func forEachFile(_ result: inout SymbolsUploadDocument, _ body: (SymbolStore.File) -> Void) {
    for path in paths {
      do {
        var isEmpty = true
        try SymbolStore.forEachFile(below: FilePath(argument: path)) { path, error in
          isEmpty = false
          result.statuses.append(Terminal.failure(error, of: TextFormat.printable(path), creating: false))
        } _: {
          isEmpty = false
          body($0)
        }
        if isEmpty { result.statuses.append(Sentences.noSymbolFiles(path)) }
      } catch {
        result.statuses.append(Terminal.failure(error, of: displayName(path), creating: false))
      }
    }
  }

  // MARK: A directory

  private func copy(to folder: FilePath, _ runEnd: RunEnd, _ result: inout SymbolsUploadDocument) {
    result.server = TextFormat.printable(folder)
    var store = SymbolStore(folder, copies: true, isDryRun: dryRun)
    var rows: [SymbolsUploadDocument.Row] = []
    forEachFile(&result) { file in
      for place in store.places(of: file) {
        let outcome =
          runEnd.isRequested ? .notTried : SymbolUploadOutcome(store.add(file, at: place))
        rows.append(SymbolsUploadDocument.Row(path: file.path, place: place.string, outcome: outcome))
      }
    }
    for row in rows { take(row, &result) }
  }

  private func take(_ row: SymbolsUploadDocument.Row, _ result: inout SymbolsUploadDocument) {
    result.rows.append(row)
    guard let reason = row.reason else { return }
    result.statuses.append(row.status)
    // One line for all of them is enough.
    if row.outcome == .notTried { return }
    Terminal.error("\(TextFormat.printable(row.path)): error: \(TextFormat.printable(reason))")
  }

  // MARK: A server

  private func send(
    to receiver: SymbolReceiver, _ runEnd: RunEnd, _ result: inout SymbolsUploadDocument
  ) throws {
    result.server = receiver.name
    let uploads = SymbolUploads(receiver, try openRecord(receiver), try options(runEnd), token: try secret())
    var files: [SymbolUploadFile] = []
    var others = 0
    forEachFile(&result) { file in
      if let file = SymbolUploadFile(file, for: receiver.kind) { files.append(file) } else { others += 1 }
    }
    result.others = others
    var seen: Set<String> = []
    files = files.filter { seen.insert("\($0.path) \($0.place)").inserted }
    func take(_ file: SymbolUploadFile, _ outcome: SymbolUploadOutcome) {
      self.take(SymbolsUploadDocument.Row(path: file.path, place: file.place, outcome: outcome), &result)
    }
    if dryRun {
      for file in files { take(file, uploads.plan(file)) }
    } else {
      uploads.send(files, take)
    }
  }

  private func secret() throws -> String {
    guard let token = token ?? Environment.text("CRASHPADCTL_SYMBOLS_TOKEN") else { return "" }
    return try ServerArguments.secret(token)
  }

  private func options(_ runEnd: RunEnd) throws -> SymbolUploadOptions {
    var options = SymbolUploadOptions()
    options.http.headers = try headers.flatMap(ServerArguments.headers)
    options.http.certificateFile = try caFile.map { try ServerArguments.certificates($0, "--ca-file") }
    options.http.userAgent = "crashpadctl/\(toolVersion)"
    options.http.timeout = .seconds(timeout.seconds)
    options.http.connectTimeout = .seconds(min(timeout.seconds, 30))
    options.attempts = attempts
    options.http.runEnd = runEnd
    options.willPause = { time in
      Terminal.error(
        "crashpadctl: note: the server gave no answer that counts; the next request is in \(time.components.seconds) s")
    }
    return options
  }

  private func openRecord(_ receiver: SymbolReceiver) throws -> UploadRecord {
    let path = try recordPath(receiver)
    do {
      if dryRun { return try UploadRecord(reading: path) }
      if record == nil { try createDirectories(path.removingLastComponent()) }
      return try UploadRecord(path)
    } catch { throw Terminal.failure(error, of: TextFormat.printable(path), creating: true) }
  }

  private func recordPath(_ receiver: SymbolReceiver) throws -> FilePath {
    if let record { return FilePath(argument: record) }
    let home = Environment.path("HOME").map { $0.appending(".local").appending("state") }
    guard let state = Environment.path("XDG_STATE_HOME") ?? home else {
      throw Terminal.failure("--record is needed: neither XDG_STATE_HOME nor HOME is set.", .usage)
    }
    return state.appending("crashpadctl").appending("symbol-uploads").appending(UploadRecord.name(of: receiver))
  }
}

extension SymbolUploadOutcome {
  fileprivate init(_ outcome: SymbolStore.Outcome) {
    switch outcome {
    case .added: self = .sent
    case .present: self = .present
    case .taken: self = .refused("another file has its place")
    case .failed(let errno): self = .failed(errno.description)
    }
  }
}
