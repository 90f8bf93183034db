// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSymbolication
import CrashpadSymbolServers
import CrashpadText
import CrashpadUpload
import SystemPackage

/// The options for asking symbol servers.
struct SymbolServerArguments: OptionTable {
  var urls: [String] = []
  var cache: String?
  var headers: [String] = []
  var caFile: String?
  var timeout: DurationArgument?
  var offline = false
  var noIndex = false

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &urls, "--symbols-url <url>",
      "Symbol server to ask: http or https, in Breakpad's layout, or with unified+, ssqp+ or debuginfod+ before it. May be repeated. Without it, those of $CRASHPADCTL_SYMBOLS_URL."
    )
    row.symbolsCache(&cache)
    row.option(
      &headers, "--symbols-header <field>",
      "Send a header field to symbol servers, 'Name: value'; @FILE for a file with one in each line. May be repeated.")
    row.option(
      &caFile, "--symbols-ca-file <file>",
      "Trust the certificates in this file for symbol servers, not the system's. Without it, $SSL_CERT_FILE.", .file())
    row.option(
      &timeout, "--symbols-timeout <duration>",
      "Leave out a symbol server that sends nothing for this long; without it, for 30s.")
    row.flag(&offline, "--offline", "Ask no symbol server; use what --symbols-cache has.")
    row.flag(
      &noIndex, "--no-symbols-index", "Neither use nor keep indexes of large symbol files and directories in the cache."
    )
  }

  func validate() throws {
    try ServerArguments.checkHeaders(headers, "--symbols-header")
    do throws(SymbolServerFailure) { _ = try Self.servers(urls) } catch {
      throw ValidationError("--symbols-url: \(error).")
    }
    if let timeout, timeout.seconds < 1 || timeout.seconds > 24 * 3600 {
      throw ValidationError("--symbols-timeout takes 1s to 24h.")
    }
  }

  /// Whether files of servers are to be used.
  var isGiven: Bool { !urls.isEmpty || cache != nil || offline || Environment.text(Self.variable) != nil }

  /// The words that another command needs for the same servers. What may be a secret is left out: header fields, and addresses
  /// with user info or a query.
  var words: [String] {
    let open = urls.filter { url in
      let address = hint { try SymbolServer(url).address }
      return address.map { $0.publicText == $0.text } ?? false
    }
    return open.flatMap { ["--symbols-url", $0] } + (cache.map { ["--symbols-cache", $0] } ?? [])
      + (caFile.map { ["--symbols-ca-file", $0] } ?? []) + (offline ? ["--offline"] : [])
      + (noIndex ? ["--no-symbols-index"] : [])
  }

  private static let variable = "CRASHPADCTL_SYMBOLS_URL"

  /// The client for the servers; nil if none was named. Ends the tool if it can't be used.
  func client(debuginfod: Bool = false) throws -> SymbolServers? {
    var servers = try servers()
    // Without a server, --offline is about the standard cache, if there is one.
    let hasOwn = !servers.isEmpty || cache != nil || (offline && ServerCache.standardPath != nil)
    if debuginfod { servers += debuginfodServers() }
    if servers.isEmpty, !offline { warnOfUnusedOptions() }
    guard hasOwn || !servers.isEmpty else { return nil }
    let folder = try Self.folder(cache)
    // Without a server, files of all layouts are looked for in the cache.
    if servers.isEmpty { servers = SymbolServer.none }
    return SymbolServers(servers, ServerCache(folder), try options(), report: Self.say)
  }

  /// The directory of the cache. Ends the tool if there is none.
  static func folder(_ cache: String?) throws -> FilePath {
    // An empty path would be the current directory.
    if cache?.isEmpty == true { throw Terminal.failure("--symbols-cache names no directory.", .usage) }
    if let folder = cache.map({ FilePath(argument: $0) }) ?? ServerCache.standardPath { return folder }
    throw Terminal.failure("--symbols-cache is needed: neither XDG_CACHE_HOME nor HOME is set.", .usage)
  }

  /// The place of indexes: beside the files of servers. Nil without a directory for them.
  var indexes: IndexStore? {
    if noIndex || cache?.isEmpty == true { return nil }
    return (cache.map { FilePath(argument: $0) } ?? ServerCache.standardPath).map { ServerCache($0).indexes }
  }

  private func warnOfUnusedOptions() {
    let given = [
      ("--symbols-header", !headers.isEmpty), ("--symbols-ca-file", caFile != nil),
      ("--symbols-timeout", timeout != nil),
    ]
    for (option, isGiven) in given where isGiven {
      Terminal.warning(Sentences.noEffect(option, "no symbol server is named"))
    }
  }

  private static func servers(_ texts: [String]) throws(SymbolServerFailure) -> [SymbolServer] {
    var servers: [SymbolServer] = []
    for text in texts { servers.append(try SymbolServer(text)) }
    return servers
  }

  private func servers() throws -> [SymbolServer] {
    let other = (Environment.text(Self.variable) ?? "").split(whereSeparator: \.isWhitespace).map(String.init)
    do throws(SymbolServerFailure) { return try Self.servers(urls.isEmpty ? other : urls) } catch {
      throw Terminal.failure("\(urls.isEmpty ? Self.variable : "--symbols-url"): \(error).", .usage)
    }
  }

  /// The servers of elfutils' variable. Those that can't be used are reported, as they are in it for other programs, too.
  private func debuginfodServers() -> [SymbolServer] {
    guard let text = Environment.text("DEBUGINFOD_URLS") else {
      Terminal.warning(Sentences.noEffect("--debuginfod", "DEBUGINFOD_URLS is not set"))
      return []
    }
    return text.split(whereSeparator: \.isWhitespace).compactMap { word in
      // "ima:enforcing" and such are settings for the servers behind them.
      if word.hasPrefix("ima:") { return nil }
      do throws(WebAddressFailure) { return SymbolServer(.debuginfod, try WebAddress(String(word))) } catch {
        Terminal.warning("a server of DEBUGINFOD_URLS is not asked: \(error)")
        return nil
      }
    }
  }

  private func options() throws -> SymbolServerOptions {
    var options = SymbolServerOptions()
    options.http.headers = try headers.flatMap(ServerArguments.headers)
    options.http.certificateFile = try caFile.map { try ServerArguments.certificates($0, "--symbols-ca-file") }
    options.http.userAgent = "crashpadctl/\(toolVersion)"
    let seconds = timeout?.seconds ?? 30
    options.http.connectTimeout = .seconds(min(seconds, 30))
    options.limits.stall = .seconds(seconds)
    options.isOffline = offline
    if let path = Environment.path("DEBUGINFOD_CACHE_PATH") { options.otherCaches = [path] }
    return options
  }

  @Sendable private static func say(_ event: SymbolServerEvent) {
    switch event {
    case .leftOut(let server, let reason):
      Terminal.warning("\(TextFormat.printable(server)) is not asked again: \(TextFormat.printable(reason))")
    case .failed(let url, let reason):
      Terminal.warning("\(TextFormat.printable(url)): \(TextFormat.printable(reason))")
    case .cacheFailed(let path, let reason):
      Terminal.warning("the cache of symbol servers can't be used: \(TextFormat.printable(path)): \(reason)")
    case .progress(let files, let bytes): DownloadProgress.shared.show(files, bytes)
    }
  }
}

extension OptionRows {
  mutating func symbolsCache(_ value: inout String?) {
    option(
      &value, "--symbols-cache <dir>",
      "Directory for symbol servers' files; without it, crashpadctl/symbols in $XDG_CACHE_HOME or ~/.cache.", .directory
    )
  }
}
