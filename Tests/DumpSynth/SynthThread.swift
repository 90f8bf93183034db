// SPDX-License-Identifier: Apache-2.0
/// A thread as the dump describes it: the truth that a test compares with.
public struct SynthThread: Sendable {
  public let id: UInt64
  public let name: String
  public let priority: Int32
  /// The handle that becomes the minidump's TEB.
  public let dataAddress: UInt64
  public let stackAddress: UInt64
  public let stackBytes: Int
  /// Registers as the thread's own map has them. For the crashed thread the exception's registers are
  /// `SynthDump.exceptionRegisters`, whose pc differs, so that a test sees which were taken.
  public let registers: SynthRegisters
  /// The addresses that a walk along the frame pointers has to find: the pc, `lr` of a leaf, then unsigned return addresses.
  public let backtrace: [UInt64]
  /// `kThreadUncaughtNSExceptionFrames`; empty for any thread but that of an NSException on arm64, which then has
  /// neither registers nor a stack in the dump.
  public let uncaughtFrames: [UInt64]
  public let floatState: [UInt8]
  /// Memory around registers; `count` is 0 where the memory could not be read.
  public let contextRegions: [(address: UInt64, count: Int)]

  public var hasState: Bool { uncaughtFrames.isEmpty }
}

/// Makes threads whose registers point into their stacks, the modules and the heap.
struct ThreadPlan {
  let parameters: SynthParameters
  let modules: [SynthModule]
  let layout: SynthLayout
  private(set) var frameWords: [(address: UInt64, value: UInt64)] = []

  init(_ parameters: SynthParameters, modules: [SynthModule]) {
    self.parameters = parameters
    self.modules = modules
    layout = SynthLayout(parameters)
  }

  mutating func threads() -> [SynthThread] {
    var list: [SynthThread] = []
    var id: UInt64 = 0x1d000
    for index in 0..<max(0, parameters.threadCount) {
      var random = SplitMix64(seed: parameters.seed, area: 1000 + UInt64(index))
      id += UInt64(random.between(12, 40))
      list.append(thread(index, id: id, &random))
    }
    return list
  }

  private mutating func thread(_ index: Int, id: UInt64, _ random: inout SplitMix64) -> SynthThread {
    let isCrashed = index == parameters.crashedThread
    let stack = layout.stackAddress(index)
    var uncaught: [UInt64] = []
    if case .nsException(let frames) = parameters.exception, isCrashed, parameters.architecture == .arm64 {
      uncaught = (0..<max(0, frames)).map { _ in code(&random) }
    }
    var registers = SynthRegisters(architecture: parameters.architecture)
    registers.sp = stack + 256
    registers.pc = isCrashed ? programCode(&random) : code(&random)
    let backtrace = buildFrames(stack, &registers, &random)
    let regions = fillRegisters(&registers, index, &random)
    let readable = parameters.stackBytes > 0
    return SynthThread(
      id: id, name: name(index, &random), priority: Int32(random.between(-10, 47)),
      dataAddress: stack + 0xe0, stackAddress: readable ? stack : 0,
      stackBytes: max(0, parameters.stackBytes), registers: registers, backtrace: backtrace,
      uncaughtFrames: uncaught, floatState: FloatState.bytes(parameters.architecture, &random),
      contextRegions: regions)
  }

  private func name(_ index: Int, _ random: inout SplitMix64) -> String {
    if index < parameters.threadNames.count { return parameters.threadNames[index] }
    return random.oneIn(3) ? "" : "worker \(index)"
  }

  /// Chains frame records upwards from the stack pointer: at each frame pointer the caller's frame pointer, above
  /// it the return address. The outermost record holds two zeros.
  private mutating func buildFrames(
    _ stack: UInt64, _ registers: inout SynthRegisters, _ random: inout SplitMix64
  ) -> [UInt64] {
    var backtrace = [registers.pc]
    let isLeaf = parameters.leafFrames && parameters.architecture == .arm64
    if isLeaf {
      let caller = code(&random)
      registers.lr = signed(caller, &random)
      backtrace.append(caller)
    }
    let end = stack + UInt64(max(0, parameters.stackBytes))
    var frame = registers.sp + 0x20 + UInt64(random.below(6)) * 16
    registers.fp = frame
    let wanted = random.between(6, 16)
    for number in 0..<wanted {
      let next = frame + 0x20 + UInt64(random.below(12)) * 16
      let isLast = number == wanted - 1 || next + 16 > end
      guard frame + 16 <= end else { return backtrace }
      let target = isLast ? 0 : code(&random)
      let stored = isLast ? 0 : signed(target, &random)
      frameWords.append((frame, isLast ? 0 : next))
      frameWords.append((frame + 8, stored))
      if number == 0 && !isLeaf { registers.lr = stored }
      if isLast { break }
      backtrace.append(target)
      frame = next
    }
    return backtrace
  }

