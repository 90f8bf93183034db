// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// The stacks of threads that are in a signal handler with its own stack (`sigaltstack`). The stack pointer is on the
/// handler's stack; the context that the kernel saved there has the stack pointer of the interrupted stack.
extension ProcessSnapshot {
  /// The maximum size of a stack in bytes; the crashed thread may need more, because its stack may have overflowed.
  private static var maximumStack: UInt64 { 1 << 20 }
  private static var maximumCrashedStack: UInt64 { 16 << 20 }
  /// The stack pointer of a stack that overflowed is below the stack, in its inaccessible guard pages.
  private static var maximumGap: UInt64 { 1 << 20 }
  /// A leaf function may use 128 bytes below the stack pointer (the x86-64 ABI's red zone).
  private static var redZone: UInt64 { 128 }

  /// The record with registers that the kernel saves on the stack of a handler, by architecture.
  private enum Saved {
    /// A `ucontext` (`asm/ucontext.h`), which begins with two longs: of this size, with the stack pointer at this offset.
    case context(wordSize: Int, stackPointer: Int)
    /// A `sigcontext` of i386 (`asm/sigcontext.h`): handlers without SA_SIGINFO get no more.
    case registers386

    private static let stackPointer64 = Int(SignalFrame64.stackPointer)
    private static let segments64 = Int(SignalFrame64.segments)

    init?(_ architecture: CPUArchitecture) {
      switch architecture {
      case .x86_64: self = .context(wordSize: 8, stackPointer: Self.stackPointer64)
      case .arm64: self = .context(wordSize: 8, stackPointer: 432)
      case .arm: self = .context(wordSize: 4, stackPointer: 84)
      case .x86: self = .registers386
      case .riscv64: self = .context(wordSize: 8, stackPointer: 192)
      case .ppc64: self = .context(wordSize: 8, stackPointer: 240)
      case .loongarch64: self = .context(wordSize: 8, stackPointer: 208)
      case .mips, .mips64, .unknown: return nil
      }
    }

    /// Such a record is aligned to this.
    var alignment: Int {
      switch self {
      case .context(let wordSize, _): wordSize
      case .registers386: 4
      }
    }

    /// The bytes of it that are looked at.
    var size: Int {
      switch self {
      case .context(let wordSize, Self.stackPointer64): Self.segments64 + wordSize
      case .context(let wordSize, let stackPointer): stackPointer + wordSize
      case .registers386: 76
      }
    }

    /// The bytes up to the segments, and behind them.
    static var recordSize64: Int { segments64 + 8 }

    /// Whether a record of x86-64 is there: the segments of programs, which are 0 but for code and data, and no link to another.
    static func isRecord64(_ stack: RawSpan, at place: Int) -> Bool {
      stack.uint64(at: place + segments64) == SignalFrame64.programSegments
        && stack.uint64(at: place + Int(SignalFrame64.link)) == 0
    }

    /// The saved stack pointer, if there is such a record in a stack.
    ///
    /// - Parameters:
    ///   - place: an offset in `stack` with `size` bytes.
    ///   - region: the addresses of the stack.
    func stackPointer(_ stack: RawSpan, at place: Int, _ region: Range<UInt64>) -> UInt64? {
      func word(_ offset: Int, _ size: Int) -> UInt64 { stack.number(at: place + offset, size: size, false) }
      switch self {
      case .context(let size, let stackPointer):
        // `uc_stack.ss_sp` and `ss_size`: the signal stack, which must contain this. `uc_link` is always 0.
        let (start, count) = (word(2 * size, size), word(4 * size, size))
        let (address, pointer) = (region.lowerBound + UInt64(place), word(stackPointer, size))
        guard start != 0, word(size, size) == 0 else { return nil }
        if stackPointer == Self.stackPointer64 {
          guard word(Self.segments64, 2) == SignalFrame64.codeSegment else { return nil }
          // A handler may run on another stack than the kernel has, as those that this project's handler calls.
          if word(Self.segments64 + 6, 2) == SignalFrame64.dataSegment {
            // `redact` removes a size that is no small number.
            let isInside = count != removedWord && start <= pointer && pointer - start < count
            return region.contains(pointer) || isInside ? nil : pointer
          }
        }
        guard start <= address else { return nil }
        // If one handler interrupted another on the same stack, that stack is in the dump already.
        return address - start < count && (pointer < start || pointer - start >= count) ? pointer : nil
      case .registers386:
        // The stack pointer twice, and the segments of programs under kernels of 64 and of 32 bits.
        let pointer = word(28, 4)
        guard pointer == word(68, 4), [0x23, 0x73].contains(word(60, 2)), [0x2b, 0x7b].contains(word(72, 2)) else {
          return nil
        }
        return region.contains(pointer) ? nil : pointer
      }
    }

