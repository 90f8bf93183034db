// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// Reads the stacks that the handler of Chromium writes on Linux, after a signal or a failed check.
enum ChromiumText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { signal($0) != nil || PastedLine.check($0) != nil }) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var lastNumber: UInt64?
    var registers: [CPUContext.NamedRegister] = []
    var signal: (name: String, code: String?, address: UInt64?)?
    for line in lines {
      if let check = PastedLine.check(line) {
        if stacks.threads.isEmpty { stacks.builder.addMessage(check.string) }
      } else if let found = self.signal(line) {
        // A process that fails a check raises a signal next, whose stack is a second one.
        guard signal == nil, stacks.threads.isEmpty else { break }
        signal = found
      } else if line.equals("[end of stack trace]") {
        break
      } else if let frame = frame(line) {
        if frame.number == 0, lastNumber != nil { break }
        if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
        stacks.addGap(before: frame.number, after: lastNumber)
        lastNumber = frame.number
        stacks.add(frame.frame, module: frame.module)
      } else if lastNumber != nil {
        registers += self.registers(line)
      }
    }
    stacks.builder.snapshot.system.operatingSystem = .linux
    if let signal { stacks.setSignal(signal.name, code: signal.code, address: signal.address) }
    if registers.contains(where: { $0.name == "rip" }), registers.contains(where: { $0.name == "rsp" }) {
      stacks.builder.snapshot.system.architecture = .x86_64
      let context = ReportRegisters.context(registers)
      stacks.setContextOfLast(context)
      let frames = stacks.threads.last?.frames ?? []
      if let fault = frames.firstIndex(where: { $0.address == context.instructionPointer }), fault > 0 {
        stacks.leaveOutHandler(fault, of: stacks.threads.count - 1)
      }
    }
  }

  /// The signal of Chromium's line, by its number on Linux.
  private static func signal(_ line: TextBytes) -> (name: String, code: String?, address: UInt64?)? {
    guard let signal = PastedLine.chromiumSignal(line),
      let name = MeaningTable.signal(signal.number, on: .linux)?.name
    else { return nil }
    return (name, signal.code?.string, signal.address)
  }

  /// "#0 0x55a5f0b4c3d2 base::debug::CollectStackTrace() [../../base/debug/stack_trace_posix.cc:909:39]",
  /// "#1 0x7f05c3e5c980 (/lib/libpthread-2.27.so+0x1297f)", "#2 0x7f5f6012f39c <unknown>".
  private static func frame(_ line: TextBytes) -> (number: UInt64, frame: RecordedFrame, module: TextBytes?)? {
    guard line.first == UInt8(ascii: "#") else { return nil }
    var rest = line.dropFirst()
    guard let number = rest.takeNumber(), number < 4096, let address = rest.takeWord().address else { return nil }
    rest = rest.trimmed
    var frame = RecordedFrame(address: address)
    var module: TextBytes?
    if rest.last == UInt8(ascii: ")"), let open = rest.last(of: "("), case let place = rest[(open + 1)...].dropLast(),
      let plus = place.last(of: "+0x"), let offset = place[(plus + 1)...].number
    {
      (module, frame.moduleOffset) = (place[..<plus], offset)
      rest = rest[..<open].trimmed
    } else if rest.last == UInt8(ascii: "]"), let open = rest.last(of: " ["),
      let place = rest[(open + 2)...].dropLast().sourcePlace
    {
      (frame.file, frame.line) = (place.file.string, place.line)
      rest = rest[..<open].trimmed
    }
    if !rest.isEmpty, !rest.equals("<unknown>") { frame.function = rest.string }
    return (number, frame, module)
  }

  private static let names = [
    "di": "rdi", "si": "rsi", "bp": "rbp", "bx": "rbx", "dx": "rdx", "ax": "rax", "cx": "rcx", "sp": "rsp", "ip": "rip",
    "efl": "rflags",
  ]

  /// " di: 00007ffc8c970c70  si: 000000000000000a  bp: 00007ffc8c970d58  bx: 00007ffc8c970c70"
  private static func registers(_ line: TextBytes) -> [CPUContext.NamedRegister] {
    var registers: [CPUContext.NamedRegister] = []
    var rest = line
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      let word = rest[..<colon].trimmed
      guard word.count <= 3 else { return [] }
      rest = rest[(colon + 1)...]
      let digits = rest.takeWord()
      guard digits.count == 16, let value = digits.hexadecimal else { return [] }
      let name = word.string
      let isNumbered = word.first == UInt8(ascii: "r") && word.dropFirst().decimal.map { (8...15).contains($0) } == true
      if let name = isNumbered ? name : names[name] {
        registers.append(CPUContext.NamedRegister(name: name, value: value))
      }
    }
    return registers
  }
}

