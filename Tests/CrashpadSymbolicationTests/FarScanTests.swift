// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

/// Words of the stack that a scan takes or leaves by what the whole process tells of them.
struct FarScanTests {
  private static let app: UInt64 = 0x40_0000
  private static let system: UInt64 = 0x7ff0_0000_0000
  /// The return addresses of the two functions that start a thread.
  private static let starts: [UInt64] = [system + 0x1_7374, system + 0x4_cc91]

  /// A process of Windows with a stack for each list of words.
  private static func windows(
    _ stacks: [[UInt64]], _ system: OperatingSystem = .windows, _ architecture: CPUArchitecture = .x86_64
  ) throws -> TestProcess {
    var process = try TestProcess(architecture)
    process.snapshot.system.operatingSystem = system
    process.module("app", at: app, size: 0x1_0000)
    process.module("ntdll", at: Self.system, size: 0x10_0000)
    for (index, words) in stacks.enumerated() {
      let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
      var thread = ThreadSnapshot()
      thread.stack = ThreadSnapshot.Stack(
        region: MemoryRegion(address: 0x7000 + 0x1_0000 * UInt64(index), content: process.snapshot.store(bytes)))
      process.snapshot.threads.append(thread)
    }
    return process
  }

  private static func walk(_ process: TestProcess) -> [UInt64] {
    process.walk(FrameRegisters(.x86_64, [16: app + 0x100, 7: 0x7000])).frames.map(\.instruction)
  }

  private static func zeros(_ count: Int) -> [UInt64] { Array(repeating: 0, count: count) }

  private static let top: [UInt64] = [0, starts[0]] + zeros(5) + [starts[1]] + zeros(5)
  private static let other: [UInt64] = zeros(8) + top

  private var app: UInt64 { Self.app }

  // MARK: Functions that a program made

  @Test func `The caller of a jump out of code may be a function that the program told the system of`() throws {
    let (caller, outer): (UInt64, UInt64) = (0x1e0_10fa_5be9, 0x1e0_5c51_d93b)
    var process = try TestProcess(.x86_64)
    process.snapshot.system.operatingSystem = .windows
    process.module("app", at: app, size: 0x1_0000)
    process.memory(at: 0x7000, [caller, 1, 0, 2, 0x7030, outer, 0x7040, app + 0x2222, 0, 0])
    let registers = FrameRegisters(.x86_64, [16: 0x2534_0000_0019, 7: 0x7000, 6: 0x7020])
    // Nothing shows that the word at the stack pointer is more than a number.
    #expect(process.walk(registers).frames.map(\.instruction) == [0x2534_0000_0019, outer, app + 0x2222])
    process.snapshot.madeFunctions = [
      MadeFunction(address: outer - 0x100, end: outer + 0x10), MadeFunction(address: caller - 9, end: caller + 1),
    ]
    let walk = process.walk(registers)
    #expect(walk.frames.map(\.instruction) == [0x2534_0000_0019, caller, outer, app + 0x2222])
    #expect(walk.frames[1].trust == .scan)
  }
}
