// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// The memory that leads from a thread on a stack of Go's runtime to the goroutine that it runs, and that one's stack: after a
/// fatal error the program's own frames are there alone.
extension ProcessSnapshot {
  /// The threads of Go's runtime.
  package func goThreads(in bytes: RawSpan) -> [GoThread] {
    guard system.operatingSystem == .linux else { return [] }
    // The stacks of threads may lie among those of goroutines, and have the records behind them.
    let memory = capturedMemory.sorted { $0.address < $1.address }
    var found: [GoThread] = []
    for thread in threads where found.count < GoThread.maximumCount {
      let known =
        GoThread(thread.context) { word($0, of: memory, in: bytes) }
        ?? (thread.id == exception?.threadID ? goThread(calling: thread, memory, in: bytes) : nil)
      if let known { found.append(known) }
    }
    return found
  }

  /// The crashed thread, if a goroutine called C on its stack.
  private func goThread(calling thread: ThreadSnapshot, _ memory: [MemoryRegion], in bytes: RawSpan) -> GoThread? {
    guard let stack = thread.stack, !stack.isSynthetic else { return nil }
    let candidates = withBytes(of: stack.region.content, in: bytes) { GoThread.candidates(in: $0, system.architecture) }
    for candidate in candidates {
      if let found = GoThread(calling: candidate, { word($0, of: memory, in: bytes) }) { return found }
    }
    return nil
  }

  private func word(_ address: UInt64, of memory: [MemoryRegion], in bytes: RawSpan) -> UInt64? {
    memory.indices.lastHolding(8, at: address) { (memory[$0].address, memory[$0].content.count) }
      .map { index, offset in withBytes(of: memory[index].content, in: bytes) { $0.uint64(at: offset) } }
  }
}

extension GoThread {
  /// The part of a stack that is searched for the address of a goroutine's record, from the stack pointer on.
  private static var searchedStack: Int { 32 << 10 }

  /// The words of a stack that may be the address of a goroutine's record: Go calls C on another stack, where that record's
  /// address is in the frame of `asmcgocall`. Sources: Go's src/runtime/malloc.go, where its memory begins.
  package static func candidates(in stack: RawSpan, _ architecture: CPUArchitecture) -> [UInt64] {
    let start: UInt64
    switch architecture {
    case .x86_64: start = 0xc0
    case .arm64: start = 0x40
    default: return []
    }
    var candidates: [UInt64] = []
    for offset in stride(from: 0, through: min(stack.byteCount, searchedStack) - 8, by: 8) {
      let word = stack.uint64(at: offset)
      if word >> 32 == start, word % 8 == 0 { candidates.append(word) }
    }
    return candidates
  }

  /// The maximum size of a goroutine's stack in bytes.
  private static var maximumStack: UInt64 { 1 << 20 }

  /// The memory that a dump of the thread needs: the records, and the used part of the goroutine's stack.
  package var memory: [(start: UInt64, end: UInt64)] {
    guard let goroutine else { return records }
    let size = min(goroutine.stackEnd - goroutine.stackPointer, Self.maximumStack)
    return records + [(goroutine.stackPointer, goroutine.stackPointer + size)]
  }
}
