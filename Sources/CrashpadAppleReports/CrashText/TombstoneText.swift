// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads tombstones of Android, from a file or from the system's log.
struct TombstoneText {
  private var stacks: ToolStacks
  private var registers: [CPUContext.NamedRegister] = []
  private var signal: (name: String, code: String?, address: UInt64?)?
  private var lastNumber: UInt64?
  private var isAfterBacktrace = false

  static func isIn(_ lines: [TextBytes]) -> Bool {
    let lines = lines.map(content)
    let (hasThread, hasSignal) = (lines.contains { thread($0) != nil }, lines.contains { signal($0) != nil })
    return hasThread && hasSignal || (hasThread || hasSignal) && lines.contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var text = TombstoneText(stacks: stacks)
    text.stacks.builder.snapshot.system.operatingSystem = .android
    for line in lines { text.read(content(line)) }
    text.finish()
    stacks = text.stacks
  }

  private init(stacks: ToolStacks) { self.stacks = stacks }

  /// The line without the words of the log: "06-26 13:34:28.429 14173 14173 F DEBUG   : ", "I/DEBUG   (  77): ", and the columns
  /// of Android Studio: "DEBUG   pid-21182   A  ".
  private static func content(_ line: TextBytes) -> TextBytes {
    guard let tag = line.prefix(128).first(of: "DEBUG") else { return line }
    var rest = line[(tag + "DEBUG".utf8.count)...].trimmed
    if rest.has(prefix: "("), let close = rest.firstIndex(of: UInt8(ascii: ")")) { rest = rest[(close + 1)...].trimmed }
    if rest.first == UInt8(ascii: ":") { return rest.dropFirst().trimmed }
    guard rest.has(prefix: "pid-") else { return line }
    _ = rest.takeWord()
    let level = rest.takeWord()
    return level.count == 1 ? rest.trimmed : line
  }

  private mutating func read(_ line: TextBytes) {
    if let thread = Self.thread(line) {
      endRegisters()
      // The thread that crashed stands first; the others follow below lines of signs.
      stacks.beginThread(name: thread.name, id: thread.id, isCrashed: stacks.threads.isEmpty)
      (lastNumber, isAfterBacktrace) = (nil, false)
      guard stacks.threads.count == 1 else { return }
      stacks.builder.snapshot.processID = Int32(exactly: thread.process)
      stacks.builder.report.processName = thread.program.string
    } else if let signal = Self.signal(line) {
      // The line of the C library has less.
      if self.signal?.code == nil { self.signal = signal }
    } else if line.has(prefix: "ABI: '"), let name = line.between("'", "'") {
      stacks.builder.snapshot.system.architecture = ReportNames.architecture(name.string)
    } else if line.has(prefix: "Build fingerprint: '"), let print = line.between("'", "'") {
      readVersion(print)
    } else if line.has(prefix: "Abort message: ") {
      let text = line.dropFirst("Abort message: ".utf8.count).trimmed
      stacks.builder.addMessage((text.first == 0x27 && text.last == 0x27 ? text.dropFirst().dropLast() : text).string)
    } else if line.has(prefix: "Cause: ") {
      stacks.builder.addField("Cause", line.dropFirst("Cause: ".utf8.count).trimmed.string)
    } else if line.has(prefix: "Timestamp: ") {
      stacks.builder.report.captureTime = line.dropFirst("Timestamp: ".utf8.count).trimmed.string
    } else if let frame = Self.frame(line) {
      if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
      // Lines of the stack's memory may follow with the same numbers.
      guard !isAfterBacktrace, frame.number == (lastNumber.map { $0 &+ 1 } ?? frame.number) else {
        isAfterBacktrace = true
        return
      }
      stacks.addGap(before: frame.number, after: lastNumber)
      lastNumber = frame.number
      stacks.add(frame.frame, module: frame.module)
    } else if lastNumber == nil {
      readRegisters(line)
    }
  }

  /// "google/walleye/walleye:8.1.0/OPM1.171019.026/1591949856:user/release-keys"
  private mutating func readVersion(_ print: TextBytes) {
    guard let colon = print.firstIndex(of: UInt8(ascii: ":")) else { return }
    let parts = print[(colon + 1)...].split(separator: UInt8(ascii: "/"))
    guard let version = parts.first, version.first?.isDigit == true else { return }
    stacks.builder.report.osText = "Android \(version.string)"
    let numbers = version.split(separator: UInt8(ascii: ".")).map { $0.decimal.flatMap { Int32(exactly: $0) } }
    stacks.builder.snapshot.system.osMajor = numbers.first ?? nil
    stacks.builder.snapshot.system.osMinor = numbers.count > 1 ? numbers[1] : nil
    stacks.builder.snapshot.system.osBugfix = numbers.count > 2 ? numbers[2] : nil
  }

