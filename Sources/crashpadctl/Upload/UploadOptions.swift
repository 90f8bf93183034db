// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadDatabase
import CrashpadText
import CrashpadUpload
import CrashpadCore
import CrashpadFiles
import CrashpadRedaction
import CrashpadSnapshot
import SystemPackage

/// The server and the options for uploads, for `upload` and `process --upload`.
struct UploadOptions: OptionTable {
  var url: String?
  var to: String?
  var headers: [String] = []
  var fields: [AnnotationArgument] = []
  var caFile: String?
  var proxy: String?
  var connectTimeout = DurationArgument(seconds: 30)
  var timeout = DurationArgument(seconds: 60)
  var noGzip = false
  var noURLParameters = false
  var acceptHTML = false
  var maxAttachment = LimitArgument(SizeArgument(bytes: ReportUploader.Options.standardAttachmentSize))
  var attempts: Int32 = 5
  var finishSkipped = false
  var limitRate = false
  var retryNow = false
  var redact = false
  var keepAttachments = false
  // About a dozen options, hidden here; see `crashpadctl redact --help`.
  var redaction = RedactionOptions()

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &url, "--url <url>",
      "Address to send reports to: http or https; @FILE for a file that has it, none for nowhere. Without it, $CRASHPADCTL_UPLOAD_URL."
    )
    row.option(
      &to, "--to <server>",
      "A server's preset in place of --url: sentry=DSN, bugsplat=DATABASE, backtrace=UNIVERSE/TOKEN, breakpad=URL or crashpad=URL; @FILE for a file that has it. Without it, $CRASHPADCTL_UPLOAD_TO.",
      .list(UploadServer.allCases.map { "\($0.rawValue)=" }))
    row.option(
      &headers, "--header <field>",
      "Send a header field, 'Name: value'; @FILE for a file with one in each line. May be repeated.")
    row.option(
      &fields, "--field <name=value>", "Send a form field, in place of an annotation of that name. May be repeated.")
    row.option(
      &caFile, "--ca-file <file>", "Trust the certificates in this file, not the system's. Without it, $SSL_CERT_FILE.",
      .file())
    row.option(
      &proxy, "--proxy <url>",
      "Go through this proxy; @FILE for a file that has it, '' for none. Without it, that of $https_proxy, $http_proxy or $all_proxy, except for hosts in $no_proxy."
    )
    row.option(&connectTimeout, "--connect-timeout <duration>", "How long finding the server and connecting may take.")
    row.option(
      &timeout, "--timeout <duration>",
      "Give up after this long without progress, or without an answer when all is sent.")
    row.flag(&noGzip, "--no-gzip", "Send reports as they are, with their length, and not compressed with gzip.")
    row.flag(
      &noURLParameters, "--no-url-parameters, formerly --plain-url",
      "Do not add the parameters product, version and guid to the URL.")
    row.flag(
      &acceptHTML, "--accept-html, formerly --any-answer",
      "Take a web page with a status of success for a collector's answer, too.")
    row.option(
      &maxAttachment, "--max-attachment <size>",
      "Send no report with an attachment that is larger, as 1GiB; or none for no limit. (default: 100MiB)",
      parse: LimitArgument<SizeArgument>.parse)
    row.option(
      &attempts, "--attempts <n>", "Give up a report after so many failed attempts while the server accepted others.")
    row.flag(
      &finishSkipped, "--finish-skipped, formerly --complete-skipped",
      "Move reports to completed/ without sending them where uploads are disabled, as Crashpad does.")
    row.flag(&limitRate, "--limit-rate", "Send no more than one report an hour; the others stay pending.")
    row.flag(
      &retryNow, "--retry-now", "Do not wait because earlier attempts failed, or because the server asked to wait.")
    row.flag(
      &redact, "--redact", "Send reports as crashpadctl redact makes them, with its options, and without attachments.")
    row.flag(&keepAttachments, "--keep-attachments", "With --redact, send attachments too, as they are.")
    row.group(&redaction, visibility: .hidden)
  }

  func validate() throws {
    if !redact, keepAttachments || redaction.isGiven {
      throw ValidationError("Options of crashpadctl redact require --redact.")
    }
    // A name after @ is that of a file.
    try checkText("--url", [url].compactMap { $0?.hasPrefix("@") == true ? nil : $0 })
    try checkText("--to", [to].compactMap { $0?.contains("@") == true ? nil : $0 })
    if url != nil, to != nil { throw ValidationError("--url and --to exclude each other.") }
    if attempts < 1 { throw ValidationError("--attempts takes 1 or more.") }
    if timeout.seconds < 1 || timeout.seconds > Self.longest { throw ValidationError("--timeout takes 1s to 24h.") }
    if connectTimeout.seconds < 1 || connectTimeout.seconds > Self.longest {
      throw ValidationError("--connect-timeout takes 1s to 24h.")
    }
    try ServerArguments.checkHeaders(headers, "--header")
  }

  private static let longest: Int64 = 24 * 60 * 60

  /// Whether the command line has any option for the server or for redaction.
  var isGiven: Bool {
    url != nil || to != nil || !headers.isEmpty || !fields.isEmpty || caFile != nil || proxy != nil || noGzip
      || noURLParameters
      || acceptHTML || finishSkipped || limitRate || retryNow || redact || keepAttachments || redaction.isGiven
  }
}

