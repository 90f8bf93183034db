// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadText
import CrashpadView

/// The parts that both forms of `.crash` files share.
enum CrashText {
  /// A line with a label, or nothing without a value.
  static func field(_ name: String, _ value: String?, width: Int = 21) -> String {
    guard let value else { return "" }
    return (name + ":").padded(to: width - 1) + " " + value + "\n"
  }

  /// The lines of a stack.
  ///
  /// - Parameters:
  ///   - limit: the number of frames to print; nil for all. Omitted frames show as a gap in the numbers: a line in between
  ///     would end the stack for programs that read it.
  ///   - isReport: whether the stack is of a report of Apple's, which has short addresses, and no lines with the number 0.
  static func stack(
    _ stack: CrashView.Stack, of view: CrashView, limit: Int?, isReport: Bool = false
  ) -> String {
    let (first, _, last) = stack.rows(limit: limit)
    var text = ""
    // The format has no place for functions without an address.
    for row in Array(first) + Array(last) where row.tailCall == nil {
      // Readers of the format take an image for one with a start.
      let image = view.image(row).flatMap { $0.offset == nil && row.module == nil ? nil : $0 }
      text += String(row.number).padded(to: 4) + (image?.name ?? "???").padded(to: 30) + "\t"
      text += isReport ? TextFormat.hex(row.address).rightAligned(to: 18) : "0x" + hexadecimal(row.address, width: 16)
      text += " " + place(row, image?.offset, hasLineZero: !isReport) + "\n"
    }
    return text
  }

  /// - Parameter offset: that in the image; nil if it is not known.
  private static func place(_ row: CrashView.Row, _ offset: UInt64?, hasLineZero: Bool) -> String {
    let offset = offset ?? row.address
    guard let name = row.name else { return "\(TextFormat.hex(row.address &- offset)) + \(offset)" }
    var place = name
    if !row.isInlined, let offset = row.functionOffset { place += " + \(offset)" }
    if let line = row.function?.source?.line, let name = row.function?.sourceName, line > 0 || hasLineZero {
      place += " (\(name):\(line))"
    }
    return row.isInlined ? place + " [inlined]" : place
  }
}

/// The registers of a thread, in the format of Apple's reports.
struct RegisterText {
  struct Register {
    let name: String
    let value: UInt64
    /// The number of hexadecimal digits.
    let width: Int
    var note: String?
  }

  static func title(_ context: CPUContext) -> String {
    switch context {
    case .arm64: "ARM Thread State (64-bit)"
    case .x86_64: "X86 Thread State (64-bit)"
    case .named: "Thread State (32-bit)"
    }
  }

  static func rows(_ context: CPUContext) -> [[Register]] {
    func register(_ name: String, _ value: UInt64, _ width: Int = 16) -> Register {
      Register(name: name, value: value, width: width)
    }
    switch context {
    case .arm64(let registers):
      let general = (0..<29).map { register("x\($0)", registers.x[$0]) }
      return rows(of: general + [register("fp", registers.fp), register("lr", registers.lr)])
        + [[register("sp", registers.sp), register("pc", registers.pc), register("cpsr", UInt64(registers.cpsr), 8)]]
    case .x86_64(let registers):
      let general = [
        register("rax", registers.rax), register("rbx", registers.rbx), register("rcx", registers.rcx),
        register("rdx", registers.rdx), register("rdi", registers.rdi), register("rsi", registers.rsi),
        register("rbp", registers.rbp), register("rsp", registers.rsp),
      ]
      return rows(of: general + (0..<8).map { register("r\($0 + 8)", registers.r[$0]) })
        + [[register("rip", registers.rip), register("rfl", registers.rflags)]]
    case .named(_, let registers, _, _):
      return rows(of: registers.map { register($0.name, $0.value, 8) })
    }
  }

  private static func rows(of registers: [Register]) -> [[Register]] {
    stride(from: 0, to: registers.count, by: 4).map { Array(registers[$0..<min($0 + 4, registers.count)]) }
  }

  static func text(_ rows: [[Register]], _ context: CPUContext) -> String {
    var indent = 6
    if case .x86_64 = context { indent = 5 }
    var text = ""
    for row in rows {
      for (index, register) in row.enumerated() {
        let width = index == 0 ? indent : 5
        text += String(repeating: " ", count: max(0, width - register.name.count)) + register.name
        text += ": 0x" + hexadecimal(register.value, width: register.width)
        if let note = register.note { text += " " + TextFormat.printable(note) }
      }
      text += "\n"
    }
    return text
  }
}
