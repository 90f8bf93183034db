// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

@Suite("The address of an instruction has no bit for the form of the code")
struct InstructionAddressTests {
  private func context(_ architecture: CPUArchitecture, _ pointer: UInt64, status: UInt64 = 0) -> CPUContext {
    .named(
      architecture, registers: [.init(name: "cpsr", value: status)], instructionPointer: pointer, stackPointer: 0x1000)
  }

  @Test("The short form of arm is known by bit 0 of the address or by bit 5 of the status register")
  func arm() {
    for (pointer, status, isThumb) in [
      (0x8001, 0, true), (0x8000, 0x20, true), (0x8001, 0x20, true), (0x8000, 0, false),
    ] {
      let context = context(.arm, UInt64(pointer), status: UInt64(status))
      #expect(context.isThumb == isThumb)
      #expect(context.instructionAddress == 0x8000)
      #expect(context.instructionPointer == UInt64(pointer))
    }
  }

  @Test("Addresses of other processors stay as they are", arguments: [CPUArchitecture.x86, .unknown])
  func others(_ architecture: CPUArchitecture) {
    let context = context(architecture, 0x8001, status: 0x20)
    #expect(!context.isThumb && context.instructionAddress == 0x8001)
  }
}
