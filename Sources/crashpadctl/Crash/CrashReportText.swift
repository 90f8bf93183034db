// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import CrashpadView

/// A dump as a report in the format of Apple's `.crash` files, version 104, for tools that read them.
struct CrashReportText {
  private let view: CrashView
  /// The number of frames to print per stack; nil for all.
  private let limit: Int?
  private var text = ""

  static func text(_ view: CrashView, limit: Int?) -> String {
    var report = CrashReportText(view: view, limit: limit)
    report.write()
    return report.text
  }

  private mutating func write() {
    writeHead()
    writeException()
    writeMessages()
    let crashed = view.crashedStack
    if view.exception?.kind == .nsException, let crashed {
      text += "\nLast Exception Backtrace:\n"
      text += CrashText.stack(crashed, of: view, limit: limit)
    }
    for stack in view.threadStacksInOrder { write(stack) }
    if let crashed, let context = crashed.context { writeState(context, thread: number(crashed)) }
    writeImages()
  }

  // MARK: Head

  private mutating func field(_ name: String, _ value: String?, width: Int = 21) {
    text += CrashText.field(name, value, width: width)
  }

  private mutating func writeHead() {
    let system = view.system
    let executable = view.mainModule
    let process = executable.map { view.moduleName($0) } ?? "???"
    field("Incident Identifier", view.reportID.text.uppercased())
    if view.clientID != .zero { field("CrashReporter Key", view.clientID.text) }
    field("Hardware Model", view.machine?.line)
    field("Process", "\(process) [\(view.processID.map { String($0) } ?? "???")]")
    field("Path", executable.flatMap { view.module($0).path?.line } ?? "???")
    field("Identifier", process)
    let annotated = view.annotation(named: "ver")
    field("Version", annotated ?? executable.flatMap { view.module($0).version } ?? "???")
    field("Code Type", codeType)
    if let parent = view.parentProcessID {
      let isLaunchd = parent == 1 && [.ios, .macos].contains(system.operatingSystem)
      field("Parent Process", "\(isLaunchd ? "launchd" : "???") [\(parent)]")
    }
    text += "\n"
    field("Date/Time", view.snapshotTime.flatMap(Self.date))
    field("Launch Time", view.startTime.flatMap(Self.date))
    let build = view.osBuild?.line.map { " (\($0))" } ?? ""
    let name = system.operatingSystem == .ios ? "iPhone OS" : system.operatingSystem.rawValue
    field("OS Version", "\(name) \(view.osVersion ?? "???")\(build)")
    field("Report Version", "104")
  }

  private var codeType: String {
    switch view.system.architecture {
    case .arm64: "ARM-64 (Native)"
    case .x86_64: "X86-64 (Native)"
    case .x86: "X86 (Native)"
    case .arm: "ARM (Native)"
    case .riscv64, .ppc64, .loongarch64, .mips, .mips64:
      "\(view.system.architecture.rawValue.uppercased()) (Native)"
    case .unknown: "???"
    }
  }

  /// Such as "2023-10-26 17:50:05.0000 +0000".
  private static func date(_ time: Timestamp) -> String? {
    guard let plain = TextFormat.rfc3339(Timestamp(seconds: time.seconds)) else { return nil }
    let fraction = (0..<1_000_000).contains(time.microseconds) ? Int(time.microseconds) / 100 : 0
    return "\(plain.prefix(10)) \(plain.dropFirst(11).prefix(8)).\(decimal(fraction, width: 4)) +0000"
  }

  // MARK: Exception

  private mutating func writeException() {
    guard let exception = view.exception else { return }
    let title = exception.appleTitle
    text += "\n"
    field("Exception Type", title.type, width: 17)
    field("Exception Subtype", title.subtype, width: 17)
    let codes = exception.kind == .mach ? Array(exception.codes.dropFirst()) : exception.codes
    let known = exception.address.map { [UInt64(exception.info ?? 0), $0] } ?? []
    let words = (codes.isEmpty ? known : codes).map { "0x" + hexadecimal($0, width: 16) }
    field("Exception Codes", words.isEmpty ? nil : words.joined(separator: ", "), width: 17)
    if let crashed = view.crashedStack {
      text += "Triggered by Thread:  \(number(crashed))\n"
    }
  }

  /// The number of a thread. A thread that is not in the dump's list gets the number after the last.
  private func number(_ stack: CrashView.Stack) -> Int { stack.thread ?? view.threadCount }

  private mutating func writeMessages() {
    let lines = view.moduleMessages.map { $0.line(limit: nil) }
    if !lines.isEmpty { text += "\nApplication Specific Information:\n" + lines.map { $0 + "\n" }.joined() }
  }

  // MARK: Threads

  private mutating func write(_ stack: CrashView.Stack) {
    text += "\n"
    let number = number(stack)
    if let name = stack.name { text += "Thread \(number) name:  \(name)\n" }
    text += "Thread \(number)\(stack.isCrashed ? " Crashed" : ""):\n"
    text += CrashText.stack(stack, of: view, limit: limit)
  }

  // MARK: Registers and images

  private mutating func writeState(_ context: CPUContext, thread: Int) {
    text += "\nThread \(thread) crashed with \(RegisterText.title(context)):\n"
    text += RegisterText.text(RegisterText.rows(context), context)
  }

  private mutating func writeImages() {
    text += "\nBinary Images:\n"
    let images = view.moduleList.compactMap { module in module.address.map { (address: $0, module: module) } }
      .sorted { ($0.address, $0.module.index) < ($1.address, $1.module.index) }
    for (address, module) in images {
      // The end is the last byte, not the byte after it.
      let (end, overflow) = address.addingReportingOverflow(max(1, module.size ?? 0) - 1)
      // Programs expect a UUID of sixteen bytes. For a build ID these are its first bytes, as on symbol servers.
      let uuid = view.symbolizedModules[module.index].identity.debugID?.uuid ?? .zero
      text +=
        TextFormat.hex(address).rightAligned(to: 18) + " - "
        + TextFormat.hex(overflow ? .max : end).rightAligned(to: 18)
      text += " \(view.moduleName(module.index)) \(view.system.architecture.rawValue)  "
      text += "<\(uuid.text.filter { $0 != "-" })> \(module.path?.line ?? "???")\n"
    }
  }
}