  /// "pid: 26085, tid: 31457, name: DecodingQueue -  >>> com.example.wheel <<<"
  private static func thread(
    _ line: TextBytes
  ) -> (process: UInt64, id: UInt64?, name: TextBytes, program: TextBytes)? {
    guard line.has(prefix: "pid: "), var rest = line.after("pid: "), let process = rest.takeNumber(),
      var id = rest.after("tid: "), let name = rest.between("name: ", ">>>") ?? rest.between("tid: ", ">>>"),
      let program = rest.between(">>> ", " <<<")
    else { return nil }
    return (process, id.takeNumber(), name, program)
  }

  /// "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x10", and what the C library logs before: "Fatal signal 11 (SIGSEGV),
  /// code 1, fault addr 0x10 in tid 78 (gear)".
  private static func signal(_ line: TextBytes) -> (name: String, code: String?, address: UInt64?)? {
    let isOfLibrary = line.first(of: "Fatal signal ") != nil
    guard isOfLibrary || line.has(prefix: "signal "), let name = line.between("(SIG", ")") else { return nil }
    let rest = line.after(", code ") ?? []
    let code = rest.between("(", ")")?.prefix { $0 != 0x20 && $0 != UInt8(ascii: ",") }
    // abort() of Android sends the signal so; its code says nothing else.
    let isAbort = name.equals("ABRT") && code.map { $0.equals("SI_QUEUE") || $0.equals("SI_TKILL") } == true
    let address = (rest.isEmpty ? line.after(") at ") : rest.after("fault addr "))?.leadingHexadecimal
    guard isOfLibrary || !rest.isEmpty else { return nil }
    return ("SIG" + name.string, isOfLibrary || isAbort ? nil : code?.string, address)
  }

  /// "#01 pc 0024cc5b  /system/lib/libgear.so (turn+12) (BuildId: …)", "#00 pc 000f4240  <unknown>".
  private static func frame(_ line: TextBytes) -> (number: UInt64, frame: RecordedFrame, module: TextBytes)? {
    guard line.first == UInt8(ascii: "#") else { return nil }
    var rest = line.dropFirst()
    guard let number = rest.takeNumber(), rest.takeWord().equals("pc") else { return nil }
    let digits = rest.takeWord()
    guard let offset = digits.number ?? digits.hexadecimal else { return nil }
    let value = digits.has(prefix: "0x") ? offset : digits.hexadecimal ?? offset
    rest = rest.trimmed
    if let build = rest.first(of: " (BuildId: ") { rest = rest[..<build].trimmed }
    let isUnknown = rest.isEmpty || rest.has(prefix: "<unknown>")
    var frame = RecordedFrame(address: isUnknown ? value : 0)
    var module = rest
    // The offset in the file is only a place in an archive.
    let name = rest.indices.first { rest[$0...].has(prefix: " (") && !rest[$0...].has(prefix: " (offset ") }
    if let end = [name, rest.first(of: " (offset ")].compactMap({ $0 }).min() { module = rest[..<end] }
    if let name, rest.last == UInt8(ascii: ")") {
      var function = rest[(name + 2)...].dropLast()
      if let plus = function.last(of: "+"), let distance = function[(plus + 1)...].decimal {
        frame.functionOffset = distance
        function = function[..<plus]
      }
      if !function.isEmpty { frame.function = function.string }
    }
    if !isUnknown { frame.moduleOffset = value }
    return (number, frame, isUnknown ? [] : module)
  }

  // MARK: Registers

  /// "x0  0000000000000010  x1  0000000000000001"
  private mutating func readRegisters(_ line: TextBytes) {
    var rest = line
    while registers.count < 64 {
      let (name, value) = (rest.takeWord(), rest.takeWord())
      guard !name.isEmpty, name.count <= 5, name.first?.isLetter == true, [8, 16].contains(value.count),
        let number = value.hexadecimal
      else { return }
      registers.append(CPUContext.NamedRegister(name: name.string, value: number))
    }
  }

  private mutating func endRegisters() {
    defer { registers = [] }
    if registers.count > 4 { stacks.setContextOfLast(ReportRegisters.context(registers)) }
  }

  private mutating func finish() {
    endRegisters()
    stacks.crash(in: nil)
    if let signal { stacks.setSignal(signal.name, code: signal.code, address: signal.address) }
  }
}
