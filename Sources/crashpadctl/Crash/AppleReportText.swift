// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot
import CrashpadText
import CrashpadView

/// A report in the text form that Apple's Console shows for an `.ips`: Report Version 104.
struct AppleReportText {
  private let view: CrashView
  private let report: ReportSnapshot
  /// The number of frames to print per stack; nil for all.
  private let limit: Int?
  private var text = ""

  static func text(_ view: CrashView, _ report: ReportSnapshot, limit: Int?) -> String {
    var writer = AppleReportText(view: view, report: report, limit: limit)
    writer.write()
    return writer.text
  }

  private mutating func write() {
    writeHead()
    writeException()
    writeMessages()
    if let last = view.lastException {
      text += "Last Exception Backtrace:\n"
      text += stack(last)
      text += "\n"
    }
    for stack in view.threadStacksInOrder { write(stack) }
    if let crashed = view.crashedStack { writeState(of: crashed) }
    writeImages()
    text += "\nEOF\n"
  }

  // MARK: Head

  private mutating func field(_ name: String, _ value: String?) {
    text += CrashText.field(name, value.map { TextFormat.printable($0) })
  }

  private func listed(_ name: String) -> String? { report.fields.first { $0.name == name }?.value }

  private func numbered(_ name: String?, _ number: String?) -> String? {
    name.map { name in number.map { "\(name) [\($0)]" } ?? name }
  }

  private mutating func writeHead() {
    field("Incident Identifier", report.incident)
    field("CrashReporter Key", report.reporterKey)
    field("Hardware Model", view.machine?.line)
    field("Process", numbered(report.processName, view.processID.map { String($0) }))
    field("Path", report.processPath)
    field("Identifier", report.bundleID)
    field("Version", version)
    field("Code Type", codeType)
    field("Role", report.role)
    field("Parent Process", numbered(report.parentName, view.parentProcessID.map { String($0) }))
    field("Coalition", numbered(report.coalition, listed("Coalition ID")))
    field("Responsible Process", numbered(report.responsibleName, listed("Responsible PID")))
    text += "\n"
    field("Date/Time", report.captureTime)
    field("Launch Time", report.launchTime)
    field("OS Version", report.osText)
    for name in ["Release Type", "Baseband Version"] { field(name, listed(name)) }
    field("Report Version", "104")
    text += "\n"
  }

  /// The version and the build, in the order of the system's own texts, by which they are read again.
  private var version: String? {
    guard let version = report.version, let build = report.build else { return report.version ?? report.build }
    return VersionOrder.of(view.system) == .buildFirst ? "\(build) (\(version))" : "\(version) (\(build))"
  }

  /// The code type. Apple's text has "Native" if the JSON does not have "Translated".
  private var codeType: String? {
    guard let type = report.codeType, !type.contains("(") else { return report.codeType }
    return report.isTranslated
      ? "\(type) (Translated)" : type.hasPrefix("ARM") || type.hasPrefix("X86") ? "\(type) (Native)" : type
  }

  // MARK: Exception

  private mutating func line(_ name: String, _ value: String?) {
    if let value, !value.isEmpty { text += "\(name): \(TextFormat.printable(value))\n" }
  }

  private mutating func writeException() {
    if let type = report.exceptionType {
      text += "Exception Type:  \(TextFormat.printable(report.exceptionSignal.map { "\(type) (\($0))" } ?? type))\n"
    }
    line("Exception Subtype", report.exceptionSubtype)
    line("Exception Codes", report.exceptionCodes)
    line("Exception Message", report.exceptionMessage)
    for note in report.exceptionNotes where note != "EXC_CORPSE_NOTIFY" { line("Exception Note", note) }
    if let termination = report.termination {
      let code = termination.code.map { Self.code($0, termination.namespace) }
      line(
        "Termination Reason",
        [termination.namespace, code, termination.indicator].compactMap { $0 }.joined(separator: " "))
      for reason in termination.reasons { line("Termination Description", reason) }
      for detail in termination.details { line("Termination Details", detail) }
      line("Terminating Process", numbered(termination.byProcess, termination.byProcessID.map { String($0) }))
    }
    // Apple's texts have no line for an exception without a message of its end.
    line("Fatal Exception", report.messages.first { $0.exception != nil }?.text)
    text += "\n"
    if let index = report.faultingThread { text += "Triggered by Thread:  \(view.threadNumber(index))\n\n" }
  }

