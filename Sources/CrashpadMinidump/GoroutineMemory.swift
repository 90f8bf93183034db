// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// The memory that leads from a thread on a stack of Go's runtime to the goroutine that it runs, and that one's stack: after a
/// fatal error the program's own frames are there alone.
extension ProcessSnapshot {
  /// A damaged dump may have any number of threads that share records.
  private static var maximumThreads: Int { 16_384 }

  /// The threads of Go's runtime.
  package func goThreads(in bytes: RawSpan) -> [GoThread] {
    guard system.operatingSystem == .linux else { return [] }
    // The stacks of threads may lie among those of goroutines, and have the records behind them.
    let memory = capturedMemory.sorted { $0.address < $1.address }
    var found: [GoThread] = []
    for thread in threads where found.count < Self.maximumThreads {
      let known = GoThread(thread.context) { address in
        memory.indices.lastHolding(8, at: address) { (memory[$0].address, memory[$0].content.count) }
          .map { index, offset in withBytes(of: memory[index].content, in: bytes) { $0.uint64(at: offset) } }
      }
      if let known { found.append(known) }
    }
    return found
  }
}

extension GoThread {
  /// The maximum size of a goroutine's stack in bytes.
  private static var maximumStack: UInt64 { 1 << 20 }

  /// The memory that a dump of the thread needs: the records, and the used part of the goroutine's stack.
  package var memory: [(start: UInt64, end: UInt64)] {
    guard let goroutine else { return records }
    let size = min(goroutine.stackEnd - goroutine.stackPointer, Self.maximumStack)
    return records + [(goroutine.stackPointer, goroutine.stackPointer + size)]
  }
}
