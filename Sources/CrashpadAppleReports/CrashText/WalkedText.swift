// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// Reads the text that minidump_stackwalk of Breakpad and minidump-stackwalk of rust-minidump print about a minidump. It has
/// no memory: stacks are those that the walker found.
struct WalkedText {
  private enum Section {
    case head
    case thread(Int)
    case modules
    case other
  }

  private var builder: ReportBuilder
  private var section = Section.head
  /// The name in "Operating system:", without its version.
  private var systemName: String?
  private var registers: [CPUContext.NamedRegister] = []
  private var reason: String?
  private var address: UInt64?
  /// The number of frames that the walker found by scanning.
  private var scannedCount = 0
  /// The names of the frames' modules.
  private var names: [[TextBytes]] = []
  private var modules: [TextBytes: Int] = [:]
  private var listsModules = false

  /// Whether the beginning of a text is one of a walker.
  static func isIn(_ start: TextBytes) -> Bool {
    let lines = start.split(separator: 0x0a).map(\.trimmed)
    let hasFrames = lines.contains { $0.has(prefix: "Found by: ") }
    let isOfProcess = lines.contains { $0.has(prefix: "Crash reason:") || $0.equals("No crash") }
    return isOfProcess && (hasFrames || lines.contains { $0.has(prefix: "Crash address:") })
      || hasFrames && lines.contains { ThreadTitle($0) != nil }
  }

  static func read(_ text: TextBytes, into builder: inout ReportBuilder) {
    var reader = WalkedText(builder: builder)
    for line in text.split(separator: 0x0a) { reader.read(line) }
    reader.finish()
    builder = reader.builder
  }

  private init(builder: ReportBuilder) { self.builder = builder }

  private mutating func read(_ whole: TextBytes) {
    let line = whole.trimmed
    guard !line.isEmpty else { return }
    if line.equals("Loaded modules:") {
      endRegisters()
      section = .modules
      listsModules = true
      return
    }
    if let title = ThreadTitle(line), beginThread(title) { return }
    switch section {
    case .head: head(line)
    case .thread(let index): threadLine(line, index)
    case .modules:
      if line.has(prefix: "0x") { module(line) } else { section = .other }
    case .other: break
    }
  }

  // MARK: Head

  private mutating func head(_ line: TextBytes) {
    guard let key = TextKey(line) else { return headContinuation(line) }
    switch key.name {
    case "Operating system": systemName = key.value.string
    case "CPU":
      endSystem(version: nil)
      builder.report.codeType = key.value.string
      builder.snapshot.system.architecture = Self.architecture(key.value.string)
    case "Crash reason": reason = key.value.string
    case "Crash address": address = key.value.takeFirst.address
    case "Assertion": if !key.value.isEmpty { builder.addMessage(key.value.string) }
    default: if !key.value.isEmpty { builder.addField(key.name, key.value.string) }
    }
  }

  /// The second line of the system has its version: "10.15.7 19H15", "0.0.0 Linux 3.2.0-4-686-pae #1 SMP i686".
  private mutating func headContinuation(_ line: TextBytes) {
    if systemName != nil { endSystem(version: line) }
  }

  private mutating func endSystem(version: TextBytes?) {
    guard let name = systemName else { return }
    systemName = nil
    var rest = version ?? []
    let number = rest.takeWord().string
    let build = rest.trimmed.string
    switch name {
    case "Linux", "Android", "Windows NT", "Windows":
      builder.snapshot.system.operatingSystem = name == "Linux" ? .linux : name == "Android" ? .android : .windows
      builder.report.osText = build.isEmpty ? name : build
    default: builder.setSystem(number.isEmpty ? name : "\(name) \(number)" + (build.isEmpty ? "" : " (\(build))"))
    }
  }

  private static func architecture(_ name: String) -> CPUArchitecture {
    switch name {
    case "amd64", "x86-64", "x86_64": .x86_64
    default: ReportNames.architecture(name)
    }
  }

  // MARK: Threads

  /// Parses "Thread 0 (crashed)", "Thread 3 worker - tid: 4711"; false for a line of another form.
  private mutating func beginThread(_ title: ThreadTitle) -> Bool {
    if title.rest.contains(UInt8(ascii: ":")), title.rest.first(of: " - tid: ") == nil { return false }
    endRegisters()
    var name = title.rest
    if let id = name.last(of: " - tid: ") { name = name[..<id] }
    let crashed = name.first(of: "(crashed)")
    if let bracket = crashed ?? name.first(of: "(requested dump") ?? name.first(of: "(") { name = name[..<bracket] }
    var thread = ThreadSnapshot()
    thread.number = Int(exactly: title.number)
    thread.frames = []
    thread.name = builder.content(name.trimmed.string)
    let index = builder.snapshot.threads.count
    if crashed != nil, builder.report.faultingThread == nil {
      builder.report.statesCrash = true
      builder.report.faultingThread = index
    }
    builder.snapshot.threads.append(thread)
    names.append([])
    section = .thread(index)
    return true
  }

