// SPDX-License-Identifier: Apache-2.0
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
    for register in registers where register.value > 0xfff {
      if let location = location(register.value) {
        text +=
          String(repeating: " ", count: max(0, 7 - register.name.count)) + register.name + " = " + location.line + "\n"
      }
    }
    return text
  }
}
