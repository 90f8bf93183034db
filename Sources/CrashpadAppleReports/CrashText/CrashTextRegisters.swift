// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

extension CrashText {
  /// Parses "    x0: 0x0000000000000000   x1: 0x…", "   esr: 0x82000004 (Instruction Abort) Translation fault".
  mutating func readRegisters(_ content: TextBytes) {
    if content.has(prefix: "Logical CPU:") || content.has(prefix: "Error Code:") || content.has(prefix: "Trap Number:")
    {
      endRegisters()
      section = .head
      return head(content)
    }
    var rest = content
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      let name = rest[..<colon].trimmed
      rest = rest[(colon + 1)...]
      let word = rest.takeWord()
      guard name.count <= 8 else { return }
      if word.has(prefix: "<") { continue }
      guard let value = word.address else {
        return builder.note(
          ReportRules.badNumber, at: word.startIndex, path: name.string, found: .text(word.prefix(64).string))
      }
      guard name.equals("esr") else {
        setRegister(name.string, value)
        continue
      }
      builder.report.syndrome = value
      let words = rest.trimmed
      builder.report.syndromeText = words.isEmpty ? nil : words.string
      return
    }
  }

  private mutating func setRegister(_ name: String, _ value: UInt64) {
    switch name {
    case "far", "cr2": builder.report.faultAddress = value
    default: if registers.count < 64 { registers.append(CPUContext.NamedRegister(name: name, value: value)) }
    }
  }

  /// Builds the context of the thread from the registers read so far.
  mutating func endRegisters() {
    guard !registers.isEmpty, isOfUnlisted || builder.snapshot.threads.indices.contains(thread) else { return }
    let context = ReportRegisters.context(registers)
    if isOfUnlisted {
      // Registers that the end of the text cuts before the program counter tell no place.
      contextOfUnlisted = context.instructionPointer == 0 ? nil : context
    } else {
      builder.snapshot.threads[thread].context = context
    }
    if builder.snapshot.system.architecture == .unknown {
      builder.snapshot.system.architecture = context.architecture
    }
    registers = []
    isOfUnlisted = false
  }

  /// Parses "  0f 1f 84 00 00 00 00 00-48 8b 05 61 42 01 00 c3  ..". The byte in brackets is at the program counter.
  mutating func readInstructions(_ content: TextBytes) {
    var rest = content
    for _ in 0..<16 {
      let isAt = rest.first == UInt8(ascii: "[")
      if isAt { rest.removeFirst() }
      guard let byte = rest.prefix(2).hexadecimal, rest.count >= 2 else { return }
      rest = rest.dropFirst(2)
      if isAt || !builder.report.codeAt.isEmpty {
        builder.report.codeAt.append(UInt8(byte))
      } else {
        builder.report.codeBefore.append(UInt8(byte))
      }
      if rest.first == UInt8(ascii: "]") { rest.removeFirst() }
      // Two blanks precede the same bytes as characters.
      if rest.has(prefix: "  ") { return }
      if rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    }
  }
}
