// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView
import DumpSynth
import Testing

/// The conclusions from the instruction at a crash. The instruction is given as text, so that no test needs capstone.
struct CrashAnalysisTests {
  /// A crash that is easy to change.
  private struct Crash {
    var kind = ExceptionSnapshot.Kind.windows
    var code: UInt32 = 0xc000_0005
    var info: UInt32 = 0
    var codes: [UInt64] = []
    var address: UInt64 = 0
    var registers = X86_64Context()
    /// Start, size, and protection as Windows has it; nil without a list.
    var map: [(UInt64, UInt64, UInt32)]? = [
      (0x10_0000, 0x1000, 0x04), (0x10_1000, 0x1000, 0x01), (0x7ff0_0000_0000, 0x10_0000, 0x02),
      (0x7ff1_0000_0000, 0x10_0000, 0x20),
    ]

    static func read(_ address: UInt64) -> Crash { Crash(codes: [0, address]) }
    static func write(_ address: UInt64) -> Crash { Crash(codes: [1, address]) }
    static func signal(_ number: UInt32, _ code: UInt32, _ address: UInt64 = 0) -> Crash {
      Crash(kind: .linuxSignal, code: number, info: code, address: address)
    }

    var view: CrashView {
      get throws {
        var snapshot = ProcessSnapshot(
          system: SystemSnapshot(
            architecture: .x86_64, operatingSystem: kind == .windows ? .windows : kind == .mach ? .macos : .linux))
        var exception = ExceptionSnapshot(kind: kind, threadID: 1, code: code)
        exception.info = info
        exception.codes = codes
        exception.address = address
        exception.context = .x86_64(registers)
        snapshot.exception = exception
        snapshot.memoryMap = (map ?? []).map {
          MemoryMapRegion(address: $0.0, size: $0.1, state: $0.2 == 0 ? 0x10000 : 0x1000, protection: $0.2)
        }
        let dump = Dump(try DumpInput(InputFile(bytes: SynthMinidump().bytes)))
        return CrashView(dump, snapshot)
      }
    }

    func analysis(_ text: String?, memory: [UInt64: UInt64] = [:]) throws -> CrashView.CrashAnalysis {
      let view = try self.view
      let exception = try #require(view.exception)
      let instruction = text.map { text in
        CrashedInstruction(text, next: 0x7ff1_0000_0010, .x86_64(registers)) { memory[$0] }
      }
      return view.analysis(exception, instruction == nil ? .noLibrary : .read, instruction)
    }

    func sentence(_ text: String) throws -> String? {
      let view = try self.view
      return view.sentence(try analysis(text), try #require(view.exception))
    }

    func with(_ change: (inout Crash) -> Void) -> Crash {
      var copy = self
      change(&copy)
      return copy
    }
  }

  @Test func `Nothing is concluded without the instruction`() throws {
    let analysis = try Crash.write(0x5000_0000).analysis(nil)
    #expect(analysis.instruction == nil && analysis.adjusted == nil)
    #expect(analysis.bitFlips == nil && analysis.inconsistencies == nil && analysis.status == .noLibrary)
  }

  // MARK: Bit flips

  private static let flipped = Crash.read(0x7fb0_0000_8000).with { $0.registers.rax = 0x7fb0_0000_8000 }

  @Test func `An address that differs from a mapped one in one bit may be flipped, in the access and in its register`()
    throws
  {
    let flips = try #require(try Self.flipped.analysis("mov ecx, dword ptr [rax]").bitFlips)
    #expect(flips.map(\.address) == [0x7ff0_0000_8000, 0x7ff0_0000_8000] && flips.map(\.register) == [nil, "rax"])
    #expect(flips.allSatisfy { $0.confidence == 250 && !$0.wasNonCanonical && !$0.isNull && !$0.hasPoison })
    let near = Self.flipped.with { $0.registers.rbx = 0x7ff0_0000_8800 }
    #expect(try near.analysis("mov ecx, dword ptr [rax]").bitFlips?.first?.confidence == 625)
    let freed = near.with { $0.registers.rdx = 0xe5e5_e5e5_e5e5_e5e5 }
    #expect(try freed.analysis("mov ecx, dword ptr [rax]").bitFlips?.first?.confidence == 313)
    // With an index, the register alone has another address.
    let indexed = Self.flipped.with { ($0.registers.rax, $0.registers.rcx) = (0x7fb0_0000_0000, 0x1000) }
    #expect(
      try indexed.analysis("mov ecx, dword ptr [rax + rcx*8]").bitFlips?.map(\.address)
        == [0x7ff0_0000_8000, 0x7ff0_0000_0000])
  }

