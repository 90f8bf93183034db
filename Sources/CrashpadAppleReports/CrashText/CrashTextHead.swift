// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The lines of the header: the process, the time, the system and the exception.
extension CrashText {
  mutating func head(_ content: TextBytes) {
    guard let key = TextKey(content) else { return }
    if identity(key) || place(key) || readException(key) { return }
    guard !key.value.isEmpty else { return }
    if key.name == "Event" { builder.report.kind = key.value.equals("hang") ? .hang : .resource }
    if key.name == "Error Code" { builder.report.syndrome = key.value.number ?? builder.report.syndrome }
    builder.addField(key.name, key.value.string)
  }

  private func known(_ value: TextBytes) -> String? { value.isEmpty || value.equals("???") ? nil : value.string }

  /// Reads a line that identifies the process; false if it does not.
  private mutating func identity(_ key: TextKey) -> Bool {
    switch key.name {
    case "Process", "Command":
      let (name, number) = key.value.nameAndNumber
      builder.report.processName = name ?? builder.report.processName
      if let number { setProcess(number, key) }
    case "PID": setProcess(key.value.decimal.flatMap { Int64(exactly: $0) }, key)
    case "Path": builder.report.processPath = known(key.value)
    case "Identifier": builder.report.bundleID = known(key.value)
    case "Version": version = key.value.string
    case "Code Type":
      builder.report.codeType = known(key.value)
      builder.report.isTranslated = key.value.last(of: "(Translated)") != nil
      setArchitecture(key.value.string)
    case "Architecture": setArchitecture(key.value.string)
    case "Role": builder.report.role = known(key.value)
    case "Parent Process", "Parent":
      let (name, number) = key.value.nameAndNumber
      builder.report.parentName = name
      builder.snapshot.parentProcessID = number.flatMap { Int32(exactly: $0) }
      if let number { builder.addField("Parent PID", String(number)) }
    case "Responsible", "Responsible Process":
      let (name, number) = key.value.nameAndNumber
      builder.report.responsibleName = name
      if let number { builder.addField("Responsible PID", String(number)) }
    case "Coalition":
      let (name, number) = key.value.nameAndNumber
      builder.report.coalition = name
      if let number { builder.addField("Coalition ID", String(number)) }
    default: return false
    }
    return true
  }

  private mutating func setProcess(_ number: Int64?, _ key: TextKey) {
    guard let number, let id = Int32(exactly: number) else {
      return builder.note(
        ReportRules.badNumber, at: key.value.startIndex, path: key.name, found: .text(key.value.string))
    }
    builder.snapshot.processID = id
  }

  private mutating func setArchitecture(_ text: String) {
    let architecture = ReportNames.architecture(text)
    if architecture != .unknown { builder.snapshot.system.architecture = architecture }
  }

  /// Reads a line about the time or the system; false if it is another one.
  private mutating func place(_ key: TextKey) -> Bool {
    switch key.name {
    case "Incident Identifier": builder.report.incident = known(key.value)
    case "CrashReporter Key", "Anonymous UUID": builder.report.reporterKey = known(key.value)
    case "Hardware Model", "Hardware model":
      isEmbedded = true
      builder.snapshot.system.machine = builder.content(known(key.value))
    case "Date/Time":
      builder.report.captureTime = known(key.value)
      builder.snapshot.snapshotTime = ReportTime.timestamp(builder.report.captureTime) ?? builder.snapshot.snapshotTime
    case "Launch Time":
      builder.report.launchTime = known(key.value)
      builder.snapshot.startTime = ReportTime.timestamp(builder.report.launchTime)
    case "OS Version": builder.setSystem(known(key.value))
    case "Active cpus": builder.snapshot.system.cpuCount = key.value.decimal.flatMap { Int32(exactly: $0) }
    default: return false
    }
    return true
  }

  /// Parses "1.4.4 (44)": the version and the build. Before iOS 15, crash texts had the build first.
  mutating func setVersion() {
    guard let version, let text = Optional(Array(version.utf8)[...]) else { return }
    var outer = text.trimmed
    var inner: TextBytes = []
    if outer.last == UInt8(ascii: ")"), let open = outer.last(of: " (") {
      inner = outer[(open + 2)...].dropLast().trimmed
      outer = outer[..<open].trimmed
    }
    let isSwapped = isEmbedded && !threadNumbers.isEmpty && (builder.snapshot.system.osMajor ?? 15) < 15
    builder.report.version = known(isSwapped && !inner.isEmpty ? inner : outer) ?? builder.report.version
    builder.report.build = known(isSwapped && !inner.isEmpty ? outer : inner) ?? builder.report.build
  }
}
