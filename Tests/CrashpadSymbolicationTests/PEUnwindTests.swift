// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import Testing
import ToolRunner

@testable import CrashpadSymbolication

/// Programs and libraries of Windows: unwinding by UNWIND_INFO, and names of exports.
struct PEUnwindTests {
  /// A library with three functions: `outer` calls `framed`, that calls `pushing`. None has a symbol but the exported one.
  private static let codeBase: UInt64 = 0x1000

  /// Appends numbers of little-endian bytes.
  private struct Bytes {
    var all: [UInt8] = []
    mutating func put(_ value: UInt64, _ count: Int) {
      all += (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
    mutating func pad(to count: Int) { all += Array(repeating: 0, count: max(0, count - all.count)) }
  }

  private struct Function {
    let start: UInt64
    let end: UInt64
    /// Version and flags, size of the prologue, number of codes, frame register.
    let header: [UInt8]
    let codes: [UInt8]
    var chained: Int?
  }

  /// - Parameter functions: sorted by address.
  private static func library(_ functions: [Function], code: [UInt8] = []) -> [UInt8] {
    var unwind = Bytes()
    var offsets: [UInt64] = []
    for function in functions {
      offsets.append(UInt64(unwind.all.count))
      unwind.all += function.header + function.codes
      if (function.codes.count / 2) % 2 == 1 { unwind.put(0, 2) }
      if let chained = function.chained {
        unwind.put(functions[chained].start, 4)
        unwind.put(functions[chained].end, 4)
        unwind.put(0x3000 + offsets[chained], 4)
      }
      unwind.pad(to: (unwind.all.count + 3) & ~3)
    }
    var table = Bytes()
    for (function, offset) in zip(functions, offsets) {
      table.put(function.start, 4)
      table.put(function.end, 4)
      table.put(0x3000 + offset, 4)
    }
    // Exports: one function at 0x1000, "exported"
    var exports = Bytes()
    exports.put(0, 16)
    for value: UInt64 in [1, 1, 1, 0x4028, 0x402c, 0x4030] { exports.put(value, 4) }
    exports.put(0x1000, 4)
    exports.put(0x4034, 4)
    exports.put(0, 4)
    exports.all += Array("exported".utf8) + [0]

    var file = Bytes()
    file.put(0x5a4d, 2)
    file.pad(to: 0x3c)
    file.put(0x40, 4)
    file.put(0x4550, 4)
    file.put(0x8664, 2)
    file.put(4, 2)
    file.put(0x5f00_0000, 4)
    file.put(0, 8)
    file.put(240, 2)
    file.put(0x2022, 2)
    let optional = file.all.count
    file.put(0x20b, 2)
    file.pad(to: optional + 56)
    file.put(0x5000, 4)
    file.pad(to: optional + 108)
    file.put(16, 4)
    file.put(0x4000, 4)
    file.put(UInt64(exports.all.count), 4)
    file.pad(to: optional + 112 + 24)
    file.put(0x2000, 4)
    file.put(UInt64(table.all.count), 4)
    file.pad(to: optional + 240)
    let parts: [(UInt64, [UInt8], UInt64)] = [
      (0x1000, code + Array(repeating: 0x90, count: 0x400 - code.count), 0x6000_0020), (0x2000, table.all, 0x4000_0040),
      (0x3000, unwind.all, 0x4000_0040), (0x4000, exports.all, 0x4000_0040),
    ]
    var place: UInt64 = 0x400
    for (address, content, flags) in parts {
      file.put(0x7478_6574, 8)
      for value in [UInt64(content.count), address, UInt64(content.count), place] { file.put(value, 4) }
      file.put(0, 12)
      file.put(flags, 4)
      place += UInt64(content.count)
    }
    file.pad(to: 0x400)
    for (_, content, _) in parts { file.all += content }
    return file.all
  }

  private static let functions = [
    // sub rsp, 0x28
    Function(start: 0x1000, end: 0x1080, header: [1, 4, 1, 0], codes: [4, 0x42]),
    // push rbp; sub rsp, 0x100; lea rbp, [rsp + 0x80]; mov [rsp + 0x40], rsi
    Function(
      start: 0x1080, end: 0x1100, header: [1, 20, 6, 0x85],
      codes: [20, 0x64, 8, 0, 16, 0x03, 8, 0x01, 0x20, 0, 1, 0x50]),
    // push rdi; push r12
    Function(start: 0x1100, end: 0x1180, header: [1, 3, 2, 0], codes: [3, 0xc0, 1, 0x70]),
    // The second part of the function before
    Function(start: 0x1180, end: 0x1200, header: [0x21, 4, 1, 0], codes: [4, 0x02], chained: 2),
    // A frame of the kernel, with an error code
    Function(start: 0x1200, end: 0x1280, header: [1, 0, 1, 0], codes: [0, 0x1a]),
  ]

  private static func process(_ words: [UInt64], _ library: [UInt8] = library(functions)) throws -> TestProcess {
    var process = try TestProcess(.x86_64)
    process.snapshot.system.operatingSystem = .windows
    try process.folder.write("lib.dll", library)
    process.module("lib.dll", at: 0x1_8000_0000, size: 0x5000)
    process.memory(at: 0x7000, words)
    return process
  }

  private static func registers(_ offset: UInt64, _ more: [Int: UInt64] = [:]) -> FrameRegisters {
    FrameRegisters(.x86_64, [16: 0x1_8000_0000 + offset, 7: 0x7000].merging(more) { $1 })
  }

  private static func address(_ offset: UInt64) -> UInt64 { 0x1_8000_0000 + offset }

  @Test func `Pushes, allocations and a frame register lead to the callers`() throws {
    // Within the third function: r12, rdi, the return address into the second one, whose stack pointer was lowered further.
    var words = [0x12, 0x77, Self.address(0x10c0)] + Array(repeating: UInt64(0), count: 100)
    // rbp is at 0x80 above the base 0x7040, where 0x100 were allocated; rbp and the return address are above them.
    let base: UInt64 = 0x7040
    words[Int(base - 0x7000) / 8 + 8] = 0x5151
    words[Int(base - 0x7000) / 8 + 32] = 0xbbbb
    words[Int(base - 0x7000) / 8 + 33] = Self.address(0x1040)
    // The first function has allocated 0x28.
    words[Int(base - 0x7000) / 8 + 34 + 5] = 0xdead_0000
    let walk = try Self.process(words).walk(Self.registers(0x1150, [6: base + 0x80]))
    #expect(
      walk.frames.map(\.instruction).prefix(4) == [
        Self.address(0x1150), Self.address(0x10c0), Self.address(0x1040), 0xdead_0000,
      ])
    #expect(walk.frames.dropFirst().prefix(3).allSatisfy { $0.trust == .callFrameInfo })
    #expect(walk.frames.map(\.stackPointer).prefix(3) == [0x7000, 0x7018, base + 34 * 8])
  }

