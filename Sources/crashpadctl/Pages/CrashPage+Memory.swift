import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadReportPage
import CrashpadSnapshot
import CrashpadSymbolication

/// Registers, the instruction at the fault, and memory.
extension CrashPageFiller {
  /// Ranges that a page lists.
  private static let listedRanges = 400

  private var crashed: Symbolization.Thread? {
    guard snapshot.exception != nil || snapshot.report?.faultingThread != nil else { return nil }
    return symbolized.crashed
  }

  // MARK: Registers

  func addRegisters(to page: inout CrashPage) {
    guard let context = crashed?.context ?? snapshot.exception?.context else { return }
    let names = DumpView(
      view.dump, snapshot, names: AddressNames(snapshot, view.input, maker.cache))
    let thread = crashed?.index.map { "thread \($0)" } ?? "the exception"
    page.registerTitle = "\(context.architecture.rawValue), of \(thread)"
    page.registers = context.generalRegisters.map { register in
      let isStatus = ["cpsr", "rflags", "cs", "fs", "gs", "eflags"].contains(register.name)
      let value = view.fullAddress(register.value)
      if isStatus || register.value < 0x1000 {
        return CrashPage.Register(name: register.name, value: value, target: "", content: "")
      }
      let around = ranges.filter { $0.region.contains(register.value) }
      // A stack, rather than the memory around another register that lies in it.
      let region = around.first { !$0.what.isEmpty } ?? around.first
      let target = names.location(register.value) ?? region.map { $0.what.isEmpty ? "memory" : $0.what } ?? ""
      return CrashPage.Register(
        name: register.name, value: value, target: target,
        content: region.map { content(of: $0.region, at: register.value) } ?? "")
    }
    page.instruction = instruction(context)
  }

  private func bytes(of region: MemoryRegion, at address: UInt64, count: Int) -> [UInt8] {
    let start = Int(address - region.address)
    let part = region.content.part(at: start, count: min(count, region.content.count - start))
    return view.input.withBytes { snapshot.bytes(of: part, in: $0) }
  }

  /// Text, if it begins like one; else the first word, or what there is of it.
  private func content(of region: MemoryRegion, at address: UInt64) -> String {
    let bytes = bytes(of: region, at: address, count: 64)
    let text = bytes.prefix { (0x20..<0x7f).contains($0) }
    if text.count >= 4, text.count == bytes.count || bytes[text.count] == 0 {
      return "\"\(String(decoding: text, as: UTF8.self))\""
    }
    return Self.digits(bytes.prefix(16))
  }

  private static func digits(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { hexadecimal(UInt64($0), width: 2) }.joined(separator: " ")
  }

  // MARK: Instruction

  private typealias Code = (bytes: [UInt8], before: Int, origin: String)

  private func instruction(_ context: CPUContext) -> CrashPage.Instruction? {
    let address = context.instructionPointer
    guard let code = code(at: address), code.before < code.bytes.count else { return nil }
    let bytes = Array(code.bytes[code.before...].prefix(16))
    var instruction = CrashPage.Instruction(
      address: view.fullAddress(address), place: view.location(address), bytes: Self.digits(bytes),
      origin: code.origin)
    instruction.note = TrapInstruction.note(bytes, context.architecture)
    if !Disassembly.isInstalled {
      instruction.hint = "No disassembly: \(Disassembly.package) is not installed where this page was made."
    }
    let disassembly = Disassembly(
      at: address, in: code.bytes, before: code.before, context.architecture, isThumb: context.isThumb)
    if let disassembly { instruction.lines = lines(disassembly) }
    return instruction
  }

  private func lines(_ disassembly: Disassembly) -> [CrashPage.Instruction.Line] {
    let widest = disassembly.lines.map(\.bytes.count).max() ?? 0
    return disassembly.lines.enumerated().map { index, line in
      let digits = Self.digits(line.bytes)
      return CrashPage.Instruction.Line(
        address: view.fullAddress(line.address),
        bytes: digits + String(repeating: " ", count: (widest - line.bytes.count) * 3),
        text: line.text ?? "is no instruction", isAt: index == disassembly.index)
    }
  }

