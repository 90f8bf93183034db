package import Snapshot

/// Which memory of a process a minidump gets.
package enum MemorySelection: String, Sendable, CaseIterable {
  /// The threads' stacks, with those that a signal handler's own stack hides, what the crashed thread's registers point to,
  /// and the vDSO, which is in no file.
  case stacks
  /// All that there is.
  case all
}

extension ProcessSnapshot {
  /// How much memory around a pointer is kept: 128 bytes before it, and up to 384 behind it.
  private static var before: UInt64 { 128 }
  private static var around: UInt64 { 512 }
  /// The kernel's code that is mapped into each process has two or three pages.
  private static var maximumVDSO: UInt64 { 64 * 1024 }

  /// Leaves out the memory that is not selected.
  ///
  /// - Parameters:
  ///   - selection: what is kept.
  ///   - bytes: what the snapshot was read from.
  package mutating func reduceMemory(to selection: MemorySelection, in bytes: RawSpan) {
    guard selection == .stacks else { return }
    extraMemory.sort { $0.address < $1.address }
    var wanted: [(start: UInt64, end: UInt64)] = (exception?.context?.generalRegisters ?? []).map { register in
      let start = register.value < Self.before ? 0 : register.value - Self.before
      return (start, start.addingReportingOverflow(Self.around).overflow ? .max : start + Self.around)
    }
    for module in modules where module.fileType == .other {
      guard let address = module.address, let size = module.size else { continue }
      let end = address.addingReportingOverflow(min(size, Self.maximumVDSO))
      wanted.append((address, end.overflow ? .max : end.partialValue))
    }
    wanted += interruptedStacks(in: bytes)
    wanted.sort { $0.start < $1.start }
    var kept: [MemoryRegion] = []
    var next = 0
    for region in extraMemory where !region.content.isEmpty {
      // Of 2^64 bytes the last is left out.
      let regionEnd = region.end ?? .max
      var reach = region.address
      while next < wanted.count, wanted[next].end <= reach { next += 1 }
      for (start, end) in wanted[next...] {
        if start >= regionEnd { break }
        let first = max(start, reach)
        let last = min(end, regionEnd)
        if first >= last { continue }
        reach = last
        kept.append(
          MemoryRegion(
            address: first, content: region.content.part(at: Int(first - region.address), count: Int(last - first))))
      }
    }
    extraMemory = kept
  }
}