  /// Signals, small codes and codes of GUARD in decimal, the others in hexadecimal.
  private static func code(_ code: UInt64, _ namespace: String?) -> String {
    code < 1000 ? String(code) : namespace == "GUARD" ? String(code) : TextFormat.hex(code)
  }

  private mutating func writeMessages() {
    block("Kernel Triage", report.kernelTriage)
    block("VM Region Info", report.vmRegionInfo.map { [$0] } ?? [])
    block("Application Specific Information", report.messages.compactMap { $0.exception == nil ? $0.text : nil })
    block("Report Notes", report.notes)
  }

  private mutating func block(_ title: String, _ lines: [String]) {
    guard !lines.isEmpty else { return }
    text += "\(title):\n"
    for line in lines {
      for part in line.split(separator: "\n", omittingEmptySubsequences: false) where !part.isEmpty {
        text += TextFormat.printable(String(part)) + "\n"
      }
    }
    text += "\n"
  }

  // MARK: Threads

  private mutating func write(_ stack: CrashView.Stack) {
    guard let index = stack.thread else { return }
    let name = stack.name
    let queue = stack.queue.map { " Dispatch queue: \($0)" }
    text += "Thread \(view.threadNumber(index))\(stack.isCrashed ? " Crashed" : ""):"
    let title = [name.map { " \($0)" }, queue].compactMap { $0 }.joined(separator: " ")
    text += title.isEmpty ? "\n" : ":\(name == nil ? " " : "")\(title)\n"
    text += self.stack(stack)
    text += "\n"
  }

  private func stack(_ stack: CrashView.Stack) -> String {
    CrashText.stack(stack, of: view, limit: limit, isReport: true)
  }

  // MARK: Registers and images

  private mutating func writeState(of stack: CrashView.Stack) {
    guard let index = stack.thread, let context = stack.context else { return }
    text += "\nThread \(view.threadNumber(index)) crashed with \(RegisterText.title(context)):\n"
    var rows = RegisterText.rows(context)
    switch context {
    case .arm64:
      var row: [RegisterText.Register] = []
      if let address = report.faultAddress { row.append(.init(name: "far", value: address, width: 16)) }
      if let syndrome = report.syndrome {
        row.append(.init(name: "esr", value: syndrome, width: 8, note: report.syndromeText))
      }
      if !row.isEmpty { rows.append(row) }
    case .x86_64:
      if let address = report.faultAddress {
        rows[rows.count - 1].append(.init(name: "cr2", value: address, width: 16))
      }
    case .named: break
    }
    text += RegisterText.text(rows, context)
    for name in ["Logical CPU", "Error Code", "Trap Number"] {
      if let value = listed(name) { text += (name + ":").padded(to: 17) + value + "\n" }
    }
    text += "\n"
  }

  private mutating func writeImages() {
    text += "Binary Images:\n"
    for module in view.moduleList {
      let address = module.address ?? 0
      // The end is the last byte, not the byte after it. An image of size 0 covers the whole address space.
      let (end, overflow) = address.addingReportingOverflow((module.size ?? 0) &- 1)
      let name =
        module.bundleID ?? module.debugName?.line ?? module.path?.lastComponent ?? "???"
      let uuid = module.uuid ?? .zero
      text +=
        TextFormat.hex(address).rightAligned(to: 18) + " - "
        + TextFormat.hex(overflow && module.size != 0 ? .max : end).rightAligned(to: 18)
      text += " \(TextFormat.printable(name)) (\(TextFormat.printable(module.bundleVersion ?? "*"))) <\(uuid.text)> "
      text += (module.path?.line ?? "???") + "\n"
    }
  }
}