  private func code(at address: UInt64) -> Code? {
    let reach = Disassembly.reach
    if let region = ranges.first(where: { $0.region.contains(address) })?.region {
      let before = min(UInt64(reach), address - region.address)
      return (bytes(of: region, at: address - before, count: Int(before) + reach), Int(before), "the dump")
    }
    if let report = snapshot.report, !report.codeAt.isEmpty {
      let before = report.codeBefore.suffix(reach)
      return (Array(before) + report.codeAt.prefix(reach), before.count, "the report")
    }
    guard let place = view.lookup(address),
      let code = symbolized.result.modules[place.module].symbols?.code(
        around: place.offset, before: reach, after: reach)
    else { return nil }
    return (code.bytes, code.before, "the program's file")
  }

  // MARK: Memory

  var memory: CrashPage.Memory? {
    if ranges.isEmpty { return nil }
    var memory = CrashPage.Memory()
    memory.totalBytes = ranges.reduce(0) { $0 + $1.region.content.count }
    memory.leftOut = max(0, ranges.count - Self.listedRanges)
    memory.ranges = ranges.prefix(Self.listedRanges).map { range in
      CrashPage.Memory.Range(
        start: view.fullAddress(range.region.address), end: range.region.end.map(view.fullAddress) ?? "beyond 2^64",
        count: range.region.content.count, what: range.what)
    }
    memory.dumps = dumps
    return memory
  }

  private var dumps: [CrashPage.Listing] {
    guard let context = crashed?.context ?? snapshot.exception?.context else { return [] }
    var dumps: [CrashPage.Listing] = []
    func add(_ title: String, _ address: UInt64, before: UInt64, count: Int) {
      // A range that begins behind that place is shown from its start on.
      let start = [address &- before, address].first { DetailText.memory(view, at: $0, count: 1) != nil }
      guard let start, let text = DetailText.memory(view, at: start, count: count) else { return }
      dumps.append(CrashPage.Listing(title: "\(title), \(view.fullAddress(address))", text: text))
    }
    if let exception = snapshot.exception, exception.address != 0, exception.address != context.instructionPointer {
      add("At the address of the fault", exception.address, before: 64, count: 256)
    }
    add("At the instruction", context.instructionPointer, before: 64, count: 160)
    add("Stack from the stack pointer", context.stackPointer, before: 0, count: 1024)
    return dumps
  }
}

extension CPUContext {
  /// Whether the code of an arm processor is in its short form, as bit 5 of its status register says.
  fileprivate var isThumb: Bool {
    guard architecture == .arm else { return false }
    return generalRegisters.contains { $0.name == "cpsr" && $0.value & 0x20 != 0 }
  }
}

/// Instructions that compilers and libraries put where a program must not go on.
enum TrapInstruction {
  static func note(_ code: [UInt8], _ architecture: CPUArchitecture) -> String? {
    switch architecture {
    case .x86_64, .x86:
      if code.starts(with: [0x0f, 0x0b]) {
        return "ud2: the program ended itself; compilers write it for failed checks and unreachable code."
      }
      if code.first == 0xcc { return "int3: a breakpoint; compilers write it for failed checks." }
      if code.first == 0xf4 { return "hlt: not allowed in programs; the C library's abort() ends with it." }
    case .arm64:
      guard code.count >= 4 else { return nil }
      let word = code[0..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      if word & 0xffe0_001f == 0xd420_0000 {
        let number = hexadecimal(UInt64(word >> 5 & 0xffff))
        return "brk #0x\(number): the program ended itself; compilers write it for failed checks and unreachable code."
      }
      if word & 0xffff_0000 == 0 { return "udf: an instruction that is never defined." }
    case .arm, .unknown: break
    }
    return nil
  }
}
