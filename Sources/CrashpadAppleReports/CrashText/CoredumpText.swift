// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads what systemd-coredump writes into the journal, and what coredumpctl prints of it.
enum CoredumpText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    if lines.contains(where: { process($0) != nil }), lines.contains(where: { signal($0) != nil }) { return true }
    return lines.contains { thread($0) != nil } && lines.contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    stacks.builder.snapshot.system.operatingSystem = .linux
    stacks.builder.report.statesCrash = true
    var lastNumber: UInt64?
    for line in lines {
      if let process = process(line) ?? message(line) {
        // coredumpctl may list several dumps; the first one counts.
        guard stacks.builder.snapshot.processID == nil || stacks.builder.snapshot.processID == process.id else { break }
        stacks.builder.snapshot.processID = process.id
        stacks.builder.report.processName = stacks.builder.report.processName ?? process.name.string
      } else if let signal = signal(line) {
        stacks.setSignal(signal)
      } else if line.has(prefix: "Timestamp: ") {
        let time = line.dropFirst("Timestamp: ".utf8.count)
        stacks.builder.report.captureTime = time[..<(time.first(of: " (") ?? time.endIndex)].trimmed.string
      } else if line.has(prefix: "Executable: "), let path = line.after(": ") {
        stacks.builder.report.processPath = path.trimmed.string
      } else if let id = thread(line) {
        // The thread that crashed stands first.
        stacks.beginThread(id: id, isCrashed: stacks.threads.isEmpty)
        lastNumber = nil
      } else if let frame = frame(line), !stacks.threads.isEmpty {
        stacks.addGap(before: frame.number, after: lastNumber)
        lastNumber = frame.number
        stacks.add(frame.frame, module: frame.module)
      } else if let name = line.after("ELF object binary architecture: ") {
        stacks.builder.snapshot.system.architecture = architecture(name)
      }
    }
  }

  /// "PID: 4711 (wheel)"
  private static func process(_ line: TextBytes) -> (id: Int32, name: TextBytes)? {
    guard line.has(prefix: "PID: "), let parts = numbered(line.dropFirst("PID: ".utf8.count)) else { return nil }
    return Int32(exactly: parts.number).map { ($0, parts.name) }
  }

  /// "Process 4711 (wheel) of user 1000 dumped core."
  private static func message(_ line: TextBytes) -> (id: Int32, name: TextBytes)? {
    guard line.first(of: " dumped core") != nil || line.first(of: " terminated abnormally with signal ") != nil,
      let rest = line.after("Process "), let parts = numbered(rest)
    else { return nil }
    return Int32(exactly: parts.number).map { ($0, parts.name) }
  }

  /// "Signal: 11 (SEGV)", or the words of the journal: "terminated abnormally with signal 7/BUS, processing..."
  private static func signal(_ line: TextBytes) -> String? {
    if let rest = line.after(" terminated abnormally with signal "), let slash = rest.firstIndex(of: UInt8(ascii: "/"))
    {
      return "SIG" + rest[(slash + 1)...].prefix { $0.isLetter || $0.isDigit }.string
    }
    guard line.has(prefix: "Signal: "), let parts = numbered(line.dropFirst("Signal: ".utf8.count)),
      parts.name.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "+") })
    else { return nil }
    return "SIG" + parts.name.string
  }

  /// Parses "4711 (wheel)".
  private static func numbered(_ text: TextBytes) -> (number: UInt64, name: TextBytes)? {
    var rest = text.trimmed
    guard let number = rest.takeNumber(), rest.has(prefix: " ("), let name = rest.between("(", ")") else { return nil }
    return (number, name)
  }

  /// "Stack trace of thread 4711:"
  private static func thread(_ line: TextBytes) -> UInt64? {
    guard var rest = line.after("Stack trace of thread "), let id = rest.takeNumber(), rest.equals(":") else {
      return nil
    }
    return id
  }

  /// "#0  0x00007ff37db6abc5 raise (libc.so.6 + 0x3dbc5)", "#1  0x00007ff6f468e801 n/a (libc.so.6)".
  private static func frame(_ line: TextBytes) -> (number: UInt64, frame: RecordedFrame, module: TextBytes)? {
    guard line.first == UInt8(ascii: "#"), line.last == UInt8(ascii: ")"), let open = line.last(of: " (") else {
      return nil
    }
    var rest = line[..<open].dropFirst()
    guard let number = rest.takeNumber(), let address = rest.takeWord().address else { return nil }
    var frame = RecordedFrame(address: address)
    let name = rest.trimmed
    guard !name.isEmpty else { return nil }
    if !name.equals("n/a") { frame.function = name.string }
    var module = line[(open + 2)...].dropLast()
    if let plus = module.last(of: " + ") {
      frame.moduleOffset = module.equals("n/a + 0x0") ? nil : module[(plus + 3)...].number
      module = module[..<plus]
    }
    guard !module.isEmpty, !module.contains(0x20) else { return nil }
    return (number, frame, module)
  }

  private static func architecture(_ name: TextBytes) -> CPUArchitecture {
    if name.has(prefix: "AMD x86-64") { return .x86_64 }
    if name.has(prefix: "AARCH64") { return .arm64 }
    return name.has(prefix: "ARM") ? .arm : name.has(prefix: "Intel 80386") ? .x86 : .unknown
  }
}