  @Test func `Instructions that were not executed yet have done nothing`() throws {
    // Before the first push, and behind it
    for (offset, words): (UInt64, [UInt64]) in [
      (0x1100, [Self.address(0x1040)]), (0x1101, [1, Self.address(0x1040)]), (0x1103, [1, 2, Self.address(0x1040)]),
    ] {
      let walk = try Self.process(words + Array(repeating: 0, count: 8)).walk(Self.registers(offset))
      #expect(walk.frames.map(\.instruction).prefix(2) == [Self.address(offset), Self.address(0x1040)], "\(offset)")
      #expect(walk.frames.dropFirst().first?.trust == .callFrameInfo)
    }
  }

  @Test func `The last instructions of a function are executed`() throws {
    // At 0x1140: add rsp, 0x10; pop r12; pop rdi; ret. The codes say nothing of the allocation.
    var code = Array(repeating: UInt8(0x90), count: 0x400)
    code.replaceSubrange(0x140..<0x148, with: [0x48, 0x83, 0xc4, 0x10, 0x41, 0x5c, 0x5f, 0xc3])
    let library = Self.library(Self.functions, code: code)
    for (offset, count): (UInt64, Int) in [(0x1140, 4), (0x1144, 2), (0x1146, 1), (0x1147, 0)] {
      let words = Array(repeating: UInt64(5), count: count) + [Self.address(0x1040)] + Array(repeating: 0, count: 8)
      let walk = try Self.process(words, library).walk(Self.registers(offset))
      #expect(walk.frames.map(\.instruction).prefix(2) == [Self.address(offset), Self.address(0x1040)], "\(offset)")
    }
  }