extension UploadOptions {
  /// The upload options. Ends the tool if they contradict each other, or a file can't be read.
  func options(now: Int64?) throws -> ReportUploader.Options {
    var options = ReportUploader.Options(try destination())
    options.headers = try headers.flatMap(ServerArguments.headers)
    options.certificateFile = try caFile.map { try ServerArguments.certificates($0, "--ca-file") }
    options.proxy = try proxyAddress(for: options.destination)
    options.connectTimeout = .seconds(connectTimeout.seconds)
    options.timeout = .seconds(timeout.seconds)
    options.userAgent = "crashpadctl/\(toolVersion)"
    options.fields = fields.map { UploadField($0.name, $0.value) }
    if noGzip { options.compresses = false }
    options.identifiesClient = !noURLParameters
    options.acceptsWebPages = acceptHTML
    options.completesSkipped = finishSkipped
    options.maximumAttempts = attempts
    options.maximumAttachmentSize = maxAttachment.bound?.bytes ?? .max
    options.limitsRate = limitRate
    options.retriesNow = retryNow
    if redact {
      options.redaction = redaction.policy
      options.sendsAttachments = keepAttachments
    }
    options.now = now
    return options
  }

  /// The destination; nil to send nothing.
  private func destination() throws -> UploadDestination? {
    // The command line overrides the environment.
    let environment = url == nil && to == nil
    let preset = environment ? Environment.text("CRASHPADCTL_UPLOAD_TO") : nil
    if let preset = try to.map(ServerArguments.secret) ?? preset {
      do { return try UploadDestination(preset: preset, sentryDSN: Environment.text("SENTRY_DSN")) } catch {
        throw Terminal.failure("--to: \(error).", .usage)
      }
    }
    guard let text = try url.map(ServerArguments.secret) ?? Environment.text("CRASHPADCTL_UPLOAD_URL") else {
      throw Terminal.failure(UploadSentences.noServer, .usage)
    }
    if text == "none" { return nil }
    // An empty address would skip all reports, which a script with an empty variable does not intend.
    if text.isEmpty { throw Terminal.failure(UploadSentences.emptyAddress, .usage) }
    do { return try UploadDestination(url: text) } catch {
      throw Terminal.failure("--url: \(error).", .usage)
    }
  }

  /// The proxy from the command line; nil if there is none. Proxies are checked here, because libcurl prints an
  /// invalid one with its password, or ignores it.
  private func proxyAddress(for destination: UploadDestination?) throws -> String? {
    let given = try proxy.map(ServerArguments.secret)
    let variables = given == nil ? destination.map { ProxyAddress.variables(for: $0.address.scheme) } ?? [] : []
    let addresses = given.map { [("--proxy", $0)] } ?? variables.map { ("$\($0)", Environment.text($0) ?? "") }
    for (name, address) in addresses where !address.isEmpty && !ProxyAddress.isValid(address) {
      throw Terminal.failure(UploadSentences.badProxy(name), .usage)
    }
    return given
  }
}
