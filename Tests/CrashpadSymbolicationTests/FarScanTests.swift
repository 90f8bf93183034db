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

  // MARK: Starts of threads

  @Test(arguments: [40, 41, 60, 200])
  func `A gap in a stack of Windows is crossed to the words that lead to the start of its thread`(_ gap: Int) throws {
    let words = [1, app + 0x1111] + Self.zeros(gap) + [app + 0x2222, 2, app + 0x3333] + Self.zeros(20) + Self.top
    let process = try Self.windows([words, Self.other])
    #expect(Self.walk(process) == [app + 0x100, app + 0x1111, app + 0x2222, app + 0x3333] + Self.starts)
    let walk = process.walk(FrameRegisters(.x86_64, [16: app + 0x100, 7: 0x7000]))
    #expect(walk.frames.dropFirst().allSatisfy { $0.trust == .scan })
    #expect(walk.frames[2].skippedWords == gap)
  }

  @Test func `Words above the start of a thread hide it no more than the room there`() throws {
    let words = [1, app + 0x1111] + Self.zeros(60) + [app + 0x2222, 0] + Self.top
    let above = [app + 0x5555] + Self.zeros(300)
    let process = try Self.windows([words + Self.zeros(50) + above, Self.other + Self.zeros(270), Self.other])
    #expect(Self.walk(process) == [app + 0x100, app + 0x1111, app + 0x2222] + Self.starts)
  }

  @Test(arguments: [5, 4], ["kernel32.dll", "other.dll"])
  func `The two functions that start a thread are known by their distance`(_ gap: Int, _ name: String) throws {
    let pair = [Self.kernel + 0x1_7374] + Self.zeros(gap) + [Self.starts[1]]
    let words = [1, app + 0x1111] + Self.zeros(60) + [app + 0x2222, 0] + pair + Self.zeros(9)
    var process = try Self.windows([words])
    process.module("kernel32", at: Self.kernel, size: 0x10_0000)
    for name in ["C:\\app.exe", "C:\\Windows\\System32\\ntdll.dll", "C:\\Windows\\System32\\\(name)"] {
      var module = ModuleSnapshot()
      module.name = process.snapshot.store(Array(name.utf8))
      process.snapshot.modules.append(module)
    }
    let far = [app + 0x2222, pair[0], Self.starts[1]]
    #expect(Self.walk(process) == [app + 0x100, app + 0x1111] + (gap == 5 && name == "kernel32.dll" ? far : []))
  }

  private static let kernel: UInt64 = 0x7ff1_0000_0000

  @Test func `Nothing is behind the start of a thread`() throws {
    let words = [1, app + 0x1111, 0] + Self.top
    let process = try Self.windows([words + [app + 0x5555, 0], Self.other, Self.other])
    #expect(Self.walk(process) == [app + 0x100, app + 0x1111] + Self.starts)
    // Without other threads it may be a caller.
    #expect(Self.walk(try Self.windows([words + [app + 0x5555, 0]])).last == app + 0x5555)
  }

  @Test func `Words between two gaps are left out, as nothing leads on from them`() throws {
    let gap = Self.zeros(50)
    let words = [1, app + 0x1111] + gap + [app + 0x2222] + gap + [app + 0x3333, 0] + Self.top
    #expect(
      Self.walk(try Self.windows([words, Self.other])) == [app + 0x100, app + 0x1111, app + 0x3333] + Self.starts)
  }

  @Test func `A gap is not crossed where the start of the thread is not known`() throws {
    let words = [1, app + 0x1111] + Self.zeros(60) + [app + 0x2222, 0] + Self.top
    let near = [app + 0x100, app + 0x1111]
    // No other stack ends with the address.
    #expect(Self.walk(try Self.windows([words])) == near)
    #expect(Self.walk(try Self.windows([words, Self.zeros(4) + [app + 0x4444]])) == near)
    // The bytes above a stack of other systems are those of the thread.
    #expect(Self.walk(try Self.windows([words, Self.other], .linux)) == near)
    // The thread's own stack was cut off.
    #expect(Self.walk(try Self.windows([Array(words.prefix(64)), Self.other, Self.other])) == near)
  }

  // MARK: The innermost address

  @Test func `The address of the innermost frame in a record on the stack is no caller`() throws {
    let words = [1, app + 0x100, 0, app + 0x1111, app + 0x100, 3, app + 0x2222, 0, 0]
    #expect(Self.walk(try Self.windows([words])) == [app + 0x100, app + 0x1111, app + 0x2222])
  }

  @Test func `A function that called itself is its own caller`() throws {
    let id = "00112233445566778899AABBCCDDEEFF0"
    let sym = "MODULE windows x86_64 \(id) app\nFUNC f0 100 0 again\nFUNC 1100 100 0 main\n"
    var process = try TestProcess(.x86_64, symbolFiles: [sym])
    process.snapshot.system.operatingSystem = .windows
    process.module("app", at: app, size: 0x1_0000, id: id)
    // call 0x4000f0, up to 0x400100
    process.memory(at: app + 0xf8, [0xffff_fff0_e800_0000])
    process.memory(at: 0x7000, [1, app + 0x100, 0, app + 0x1111, 0, 0])
    #expect(Self.walk(process) == [app + 0x100, app + 0x100, app + 0x1111])
  }

  // MARK: The link register

  @Test func `The copy of the link register that led to a frame is no frame of its own`() throws {
    let id = "00112233445566778899AABBCCDDEEFF0"
    let sym = """
      MODULE Linux mips64 \(id) app
      FUNC 1000 100 0 main
      FUNC 2000 100 0 crash
      FUNC 3000 100 0 inner
      STACK CFI INIT 2000 100 .cfa: $sp 64 + .ra: .cfa -8 + ^

      """
    var process = try TestProcess(.mips64, symbolFiles: [sym])
    process.snapshot.system.operatingSystem = .linux
    process.module("app", at: app, size: 0x1_0000, id: id)
    // The frame of `inner` has 32 bytes, with the register at its end.
    process.memory(at: 0x7000, [0, 0, 0, app + 0x2010, 0, 0, 0, 0x1234_5678, 0, 0, 0, app + 0x1010, 0, 0])
    let walk = process.walk(FrameRegisters(.mips64, [32: app + 0x3024, 29: 0x7000, 31: app + 0x2010]))
    #expect(walk.frames.map(\.instruction) == [app + 0x3024, app + 0x2010, app + 0x1010])
    #expect(walk.frames.map(\.trust) == [.context, .linkRegister, .callFrameInfo])
  }

  // MARK: Frame pointers of Apple's systems

  @Test(arguments: [OperatingSystem.macos, .linux], [0, 0x7020])
  func `A chain of frame pointers ends behind rules, too, on systems of Apple`(
    _ system: OperatingSystem, _ frame: UInt64
  ) throws {
    let id = "00112233445566778899AABBCCDDEEFF0"
    let sym = """
      MODULE mac x86_64 \(id) app
      FUNC 1000 100 0 main
      STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^

      """
    var process = try TestProcess(.x86_64, symbolFiles: [sym])
    process.snapshot.system.operatingSystem = system
    process.module("app", at: app, size: 0x1_0000, id: id)
    process.module("libdyld", at: Self.system, size: 0x10_0000)
    // The record of the outermost frame is at 0x7020, below the count of arguments.
    process.memory(at: 0x7000, [frame, Self.system + 0x1_5f3d, 0, Self.system + 0x1_5f3d, 0, 5, 0])
    let walk = process.walk(FrameRegisters(.x86_64, [16: app + 0x1010, 7: 0x7000]))
    let isApple = system == .macos
    #expect(walk.frames.map(\.trust) == [.context, .callFrameInfo] + (isApple ? [] : [.scan]))
    #expect((walk.end == .endOfChain) == isApple)
  }

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
