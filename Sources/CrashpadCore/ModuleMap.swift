// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// Finds the module that an address lies in.
package struct ModuleMap: Sendable {
  /// Modules with a size, by address.
  private let ranges: [(start: UInt64, end: UInt64, index: Int)]

  package init(_ modules: [ModuleSnapshot]) {
    ranges = modules.enumerated().compactMap { index, module in
      guard let start = module.address, let size = module.size, size > 0 else { return nil }
      return (start, start.addingReportingOverflow(size).overflow ? .max : start + size, index)
    }.sorted { $0.start < $1.start }
  }

  /// The module's index and the offset in it.
  package func lookup(_ address: UInt64) -> (module: Int, offset: UInt64)? {
    let behind = ranges.indices.partitioningIndex { ranges[$0].start > address }
    guard behind > 0, address < ranges[behind - 1].end else { return nil }
    return (ranges[behind - 1].index, address - ranges[behind - 1].start)
  }
}

extension ProcessSnapshot {
  /// All captured memory: the threads' stacks, then the rest. Stacks that were built from an exception's frames are left
  /// out: no memory was captured for them.
  package var capturedMemory: [MemoryRegion] {
    threads.compactMap { $0.stack?.isSynthetic == false ? $0.stack?.region : nil }.filter { !$0.content.isEmpty }
      + extraMemory
  }
}