/// Reads what glibc up to 2.25 writes when it finds the heap or the stack damaged, and its libSegFault at a signal: a stack, and a
/// map of the memory.
enum GlibcText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { message($0) != nil || PastedLine.caughtSignal($0) != nil }) else {
      return false
    }
    let lines = lines[head...]
    return zip(lines, lines.dropFirst()).contains { frame($0) != nil && frame($1) != nil }
      && (message(lines[head]) == nil || lines.contains { isTitle($0) })
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var isInStack = false
    // A program's own handler writes its stack in the same form, without a title.
    var isOfHandler = false
    for line in lines {
      if let message = message(line) {
        guard stacks.threads.isEmpty else { break }
        stacks.builder.addMessage(message.text)
        stacks.setSignal(message.signal)
      } else if stacks.builder.snapshot.exception == nil, let signal = PastedLine.caughtSignal(line) {
        stacks.setSignal(signal)
        isOfHandler = true
      } else if isTitle(line) {
        guard stacks.threads.isEmpty else { break }
        stacks.beginThread(isCrashed: true)
        isInStack = true
      } else if isInStack || isOfHandler, let frame = frame(line) {
        if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
        isInStack = true
        stacks.add(frame.frame, module: frame.module)
      } else if isInStack, isOfHandler {
        break
      } else if isInStack, line.first(of: "Memory map:") != nil {
        break
      }
    }
    stacks.builder.snapshot.system.operatingSystem = .linux
    if isOfHandler { leaveOutHandler(&stacks) }
  }

  /// Leaves out the frames of the handler that wrote the stack, and the kernel's call of it, which has no name in the C library.
  private static func leaveOutHandler(_ stacks: inout ToolStacks) {
    let frames = stacks.threads.last?.frames ?? []
    guard let handler = frames.prefix(8).lastIndex(where: { $0.function.map(PastedLine.isHandler) ?? false }),
      handler + 2 < frames.count, frames[handler + 1].function.map({ $0.hasPrefix("__restore_rt") }) ?? true
    else { return }
    stacks.leaveOutHandler(handler + 2, of: stacks.threads.count - 1)
  }

  /// "*** glibc detected *** ./gear: double free or corruption (!prev): 0x0000000001c24710 ***", "*** Error in `./gear': free():
  /// invalid pointer: 0x00007fff ***", "*** buffer overflow detected ***: ./gear terminated", "*** Segmentation fault".
  ///
  /// Markdown may have taken stars for its own.
  private static func message(_ line: TextBytes) -> (text: String, signal: String)? {
    let words = line.filter { $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: "\\") }[...].trimmed
    let isMarked = line.prefix(3).contains(UInt8(ascii: "*"))
    let isOfHeap =
      words.has(prefix: "glibc detected ") || words.has(prefix: "Error in `") || words.has(prefix: "Error in '")
    let isOfCheck = words.has(prefix: "buffer overflow detected ") || words.has(prefix: "stack smashing detected ")
    if isMarked, isOfHeap || isOfCheck { return (words.string, "SIGABRT") }
    guard isMarked, let signal = SignalWords.name(words), words.count < 40 else { return nil }
    return (words.string, signal)
  }

  private static func isTitle(_ line: TextBytes) -> Bool {
    line.has(prefix: "=") && line.first(of: " Backtrace: ") != nil || line.equals("Backtrace:")
  }

  /// "/lib/libc.so.6(cfree+0x6c)[0x7fe3aaa47d7c]", "./gear(+0xddc6)[0x55]", "[0x4a3c10]", "./gear[0x4a3c10]".
  ///
  /// Source: glibc, debug/backtracesymsfd.c.
  static func frame(_ line: TextBytes) -> (frame: RecordedFrame, module: TextBytes?)? {
    guard line.last == UInt8(ascii: "]"), let open = line.last(of: "["),
      let address = line[(open + 1)...].dropLast().address
    else { return nil }
    var frame = RecordedFrame(address: address)
    var rest = line[..<open].trimmed
    if rest.last == UInt8(ascii: ")"), let start = rest.first(of: "(") {
      let place = rest[(start + 1)...].dropLast()
      rest = rest[..<start]
      if let plus = place.last(of: "+0x") ?? place.last(of: "-0x"), let offset = place[(plus + 1)...].number {
        let name = place[..<plus]
        if name.isEmpty {
          frame.moduleOffset = offset
        } else {
          frame.function = name.string
          if place[plus] == UInt8(ascii: "+") { frame.functionOffset = offset }
        }
      } else if let source = rest.sourcePlace {
        // MariaDB asks addr2line: "sql/sql_parse.cc:1234(do_command(THD*))[0x7d]", "??:0(do_command)[0x7d]".
        if !source.file.equals("??") { (frame.file, frame.line) = (source.file.string, source.line) }
        if !place.isEmpty { frame.function = place.string }
        rest = []
      } else if !place.isEmpty {
        return nil
      }
    }
    guard !rest.contains(0x20) else { return nil }
    return (frame, rest.isEmpty ? nil : rest)
  }
}
