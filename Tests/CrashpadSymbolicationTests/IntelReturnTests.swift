// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import Foundation
import SystemPackage
import Testing
import ToolRunner
import DumpSynth

@testable import CrashpadSymbolication

/// The way from a place in a function to its return, which shows where its return address is.
struct IntelReturnTests {
  private static func code(_ bytes: [UInt8], isWide: Bool = true) -> IntelCode {
    IntelCode(isWide: isWide) { address in
      guard let start = Int(exactly: address), start < bytes.count else { return nil }
      return (0..<8).reduce(0) { word, index in
        start + index < bytes.count ? word | UInt64(bytes[start + index]) << (8 * UInt64(index)) : word
      }
    }
  }

  private static func way(
    _ bytes: [UInt8], at place: UInt64 = 0, isWide: Bool = true, isBehindCall: Bool = false,
    knowsFramePointer: Bool = true
  ) -> IntelReturn? {
    IntelReturn(
      from: place, isBehindCall: isBehindCall, knowsFramePointer: knowsFramePointer, code(bytes, isWide: isWide))
  }

  @Test func `A function that moves nothing returns to the word at the stack pointer`() throws {
    // cmp $-4096, %rax; ja; repz ret
    let call = try #require(Self.way([0x48, 0x3d, 0, 0xf0, 0xff, 0xff, 0x77, 0x15, 0xf3, 0xc3]))
    #expect(call.address == .init(isFramePointer: false, distance: 0))
    #expect(call.keepsFramePointer && call.restored.isEmpty && call.parameters == 0)
    // ret $8
    #expect(Self.way([0xc2, 8, 0], isWide: false)?.parameters == 8)
  }

  @Test func `Registers are restored from the places where the code has them`() throws {
    // add $24, %rsp; pop %rbx; pop %rbp; pop %r12; ret
    let bytes: [UInt8] = [0x48, 0x83, 0xc4, 24, 0x5b, 0x5d, 0x41, 0x5c, 0xc3]
    let way = try #require(Self.way(bytes))
    #expect(way.address.distance == 48)
    #expect(way.restored[3]?.distance == 24 && way.restored[5]?.distance == 32 && way.restored[12]?.distance == 40)
    #expect(way.keepsFramePointer)
    // At each of the later instructions the distance is smaller.
    #expect([4, 5, 6, 8].map { Self.way(bytes, at: $0)?.address.distance } == [24, 16, 8, 0])
    // lea -8(%ebp), %esp; pop %esi; pop %edi; pop %ebp; ret
    let short = try #require(Self.way([0x8d, 0x65, 0xf8, 0x5e, 0x5f, 0x5d, 0xc3], isWide: false))
    #expect(short.address == .init(isFramePointer: true, distance: 4))
    #expect(short.restored[5] == .init(isFramePointer: true, distance: 0))
    // mov 8(%rsp), %rbp; ret
    #expect(Self.way([0x48, 0x8b, 0x6c, 0x24, 8, 0xc3])?.keepsFramePointer == false)
  }

  @Test func `LEAVE needs a frame pointer that is known and has not changed`() {
    #expect(Self.way([0xc9, 0xc3])?.address == .init(isFramePointer: true, distance: 8))
    #expect(Self.way([0xc9, 0xc3], knowsFramePointer: false) == nil)
    // xor %ebp, %ebp; leave; ret
    #expect(Self.way([0x31, 0xed, 0xc9, 0xc3]) == nil)
  }

