// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

/// The event that analytics gets of one dump: the crash, and the end of its session.
///
/// It is the same of the same dump, whenever it is made: a receiver can drop what it has already by `id`.
package struct CrashEvent: Sendable {
  /// The program that makes events of dumps: the name and version of this program or of the one that links the library.
  package struct Reporter: Sendable, Hashable {
    package var name: String
    package var version: String

    package init(name: String, version: String) {
      self.name = name
      self.version = version
    }

    /// The library; its version is the tool's.
    package static let client = Reporter(name: "CrashpadClient", version: "0.1.0")
  }

  package struct SessionEnd: Sendable, Hashable {
    /// In milliseconds; nil if the start is not known.
    package var duration: Int64?
  }

  package struct Signature: Sendable, Hashable {
    package var id: String
    package var text: String

    package init(id: String, text: String) {
      self.id = id
      self.text = text
    }
  }

  /// The value that identifies the user or the installation.
  package enum Identity: Sendable, Hashable {
    case annotation
    /// The client id of the database, or the reporter key of Apple's reports.
    case client
    /// Nothing does: every crash looks like that of another user.
    case dump
  }

  package var id: UUIDBytes
  /// The time of the crash, in milliseconds since 1970.
  package var time: Int64
  /// The start of the process, in milliseconds since 1970.
  package var start: Int64?
  package var exception: CrashException
  package var frames: [EventFrame]
  package var signature: Signature?
  /// Nil unless the app was in the foreground.
  package var sessionEnd: SessionEnd?
  /// The program's id of its session.
  package var sessionID: String?

  package var distinctID: String
  package var identity: Identity
  package var anonymousID: String?
  package var loginID: String?

  package var appName: String?
  package var appID: String?
  package var appVersion: String?
  package var appBuild: String?
  /// The UUID or build id of the executable.
  package var buildID: String?
  package var environment: String?

  /// "iOS"; nil where it is not known.
  package var os: String?
  package var operatingSystem: OperatingSystem
  package var osVersion: String?
  package var osBuild: String?
  /// Minutes from local time to UTC: -120 in the summer of Berlin.
  package var timeZoneOffset: Int64?
  package var model: String?
  package var manufacturer: String?
  package var architecture: CPUArchitecture

  package var processID: Int32?
  package var executable: String?
  package var threadID: UInt64?
  package var threadName: String?
}

/// The input of a crash event besides the snapshot.
package struct CrashEventInput: Sendable {
  package var id: UUIDBytes
  package var frames: [EventFrame] = []
  package var signature: CrashEvent.Signature?
  /// The installation's, if the dump has none: that of the database.
  package var clientID = UUIDBytes.zero
  /// In milliseconds since 1970, where the dump does not say when it crashed: when the file was changed.
  package var fallbackTime: Int64 = 0
  /// Takes an app whose state is not known for one in the foreground.
  package var assumesForeground = false

  package init(id: UUIDBytes) { self.id = id }
}

extension CrashEvent {
  /// Nil if the process did not crash.
  package init?(_ snapshot: ProcessSnapshot, _ file: InputFile, _ input: CrashEventInput) {
    let texts = CrashTexts(snapshot, file)
    guard let exception = CrashException(snapshot, texts) else { return nil }
    let facts = EventFacts(snapshot: snapshot, file: file, texts: texts)
    id = input.id
    self.exception = exception
    frames = input.frames
    signature = input.signature
    time = snapshot.snapshotTime.flatMap { $0.milliseconds } ?? input.fallbackTime
    start = snapshot.startTime.flatMap { $0.milliseconds }
    anonymousID = texts["anonymous_id"]
    loginID = texts["login_id"]
    sessionID = texts["session.id", "session_id"]
    (distinctID, identity) = facts.distinctID(input)
    appName = facts.appName
    appID = snapshot.report?.bundleID ?? texts["bundle_id"]
    (appVersion, appBuild) = facts.version
    buildID = facts.buildID
    environment = texts["environment"]
    operatingSystem = snapshot.system.operatingSystem
    os = facts.osName
    osVersion = facts.osVersion
    osBuild = facts.text(snapshot.system.osBuild)
    timeZoneOffset = facts.timeZoneOffset
    model = facts.model
    manufacturer = texts["manufacturer"] ?? ([.ios, .macos].contains(operatingSystem) ? "Apple" : nil)
    architecture = snapshot.system.architecture
    processID = snapshot.processID
    executable = facts.executable
    let thread = snapshot.crashedThread.map { snapshot.threads[$0] }
    threadID = thread?.id ?? snapshot.exception?.threadID
    threadName = facts.text(thread?.name)
    if facts.isForeground ?? input.assumesForeground {
      sessionEnd = SessionEnd(duration: facts.duration(from: start, to: snapshot.snapshotTime?.milliseconds))
    }
  }

  /// An id of one of the events of this dump, the same each time: version 8 of RFC 9562.
  func derivedID(_ name: String) -> UUIDBytes {
    let bytes = Array("\(id.text) \(name)".utf8)
    let digest = unsafe SHA256.digest(bytes.span.bytes)
    let span = unsafe digest.span.bytes
    return UUIDBytes(high: span.uint64(at: 0).byteSwapped, low: span.uint64(at: 8).byteSwapped).withVersion(8)
  }

  /// The program's id of its session, or the dump's id: one session ends with one crash.
  var session: String { sessionID ?? id.text }
}