    /// The first saved stack pointer that `found` accepts, as it makes it.
    func first<Found>(in stack: RawSpan, _ region: Range<UInt64>, _ found: (UInt64) -> Found?) -> Found? {
      var place = (alignment - Int(region.lowerBound % UInt64(alignment))) % alignment
      while place + size <= stack.byteCount {
        if let result = stackPointer(stack, at: place, region).flatMap(found) { return result }
        place += alignment
      }
      return nil
    }
  }

  /// Returns ranges of `extraMemory`, which must be sorted.
  package func interruptedStacks(in bytes: RawSpan) -> [(start: UInt64, end: UInt64)] {
    guard system.operatingSystem == .linux, let saved = Saved(system.architecture) else { return [] }
    var ranges: [(start: UInt64, end: UInt64)] = []
    // Threads of a damaged dump may share one stack, which is not read once for each.
    var left = bytes.byteCount
    for thread in threads {
      guard let stack = thread.stack, !stack.isSynthetic, stack.region.content.count <= left else { continue }
      left -= stack.region.content.count
      let limit = thread.id == exception?.threadID ? Self.maximumCrashedStack : Self.maximumStack
      if let range = interruptedStack(stack.region, limit, saved, bytes) { ranges.append(range) }
    }
    return ranges
  }

  /// Searches a stack for such a record.
  private func interruptedStack(
    _ region: MemoryRegion, _ limit: UInt64, _ saved: Saved, _ bytes: RawSpan
  ) -> (start: UInt64, end: UInt64)? {
    // The addresses of a region that ends at 2^64 or behind it overflow.
    guard let end = region.end else { return nil }
    return withBytes(of: region.content, in: bytes) { stack in
      saved.first(in: stack, region.address..<end) { range(ofStackAt: $0, limit) }
    }
  }

  /// The stack pointer of the stack that a signal interrupted while a thread was on another one; nil if no handler's stack
  /// is in `stack`.
  ///
  /// - Parameters:
  ///   - stack: the thread's.
  ///   - address: where it lies.
  package static func interruptedStackPointer(
    in stack: RawSpan, at address: UInt64, _ architecture: CPUArchitecture, where isStack: (UInt64) -> Bool
  ) -> UInt64? {
    let (end, overflows) = address.addingReportingOverflow(UInt64(stack.byteCount))
    guard !overflows, let saved = Saved(architecture) else { return nil }
    return saved.first(in: stack, address..<end) { isStack($0) ? $0 : nil }
  }

  /// The addresses of the records of x86-64 in a stack, whatever they interrupted.
  package static func signalRecords(in stack: RawSpan, at address: UInt64, most: Int = 256) -> [UInt64] {
    var records: [UInt64] = []
    var place = Int((8 - address % 8) % 8)
    while place + Saved.recordSize64 <= stack.byteCount, records.count < most {
      if Saved.isRecord64(stack, at: place) { records.append(address &+ UInt64(place)) }
      place += 8
    }
    return records
  }

  private func range(ofStackAt pointer: UInt64, _ limit: UInt64) -> (start: UInt64, end: UInt64)? {
    let index = extraMemory.indices.partitioningIndex { extraMemory[$0].end ?? .max > pointer }
    guard index < extraMemory.count else { return nil }
    let region = extraMemory[index]
    guard region.address <= pointer || region.address - pointer <= Self.maximumGap else { return nil }
    let start = max(region.address, pointer < Self.redZone ? 0 : pointer - Self.redZone)
    let end = start.addingReportingOverflow(limit)
    return (start, min(end.overflow ? .max : end.partialValue, region.end ?? .max))
  }
}
