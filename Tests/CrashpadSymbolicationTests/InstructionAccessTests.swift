// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

@Suite("InstructionAccess")
struct InstructionAccessTests {
  private static let context: CPUContext = {
    var context = X86_64Context()
    context.rax = 0x1000
    context.rcx = 4
    context.rdi = 0x7000
    context.rsi = 0x8000
    context.rsp = 0x2000
    context.r[0] = 0xffff_ffff_0000_0010
    return .x86_64(context)
  }()

  /// Address, size and kind of each access.
  private func accesses(_ text: String) -> [String]? {
    InstructionAccess.all(of: text, next: 0x500, Self.context)?.map { access in
      "\(String(access.address, radix: 16)) \(access.size.map(String.init) ?? "?") \(access.kind?.rawValue ?? "?")"
        + (access.hasNullBase ? " null" : "")
    }
  }

  @Test("The memory of an instruction is that of its operands")
  func operands() {
    #expect(accesses("mov dword ptr [rax], 1") == ["1000 4 write"])
    #expect(accesses("mov eax, dword ptr [rax + rcx*4 - 8]") == ["1008 4 read"])
    #expect(accesses("add qword ptr [rax + 0x10], rcx") == ["1010 8 readwrite"])
    #expect(accesses("lock cmpxchg byte ptr [rax], cl") == ["1000 1 readwrite"])
    #expect(accesses("cmp word ptr [rip + 0x20], 0") == ["520 2 read"])
    #expect(accesses("movaps xmmword ptr [r8d], xmm0") == ["10 16 write"])
    #expect(accesses("mov byte ptr [rbx + 0x45], 0") == ["45 1 write null"])
    #expect(accesses("rep movsb byte ptr [rdi], byte ptr [rsi]") == ["7000 1 write", "8000 1 read"])
    #expect(accesses("vpaddd ymmword ptr [rax], ymm0, ymm1") == ["1000 32 ?"])
  }

  @Test("Calls and returns access the stack; other instructions no memory")
  func stack() {
    #expect(accesses("call qword ptr [rax]") == ["1000 8 read", "1ff8 8 write"])
    #expect(accesses("push rax") == ["1ff8 8 write"])
    #expect(accesses("ret") == ["2000 8 read"])
    #expect(accesses("lea rax, [rcx + 8]") == [])
    #expect(accesses("nop dword ptr [rax]") == [])
    #expect(accesses("ud2") == [])
  }

  @Test("An operand whose address is not in the registers makes the accesses unknown")
  func unknown() {
    #expect(accesses("mov rax, qword ptr fs:[0x28]") == nil)
    #expect(accesses("mov rax, qword ptr [xmm0*8]") == nil)
    #expect(InstructionAccess.all(of: "ldr x0, [x1]", next: 0, .arm64(ARM64Context())) == nil)
  }
}