  @Test func `Calls, indirect jumps, invalid instructions and the end of the code end a way`() {
    let ends: [[UInt8]] = [
      [0xe8, 0, 0, 0, 0, 0xc3], [0xff, 0xd0, 0xc3], [0xff, 0xe0, 0xc3], [0x0f, 0x0b, 0xc3], [0xcc, 0xc3], [0xf4, 0xc3],
      // and $-16, %rsp; mov %rax, %rsp; xchg %rax, %rsp; enter; mov (%rax), %rsp
      [0x48, 0x83, 0xe4, 0xf0, 0xc3], [0x48, 0x89, 0xc4, 0xc3], [0x48, 0x94, 0xc3], [0xc8, 8, 0, 0, 0xc3],
      [0x48, 0x8b, 0x20, 0xc3], [0x90], [0xeb, 0xfe],
    ]
    for bytes in ends { #expect(Self.way(bytes) == nil, "\(bytes)") }
    // Another way leads around a call: test %eax, %eax; je +5; call; ret
    #expect(Self.way([0x85, 0xc0, 0x74, 5, 0xe8, 0, 0, 0, 0, 0xc3])?.address.distance == 0)
    // Two ways that differ: je +2; pop %rax; ret; ret
    #expect(Self.way([0x74, 2, 0x58, 0xc3, 0xc3]) == nil)
  }

  @Test func `Code behind a call that may not return is not taken for the function's own`() {
    let ends: [[UInt8]] = [
      // sub $8, %rsp; push %rbx; endbr64
      [0x90, 0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3], [0x90, 0x53, 0x5b, 0xc3],
      [0x90, 0xf3, 0x0f, 0x1e, 0xfa, 0xc3],
    ]
    for bytes in ends {
      #expect(Self.way(bytes, at: 1, isBehindCall: true) == nil, "\(bytes)")
      #expect(Self.way(bytes, at: 1) != nil, "\(bytes)")
    }
    let padded = [UInt8](repeating: 0x90, count: 16) + [0xc3]
    #expect(Self.way(padded, at: 9, isBehindCall: true) == nil && Self.way(padded, at: 16, isBehindCall: true) == nil)
    #expect(Self.way([0x90, 0x90, 0xc3], at: 1, isBehindCall: true)?.address.distance == 0)
  }

  @Test func `Ways to the return agree with the call frame information of the system's libraries`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix64(seed: seed)
    var (known, places) = (0, 0)
    for name in Self.libraries {
      let paths = Self.folders.map { $0 + name }.filter { FileManager.default.fileExists(atPath: $0) }
      guard let path = paths.first else { continue }
      let found = try Self.check(path, &random, seed)
      (known, places) = (known + found.known, places + found.places)
    }
    #expect(known >= places / 20, "\(known) of \(places) places lead to a return, seed \(seed)")
  }

