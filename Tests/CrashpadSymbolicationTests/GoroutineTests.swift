// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

/// Stacks of Go programs whose runtime works on the system's stack for a goroutine.
struct GoroutineTests {
  private static let id = "00112233445566778899AABBCCDDEEFF0"
  private static let base: UInt64 = 0x40_0000
  private static let (system, machine, goroutine): (UInt64, UInt64, UInt64) = (0x1_0000, 0x1_1000, 0x1_2000)

  /// The offset of `m.curg`, which differs by version.
  private struct Layout {
    var current: UInt64 = 192
    /// The function that switched stacks, and the goroutine's saved instruction and stack pointer.
    var function = "runtime.systemstack.abi0"
    var pc = base + 0x300
    var sp: UInt64 = 0x2_0800
    var owner = machine
    /// Whether the dump has the runtime's records of the thread, or only its stacks.
    var hasMachine = true
    var hasSystem = true
    /// The word that `asmcgocall` leaves in its frame.
    var called: UInt64 = 0
  }

  private static func walk(_ layout: Layout) throws -> StackWalker.Walk {
    let names = [
      "runtime.throw.func1", layout.function, "runtime.systemstack_switch", "runtime.throw", "main.work",
      "runtime.goexit",
    ]
    var text = "MODULE Linux x86_64 \(id) App\n"
    for (index, name) in names.enumerated() {
      text += "FUNC \(index + 1)00 100 0 \(name)\nSTACK CFI INIT \(index + 1)00 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
    }
    var process = try TestProcess(.x86_64, symbolFiles: [text])
    process.module("App", at: base, size: 0x1000, id: id)
    // Behind the function that switched is a word of an earlier call.
    process.memory(at: 0x8000, [base + 0x210, base + 0x420, 0, 0, 0, 0, layout.called, 0, 0, 0])
    if layout.hasSystem { process.memory(at: system, [0x8000, 0x9000, 0, 0, 0, 0, machine, 0, 0, system]) }
    var words = [UInt64](repeating: 0, count: 64)
    words[0] = system
    // The runtime has a `g` for signals, too, whose state was never saved.
    words[10] = 0x1_3000
    words[Int(layout.current / 8)] = goroutine
    if layout.hasMachine { process.memory(at: machine, words) }
    process.memory(at: 0x1_3000, [0x3_0000, 0x3_1000, 0, 0, 0, 0, machine, 0, 0, 0x1_3000])
    process.memory(at: goroutine, [0x2_0000, 0x2_1000, 0, 0, 0, 0, layout.owner, layout.sp, layout.pc, goroutine])
    process.memory(at: 0x2_0800, [base + 0x410, base + 0x510, base + 0x601, 0])
    return process.walk(FrameRegisters(.x86_64, [16: base + 0x110, 7: 0x8000, 14: system]))
  }

  private static func functions(_ walk: StackWalker.Walk) -> [UInt64] {
    walk.frames.map { ($0.instruction - base) >> 8 }
  }

  @Test(arguments: [184, 192, 200] as [UInt64])
  func `The stack goes on in the goroutine, wherever a version of Go has its address`(_ offset: UInt64) throws {
    let walk = try Self.walk(Layout(current: offset))
    #expect(Self.functions(walk) == [1, 2, 3, 4, 5, 6])
    #expect(walk.end == .done)
    #expect(walk.frames.map(\.isCaller) == [false, true, false, true, true, true])
  }

  @Test(arguments: ["runtime.morestack", "runtime.mcall.abi0"])
  func `A function that saves its return address leads to its caller`(_ function: String) throws {
    let walk = try Self.walk(Layout(function: function, pc: Self.base + 0x410, sp: 0x2_0808))
    #expect(Self.functions(walk) == [1, 2, 4, 5, 6])
    #expect(walk.frames[2].isCaller)
  }

  @Test func `A goroutine that is not known to be the thread's leads nowhere, and nor does the word above`() throws {
    for layout in [
      Layout(owner: 0x1_4000), Layout(sp: 0x2_1000), Layout(sp: 0x1_fff8), Layout(pc: 0),
      Layout(current: 504, owner: 0),
    ] {
      let walk = try Self.walk(layout)
      #expect(Self.functions(walk) == [1, 2] && walk.end == .noCaller)
    }
  }

  @Test(arguments: [Layout(hasMachine: false), Layout(hasSystem: false)])
  private func `A dump without the records of Go's runtime has no caller of the function that switched`(
    _ layout: Layout
  ) throws {
    let walk = try Self.walk(layout)
    #expect(Self.functions(walk) == [1, 2] && walk.end == .missingMemory)
  }

  @Test(arguments: ["runtime.asmcgocall", "runtime.asmcgocall.abi0"])
  func `A function that calls C leads to its caller on the goroutine's stack`(_ function: String) throws {
    let walk = try Self.walk(Layout(function: function, called: Self.goroutine))
    // The goroutine's saved stack pointer is that of the function.
    #expect(Self.functions(walk) == [1, 2, 4, 5, 6])
    #expect(walk.end == .done)
  }

  @Test func `A function that calls C has no caller where its frame has no goroutine`() throws {
    for word in [0, Self.system, Self.machine, 0x1_3000] {
      let walk = try Self.walk(Layout(function: "runtime.asmcgocall", called: word))
      #expect(Self.functions(walk) == [1, 2] && walk.end == .noCaller)
    }
  }

  @Test func `Another function with such a register has its own caller`() throws {
    #expect(Self.functions(try Self.walk(Layout(function: "systemstack"))).prefix(3) == [1, 2, 4])
  }
}
