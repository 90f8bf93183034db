// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads what the debugger of Wine writes when a program of Windows ends.
///
/// Source: Wine, programs/winedbg/tgt_active.c, stack.c and info.c.
struct WineText {
  private var stacks: ToolStacks
  private var exception: Exception?
  private var registers: [CPUContext.NamedRegister] = []
  private var section = Section.head

  private enum Section { case head, registers, stack, modules }

  private struct Exception {
    let name: String
    var address: UInt64?
    /// The address of the instruction.
    var place: UInt64?
  }

  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { exception($0) != nil }) else { return false }
    return lines[head].has(prefix: "wine: ") || lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var text = WineText(stacks: stacks)
    for line in lines { text.read(line) }
    text.finish()
    stacks = text.stacks
  }

  private init(stacks: ToolStacks) { self.stacks = stacks }

  private mutating func read(_ line: TextBytes) {
    if let found = Self.exception(line) {
      if exception == nil { exception = found }
    } else if line.has(prefix: "Register dump:") {
      section = .registers
    } else if line.has(prefix: "Stack dump:") {
      section = .head
    } else if line.has(prefix: "Backtrace:") {
      // Stacks of the other threads follow with the same title.
      guard stacks.threads.isEmpty else {
        section = .head
        return
      }
      stacks.beginThread(isCrashed: true)
      section = .stack
    } else if line.has(prefix: "Modules:") || line.has(prefix: "Module\t") {
      section = .modules
    } else {
      readPart(line)
    }
  }

  private mutating func readPart(_ line: TextBytes) {
    // The title of the stack may be missing.
    if line.has(prefix: "=>0 "), exception != nil, !hasStack { section = .stack }
    switch section {
    case .head: break
    case .registers: registers += Self.registers(line)
    case .stack:
      guard let frame = Self.frame(line) else { return }
      if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
      stacks.add(frame.frame, module: frame.module)
    case .modules:
      guard let module = Self.module(line) else { return }
      stacks.setRange(of: module.name, module.address, size: module.size)
    }
  }

  private var hasStack: Bool { stacks.threads.first?.frames?.isEmpty == false }

  private mutating func finish() {
    if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
    if let pointer = registers.first(where: { $0.name == "rip" || $0.name == "eip" }) {
      let isWide = pointer.name == "rip"
      let flags = isWide ? registers.first { $0.name == "eflags" }?.value : nil
      let named = registers + (flags.map { [CPUContext.NamedRegister(name: "rflags", value: $0)] } ?? [])
      stacks.setContextOfLast(ReportRegisters.context(named))
      stacks.builder.snapshot.system.architecture = isWide ? .x86_64 : .x86
    } else if let place = exception?.place, stacks.threads[0].frames?.isEmpty == true {
      stacks.add(RecordedFrame(address: place))
      stacks.builder.snapshot.threads[0].elided = [ElidedFrames(index: 1, frames: nil, levels: nil)]
    }
    stacks.builder.snapshot.system.operatingSystem = .windows
    stacks.crash(in: 0)
    guard let exception else { return }
    stacks.builder.report.exceptionType = exception.name
    stacks.builder.setWindowsException(exception.name, nil, address: exception.address ?? exception.place)
  }

  // MARK: Lines

  /// "Unhandled exception: page fault on read access to 0x00000000 in 32-bit code (0x01fc9328).", "wine: Unhandled page fault on write
  /// access to 0000000000000010 at address 0000000140001000 (thread 0024), starting debugger...".
  private static func exception(_ line: TextBytes) -> Exception? {
    guard let words = line.after("nhandled exception: ") ?? line.after("wine: Unhandled ") else { return nil }
    let place = (line.after("-bit code (") ?? line.after(" at address "))?.leadingHexadecimal
    guard place != nil else { return nil }
    for (access, suffix) in [("read", "_READ"), ("write", "_WRITE"), ("execute", "_EXEC")] {
      let start = "page fault on \(access) access to "
      guard words.has(prefix: start) else { continue }
      return Exception(
        name: "EXCEPTION_ACCESS_VIOLATION" + suffix, address: words.dropFirst(start.utf8.count).leadingHexadecimal,
        place: place)
    }
    if let name = names.first(where: { words.has(prefix: $0.words) })?.name {
      return Exception(name: name, place: place)
    }
    let number = (words.has(prefix: "exception ") ? words.dropFirst("exception ".utf8.count) : words).leadingHexadecimal
    return number.map { Exception(name: "0x" + String($0, radix: 16), place: place) }
  }

  private static let names: [(words: String, name: String)] = [
    ("divide by zero", "EXCEPTION_INT_DIVIDE_BY_ZERO"), ("division by zero", "EXCEPTION_INT_DIVIDE_BY_ZERO"),
    ("stack overflow", "EXCEPTION_STACK_OVERFLOW"), ("illegal instruction", "EXCEPTION_ILLEGAL_INSTRUCTION"),
    ("privileged instruction", "EXCEPTION_PRIV_INSTRUCTION"), ("breakpoint", "EXCEPTION_BREAKPOINT"),
    ("trace trap", "EXCEPTION_SINGLE_STEP"), ("overflow", "EXCEPTION_INT_OVERFLOW"),
    ("C++ exception", "0xe06d7363"), ("unimplemented function", "0x80000100"), ("assertion failed", "0x80000101"),
  ]

  /// " EIP:01fc9328 ESP:0021ed94 EBP:0021ee1c EFLAGS:00010246(  R- --  I  Z- -P- )"
  private static func registers(_ line: TextBytes) -> [CPUContext.NamedRegister] {
    line.split(separator: 0x20).compactMap { word in
      guard let colon = word.firstIndex(of: UInt8(ascii: ":")), word[..<colon].allSatisfy({ $0.isLetter || $0.isDigit })
      else { return nil }
      let digits = word[(colon + 1)...].prefix { $0 != UInt8(ascii: "(") }
      guard [4, 8, 16].contains(digits.count), let value = digits.hexadecimal else { return nil }
      return CPUContext.NamedRegister(name: word[..<colon].string.lowercased(), value: value)
    }
  }

  /// "=>0 0x01fc9328 EntryPoint+0x304bf() in icloud_main (0x0021ee1c)", "  3 0x6ed9e03c f+0xeac(h=0) [Z:\\w\\winpos.c:3056] in user32
  /// (0x0021eec8)", "=>0 0x038e0040 in league of legends (+0x34e0040) (0x0033fed8)".
  private static func frame(_ line: TextBytes) -> (frame: RecordedFrame, module: TextBytes?)? {
    var rest = line.has(prefix: "=>") ? line.dropFirst(2) : line
    guard rest.takeNumber() != nil, let address = rest.takeWord().address else { return nil }
    var frame = RecordedFrame(address: address)
    rest = rest.trimmed
    // The frame's own address, and the offset in a module without symbols.
    if rest.last == UInt8(ascii: ")"), let open = rest.last(of: "("), case let inner = rest[(open + 1)...].dropLast(),
      inner.address != nil || inner.count == 16 && inner.hexadecimal != nil
    {
      rest = rest[..<open].trimmed
    }
    if rest.last == UInt8(ascii: ")"), let open = rest.last(of: " (+0x") {
      frame.moduleOffset = rest[(open + 3)...].dropLast().number
      rest = rest[..<open]
    }
    var module: TextBytes?
    // Code outside of all modules.
    if rest.has(suffix: " in") { rest = rest.dropLast(3) }
    rest = rest.trimmed
    if rest.has(prefix: "in ") {
      module = rest.dropFirst(3)
      rest = []
    } else if let mark = rest.last(of: " in ") {
      module = rest[(mark + 4)...]
      rest = rest[..<mark]
    }
    if rest.last == UInt8(ascii: "]"), let open = rest.last(of: " ["),
      let place = rest[(open + 2)...].dropLast().sourcePlace
    {
      (frame.file, frame.line) = (place.file.string, place.line)
      rest = rest[..<open]
    }
    // Arguments are values, if there are any.
    if rest.last == UInt8(ascii: ")"), let open = rest.firstIndex(of: UInt8(ascii: "(")) { rest = rest[..<open] }
    if let plus = rest.last(of: "+0x"), let offset = rest[(plus + 1)...].number {
      frame.functionOffset = offset
      rest = rest[..<plus]
    }
    if !rest.isEmpty { frame.function = rest.string }
    return (frame, module)
  }

  /// "PE\t10000000-109d1000\tDeferred        stub", "  \\-PE\t7b420000-7b7f0000\t\\               kernel32": the loaded files.
  private static func module(_ line: TextBytes) -> (name: TextBytes, address: UInt64, size: UInt64)? {
    let parts = line.split(whereSeparator: { $0 == 0x09 })
    guard parts.count == 3, parts[0].trimmed.has(suffix: "PE") || parts[0].trimmed.has(suffix: "ELF"),
      case let range = parts[1].trimmed.split(separator: UInt8(ascii: "-")), range.count == 2,
      let start = range[0].trimmed.hexadecimal, let end = range[1].trimmed.hexadecimal, end > start
    else { return nil }
    var name = parts[2].trimmed
    // A word for its symbols stands before the name.
    _ = name.takeWord()
    return (name.trimmed, start, end - start)
  }
}