  @Test func `Random bytes are read within their bounds, and ways through them end`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix64(seed: seed)
    // Bytes that are often part of an instruction lead further than others.
    let usual: [UInt8] = [
      0x0f, 0x48, 0x41, 0x66, 0xf3, 0xc3, 0xc9, 0x5d, 0x83, 0x8d, 0xc4, 0x62, 0xec, 0x74, 0xeb, 0x24,
    ]
    for _ in 0..<Soak.times(400_000, or: 4_000) {
      let bytes = (0..<48).map { _ in
        Bool.random(using: &random) ? usual.randomElement(using: &random)! : UInt8.random(in: 0...255, using: &random)
      }
      for isWide in [true, false] {
        let instruction = Self.code(bytes, isWide: isWide).instruction(at: 0)
        #expect(instruction.map { (1...15).contains($0.length) } ?? true, "\(bytes), seed \(seed)")
        for isBehindCall in [true, false] {
          let way = Self.way(bytes, isWide: isWide, isBehindCall: isBehindCall, knowsFramePointer: !isBehindCall)
          // Behind a call nothing is pushed.
          #expect(!isBehindCall || way.map { $0.address.distance >= 0 } ?? true, "\(bytes), seed \(seed)")
        }
      }
    }
  }

  @Test(.enabled(if: Disassembly.isInstalled, "capstone is not installed"))
  func `Instructions have the lengths that capstone says`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix64(seed: seed)
    var read = 0
    for name in Self.libraries {
      guard let path = Self.folders.map({ $0 + name }).first(where: { FileManager.default.fileExists(atPath: $0) })
      else { continue }
      let elf = try ElfSymbols(FilePath(path))
      let size = UInt64(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
      let text = try #require(elf.sectionAddress(".text"))
      for _ in 0..<Soak.times(20_000, or: 200) {
        // Any place: code that was entered at a wrong byte has rare instructions, too.
        let place = UInt64.random(in: text...(text + size), using: &random)
        let code = [elf.code(at: place), elf.code(at: place &+ 8)].compactMap { $0 }
        guard code.count == 2 else { continue }
        var bytes = code.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
        // The prefixes of sizes are rare in libraries.
        if Int.random(in: 0..<4, using: &random) == 0 {
          bytes = [[0x66, 0x67].randomElement(using: &random)!] + bytes.dropLast()
        }
        let words = [0, 8].map { start in (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << (8 * UInt64($1)) } }
        let isWide = Int.random(in: 0..<4, using: &random) > 0
        guard let instruction = IntelInstruction(words[0], words[1], isWide: isWide) else { continue }
        // The length of an unknown one is not used.
        guard instruction.effect != .unknown else { continue }
        let lines = Disassembly(at: place, in: bytes, before: 0, isWide ? .x86_64 : .x86)?.lines
        guard let line = lines?.first, let text = line.text else { continue }
        read += 1
        #expect(UInt64(line.bytes.count) == instruction.length, "\(text): \(bytes) \(isWide), seed \(seed)")
      }
    }
    #expect(read > 0, "seed \(seed)")
  }

  private static let folders = ["/usr/lib/x86_64-linux-gnu/", "/lib/x86_64-linux-gnu/", "/usr/lib64/", "/lib64/"]
  private static let libraries = ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libcrypto.so.3", "libsqlite3.so.0"]
  /// The functions of a library that are looked at, and the instructions of each.
  private static let functions = Soak.times(1_000, or: 8)
  private static let instructions = 200

  private static func check(
    _ path: String, _ random: inout SplitMix64, _ seed: UInt64
  ) throws -> (known: Int, places: Int) {
    let elf = try ElfSymbols(FilePath(path))
    let size = UInt64(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
    let text = try #require(elf.sectionAddress(".text"))
    let code = IntelCode(isWide: true) { elf.code(at: $0) }
    var registers = FrameRegisters(.x86_64)
    (registers.stackPointer, registers.framePointer) = (0x7000_0000, 0x7100_0000)
    var (known, places) = (0, 0)
    for _ in 0..<functions {
      let chosen = UInt64.random(in: text...(text + size), using: &random)
      guard let start = elf.frameRules(at: chosen, .x86_64)?.start else { continue }
      var (place, isBehindCall) = (start, false)
      var beforePush: UInt64?
      let last = places + instructions
      while places < last, let rules = elf.frameRules(at: place, .x86_64), rules.start == start,
        let instruction = code.instruction(at: place)
      {
        defer { place += instruction.length }
        let way = IntelReturn(from: place, isBehindCall: isBehindCall, knowsFramePointer: true, code)
        isBehindCall = elf.code(at: place).map { $0 & 0xff == 0xe8 } ?? false
        // The stack pointer and the frame pointer, whichever the rules use.
        guard let frame = rules.frameAddress?.evaluate(registers, frameAddress: nil, { _ in nil }) else { continue }
        // Code in assembly may have rules that its author did not write out: they stay behind a push, or at the return.
        if let beforePush, beforePush == frame { break }
        let word = elf.code(at: place) ?? 0
        let isPush =
          (0x50...0x57).contains(word & 0xff) || word & 0xff == 0x41 && (0x50...0x57).contains(word >> 8 & 0xff)
        beforePush = isPush && frame < 0x7080_0000 ? frame : nil
        let isReturn = word & 0xff == 0xc3 || word & 0xffff == 0xc3f3
        if isReturn, frame != registers.stackPointer! + 8 { break }
        places += 1
        // Instructions without effect fill the room between others, where the rules need not be right.
        guard let way, instruction.effect != .noOperation else { continue }
        known += 1
        let base = way.address.isFramePointer ? registers.framePointer! : registers.stackPointer!
        // The rules may use another register than the code.
        guard (frame > 0x7080_0000) == way.address.isFramePointer else { continue }
        let address = base &+ UInt64(bitPattern: way.address.distance)
        #expect(address == frame - 8, "\(path) at 0x\(String(place, radix: 16)), seed \(seed)")
      }
    }
    return (known, places)
  }
}
