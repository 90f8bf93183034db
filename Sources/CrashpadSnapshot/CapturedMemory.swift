extension ProcessSnapshot {
  /// All captured memory: the threads' stacks, then the rest. Synthetic stacks were never memory.
  package var capturedMemory: [MemoryRegion] {
    threads.compactMap { $0.stack?.isSynthetic == false ? $0.stack?.region : nil }.filter { !$0.content.isEmpty }
      + extraMemory
  }
}
