/// The kinds of servers that reports are uploaded to; their names are the presets' names.
public enum UploadServer: String, Sendable, CaseIterable {
  /// What takes Crashpad's own uploads.
  case crashpad
  /// Mozilla's Socorro, with its collector Antenna, and others that take Breakpad's uploads in its form.
  case breakpad
  case sentry
  case bugsplat
  case backtrace

  /// What is behind the `=` of a preset.
  package var placeholder: String {
    switch self {
    case .crashpad, .breakpad: "URL"
    case .sentry: "DSN"
    case .bugsplat: "DATABASE"
    case .backtrace: "UNIVERSE/TOKEN"
    }
  }

  /// The fields that its reports get. They never take the place of a field that the report has.
  var copies: [FieldCopy] {
    switch self {
    case .crashpad: []
    // Socorro, docs/spec_crashreport.rst ("Specification: Submitting crash reports"); the names are those of Mozilla's
    // toolkit/crashreporter/CrashAnnotations.yaml. Antenna's throttler (antenna/throttler.py) reads the first two.
    case .breakpad:
      [
        FieldCopy(["prod"], "ProductName"), FieldCopy(["ver"], "Version"), FieldCopy(["channel"], "ReleaseChannel"),
        FieldCopy(["ptype"], "ProcessType"),
      ]
    // docs.sentry.io, "Minidumps" (platforms/native/guides/minidumps: fields `sentry[…]`), "Naming Releases" and
    // "Environments"; develop.sentry.dev, "Event Payloads".
    case .sentry:
      [
        FieldCopy(["prod", "ver"], "sentry[release]", separator: "@", isAllowed: Self.isSentryRelease),
        FieldCopy(["channel"], "sentry[environment]", isAllowed: Self.isSentryEnvironment),
        FieldCopy(["guid"], "sentry[user][id]", isAllowed: Self.isID),
      ]
    // docs.bugsplat.com, "Crash Post Endpoints", Crashpad: product and version have to be there.
    case .bugsplat: [FieldCopy(["prod"], "product"), FieldCopy(["ver"], "version")]
    // docs.saucelabs.com/error-reporting: `application.version` is in "Stability Metrics Configuration"; `application` is
    // what Backtrace's own SDKs set. That the attributes of minidumps have these names too is not documented.
    case .backtrace: [FieldCopy(["prod"], "application"), FieldCopy(["ver"], "application.version")]
    }
  }

  /// Fields that make it refuse a report.
  ///
  /// Antenna answers 401 to a `uuid` that comes from anybody but Mozilla's own stage submitter
  /// (antenna/breakpad_resource.py).
  var refusedFields: [String] { self == .breakpad ? ["uuid"] : [] }

  /// How the body of an answer begins that says 200, and that the report was thrown away.
  ///
  /// Socorro, docs/spec_crashreport.rst, "Collector response".
  var rejection: String? { self == .breakpad ? "Discarded=" : nil }

  /// Whether it takes bodies that are compressed while they are sent, and so without `Content-Length`.
  ///
  /// Antenna takes a body without that header for an empty one (antenna/breakpad_resource.py). Crashpad compresses its
  /// uploads, and the others document Crashpad's own handler as their client.
  var takesGzip: Bool { self != .breakpad }

  /// Whether product, version and client id are put into the URL too, as Crashpad does it.
  ///
  /// Backtrace makes attributes of them ("HTTP Submission for Minidump"). Sentry's and Socorro's servers read them nowhere,
  /// and a client id in a URL ends in logs.
  var identifiesClients: Bool { self != .breakpad && self != .sentry }

  /// Whether it is asked before a large report is sent (`Expect: 100-continue`).
  ///
  /// Backtrace: docs.saucelabs.com/error-reporting, "Integrating Crashpad", says that this "can cause issues when uploading
  /// to Backtrace".
  var asksFirst: Bool { self != .backtrace }

  // MARK: What Sentry takes

  /// "Naming Releases": at most 200 characters, no line ends, tabs and slashes; some names are taken.
  private static func isSentryRelease(_ text: String) -> Bool {
    text.count <= 200 && !text.unicodeScalars.contains { "\n\r\t/\\".unicodeScalars.contains($0) }
      && !text.hasPrefix("@") && !text.hasSuffix("@")
  }

  /// "Environments": at most 64 characters, no line ends, spaces and slashes, and not the word None.
  private static func isSentryEnvironment(_ text: String) -> Bool {
    !text.isEmpty && text.count <= 64 && text != "None"
      && !text.unicodeScalars.contains { "\n\r\t /".unicodeScalars.contains($0) }
  }

  /// An id that says something: zeros stand for none.
  private static func isID(_ text: String) -> Bool { text.contains { $0 != "0" && $0 != "-" } }
}

/// A field that is made of the values of others.
struct FieldCopy: Sendable {
  let sources: [String]
  let name: String
  let separator: String
  let isAllowed: @Sendable (String) -> Bool

  init(
    _ sources: [String], _ name: String, separator: String = "",
    isAllowed: @escaping @Sendable (String) -> Bool = { _ in true }
  ) {
    self.sources = sources
    self.name = name
    self.separator = separator
    self.isAllowed = isAllowed
  }

  /// Nil if a source is missing, or the server does not take the value.
  func field(of fields: UploadFields) -> UploadField? {
    var values: [[UInt8]] = []
    for source in sources {
      guard let value = fields[source] else { return nil }
      values.append(value)
    }
    let value = Array(values.joined(separator: Array(separator.utf8)))
    guard isAllowed(String(decoding: value, as: UTF8.self)) else { return nil }
    return UploadField(name: Array(name.utf8), value: value)
  }
}
