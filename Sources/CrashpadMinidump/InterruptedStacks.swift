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

  /// Offsets in the `ucontext` of Linux (`asm/ucontext.h`, `asm/sigcontext.h`), which begins with two longs.
  private struct Saved {
    let wordSize: Int
    let stackPointer: Int
    /// `uc_link`: always 0 when the kernel writes it.
    var link: Int { wordSize }
    /// `uc_stack.ss_sp` and `ss_size`: the signal stack.
    var stackAddress: Int { 2 * wordSize }
    var stackSize: Int { 4 * wordSize }

    init?(_ architecture: CPUArchitecture) {
      switch architecture {
      case .x86_64: (wordSize, stackPointer) = (8, 160)
      case .arm64: (wordSize, stackPointer) = (8, 432)
      case .x86: (wordSize, stackPointer) = (4, 48)
      case .arm: (wordSize, stackPointer) = (4, 84)
      case .unknown: return nil
      }
    }

    func word(_ bytes: RawSpan, at offset: Int) -> UInt64 {
      wordSize == 8 ? bytes.uint64(at: offset) : UInt64(bytes.uint32(at: offset))
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

  /// Searches a stack for a saved context. The kernel also saves the bounds of the signal stack, which must contain it.
  private func interruptedStack(
    _ region: MemoryRegion, _ limit: UInt64, _ saved: Saved, _ bytes: RawSpan
  ) -> (start: UInt64, end: UInt64)? {
    // The addresses of a region that ends at 2^64 or behind it overflow.
    guard region.end != nil else { return nil }
    return withBytes(of: region.content, in: bytes) { stack in
      // Contexts, stacks and regions are aligned to words.
      let size = saved.wordSize
      var place = (size - Int(region.address % UInt64(size))) % size
      while place + saved.stackPointer + size <= stack.byteCount {
        defer { place += size }
        let start = saved.word(stack, at: place + saved.stackAddress)
        let address = region.address + UInt64(place)
        guard start != 0, start <= address, saved.word(stack, at: place + saved.link) == 0 else { continue }
        let size = saved.word(stack, at: place + saved.stackSize)
        let pointer = saved.word(stack, at: place + saved.stackPointer)
        // If one handler interrupted another on the same stack, that stack is in the dump already.
        guard address - start < size, pointer < start || pointer - start >= size else { continue }
        if let range = range(ofStackAt: pointer, limit) { return range }
      }
      return nil
    }
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
