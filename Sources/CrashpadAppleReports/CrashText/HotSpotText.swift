// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads the error reports of Java's VM: hs_err files, and what it prints of them.
struct HotSpotText {
  private var stacks: ToolStacks
  private var signal: (name: String, code: String?, address: UInt64?)?
  private var isProblematicNext = false
  private var problematic: (frame: RecordedFrame, module: TextBytes?)?
  private var isInFrames = false

  static func isIn(_ lines: [TextBytes]) -> Bool {
    let lines = lines.map(content)
    guard let head = lines.firstIndex(where: { $0.first(of: "detected by the Java Runtime Environment") != nil }) else {
      // A paste may begin below that line.
      return lines.contains { end($0) != nil } && lines.contains { $0.has(prefix: "Problematic frame:") }
    }
    return lines[head...].prefix(16).contains { end($0) != nil || isInternal($0) }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var text = HotSpotText(stacks: stacks)
    for line in lines { text.read(content(line)) }
    text.finish()
    stacks = text.stacks
  }

  private init(stacks: ToolStacks) { self.stacks = stacks }

  /// The line without the signs of a comment that the head has.
  private static func content(_ line: TextBytes) -> TextBytes {
    // Maven's plugin writes the name of its issue before lines that it did not expect.
    let line = line.has(prefix: "SUREFIRE-859: ") ? line.dropFirst("SUREFIRE-859: ".utf8.count) : line
    return line.drop { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "#") || TextBytes.isBlank($0) }.trimmed
  }

  /// "SIGSEGV (0xb) at pc=0x00007f1d7d06977a, pid=2311, tid=2312"
  private static func end(_ line: TextBytes) -> (name: String, pid: Int32?)? {
    guard line.has(prefix: "SIG") || line.has(prefix: "EXCEPTION_"), let open = line.first(of: " (0x"),
      line.first(of: ") at pc=0x") != nil
    else { return nil }
    return (line[..<open].string, process(line))
  }

  /// "Internal Error (gear.cpp:77), pid=7, tid=8", "Out of Memory Error (arena.cpp:7), pid=7, tid=8".
  private static func isInternal(_ line: TextBytes) -> Bool {
    (line.has(prefix: "Internal Error (") || line.has(prefix: "Out of Memory Error ("))
      && line.first(of: "), pid=") != nil
  }

  private static func process(_ line: TextBytes) -> Int32? {
    guard var rest = line.after("pid=") else { return nil }
    return rest.takeNumber().flatMap { Int32(exactly: $0) }
  }

  private mutating func read(_ line: TextBytes) {
    if line.isEmpty {
      isInFrames = false
    } else if isProblematicNext, let frame = Self.frame(line) {
      isProblematicNext = false
      problematic = problematic ?? frame
    } else if isInFrames, let frame = Self.frame(line) {
      stacks.add(frame.frame, module: frame.module)
    } else if let end = Self.end(line), signal == nil {
      signal = (end.name, nil, nil)
      stacks.builder.snapshot.processID = end.pid
    } else if Self.isInternal(line), stacks.builder.report.messages.isEmpty {
      stacks.builder.addMessage(line[..<(line.first(of: ", pid=") ?? line.endIndex)].string)
      stacks.builder.snapshot.processID = Self.process(line)
    } else if ["fatal error: ", "guarantee(", "assert(", "Error: "].contains(where: { line.has(prefix: $0) }) {
      stacks.builder.addMessage(line.string)
    } else if line.has(prefix: "Problematic frame:") {
      isProblematicNext = true
    } else if line.has(prefix: "Java VM: ") {
      readSystem(line)
    } else if line.has(prefix: "Current thread ("), let rest = line.after("): ") {
      let id = rest.after(", id=").flatMap { rest -> UInt64? in
        var rest = rest
        return rest.takeNumber()
      }
      stacks.beginThread(name: rest.between("\"", "\""), id: id, isCrashed: true)
    } else if line.has(prefix: "siginfo:") {
      readInfo(line)
    } else if line.has(prefix: "Native frames:") {
      if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
      isInFrames = stacks.threads.last?.frames?.isEmpty == true
    }
  }

  /// "Java VM: OpenJDK 64-Bit Server VM (17.0.2+8, mixed mode, tiered, g1 gc, linux-amd64)"
  private mutating func readSystem(_ line: TextBytes) {
    let systems: [(words: String, system: OperatingSystem)] = [
      ("linux-", .linux), ("windows-", .windows), ("bsd-", .macos),
    ]
    for (words, system) in systems {
      guard let rest = line.after(words) else { continue }
      stacks.builder.snapshot.system.operatingSystem = system
      let name = rest.prefix { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }.string
      let architectures = ["amd64": CPUArchitecture.x86_64, "aarch64": .arm64, "x86": .x86, "arm": .arm]
      stacks.builder.snapshot.system.architecture = architectures[name] ?? .unknown
    }
  }

  /// "siginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: 0x10", and older forms with "=".
  private mutating func readInfo(_ line: TextBytes) {
    guard let name = signal?.name else { return }
    let code = line.after("si_code").flatMap { $0.between("(", ")") }
    let address = (line.after("si_addr") ?? line.after("address")).map { text in
      text.drop { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") || TextBytes.isBlank($0) }
    }
    // Windows: "siginfo: ExceptionCode=0xc0000005, reading address 0x000000003189f002".
    let accesses: [(words: String, suffix: String)] = [("reading address", "_READ"), ("writing address", "_WRITE")]
    let access = name == "EXCEPTION_ACCESS_VIOLATION" ? accesses.first { line.first(of: $0.words) != nil } : nil
    signal = (name + (access?.suffix ?? ""), code?.string, address?.leadingHexadecimal)
  }

  // MARK: Frames

  /// "C  [libgear.so+0x1b10]  turn+0x10", "V  [libjvm.so+0x7]  Gear::turn(int)+0x7", "J 77 C2 wheel.Gear.turn()V (7 bytes) @ 0x7f",
  /// "j  wheel.Main.main([Ljava/lang/String;)V+3", "v  ~StubRoutines::call_stub".
  private static func frame(_ line: TextBytes) -> (frame: RecordedFrame, module: TextBytes?)? {
    var rest = line
    let kind = rest.takeWord()
    guard kind.count == 1, let letter = kind.first, "CVJjvA".utf8.contains(letter) else { return nil }
    rest = rest.trimmed
    var frame = RecordedFrame(address: 0)
    if rest.first == UInt8(ascii: "["), let place = rest.between("[", "]"), let plus = place.last(of: "+0x") {
      frame.moduleOffset = place[(plus + 1)...].number
      setFunction(rest[(place.endIndex + 1)...].trimmed, &frame)
      return (frame, place[..<plus])
    }
    guard !rest.isEmpty else { return nil }
    if letter == UInt8(ascii: "J"), let at = rest.first(of: " @ 0x") {
      frame.address = rest[(at + 3)...].leadingHexadecimal ?? 0
      rest = rest[..<at]
      if let size = rest.last(of: " (") { rest = rest[..<size] }
      // The number of the compilation and the name of the compiler.
      while let word = rest.split(separator: 0x20).first,
        word.first?.isDigit == true || word.equals("C1") || word.equals("C2")
      {
        rest = rest[word.endIndex...].trimmed
      }
    }
    if let address = rest.address { frame.address = address } else { setFunction(rest, &frame) }
    return (frame, nil)
  }

  private static func setFunction(_ text: TextBytes, _ frame: inout RecordedFrame) {
    var name = text
    if let plus = name.last(of: "+"), let offset = name[(plus + 1)...].number {
      frame.functionOffset = offset
      name = name[..<plus]
    }
    if !name.isEmpty { frame.function = name.string }
  }

  private mutating func finish() {
    if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
    if let problematic, stacks.threads[0].frames?.isEmpty == true {
      stacks.add(problematic.frame, module: problematic.module)
      stacks.builder.snapshot.threads[0].elided = [ElidedFrames(index: 1, frames: nil, levels: nil)]
    }
    stacks.crash(in: 0)
    guard let signal else { return }
    if signal.name.hasPrefix("SIG") {
      stacks.setSignal(signal.name, code: signal.code, address: signal.address)
    } else {
      stacks.builder.setWindowsException(signal.name, nil, address: signal.address)
    }
  }
}