  @Test func `Entries that continue others, leaves and frames of the kernel lead on`() throws {
    // 8 bytes, then what the function's first part has pushed
    let chained = try Self.process([9, 0x12, 0x77, Self.address(0x1040), 0, 0, 0, 0, 0, 0]).walk(Self.registers(0x11c0))
    #expect(chained.frames.map(\.instruction).prefix(2) == [Self.address(0x11c0), Self.address(0x1040)])
    let leaf = try Self.process([Self.address(0x1040), 0, 0, 0, 0, 0, 0]).walk(Self.registers(0x1300))
    #expect(leaf.frames.map(\.instruction).prefix(2) == [Self.address(0x1300), Self.address(0x1040)])
    let kernel = try Self.process([7, Self.address(0x1050), 0x33, 0x246, 0x7040, 0x2b, 0, 0, 0, 0, 0, 0, 0, 0])
      .walk(Self.registers(0x1240))
    #expect(kernel.frames.map(\.instruction).prefix(2) == [Self.address(0x1240), Self.address(0x1050)])
    #expect(kernel.frames.map(\.stackPointer).prefix(2) == [0x7000, 0x7040])
  }

  @Test func `A frame register that was set before the allocation leads on`() throws {
    // push rbp; mov rbp, rsp; sub rsp, 0x30
    let functions = [
      Function(start: 0x1000, end: 0x1080, header: [1, 8, 3, 5], codes: [8, 0x52, 4, 0x03, 1, 0x50])
    ]
    let words = [0, 0, 0, 0, 0, 0, 0xbbbb, Self.address(0x1300), 0, 0, 0]
    let walk = try Self.process(words, Self.library(functions)).walk(Self.registers(0x1040, [6: 0x7030]))
    #expect(walk.frames.map(\.instruction).prefix(2) == [Self.address(0x1040), Self.address(0x1300)])
    #expect(walk.frames.map(\.stackPointer).prefix(2) == [0x7000, 0x7040])
  }

  @Test func `A call among the first instructions is before the allocation`() throws {
    // mov eax, 0x1000; call __chkstk; sub rsp, rax: the first function of the two calls the leaf at 0x1300.
    let functions = [
      Function(start: 0x1000, end: 0x1080, header: [1, 13, 2, 0], codes: [13, 0x01, 0, 2]),
      Function(start: 0x1080, end: 0x1100, header: [1, 4, 1, 0], codes: [4, 0x42]),
    ]
    let words = [Self.address(0x100a), Self.address(0x10c0), 0, 0, 0, 0, 0, Self.address(0x1310), 0, 0]
    let walk = try Self.process(words, Self.library(functions)).walk(Self.registers(0x1300))
    #expect(
      walk.frames.map(\.instruction).prefix(3) == [
        Self.address(0x1300), Self.address(0x100a), Self.address(0x10c0),
      ])
  }