  private mutating func threadLine(_ line: TextBytes, _ index: Int) {
    if line.has(prefix: "Found by: ") { return found(line.dropFirst("Found by: ".utf8.count).trimmed, index) }
    var rest = line
    if let number = rest.takeNumber(), rest.first.map(TextBytes.isBlank) == true,
      number == UInt64(builder.snapshot.threads[index].frames?.count ?? 0)
    {
      endRegisters()
      return frame(rest.trimmed, index)
    }
    readRegisters(line)
  }

  private mutating func found(_ how: TextBytes, _ index: Int) {
    if how.has(prefix: "stack scanning") { scannedCount += 1 }
    guard let last = builder.snapshot.threads[index].frames?.indices.last else { return }
    if how.has(prefix: "inlining") { builder.snapshot.threads[index].frames?[last].isInlined = true }
  }

  /// Parses "libc.so.6!raise [raise.c : 51 + 0x5]", "libobjc.A.dylib!objc_msgSend + 0x29", "phantomjs + 0x464386", "0x7f00".
  private mutating func frame(_ text: TextBytes, _ index: Int) {
    var rest = text
    var frame = RecordedFrame(address: 0)
    if rest.last == UInt8(ascii: "]"), let open = rest.last(of: " ["), let colon = rest[open...].first(of: " : ") {
      frame.file = rest[(open + 2)..<colon].string
      frame.line = rest[(colon + 3)...].prefix { $0.isDigit }.decimal.flatMap { UInt32(exactly: $0) }
      rest = rest[..<open].trimmed
    }
    var distance: UInt64?
    if let plus = rest.last(of: " + "), let value = rest[(plus + 3)...].number {
      distance = value
      rest = rest[..<plus].trimmed
    }
    var module: TextBytes = []
    if let mark = rest.firstIndex(of: UInt8(ascii: "!")) {
      module = rest[..<mark]
      let function = rest[(mark + 1)...].string
      if !function.isEmpty, !PlaceholderNames.isMissing(function) { frame.function = function }
      frame.functionOffset = distance
    } else if let address = rest.address {
      frame.address = address
    } else {
      module = rest
      frame.moduleOffset = distance
    }
    builder.snapshot.threads[index].frames?.append(frame)
    names[index].append(module)
  }

  /// Parses "eip = 0x084ac386   esp = 0xbfd96dc8".
  private mutating func readRegisters(_ line: TextBytes) {
    var rest = line
    while registers.count < 64 {
      let name = rest.takeWord()
      guard !name.isEmpty, name.count <= 8, rest.takeWord().equals("="), let value = rest.takeWord().address else {
        return
      }
      registers.append(CPUContext.NamedRegister(name: name.string, value: value))
    }
  }

  /// Gives the frame the address in its program counter, and the calls that are inlined into it, which have no registers;
  /// and the thread the registers of its first frame.
  private mutating func endRegisters() {
    defer { registers = [] }
    guard case .thread(let index) = section, let last = builder.snapshot.threads[index].frames?.indices.last,
      let counter = registers.first(where: { ["rip", "eip", "pc"].contains($0.name) })
    else { return }
    for frame in (0...last).reversed() {
      guard builder.snapshot.threads[index].frames?[frame].address == 0 else { break }
      builder.snapshot.threads[index].frames?[frame].address = counter.value
    }
    let isFirst = builder.snapshot.threads[index].frames?.dropLast().allSatisfy(\.isInlined) == true
    guard isFirst, registers.count > 4 else { return }
    let context = ReportRegisters.context(registers)
    builder.snapshot.threads[index].context = context
    // A part of a text may lack the line of the processor.
    if builder.snapshot.system.architecture == .unknown {
      builder.snapshot.system.architecture = context.architecture
    }
  }

  // MARK: Modules

  /// Parses "0x08048000 - 0x0a4f5fff  phantomjs  ???  (main)".
  private mutating func module(_ line: TextBytes) {
    var rest = line
    guard let start = rest.takeWord().address, rest.takeWord().equals("-"), let end = rest.takeWord().address,
      start <= end
    else { return builder.note(ReportRules.badImage, at: line.startIndex) }
    rest = rest.trimmed
    let gap = rest.first(of: "  ")
    let name = rest[..<(gap ?? rest.endIndex)].trimmed
    guard !name.isEmpty else { return builder.note(ReportRules.badImage, at: line.startIndex) }
    var module = builder.module(
      name.string, file: name.string, address: start, size: (end - start).addingReportingOverflow(1).partialValue,
      uuid: Self.uuid(rest))
    if gap.map({ rest[$0...].first(of: "(main)") != nil }) == true {
      module.fileType = .executable
      builder.report.processName = builder.report.processName ?? name.string
    }
    if modules[name] == nil { modules[name] = builder.snapshot.modules.count }
    builder.snapshot.modules.append(module)
  }

