// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Reads the end of a whole system: a panic or a reset.
extension ReportBuilder {
  /// Reads the body of types 210 and 151.
  ///
  /// - Parameter cut: the beginning of the kernel's text, where the report ends within it.
  mutating func readPanic(_ body: JSONValue, cut: String? = nil) {
    report.incident = body["incident"]?.string ?? report.incident
    report.reporterKey = body["crashReporterKey"]?.string ?? report.reporterKey
    report.captureTime = body["date"]?.string ?? report.captureTime
    snapshot.snapshotTime = ReportTime.timestamp(report.captureTime) ?? snapshot.snapshotTime
    setSystem(body["build"]?.string ?? report.osText)
    snapshot.system.machine = content(body["product"]?.string)
    // The name in the first line is that of the report.
    report.processName = nil
    let whole = (body["panicString"] ?? body["macOSPanicString"] ?? body["string"])?.string
    setPanic(whole ?? cut ?? "", isCut: whole == nil && cut != nil)
    addField("Kernel", body["kernel"]?.string)
    addField("Reset Reason", (body["reset_reason"] ?? body["resetReason"] ?? body["reason"])?.display)
    addField("Boot Faults", (body["bootFaults"] ?? body["boot_faults"])?.display)
    readOwnFacts(body[OwnFacts.key])
    for (name, value) in body["crashpadctl_fields"]?.members ?? [] { addField(name, value.display) }
  }

  /// Summarises the kernel's text.
  mutating func setPanic(_ text: String, isCut: Bool = false) {
    var panic = ReportPanic(text: text)
    panic.isCut = isCut
    let lines = text.split(whereSeparator: \.isNewline)
    panic.headline = lines.first.map(Self.headline)
    if isCut, lines.count == 1 { panic.headline? += "…" }
    if let line = lines.first(where: { $0.hasPrefix("Panicked task") }) {
      (panic.task, panic.taskID) = Self.task(line, after: "pid ")
    } else if let line = lines.first(where: { line in Self.taskKeys.contains { line.hasPrefix($0) } }) {
      panic.task = line.split(separator: ":").last.map { String($0.drop { $0 == " " }) }
    }
    readTrap(&panic, lines)
    panic.extensions = Self.extensions(lines)
    report.panic = panic
    if report.osText == nil { readPanicSystem(lines) }
  }

  private static let taskKeys = [
    "BSD process name corresponding to current thread", "Process name corresponding to current thread",
  ]

  /// Reads the trap of "Kernel trap at 0xffffff80158b2f1b, type 14=page fault, registers:", and the registers that tell of a
  /// fault of memory. CR2 has the address of the last page fault, whatever trap came later.
  private mutating func readTrap(_ panic: inout ReportPanic, _ lines: [Substring]) {
    let headline = panic.headline ?? ""
    func number(after key: String) -> UInt64? {
      for line in lines {
        guard let start = line.firstRange(of: key)?.upperBound else { continue }
        return UInt64(line[start...].prefix { $0.isHexDigit }, radix: 16)
      }
      return nil
    }
    if headline.hasPrefix("Kernel trap at "), let mark = headline.firstRange(of: ", type ")?.upperBound {
      let parts = headline[mark...].prefix { $0 != "," }.split(separator: "=", maxSplits: 1)
      panic.trap = parts.first.flatMap { UInt64($0) }
      panic.trapName = parts.count > 1 ? String(parts[1]) : nil
      if panic.trap == 14 {
        report.faultAddress = number(after: "Fault CR2: 0x") ?? number(after: "CR2: 0x")
        report.syndrome = number(after: "Error code: 0x")
      }
    } else if headline.hasPrefix("Kernel data abort") || headline.hasPrefix("Kernel instruction fetch abort") {
      report.faultAddress = number(after: "far: 0x")
      report.syndrome = number(after: "esr: 0x")
    }
  }

  /// Parses "   com.example.driver(1.0)[0b3f…]@0xffffff7f9c1e3000->0xffffff7f9c1f5fff" below "Kernel Extensions in backtrace:", which
  /// is indented too.
  private static func extensions(_ lines: [Substring]) -> [String] {
    func content(_ line: Substring) -> Substring { line.drop { $0 == " " || $0 == "\t" } }
    guard let start = lines.firstIndex(where: { content($0).hasPrefix("Kernel Extensions in backtrace:") }) else {
      return []
    }
    var names: [String] = []
    for line in lines[(start + 1)...].prefix(64) {
      let content = content(line)
      if content.hasPrefix("dependency: ") { continue }
      guard content.startIndex > line.startIndex, let open = content.firstIndex(of: "("), content.contains("@0x") else {
        break
      }
      let name = String(content[..<open])
      if !names.contains(name) { names.append(name) }
    }
    return names
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