  @Test func `Code that the kernel interrupted is no caller`() throws {
    // The interrupted function has executed nothing: its caller is at its stack pointer.
    let words = [7, Self.address(0x1100), 0x33, 0x246, 0x7040, 0x2b, 0, 0, Self.address(0x1050), 0, 0, 0, 0, 0, 0, 0]
    let walk = try Self.process(words).walk(Self.registers(0x1240))
    #expect(
      walk.frames.map(\.instruction).prefix(3) == [
        Self.address(0x1240), Self.address(0x1100), Self.address(0x1050),
      ])
    #expect(walk.frames.prefix(2).map(\.isSignalFrame) == [true, false])
    #expect(walk.frames[1].lookupOffset == 0x1100)
  }

  @Test func `A jump to another function ends one, a jump within it does not`() throws {
    // pop rdi; jmp rax with the prefix of tail calls; jmp to the second part of the function
    var code = Array(repeating: UInt8(0x90), count: 0x400)
    code.replaceSubrange(0x140..<0x144, with: [0x5f, 0x48, 0xff, 0xe0])
    code.replaceSubrange(0x150..<0x155, with: [0xe9, 0x2b, 0, 0, 0])
    let library = Self.library(Self.functions, code: code)
    let tail = try Self.process([5, Self.address(0x1040), 0, 0, 0], library).walk(Self.registers(0x1140))
    #expect(tail.frames.map(\.instruction).prefix(2) == [Self.address(0x1140), Self.address(0x1040)])
    let within = try Self.process([1, 2, Self.address(0x1040), 0, 0, 0], library).walk(Self.registers(0x1150))
    #expect(within.frames.map(\.instruction).prefix(2) == [Self.address(0x1150), Self.address(0x1040)])
  }

  @Test func `Exported functions have names, and those between them have none`() throws {
    let process = try Self.process([0])
    let symbols = process.cache.symbols(for: ModuleIdentity(path: "lib.dll", debugID: nil))
    #expect(symbols.symbolize(0x1010)?.frames.last?.name == "exported")
    #expect(symbols.symbolize(0x1010)?.isNearest == false)
    #expect(symbols.symbolize(0x1090) == nil && symbols.symbolize(0x2010) == nil)
  }

  @Test func `Damaged files end in no caller or in another one`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Damaged PE: seed \(seed)")
    var generator = SplitMix(seed: seed)
    let whole = Self.library(Self.functions)
    for number in 0..<400 {
      var library = whole
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        library[Int.random(in: 0..<library.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if Bool.random(using: &generator) { library.removeLast(Int.random(in: 0..<library.count, using: &generator)) }
      let words = (0..<40).map { _ in Self.address(UInt64.random(in: 0x1000..<0x1400, using: &generator)) }
      let walk = try Self.process(words, library)
        .walk(Self.registers(UInt64.random(in: 0x1000..<0x1400, using: &generator), [6: 0x7020]))
      #expect(!walk.frames.isEmpty && walk.frames.count <= 41, "seed \(seed), \(number)")
    }
  }

  // MARK: Every register and code

  /// The caller of the first function of a library, whose codes are of instructions that have all been executed.
  private static func caller(
    _ codes: [UInt8], frame: UInt8 = 0, code: [UInt8] = [], at offset: UInt64 = 0x1040, isInnermost: Bool = false
  ) throws -> FrameRegisters? {
    let function = Function(start: 0x1000, end: 0x1080, header: [1, 0, UInt8(codes.count / 2), frame], codes: codes)
    let bytes = library([function], code: code)
    var callee = FrameRegisters(.x86_64)
    for number in 0..<16 { callee[number] = 0x100 + UInt64(number) }
    callee.stackPointer = 0x7000
    return InputFile(bytes: bytes).withBytes { bytes in
      PEFile(bytes).flatMap { file in
        PEUnwind(file: file).caller(of: callee, at: offset, isInnermost: isInnermost, bytes) { 0x9000_0000 | $0 }
      }
    }
  }

  /// DWARF's numbers in the order of instructions: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15
  private static let numbers = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]
  private static let preserved: Set<Int> = [3, 4, 5, 6, 12, 13, 14, 15]

  @Test func `A function without codes keeps the registers that it has to preserve, and no other`() throws {
    let caller = try #require(try Self.caller([]))
    #expect(caller.instructionPointer == 0x9000_7000 && caller.stackPointer == 0x7008)
    for number in 0..<16 where number != 7 {
      #expect(caller[number] == (Self.preserved.contains(number) ? 0x100 + UInt64(number) : nil), "register \(number)")
    }
  }

  @Test func `Each register is restored from where it was pushed or saved`() throws {
    for (place, number) in Self.numbers.enumerated() where number != 7 {
      let info = UInt8(place) << 4
      let pushed = try #require(try Self.caller([0, info]))
      #expect(pushed[number] == 0x9000_7000 && pushed.instructionPointer == 0x9000_7008, "register \(number)")
      // In units of eight bytes, and in bytes with 32 bits
      let saved = try #require(try Self.caller([0, info | 4, 0x21, 0x43]))
      #expect(saved[number] == 0x9000_7000 + 8 * 0x4321 && saved.instructionPointer == 0x9000_7000)
      let far = try #require(try Self.caller([0, info | 5, 0x21, 0x43, 0x65, 0x07]))
      #expect(far[number] == 0x9000_7000 + 0x0765_4321)
    }
  }

  @Test(
    arguments: [
      // Small, large in units, large in bytes; vector registers at two distances and the end of version 2 change nothing.
      ([0, 0x02], 8), ([0, 0xf2], 128), ([0, 0x01, 0x34, 0x12], 8 * 0x1234),
      ([0, 0x11, 0x78, 0x56, 0x34, 0x00], 0x34_5678),
      ([0, 0x08, 1, 0], 0), ([0, 0x09, 1, 0, 0, 0], 0), ([0, 0x06, 0, 0], 0), ([0, 0x02, 0, 0x12], 8 + 16),
    ] as [([UInt8], UInt64)])
  func `Each code moves the stack pointer by its operand`(_ codes: [UInt8], _ distance: UInt64) throws {
    let caller = try #require(try Self.caller(codes))
    #expect(caller.stackPointer == 0x7008 + distance)
  }

  @Test(
    arguments: [[0, 0x21, 0, 0], [0, 0x2a], [0, 0x0b], [0, 0x0f], [0, 0x01], [0, 0x11, 0, 0], [0, 0x04]] as [[UInt8]])
  func `Codes that are not known or not whole lead nowhere`(_ codes: [UInt8]) throws {
    #expect(try Self.caller(codes) == nil)
  }

  @Test(
    arguments: [
      // Instructions, and the distance of the return address; nil if they are no end. ret, ret 8, rep ret; add rsp with 8 and 32
      // bits; jmp through memory, through a register with the prefix of an end, to another function, to itself.
      ([0xc3], 0), ([0xc2, 8, 0], 0), ([0xf3, 0xc3], 0), ([0xf3, 0x90], nil), ([0x48, 0x83, 0xc4, 0x20, 0xc3], 0x20),
      ([0x48, 0x81, 0xc4, 0x30, 0x02, 0, 0, 0xc3], 0x230), ([0x48, 0x81, 0xc3, 0x30, 0x02, 0, 0, 0xc3], nil),
      ([0xff, 0x25, 0, 0, 0, 0], 0), ([0xff, 0xe0], nil), ([0x48, 0xff, 0xe0], 0), ([0x5e, 0xff, 0xe0], 8),
      ([0x41, 0x5e, 0x41, 0xff, 0xe2], 8), ([0xe9, 0x7b, 0, 0, 0], 0), ([0xe9, 0x10, 0, 0, 0], nil), ([0xeb, 0x70], 0),
      ([0xeb, 0x10], nil), ([0xe9, 0xbb, 0xff, 0xff, 0xff], 0), ([0x90], nil),
    ] as [([UInt8], UInt64?)])
  func `The ends of functions are told from other instructions`(_ end: [UInt8], _ distance: UInt64?) throws {
    var code = Array(repeating: UInt8(0x90), count: 0x400)
    code.replaceSubrange(0x40..<0x40 + end.count, with: end)
    // The code 0 pushes rbx: an end that is not known undoes it.
    let caller = try #require(try Self.caller([0, 0x30], code: code, isInnermost: true))
    #expect(caller.instructionPointer == 0x9000_7000 + (distance ?? 8))
  }
}
