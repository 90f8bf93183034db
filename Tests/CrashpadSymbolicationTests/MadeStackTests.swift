// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import Foundation
import Testing

/// Stacks that a seed makes, so that each caller is known: frames with a higher trust than a scan have to be right.
/// `CRASHPADCTL_SEED` repeats a run.
struct MadeStackTests {
  /// A stack, and the return addresses on it, the innermost first.
  private struct Made {
    var process: TestProcess
    var registers: FrameRegisters
    var callers: [UInt64] = []
  }

  private static let counts = [FrameTrust.framePointer, .linkRegister, .returnAddress, .scan]

  @Test(arguments: 0..<4)
  func `Frames with a higher trust than a scan are callers`(part: Int) throws {
    let given = ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: 0 ... .max)
    print("Made stacks \(part): CRASHPADCTL_SEED=\(seed)")
    var generator = SplitMix(seed: seed &+ UInt64(part))
    var right: [FrameTrust: Int] = [:]
    var all: [FrameTrust: Int] = [:]
    for number in 0..<200 {
      let made = try Self.make(&generator)
      let walk = made.process.walk(made.registers)
      // Functions without frame may be missing from a chain, but what is there is a caller, in the order of the calls.
      var rest = made.callers[...]
      for frame in walk.frames.dropFirst() {
        all[frame.trust, default: 0] += 1
        let place = rest.firstIndex(of: frame.instruction)
        if let place { rest = rest[(place + 1)...] }
        if place != nil { right[frame.trust, default: 0] += 1 }
        #expect(
          place != nil || frame.trust == .scan,
          "CRASHPADCTL_SEED=\(seed), part \(part), stack \(number): \(frame.trust) \(String(frame.instruction, radix: 16))"
        )
      }
      // Nothing of these stacks says that a frame is the outermost one.
      #expect(walk.end != .done)
    }
    for trust in Self.counts where all[trust] != nil {
      print("  \(trust.rawValue): \(right[trust] ?? 0) of \(all[trust] ?? 0) right")
    }
    #expect((right[.framePointer] ?? 0) > 100)
  }

  private static func make(_ generator: inout SplitMix) throws -> Made {
    let architectures: [(CPUArchitecture, FrameRegisters.Architecture)] = [
      (.x86_64, .x86_64), (.arm64, .arm64), (.x86, .x86), (.arm, .arm(framePointer: 7)),
    ]
    let (machine, architecture) = architectures.randomElement(using: &generator)!
    let system: OperatingSystem = [.linux, .macos, .windows].randomElement(using: &generator)!
    var process = try TestProcess(machine)
    process.snapshot.system.operatingSystem = system
    let size: UInt64 = machine == .x86_64 || machine == .arm64 ? 8 : 4
    let bases: [UInt64] = [0x40_0000, 0x70_0000]
    for (index, base) in bases.enumerated() { process.module("module\(index)", at: base, size: 0x4_0000) }
    // Some dumps list the memory of the process, with code that was made while it ran.
    let made: UInt64 = 0x2000_0000
    let listsMemory = Int.random(in: 0..<3, using: &generator) == 0
    let areas = bases + (listsMemory ? [made] : [])
    if listsMemory {
      process.snapshot.memoryMap = areas.map {
        MemoryMapRegion(address: $0, size: 0x4_0000, state: 0x1000, protection: 0x20)
      }
    }
    func address() -> UInt64 {
      areas.randomElement(using: &generator)! + UInt64.random(in: 0x100..<0x4_0000, using: &generator) & ~3
    }
    func isCode(_ word: UInt64) -> Bool { areas.contains { (0..<0x4_0000).contains(word &- $0) } }
    let stack: UInt64 = 0x9_0000
    var words: [UInt64] = []
    /// Values that a program may leave in a local variable or in a register: numbers, addresses of data and of the stack, and return
    /// addresses of calls that are over.
    func leftover() -> UInt64 {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0, 1: 0
      case 2: UInt64.random(in: 1..<4096, using: &generator)
      case 3: UInt64.random(in: 0x1000..<0x10_0000, using: &generator) | 1
      case 4: stack + size * UInt64.random(in: 0..<200, using: &generator)
      case 5: address()
      default: UInt64.random(in: 0x2100_0000..<0x7fff_ffff, using: &generator)
      }
    }
    // Whether the functions from here on keep frame pointers: those of one module and compiler do or do not.
    let keepsFrames = system != .windows || architecture != .x86_64
    let keepers = Int.random(in: 0...8, using: &generator)
    let depth = Int.random(in: 2...12, using: &generator)
    var result = Made(process: process, registers: FrameRegisters(architecture))
    result.registers.instructionPointer = address()
    // A function that has called nothing yet may have its return address in a register only.
    if machine == .arm64 || machine == .arm, Bool.random(using: &generator) {
      let caller = address()
      result.callers.append(caller)
      result.registers.link = caller
    }
    var frame: UInt64?
    var pendingRecord: Int?
    var calls: Set<Int> = []
    for level in 0..<depth {
      for _ in 0..<Int.random(in: 1..<12, using: &generator) { words.append(leftover()) }
      let caller = address()
      if keepsFrames, level >= keepers || keepers < 4 {
        let place = stack + size * UInt64(words.count)
        if let pendingRecord { words[pendingRecord] = place } else { frame = place }
        pendingRecord = words.count
        words.append(0)
      }
      calls.insert(words.count)
      words.append(caller)
      result.callers.append(caller)
    }
    words += Array(repeating: 0, count: 8)
    // A pointer to what is left of a record can't be told from one to a record: nothing in these dumps shows the code.
    func leadsToOldRecord(_ word: UInt64) -> Bool {
      let place = Int(clamping: (word &- stack) / size) + 1
      return words.indices.contains(place) && isCode(words[place]) && !calls.contains(place)
    }
    for place in words.indices where !calls.contains(place) && leadsToOldRecord(words[place]) { words[place] = 0 }
    let bytes = words.flatMap { word in (0..<size).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    result.process.snapshot.extraMemory.append(
      MemoryRegion(address: stack, content: result.process.snapshot.store(bytes)))
    result.registers.stackPointer = stack
    // A function that keeps no frame pointer may use the register for anything, or leave the one of a caller in it.
    let usesRegister = keepers >= 4 && Bool.random(using: &generator)
    let value = usesRegister ? leftover() : frame ?? leftover()
    result.registers.framePointer = leadsToOldRecord(value) ? 0 : value
    return result
  }
}