extension ProcessSnapshot {
  /// Whether the program was in the foreground; nil where the input does not say. Programs of Linux have no background.
  package func isForeground(_ file: InputFile) -> Bool? {
    EventFacts(snapshot: self, file: file, texts: CrashTexts(self, file)).isForeground
  }
}

extension Timestamp {
  /// Since 1970; nil if no time was recorded.
  var milliseconds: Int64? {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    return overflow || seconds <= 0 ? nil : product + Int64(min(max(microseconds, 0), 999_999)) / 1000
  }
}

/// Facts of a snapshot as events have them.
private struct EventFacts {
  let snapshot: ProcessSnapshot
  let file: InputFile
  let texts: CrashTexts

  func text(_ content: SnapshotBytes?) -> String? {
    guard let content, !content.isEmpty else { return nil }
    return file.withBytes { snapshot.text(content.prefix(min(content.count, 4096)), in: $0) }
  }

  // MARK: Who

  func distinctID(_ input: CrashEventInput) -> (String, CrashEvent.Identity) {
    if let id = texts["distinct_id", "login_id", "anonymous_id"] { return (id, .annotation) }
    let client = snapshot.clientID == .zero ? input.clientID : snapshot.clientID
    if client != .zero { return (client.text, .client) }
    if let key = snapshot.report?.reporterKey, !key.isEmpty { return (key, .client) }
    return (input.id.text, .dump)
  }

  // MARK: Program

  private var mainModule: ModuleSnapshot? {
    snapshot.executableIndex.map { snapshot.modules[$0] }
  }

  var executable: String? { snapshot.report?.processPath ?? text(mainModule?.name) }

  var appName: String? {
    texts["prod", "_productName", "app_name"] ?? snapshot.report?.processName
      ?? executable.map { lastPathComponent($0) }
  }

  /// The annotations are those in which Crashpad's clients put the version.
  var version: (String?, String?) {
    if let report = snapshot.report { return (report.version ?? report.build, report.build) }
    return (texts[ProcessSnapshot.versionAnnotations], texts["build", "app_build"])
  }

  var buildID: String? {
    switch mainModule?.identity {
    case .uuid(let uuid, _): return uuid == .zero ? nil : uuid.text
    case .buildID(let content):
      return file.withBytes { snapshot.bytes(of: content, in: $0) }.map { hexadecimal(UInt64($0), width: 2) }.joined()
    case nil: return nil
    }
  }

  // MARK: Machine

  /// The system that the program saw: in the Simulator the simulated one.
  var osName: String? {
    let system = snapshot.system
    if let platform = system.platform, platform.isSimulator {
      return [platform.name?.rawValue, "Simulator"].compactMap { $0 }.joined(separator: " ")
    }
    return system.operatingSystem == .unknown && system.platform == nil ? nil : system.name
  }

  /// As the systems themselves say it: Apple's leave out a last part of 0.
  var osVersion: String? {
    let system = snapshot.system
    if system.platform?.isSimulator == true, system.operatingSystem == .macos {
      return system.platform?.simulatedVersion
    }
    guard system.hasVersion, let major = system.osMajor else { return nil }
    var parts = [major, system.osMinor ?? 0]
    let bugfix = system.osBugfix ?? 0
    if bugfix != 0 || ![.ios, .macos].contains(system.operatingSystem) { parts.append(bugfix) }
    return parts.map { String($0) }.joined(separator: ".")
  }

  /// Nil where the dump does not say: the architecture is no model.
  var model: String? { text(snapshot.system.machine) ?? texts["model"] }

  var timeZoneOffset: Int64? {
    let zone = snapshot.system.timeZone
    let seconds = zone.daylightSaving == .daylightTime ? zone.daylightOffset : zone.standardOffset
    return seconds.map { -Int64($0) / 60 }
  }

  // MARK: Session

  /// Nil where the dump does not say. Programs of Linux have no background.
  var isForeground: Bool? {
    if let state = texts["application_state"] { return ["active", "foreground"].contains(state.lowercased()) }
    if let flag = texts["foreground"] { return ["1", "yes", "true"].contains(flag.lowercased()) }
    if let report = snapshot.report {
      if let role = report.role { return role.hasPrefix("Foreground") }
      if let field = report.fields.first(where: { $0.name == "Foreground" }) {
        return ["1", "yes", "true"].contains(field.value.lowercased())
      }
    }
    return snapshot.system.operatingSystem == .linux ? true : nil
  }

  /// Never negative: clocks are set while programs run.
  func duration(from start: Int64?, to end: Int64?) -> Int64? {
    guard let end, let start = texts["session-start", "session_start"].flatMap(Self.milliseconds) ?? start else {
      return nil
    }
    return max(0, end.subtractingReportingOverflow(start).partialValue)
  }

  /// Seconds or milliseconds since 1970; a number that would be a year beyond 5000 is one of milliseconds.
  private static func milliseconds(_ text: String) -> Int64? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first.flatMap({ Int64($0) }), whole > 0, whole < 100_000_000_000_000 else { return nil }
    if whole >= 100_000_000_000 { return whole }
    let digits = parts.count > 1 ? parts[1].prefix(3) : ""
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return whole * 1000 + (Int64(digits + String(repeating: "0", count: 3 - digits.count)) ?? 0)
  }
}
