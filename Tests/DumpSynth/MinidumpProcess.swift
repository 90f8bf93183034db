// SPDX-License-Identifier: Apache-2.0
/// A thread of a synthetic minidump: the truth that a test compares with.
public struct MinidumpThreadTruth: Sendable {
  public let id: UInt32
  public let name: String
  public let stackAddress: UInt64
  public let stackBytes: Int
  public let pc: UInt64
  public let sp: UInt64
  public let fp: UInt64
  /// Zero where the processor has none.
  public let lr: UInt64
  /// The other general registers, in the order of the processor's manual: x0–x28, rax rbx rcx rdx rsi rdi r8–r15,
  /// eax ebx ecx edx esi edi, r0–r12.
  public let general: [UInt64]
  /// The pc, then the return addresses along the frame pointers.
  public let backtrace: [UInt64]
  /// 32 vector registers of 16 bytes, of which the processor takes as many as it has.
  public let vectors: [UInt8]
}

/// A module of a synthetic minidump.
public struct MinidumpModuleTruth: Sendable {
  public enum Identity: Equatable, Sendable {
    /// `RSDS`: GUID (first three fields little-endian), age, name of the PDB.
    case pdb70(guid: [UInt8], age: UInt32, name: String)
    /// Breakpad's `BpEL`: the ELF build id.
    case elf([UInt8])
    /// No CodeView record.
    case none
  }

  public let path: String
  public let base: UInt64
  public let size: UInt32
  public let timestamp: UInt32
  public let identity: Identity
}

/// A process that never ran, as a minidump's writer would find it.
struct MinidumpProcess {
  let modules: [MinidumpModuleTruth]
  let threads: [MinidumpThreadTruth]
  let memory: SynthMemory
  let regions: [(address: UInt64, count: Int)]

  init(_ parameters: SynthMinidumpParameters) {
    modules = Self.modules(parameters)
    var memory = SynthMemory(seed: parameters.seed)
    var words: [(address: UInt64, value: UInt64)] = []
    threads = Self.threads(parameters, modules, &words)
    memory.set(words)
    self.memory = memory
    let heap: UInt64 = parameters.processor.is64Bit ? 0x7f10_0000_0000 : 0x5500_0000
    let step = UInt64(max(0, parameters.memoryRegionBytes) + 64)
    regions = (0..<max(0, parameters.memoryRegions)).map {
      (heap + UInt64($0) * step, max(0, parameters.memoryRegionBytes))
    }
  }

  private static func modules(_ parameters: SynthMinidumpParameters) -> [MinidumpModuleTruth] {
    var random = SplitMix64(seed: parameters.seed, area: 11)
    var base: UInt64 = parameters.processor.is64Bit ? 0x5555_5555_4000 : 0x0804_8000
    return (0..<max(0, parameters.moduleCount)).map { index in
      if index == 1 { base = parameters.processor.is64Bit ? 0x7f22_1000_0000 : 0x7010_0000 }
      let size = UInt32(random.between(4, 200)) * 0x1000
      defer { base += UInt64(size) + UInt64(random.between(1, 16)) * 0x1000 }
      let path = path(index, parameters.system)
      return MinidumpModuleTruth(
        path: path, base: base, size: size, timestamp: 0x6000_0000 + UInt32(random.below(0x500_0000)),
        identity: identity(index, path, parameters.system, &random))
    }
  }

  private static func path(_ index: Int, _ system: MinidumpSystem) -> String {
    switch (system, index) {
    case (.windows, 0): "C:\\Program Files\\Example\\example.exe"
    case (.windows, 1): "C:\\Windows\\System32\\ntdll.dll"
    case (.windows, _): "C:\\Windows\\System32\\lib\(index).dll"
    case (.linux, 0): "/usr/bin/example"
    case (.linux, 1): "/usr/lib/x86_64-linux-gnu/libc.so.6"
    case (.linux, _): "/usr/lib/lib\(index).so.1"
    case (.android, 0): "/system/bin/app_process64"
    case (.android, _): "/data/app/com.example.app/base.apk!/lib/lib\(index).so"
    case (_, 0): "/Applications/Example.app/Contents/MacOS/Example"
    case (_, _): "/usr/lib/lib\(index).dylib"
    }
  }

