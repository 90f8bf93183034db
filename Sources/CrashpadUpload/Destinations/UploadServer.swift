// SPDX-License-Identifier: Apache-2.0
/// The kinds of servers that accept uploads. Their names are the names of the presets.
public enum UploadServer: String, Sendable, CaseIterable {
  /// Any server that accepts Crashpad's own uploads.
  case crashpad
  /// Mozilla's Socorro with its collector Antenna, and others that accept Breakpad's uploads.
  case breakpad
  case sentry
  case bugsplat
  case backtrace

  /// The placeholder for the value of the preset, as in `NAME=VALUE`.
  package var placeholder: String {
    switch self {
    case .crashpad, .breakpad: "URL"
    case .sentry: "DSN"
    case .bugsplat: "DATABASE"
    case .backtrace: "UNIVERSE/TOKEN"
    }
  }

  /// The fields that are added to reports. They never replace a field of the report.
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
    // docs.bugsplat.com, "Crash Post Endpoints", Crashpad: product and version are required.
    case .bugsplat: [FieldCopy(["prod"], "product"), FieldCopy(["ver"], "version")]
    // docs.saucelabs.com/error-reporting: `application.version` is in "Stability Metrics Configuration"; Backtrace's
    // own SDKs set `application`. No document states that attributes of minidumps have these names too.
    case .backtrace: [FieldCopy(["prod"], "application"), FieldCopy(["ver"], "application.version")]
    }
  }

  /// Fields for which the server rejects a report.
  ///
  /// Antenna answers 401 to a `uuid` unless it comes from Mozilla's own stage submitter
  /// (antenna/breakpad_resource.py).
  var refusedFields: [String] { self == .breakpad ? ["uuid"] : [] }

  /// The start of an answer that has status 200 but states that the report was discarded.
  ///
  /// Socorro, docs/spec_crashreport.rst, "Collector response".
  var rejection: String? { self == .breakpad ? "Discarded=" : nil }

  /// Whether the server accepts bodies that are compressed while they are sent, and so have no `Content-Length`.
  ///
  /// Antenna treats a body without that header as empty (antenna/breakpad_resource.py). Crashpad compresses its
  /// uploads, and the other servers document Crashpad's own handler as their client.
  var takesGzip: Bool { self != .breakpad }

  /// Whether product, version and client id are also added to the URL, as Crashpad does.
  ///
  /// Backtrace turns them into attributes ("HTTP Submission for Minidump"). The servers of Sentry and Socorro do not
  /// read them, and a client id in a URL ends up in logs.
  var identifiesClients: Bool { self != .breakpad && self != .sentry }

  /// Whether the client waits for the server's consent before a large report (`Expect: 100-continue`).
  ///
  /// Backtrace: docs.saucelabs.com/error-reporting, "Integrating Crashpad", warns that this "can cause issues when
  /// uploading to Backtrace".
  var asksFirst: Bool { self != .backtrace }

  // MARK: What Sentry takes

  /// "Naming Releases": at most 200 characters without line ends, tabs and slashes; some names are reserved.
  private static func isSentryRelease(_ text: String) -> Bool {
    text.count <= 200 && !text.unicodeScalars.contains { "\n\r\t/\\".unicodeScalars.contains($0) }
      && !text.hasPrefix("@") && !text.hasSuffix("@")
  }

  /// "Environments": at most 64 characters without line ends, spaces and slashes, and not the word None.
  private static func isSentryEnvironment(_ text: String) -> Bool {
    !text.isEmpty && text.count <= 64 && text != "None"
      && !text.unicodeScalars.contains { "\n\r\t /".unicodeScalars.contains($0) }
  }

  /// Whether the id has a digit other than 0; an id of zeros means that there is none.
  private static func isID(_ text: String) -> Bool { text.contains { $0 != "0" && $0 != "-" } }
}

/// A field that is built from the values of other fields.
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

  /// Nil if a source field is missing or the server does not accept the value.
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
