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
