// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// Converts registers from their names in reports.
enum ReportRegisters {
  static func context(_ registers: [CPUContext.NamedRegister]) -> CPUContext {
    var values: [String: UInt64] = [:]
    for register in registers { values[register.name] = register.value }
    func value(_ name: String) -> UInt64 { values[name] ?? 0 }
    if values["x0"] != nil {
      var context = ARM64Context()
      for index in 0..<29 { context.x[index] = value("x\(index)") }
      context.fp = values["fp"] ?? value("x29")
      context.lr = values["lr"] ?? value("x30")
      context.sp = value("sp")
      context.pc = value("pc")
      context.cpsr = UInt32(truncatingIfNeeded: value("cpsr"))
      return .arm64(context)
    }
    if values["rax"] != nil || values["rip"] != nil { return .x86_64(intel(value)) }
    // Whether the program was of 32 or 64 bits does not follow from them.
    if let pointer = values["srr0"] {
      return .named(.unknown, registers: registers, instructionPointer: pointer, stackPointer: value("r1"))
    }
    let isIntel = values["eip"] != nil || values["eax"] != nil
    return .named(
      isIntel ? .x86 : .arm, registers: registers, instructionPointer: value(isIntel ? "eip" : "pc"),
      stackPointer: value(isIntel ? "esp" : "sp"))
  }

  private static func intel(_ value: (String) -> UInt64) -> X86_64Context {
    var context = X86_64Context()
    context.rax = value("rax")
    context.rbx = value("rbx")
    context.rcx = value("rcx")
    context.rdx = value("rdx")
    context.rdi = value("rdi")
    context.rsi = value("rsi")
    context.rbp = value("rbp")
    context.rsp = value("rsp")
    for index in 0..<8 { context.r[index] = value("r\(index + 8)") }
    context.rip = value("rip")
    context.rflags = value("rfl") | value("rflags")
    context.cs = value("cs")
    context.fs = value("fs")
    context.gs = value("gs")
    return context
  }
}