  private static func identity(
    _ index: Int, _ path: String, _ system: MinidumpSystem, _ random: inout SplitMix64
  ) -> MinidumpModuleTruth.Identity {
    // One in eight has nothing, as with stripped or foreign modules.
    if index % 8 == 7 { return .none }
    if system.isLinux && index % 4 != 3 { return .elf(random.bytes(index % 4 == 2 ? 8 : 20)) }
    let file = String(path.split { $0 == "/" || $0 == "\\" }.last ?? "")
    let name = system == .windows ? "D:\\build\\\(file.split(separator: ".").first ?? "").pdb" : file
    return .pdb70(guid: random.bytes(16), age: system == .windows ? UInt32(random.between(1, 9)) : 0, name: name)
  }

  private static func threads(
    _ parameters: SynthMinidumpParameters, _ modules: [MinidumpModuleTruth],
    _ words: inout [(address: UInt64, value: UInt64)]
  ) -> [MinidumpThreadTruth] {
    var id: UInt32 = 4200
    let wide = parameters.processor.is64Bit
    let spacing = (UInt64(max(0, parameters.stackBytes)) + 0xffff) / 0x1_0000 * 0x1_0000 + 0x1_0000
    var list: [MinidumpThreadTruth] = []
    for index in 0..<max(0, parameters.threadCount) {
      var random = SplitMix64(seed: parameters.seed, area: 2000 + UInt64(index))
      id += UInt32(random.between(1, 40))
      let stack: UInt64 = (wide ? 0x7ffc_1000_0000 : 0x8000_0000) + UInt64(index) * spacing
      let pc = code(index == 0 ? 0 : nil, modules, &random)
      // Breakpad and Crashpad for Linux keep the red zone, 128 bytes below sp.
      let sp = stack + 128
      let frames = chain(parameters, stack, sp, modules, &random, &words)
      let heap: UInt64 = wide ? 0x7f10_0000_0000 : 0x5500_0000
      let general = (0..<29).map { _ in
        random.oneIn(3) ? heap + UInt64(random.below(0x1000)) * 16 : UInt64(random.below(0x10000))
      }
      list.append(
        MinidumpThreadTruth(
          id: id, name: index == 0 ? "main" : (random.oneIn(3) ? "" : "worker \(index) \u{1f6e0}"),
          stackAddress: stack, stackBytes: max(0, parameters.stackBytes), pc: pc, sp: sp,
          fp: frames.first,
          lr: [.x86, .x86_64].contains(parameters.processor) ? 0 : frames.returns.first ?? 0,
          general: general, backtrace: [pc] + frames.returns, vectors: random.bytes(512)))
    }
    return list
  }

  /// Frame records of two pointers from the stack pointer upwards. On 32-bit processors both fit in one word.
  private static func chain(
    _ parameters: SynthMinidumpParameters, _ stack: UInt64, _ sp: UInt64, _ modules: [MinidumpModuleTruth],
    _ random: inout SplitMix64, _ words: inout [(address: UInt64, value: UInt64)]
  ) -> (first: UInt64, returns: [UInt64]) {
    let end = stack + UInt64(max(0, parameters.stackBytes))
    let first = sp + 0x20 + UInt64(random.below(6)) * 16
    var frame = first
    var returns: [UInt64] = []
    let wanted = random.between(4, 12)
    for number in 0..<wanted where frame + 16 <= end {
      let next = frame + 0x20 + UInt64(random.below(10)) * 16
      let isLast = number == wanted - 1 || next + 16 > end
      let (link, target) = isLast ? (0, 0) : (next, code(nil, modules, &random))
      if parameters.processor.is64Bit {
        words.append((frame, link))
        words.append((frame + 8, target))
      } else {
        words.append((frame, link | target << 32))
      }
      if isLast { break }
      returns.append(target)
      frame = next
    }
    return (first, returns)
  }

  private static func code(
    _ index: Int?, _ modules: [MinidumpModuleTruth], _ random: inout SplitMix64
  ) -> UInt64 {
    let choice = random.below(modules.count)
    let place = random.next()
    guard !modules.isEmpty else { return 0x40_1000 + place % 0x10000 & ~3 }
    let module = modules[index ?? choice]
    return module.base + 0x1000 + place % UInt64(module.size - 0x2000) & ~3
  }
}
