// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Reads the end of a whole system: a panic or a reset.
extension ReportBuilder {
  /// Reads the body of types 210 and 151.
  mutating func readPanic(_ body: JSONValue) {
    report.incident = body["incident"]?.string ?? report.incident
    report.reporterKey = body["crashReporterKey"]?.string ?? report.reporterKey
    report.captureTime = body["date"]?.string ?? report.captureTime
    snapshot.snapshotTime = ReportTime.timestamp(report.captureTime) ?? snapshot.snapshotTime
    setSystem(body["build"]?.string ?? report.osText)
    snapshot.system.machine = content(body["product"]?.string)
    // The name in the first line is that of the report.
    report.processName = nil
    let text = (body["panicString"] ?? body["macOSPanicString"] ?? body["string"])?.string ?? ""
    setPanic(text)
    addField("Kernel", body["kernel"]?.string)
    addField("Reset Reason", (body["reset_reason"] ?? body["resetReason"] ?? body["reason"])?.display)
    addField("Boot Faults", (body["bootFaults"] ?? body["boot_faults"])?.display)
    readOwnFacts(body[OwnFacts.key])
    for (name, value) in body["crashpadctl_fields"]?.members ?? [] { addField(name, value.display) }
  }

  /// Summarises the kernel's text.
  mutating func setPanic(_ text: String) {
    var panic = ReportPanic(text: text)
    let lines = text.split(whereSeparator: \.isNewline)
    panic.headline = lines.first.map(Self.headline)
    if let line = lines.first(where: { $0.hasPrefix("Panicked task") }) {
      (panic.task, panic.taskID) = Self.task(line, after: "pid ")
    } else if let line = lines.first(where: { $0.hasPrefix("BSD process name corresponding to current thread") }) {
      panic.task = line.split(separator: ":").last.map { String($0.drop { $0 == " " }) }
    }
    report.panic = panic
    if report.osText == nil { readPanicSystem(lines) }
  }

  /// Reads the lines of the text about the system, where nothing else names it.
  private mutating func readPanicSystem(_ lines: [Substring]) {
    for (index, line) in lines.enumerated() {
      if line == "Mac OS version:", index + 1 < lines.count {
        snapshot.system.operatingSystem = .macos
        snapshot.system.osBuild = content(String(lines[index + 1]))
      } else if line.hasPrefix("OS version: ") {
        snapshot.system.osBuild = content(String(line.dropFirst("OS version: ".utf8.count)))
      } else if line.hasPrefix("System model name: ") {
        let model = line.dropFirst("System model name: ".utf8.count).prefix { $0 != " " }
        snapshot.system.machine = content(String(model))
      }
    }
  }

  /// The line without "panic(cpu 4 caller 0xfffffff0…): ", and without the quotation marks that earlier kernels write.
  private static func headline(_ line: Substring) -> String {
    if line.hasPrefix("Debugger message: ") { return String(line.dropFirst("Debugger message: ".utf8.count)) }
    guard line.hasPrefix("panic("), let end = line.firstRange(of: "): ")?.upperBound else { return String(line) }
    let text = line[end...]
    guard text.hasPrefix("\""), let place = text.firstRange(of: "\"@") else { return String(text) }
    let file = text[place.upperBound...].split(separator: "/").last ?? ""
    return text.dropFirst().prefix(upTo: place.lowerBound) + (file.isEmpty ? "" : " @" + file)
  }

  /// Parses "Panicked task 0xffffffe19b836580: 4314 pages, 159 threads: pid 0: kernel_task".
  private static func task(_ line: Substring, after word: String) -> (String?, Int64?) {
    guard let start = line.firstRange(of: word)?.upperBound else { return (nil, nil) }
    let parts = line[start...].split(separator: ":", maxSplits: 1)
    return (parts.dropFirst().first.map { String($0.drop { $0 == " " }) }, parts.first.flatMap { Int64($0) })
  }
}