  /// The UUID in the debug id of a Mach-O file for which the walker had no symbols: "(WARNING: No symbols, Shop, 0DF4…0)".
  private static func uuid(_ line: TextBytes) -> String? {
    guard line.last == UInt8(ascii: ")"), let mark = line.last(of: "(WARNING: "),
      let comma = line[mark...].last(of: ", ")
    else { return nil }
    let digits = line[(comma + 2)...].dropLast()
    guard digits.count == 33, digits.dropLast().hexadecimalPairs else { return nil }
    let text = digits.string
    let ends = [8, 12, 16, 20, 32]
    return zip([0] + ends, ends).map { String(text.dropFirst($0).prefix($1 - $0)) }.joined(separator: "-")
  }

  // MARK: The end

  private mutating func finish() {
    endRegisters()
    endSystem(version: nil)
    // Debug ids of other systems are no UUIDs.
    if !builder.snapshot.system.operatingSystem.isApple {
      for index in builder.snapshot.modules.indices { builder.snapshot.modules[index].identity = .none }
    }
    for thread in names.indices {
      for (index, name) in names[thread].enumerated() where !name.isEmpty { resolve(thread, index, name) }
    }
    setReason()
    if scannedCount > 0 {
      builder.report.notes.append(
        "The walker found \(scannedCount) \(scannedCount == 1 ? "frame" : "frames") by scanning stacks:"
          + " some may be no callers.")
    }
    if builder.snapshot.threads.isEmpty { builder.note(ReportRules.noThreads) }
    if !listsModules { builder.note(ReportRules.noImages) }
  }

  private mutating func resolve(_ thread: Int, _ index: Int, _ name: TextBytes) {
    if modules[name] == nil {
      modules[name] = builder.snapshot.modules.count
      builder.snapshot.modules.append(builder.module(name.string, file: name.string, address: nil))
    }
    guard let module = modules[name], var frame = builder.snapshot.threads[thread].frames?[index] else { return }
    frame.module = module
    if let start = builder.snapshot.modules[module].address, start <= frame.address {
      frame.moduleOffset = frame.address - start
    }
    builder.snapshot.threads[thread].frames?[index] = frame
  }

  // MARK: The reason

  private mutating func setReason() {
    guard let reason, !["unknown", "DUMP_REQUESTED", "Simulated Exception"].contains(reason) else { return }
    // rust-minidump writes zeros for a dump that was requested.
    if reason.hasPrefix("unknown 0x00000000 ") { return }
    builder.report.statesCrash = true
    let parts = reason.split(separator: "/", maxSplits: 1).map { part in
      String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
    let (type, code) = (parts.first ?? reason, parts.count > 1 ? parts[1] : nil)
    if type.hasPrefix("unknown 0x") { return setUnknown(type.dropFirst("unknown ".count).utf8) }
    builder.report.exceptionType = type
    switch builder.snapshot.system.operatingSystem {
    case .ios, .macos: setMachException(type, code)
    case .windows: builder.setWindowsException(type, code, address: address)
    // A part of a text may lack its system.
    case _ where type.hasPrefix("EXC_"): setMachException(type, code)
    default: builder.setLinuxSignal(type, code: code, address: address)
    }
    builder.report.exceptionCodes = code
    builder.report.faultAddress = address
    builder.setExceptionContext()
  }

  /// Sets an exception that the walker has no name for: that of Crashpad for an NSException, or another one of Mach.
  private mutating func setUnknown(_ digits: Substring.UTF8View) {
    guard builder.snapshot.system.operatingSystem.isApple,
      let code = Array(digits)[...].number.flatMap({ UInt32(exactly: $0) })
    else { return }
    var exception = ExceptionSnapshot(
      kind: code == Self.uncaught ? .nsException : .mach, threadID: builder.faultingThreadID, code: code)
    exception.codes = [UInt64(code)]
    exception.address = address ?? 0
    exception.isAddressKnown = address != nil
    builder.snapshot.exception = exception
    builder.setExceptionContext()
  }

  /// "CPnx", Crashpad's code of an uncaught NSException.
  private static let uncaught: UInt32 = 0x4350_6e78

  private mutating func setMachException(_ type: String, _ code: String?) {
    let number = code.flatMap { TextCodes.code(named: $0) ?? Array($0.utf8)[...].number }
    // EXC_SOFT_SIGNAL: Breakpad's own exception for a signal.
    if type == "EXC_SOFTWARE", let code, MeaningTable.darwinSignals[code] != nil {
      return builder.setException(type: code, signal: code, codes: [])
    }
    builder.setException(
      type: type, signal: code.flatMap { $0.hasPrefix("SIG") ? $0 : nil },
      codes: number.map { [$0, address ?? 0] } ?? [])
  }
}

extension TextBytes {
  /// The first word.
  fileprivate var takeFirst: TextBytes {
    var rest = self
    return rest.takeWord()
  }

  /// Whether all are hexadecimal digits.
  fileprivate var hexadecimalPairs: Bool { allSatisfy { $0.isDigit || (0x61...0x66).contains($0 | 0x20) } }
}
