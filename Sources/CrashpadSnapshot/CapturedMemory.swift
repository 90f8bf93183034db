// SPDX-License-Identifier: Apache-2.0
extension ProcessSnapshot {
  /// All captured memory: the threads' stacks, then the rest. Stacks that were built from an exception's frames are left
  /// out: no memory was captured for them.
  package var capturedMemory: [MemoryRegion] {
    threads.compactMap { $0.stack?.isSynthetic == false ? $0.stack?.region : nil }.filter { !$0.content.isEmpty }
      + extraMemory
  }
}
