import CrashpadCore
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText

/// A dump as a report in the format of Apple's `.crash` files, version 104, for tools that read them.
struct CrashReportText {
  private let symbolized: SymbolizedView
  /// The number of frames to print per stack; nil for all.
  private let limit: Int?
  private var text = ""

  private var view: DumpView { symbolized.view }
  private var snapshot: ProcessSnapshot { symbolized.view.snapshot }

  static func text(_ symbolized: SymbolizedView, limit: Int?) -> String {
    var report = CrashReportText(symbolized: symbolized, limit: limit)
    report.write()
    return report.text
  }

  private mutating func write() {
    writeHead()
    writeException()
    writeMessages()
    let crashed = symbolized.crashed
    if snapshot.exception?.kind == .nsException, let crashed {
      text += "\nLast Exception Backtrace:\n"
      text += CrashText.stack(crashed.frames, of: symbolized, limit: limit)
    }
    for thread in symbolized.threadsInOrder { write(thread) }
    if let crashed, let context = crashed.context { writeState(context, thread: number(crashed)) }
    writeImages()
  }

  // MARK: Head

  private mutating func field(_ name: String, _ value: String?, width: Int = 21) {
    text += CrashText.field(name, value, width: width)
  }

  private mutating func writeHead() {
    let system = snapshot.system
    let executable = symbolized.mainModule
    let process = executable.map { view.moduleName($0) } ?? "???"
    field("Incident Identifier", snapshot.reportID.text.uppercased())
    if snapshot.clientID != .zero { field("CrashReporter Key", snapshot.clientID.text) }
    field("Hardware Model", view.text(system.machine))
    field("Process", "\(process) [\(snapshot.processID.map { String($0) } ?? "???")]")
    field("Path", executable.flatMap { view.text(snapshot.modules[$0].name) } ?? "???")
    field("Identifier", process)
    let annotated = snapshot.annotations.first { view.text($0.name) == "ver" }.flatMap { view.text($0.value) }
    field("Version", annotated ?? executable.flatMap { view.version(snapshot.modules[$0]) } ?? "???")
    field("Code Type", codeType)
    if let parent = snapshot.parentProcessID {
      let isLaunchd = parent == 1 && [.ios, .macos].contains(system.operatingSystem)
      field("Parent Process", "\(isLaunchd ? "launchd" : "???") [\(parent)]")
    }
    text += "\n"
    field("Date/Time", snapshot.snapshotTime.flatMap(Self.date))
    field("Launch Time", snapshot.startTime.flatMap(Self.date))
    let build = view.text(system.osBuild).map { " (\($0))" } ?? ""
    let name = system.operatingSystem == .ios ? "iPhone OS" : system.operatingSystem.rawValue
    field("OS Version", "\(name) \(view.osVersion ?? "???")\(build)")
    field("Report Version", "104")
  }

  private var codeType: String {
    switch snapshot.system.architecture {
    case .arm64: "ARM-64 (Native)"
    case .x86_64: "X86-64 (Native)"
    case .x86: "X86 (Native)"
    case .arm: "ARM (Native)"
    case .unknown: "???"
    }
  }

  /// Such as "2023-10-26 17:50:05.0000 +0000".
  private static func date(_ time: Timestamp) -> String? {
    guard let plain = Wording.rfc3339(Timestamp(seconds: time.seconds)) else { return nil }
    let fraction = (0..<1_000_000).contains(time.microseconds) ? Int(time.microseconds) / 100 : 0
    return "\(plain.prefix(10)) \(plain.dropFirst(11).prefix(8)).\(decimal(fraction, width: 4)) +0000"
  }

  // MARK: Exception

  private mutating func writeException() {
    guard let exception = snapshot.exception else { return }
    let title = AppleExceptionTitle(exception, snapshot.system)
    text += "\n"
    field("Exception Type", title.type, width: 17)
    field("Exception Subtype", title.subtype, width: 17)
    let codes = exception.kind == .mach ? Array(exception.codes.dropFirst()) : exception.codes
    let words = (codes.isEmpty ? [UInt64(exception.info), exception.address] : codes).map {
      "0x" + hexadecimal($0, width: 16)
    }
    field("Exception Codes", words.joined(separator: ", "), width: 17)
    if let crashed = symbolized.crashed {
      text += "Triggered by Thread:  \(number(crashed))\n"
    }
  }

  /// The number of a thread. A thread that is not in the dump's list gets the number after the last.
  private func number(_ thread: Symbolization.Thread) -> Int { thread.index ?? snapshot.threads.count }

  private mutating func writeMessages() {
    var lines: [String] = []
    for (index, module) in snapshot.modules.enumerated() {
      for message in module.messages {
        if let message = view.text(message) { lines.append("\(view.moduleName(index)): \(message)") }
      }
    }
    if !lines.isEmpty { text += "\nApplication Specific Information:\n" + lines.map { $0 + "\n" }.joined() }
  }

  // MARK: Threads

  private mutating func write(_ thread: Symbolization.Thread) {
    text += "\n"
    let number = number(thread)
    if let name = symbolized.threadName(thread) { text += "Thread \(number) name:  \(name)\n" }
    text += "Thread \(number)\(thread.isCrashed ? " Crashed" : ""):\n"
    text += CrashText.stack(thread.frames, of: symbolized, limit: limit)
  }

  // MARK: Registers and images

  private mutating func writeState(_ context: CPUContext, thread: Int) {
    text += "\nThread \(thread) crashed with \(RegisterText.title(context)):\n"
    text += RegisterText.text(RegisterText.rows(context), context)
  }

  private mutating func writeImages() {
    text += "\nBinary Images:\n"
    let images = snapshot.modules.indices.compactMap { index in
      snapshot.modules[index].address.map { (address: $0, index: index) }
    }.sorted { ($0.address, $0.index) < ($1.address, $1.index) }
    for (address, index) in images {
      let size = snapshot.modules[index].size ?? 0
      // The end is the last byte, not the byte after it.
      let (end, overflow) = address.addingReportingOverflow(max(1, size) - 1)
      // Programs expect a UUID of sixteen bytes. For a build ID these are its first bytes, as on symbol servers.
      let uuid = symbolized.result.modules[index].identity.debugID?.uuid ?? .zero
      text +=
        Wording.hex(address).rightAligned(to: 18) + " - " + Wording.hex(overflow ? .max : end).rightAligned(to: 18)
      text += " \(view.moduleName(index)) \(snapshot.system.architecture.rawValue)  "
      text += "<\(uuid.text.filter { $0 != "-" })> \(view.text(snapshot.modules[index].name) ?? "???")\n"
    }
  }
}