  @Test func `An address that no pointer can have may have lost a high bit`() throws {
    let crash = Crash.signal(11, 0x80).with { $0.registers.rax = 0x0400_7ff0_0000_8000 }
    let analysis = try crash.analysis("mov ecx, dword ptr [rax]")
    #expect(analysis.adjusted == .nonCanonical(0x0400_7ff0_0000_8000))
    let flip = try #require(analysis.bitFlips?.first)
    #expect(flip.address == 0x7ff0_0000_8000 && flip.wasNonCanonical && flip.confidence == 925)
    #expect(
      try crash.sentence("mov ecx, dword ptr [rax]")
        == "mov ecx, dword ptr [rax] reads 4 bytes at 0x4007ff000008000, which no pointer can have")
  }

  @Test func `No bit is flipped where something else explains the address, and none is looked for without evidence`()
    throws
  {
    let access = "mov ecx, dword ptr [rax]"
    // An address near 0, and one just behind a mapping
    #expect(try Crash.read(0x10).analysis("mov ecx, dword ptr [rbx + 0x10]").bitFlips == [])
    let behind = Crash.read(0x7ff0_0010_0000).with { $0.registers.rax = 0x7ff0_0010_0000 }
    #expect(try behind.analysis("mov rcx, qword ptr [rax]").bitFlips == [])
    // The mapped memory does not allow the access.
    #expect(try Self.flipped.with { $0.codes[0] = 1 }.analysis("mov dword ptr [rax], ecx").bitFlips == [])
    // Without a list of memory, or an address: signals that programs send, and faults whose address is not known
    #expect(try Self.flipped.with { $0.map = nil }.analysis(access).bitFlips == nil)
    #expect(try Crash.signal(11, 0, 0x7fb0_0000_8000).analysis(access).bitFlips == nil)
    #expect(try Crash.signal(6, 1, 0x7fb0_0000_8000).analysis(access).bitFlips == nil)
    #expect(try Crash.signal(11, 0x80).analysis("mov ecx, dword ptr fs:[rax]").bitFlips == nil)
  }

  @Test func `Ranges that overlap end no search`() throws {
    let crash = Self.flipped.with { $0.map = [(0, 0x8000_0000_0000, 0x04), (0x1000, 0x1000, 0x04), (.max - 1, 2, 4)] }
    #expect(try crash.analysis("mov ecx, dword ptr [rax]").bitFlips == [])
  }

  // MARK: Guard pages and targets

  @Test func `A small range without access beside one with access looks like a guard page`() throws {
    let analysis = try Crash.write(0x10_1000).analysis("mov dword ptr [rax], 1")
    #expect(analysis.isGuarded(0x10_1000) && analysis.isGuarded(0x10_1fff))
    #expect(!analysis.isGuarded(0x10_0fff) && !analysis.isGuarded(0x10_2000) && !analysis.isGuarded(0))
    let free = Crash.write(0x10_1000).with { $0.map?[1].2 = 0 }
    #expect(try !free.analysis("nop").isGuarded(0x10_1000))
    let large = Crash.write(0x10_1000).with { $0.map?[1].1 = 0x10000 }
    #expect(try !large.analysis("nop").isGuarded(0x10_1000))
  }

  @Test func `A jump goes on at its register, at the word in memory, or at the return address`() throws {
    let crash = Crash.read(0x10).with { ($0.registers.rax, $0.registers.rsp) = (0x1234, 0x8000) }
    let memory: [UInt64: UInt64] = [0x123c: 0x5678, 0x8000: 0x9abc]
    func target(_ text: String) throws -> UInt64? { try crash.analysis(text, memory: memory).instruction?.target }
    #expect(try target("call rax") == 0x1234)
    #expect(try target("notrack jmp qword ptr [rax + 8]") == 0x5678)
    #expect(try target("bnd ret") == 0x9abc)
    #expect(try target("jmp qword ptr [rax]") == nil && target("call 0x5555") == nil && target("je 0x5555") == nil)
    #expect(try target("mov rax, rbx") == nil)
  }

  // MARK: Contradictions

  private func inconsistencies(_ crash: Crash, _ text: String) throws -> [CrashView.CrashInconsistency]? {
    try crash.analysis(text).inconsistencies
  }

  @Test func `A division by zero is in an instruction that divides`() throws {
    for crash in [
      Crash.signal(8, 1), Crash(code: 0xc000_0094), Crash(kind: .mach, code: 3, info: 1),
    ] {
      #expect(try inconsistencies(crash, "mov eax, ecx") == [.divisionByZero])
      #expect(try inconsistencies(crash, "idiv dword ptr [rbp - 4]") == [])
      #expect(try inconsistencies(crash, "div rcx") == [])
    }
    #expect(try inconsistencies(Crash.signal(8, 3), "mov eax, ecx") == [])
  }

  @Test func `A privileged instruction is none that every program has`() throws {
    let crash = Crash(code: 0xc000_0096)
    #expect(try inconsistencies(crash, "mov dword ptr [rax], 1") == [.privilege])
    for text in ["mov cr3, rax", "hlt", "in al, dx", "vpaddd ymm0, ymm0, ymm1"] {
      #expect(try inconsistencies(crash, text) == [])
    }
  }

  @Test func `An access that the instruction does not make, or that the memory allows, is a contradiction`() throws {
    let crash = Crash.write(0x10_0010).with { $0.registers.rax = 0x10_0010 }
    #expect(try inconsistencies(crash, "mov dword ptr [rax], 1") == [.allowedAccess])
    #expect(try inconsistencies(crash.with { $0.map = nil }, "mov dword ptr [rax], 1") == [])
    let guarded = Crash.write(0x10_1010).with { $0.registers.rax = 0x10_1010 }
    #expect(try inconsistencies(guarded, "mov dword ptr [rax], 1") == [])
    #expect(try inconsistencies(guarded, "mov ecx, dword ptr [rax]") == [.otherAddress])
    #expect(try inconsistencies(guarded, "mov dword ptr [rax - 8], 1") == [.otherAddress])
    #expect(try inconsistencies(guarded, "mov qword ptr [rax - 4], rcx") == [])
    // Other instructions may access more than their operands show.
    #expect(try inconsistencies(guarded, "fxsave [rax - 0x10]") == [])
    #expect(try inconsistencies(guarded, "mov dword ptr fs:[rax], 1") == [])
    #expect(try inconsistencies(Crash(code: 0xc000_00fd), "mov eax, ecx") == [.otherAddress])
    #expect(try inconsistencies(Crash(code: 0xc000_00fd), "push rax") == [])
  }

  @Test func `A fault without an address is one of an address that no pointer can have`() throws {
    let crash = Crash.read(.max)
    #expect(try inconsistencies(crash, "mov ecx, dword ptr [rax + 0x5000]") == [.canonicalAddress])
    #expect(try inconsistencies(crash, "movaps xmm0, xmmword ptr [rax + 0x5000]") == [])
    let strange = crash.with { $0.registers.rax = 0x8000_0000_0000 }
    #expect(try inconsistencies(strange, "mov ecx, dword ptr [rax]") == [])
    #expect(try strange.analysis("jmp rax").adjusted == .nonCanonical(0x8000_0000_0000))
    // The return address is not in the dump.
    #expect(try inconsistencies(crash, "ret") == [])
  }

  // MARK: Words

  @Test func `The sentence compares the address with the reported one`() throws {
    let crash = Crash.write(0x10_1010).with { $0.registers.rax = 0x10_1010 }
    #expect(
      try crash.sentence("mov dword ptr [rax], 1")
        == "mov dword ptr [rax], 1 writes 4 bytes at 0x101010, in what looks like a guard page, the address that was reported"
    )
    #expect(
      try crash.sentence("add qword ptr [rax - 4], rcx")
        == "add qword ptr [rax - 4], rcx reads and writes 8 bytes at 0x10100c, in what looks like a guard page, with the reported address in it"
    )
    #expect(
      try crash.sentence("mov ecx, dword ptr [rax - 0x10]")?.hasSuffix(
        "reads 4 bytes at 0x101000, in what looks like a guard page") == true)
    #expect(try crash.sentence("ud2") == "ud2")
    #expect(try crash.sentence("call rax") == "call rax writes 8 bytes at 0xfffffffffffffff8, and goes on at 0x101010")
  }
}
