// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadCore
internal import CrashpadFiles
internal import CrashpadMeaning
package import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText

/// The process, the exception that ended it, and what a report says of both.
extension CrashView {
  package var processID: Int32? { snapshot.processID }
  package var parentProcessID: Int32? { snapshot.parentProcessID }
  package var startTime: Timestamp? { snapshot.startTime }
  package var snapshotTime: Timestamp? { snapshot.snapshotTime }
  package var userTime: Timestamp? { snapshot.userTime }
  package var systemTime: Timestamp? { snapshot.systemTime }
  /// Zero for none.
  package var reportID: UUIDBytes { snapshot.reportID }
  /// Zero for none.
  package var clientID: UUIDBytes { snapshot.clientID }
  /// The facts that a report lists; nil for a dump.
  package var report: ReportSnapshot? { snapshot.report }
  /// The program's own module, an index of `modules`.
  package var mainModule: Int? { snapshot.executableIndex }
  /// The thread that crashed, an index of `threads`.
  package var crashedThread: Int? { snapshot.crashedThread }
  /// Whether an exception, or a thread that a report names, says that the process crashed.
  package var hasCrash: Bool { snapshot.exception != nil || snapshot.report?.faultingThread != nil }

  /// The seconds from the start of the process to the capture.
  package var uptime: Int64? {
    guard let start = snapshot.startTime, let end = snapshot.snapshotTime else { return nil }
    return end.seconds &- start.seconds
  }

  /// The arguments of a Linux process, separated by spaces.
  package var commandLine: String? {
    guard let content = snapshot.linux?.commandLine else { return nil }
    var bytes = dump.file.withBytes { snapshot.bytes(of: content, in: $0) }
    while bytes.last == 0 { bytes.removeLast() }
    if bytes.isEmpty { return nil }
    return String(decoding: bytes.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
  }

  /// The executable's path on Linux.
  package var executablePath: String? {
    guard snapshot.system.operatingSystem == .linux else { return nil }
    return snapshot.executableIndex.flatMap { line(snapshot.modules[$0].name) }
  }

  // MARK: The exception

  package struct Exception: Sendable {
    let snapshot: ExceptionSnapshot
    let system: SystemSnapshot
    /// Such as "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x10".
    package let title: String
    /// Nil if the title has it.
    package let explanation: String?
    /// The place of the instruction; nil without registers, or outside all modules.
    package let location: Location?
    /// The same in a module that was unloaded.
    package let unloadedLine: String?

    /// As in Apple's reports.
    package var appleTitle: AppleExceptionTitle { AppleExceptionTitle(snapshot, system) }
    package var kind: ExceptionSnapshot.Kind { snapshot.kind }
    package var threadID: UInt64 { snapshot.threadID }
    package var code: UInt32 { snapshot.code }
    package var info: UInt32? { snapshot.isInfoKnown ? snapshot.info : nil }
    /// Nil if the input has a signal alone, or the system gave no address for it.
    package var address: UInt64? {
      snapshot.isAddressKnown && !snapshot.isMisalignedSomewhere ? snapshot.address : nil
    }
    package var codes: [UInt64] { snapshot.codes }
    package var sender: SignalSender? { snapshot.sender }
    package var context: CPUContext? { snapshot.context }
    package var signal: UInt32? { snapshot.signal }
    package var isSimulated: Bool { snapshot.isSimulated }
    package var isRaisedAgain: Bool { snapshot.isRaisedAgain }
  }

  /// Whether there is a stack of the crash. Texts that people paste may have one without an exception.
  package var hasCrashedStack: Bool {
    if snapshot.exception != nil { return true }
    let frames = snapshot.crashedThread.flatMap { snapshot.threads[$0].frames } ?? []
    let last = snapshot.report?.lastException ?? []
    return snapshot.outcome.isCrash && !(frames.isEmpty && last.isEmpty)
  }

  /// Whether the dump's exception can't be read: it is not known whether the process crashed.
  package var hasLostException: Bool { snapshot.hasLostException }

  /// Nil if nothing was raised, the report has no exception, or it is lost.
  package var exception: Exception? {
    guard let exception = snapshot.exception else { return nil }
    let description = ExceptionDescription(exception, snapshot.system)
    return Exception(
      snapshot: exception, system: snapshot.system, title: description.title, explanation: description.explanation,
      location: exception.context.flatMap { location($0.instructionAddress) },
      unloadedLine: exception.context.flatMap { unloadedLine($0.instructionAddress) })
  }

  // MARK: The system

  package var system: SystemSnapshot { snapshot.system }
  package var osBuild: Text? { text(snapshot.system.osBuild) }
  package var machine: Text? { text(snapshot.system.machine) }
  package var cpuVendor: Text? { text(snapshot.system.cpuVendor) }
  package var standardZoneName: Text? { text(snapshot.system.timeZone.standardName) }
  package var daylightZoneName: Text? { text(snapshot.system.timeZone.daylightName) }

  /// Such as "17.4.1".
  package var osVersion: String? { snapshot.system.version }

  /// Such as "iOS 17.4.1 (21E236)"; of Linux with its distribution.
  package var systemLine: String {
    let system = snapshot.system
    var os = system.name
    if let version = osVersion { os += " \(version)" }
    if let distribution {
      os += " (\(distribution))"
    } else if let build = line(system.osBuild) {
      // On Linux the build is the whole uname(1), including name and version.
      os = build.hasPrefix(os) ? build : "\(os) (\(build))"
    }
    if let environment = system.environment { os += ", " + TextFormat.printable(environment) }
    if system.platform?.isInferred == true { os += " (inferred from the model)" }
    return os
  }

  // MARK: When

  /// Whether the report names a period in which the process ended, and not the time.
  package var hasPeriod: Bool {
    guard let start = snapshot.report?.periodStart, let end = snapshot.snapshotTime else { return false }
    return start.seconds < end.seconds
  }

  /// The time of the end in UTC, or the period in which it was.
  package var when: String? {
    snapshot.snapshotTime.map { end in
      guard hasPeriod, let start = snapshot.report?.periodStart else { return TextFormat.date(end) }
      return "between \(TextFormat.date(start)) and \(TextFormat.date(end))"
    }
  }
}
