// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

extension CrashView {
  /// The registers, four in a line, then those that point into a module.
  package func registerText(_ context: CPUContext) -> String {
    let registers = context.generalRegisters
    let width = context.architecture.hasNarrowAddresses ? 8 : 16
    var text = ""
    for start in stride(from: 0, to: registers.count, by: 4) {
      let row = registers[start..<min(start + 4, registers.count)].map { register in
        String(repeating: " ", count: max(0, 6 - register.name.count)) + register.name + " "
          + hexadecimal(register.value, width: width)
      }
      text += " " + row.joined(separator: " ") + "\n"
    }
    for pointer in pointers(in: context) {
      text +=
        String(repeating: " ", count: max(0, 7 - pointer.name.count)) + pointer.name + " = " + pointer.location.line
        + "\n"
    }
    return text
  }

  /// A register or word of memory with an address in a module.
  package struct Pointer: Sendable {
    /// The name of the register, or the address of the word with all digits.
    package let name: String
    package let value: UInt64
    package let location: Location

    /// Nil for a number that is no such address.
    init?(_ name: @autoclosure () -> String, _ value: UInt64, _ view: CrashView) {
      guard value > 0xfff, let location = view.location(value) else { return nil }
      (self.name, self.value, self.location) = (name(), value, location)
    }
  }

  package func pointers(in context: CPUContext) -> [Pointer] {
    context.generalRegisters.compactMap { Pointer($0.name, $0.value, self) }
  }
}