  /// Gives every other register a small number or a pointer, as many pointers as there shall be regions, and
  /// returns the regions in the handler's order.
  private func fillRegisters(
    _ registers: inout SynthRegisters, _ thread: Int, _ random: inout SplitMix64
  ) -> [(address: UInt64, count: Int)] {
    let isARM = parameters.architecture == .arm64
    let captured = SynthRegisters.captured(parameters.architecture)
    let fixed: Set<Int> = isARM ? [32] : [6, 16]
    var free = captured.count - fixed.count
    let wanted = max(0, parameters.contextRegionsPerThread)
    var pointers = min(free, max(0, wanted - fixed.count))
    var regions: [(address: UInt64, count: Int)] = []
    for index in captured {
      var readable = true
      if !fixed.contains(index) {
        let isPointer = random.below(free) < pointers
        free -= 1
        if isPointer {
          pointers -= 1
          (registers.values[index], readable) = pointer(thread, &random)
        } else {
          registers.values[index] = UInt64(random.below(0x10000))
          continue
        }
      }
      guard regions.count < wanted else { continue }
      let count = readable ? parameters.contextRegionBytes : 0
      regions.append((registers.values[index] &- 128, count))
    }
    if isARM {
      registers.values[33] = 0x6000_1000
    } else {
      registers.values[17] = 0x246
      registers.values[18] = 0x2b
    }
    appendHeapRegions(&regions, upTo: wanted, thread, &random)
    return regions
  }

  /// More regions than registers: side by side in the heap, every eighth abutting the one before.
  private func appendHeapRegions(
    _ regions: inout [(address: UInt64, count: Int)], upTo wanted: Int, _ thread: Int,
    _ random: inout SplitMix64
  ) {
    guard regions.count < wanted else { return }
    var address = layout.heapBase + 0x10_0000_0000 + UInt64(thread) << 28
    regions.reserveCapacity(wanted)
    while regions.count < wanted {
      regions.append((address, parameters.contextRegionBytes))
      address += UInt64(parameters.contextRegionBytes) + (random.oneIn(8) ? 0 : 32)
    }
  }

  private func pointer(_ thread: Int, _ random: inout SplitMix64) -> (UInt64, readable: Bool) {
    // Every choice draws the same numbers, so that the size of a stack does not change the other registers.
    let kind = random.below(12)
    let place = random.next()
    let room = UInt64(max(0, parameters.stackBytes - 1024))
    switch kind {
    case 0 where parameters.unreadableContextRegions: return (0xdead_0000_0000_0000 | place >> 16, false)
    case 1...3 where room > 0: return (layout.stackAddress(thread) + 256 + place % room & ~7, true)
    case 4...6 where !modules.isEmpty:
      return (modules[Int(place >> 33) % modules.count].codeAddress(place & 0xffff_ffff), true)
    default: return (layout.heapBase + 0x100 + place % 0x40_0000 & ~15, true)
    }
  }

  private func code(_ random: inout SplitMix64) -> UInt64 {
    let place = random.next()
    guard !modules.isEmpty else { return 0x1_0000_4000 + place % 0x10_0000 & ~3 }
    return modules[Int(place >> 33) % modules.count].codeAddress(place & 0xffff_ffff)
  }

  private func programCode(_ random: inout SplitMix64) -> UInt64 {
    let place = random.next()
    return modules.first?.codeAddress(place & 0xffff_ffff) ?? 0x1_0000_4000
  }

  /// Sets bits of the address mask, as pointer authentication does; only arm64 has it.
  private func signed(_ address: UInt64, _ random: inout SplitMix64) -> UInt64 {
    guard parameters.signedReturnAddresses, parameters.architecture == .arm64 else { return address }
    let signature = random.next() & SynthDump.arm64AddressMask & ~(1 << 55)
    return address | signature
  }
}
