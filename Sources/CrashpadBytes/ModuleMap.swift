// SPDX-License-Identifier: Apache-2.0
/// Finds the module that an address lies in.
///
/// Modules may lie in one another: on arm64, Linux puts the vDSO into a gap of the loader's range. The one that begins last
/// has the address then, and the outer one has what is behind it again.
package struct ModuleMap: Sendable {
  /// A part of the address space that belongs to one module. Parts are disjoint, in the order of their addresses.
  private struct Part: Sendable {
    let start: UInt64
    /// The last address, because a module may end with the address space.
    let last: UInt64
    /// The module's first address.
    let base: UInt64
    let index: Int
  }

  private var parts: [Part] = []

  /// - Parameter ranges: the address, the size in bytes and the index of each module; those of size 0 have no address.
  package init(_ ranges: [(address: UInt64, size: UInt64, index: Int)]) {
    let modules = ranges.filter { $0.size > 0 }.map { range in
      let (last, isBeyond) = range.address.addingReportingOverflow(range.size - 1)
      return Part(start: range.address, last: isBeyond ? .max : last, base: range.address, index: range.index)
    }.sorted { ($0.start, $1.last, $0.index) < ($1.start, $0.last, $1.index) }
    parts.reserveCapacity(modules.count)
    // The modules that have begun and may not have ended, innermost last.
    var open: [Part] = []
    var next: UInt64 = 0
    for module in modules {
      close(&open, &next, before: module.start)
      open.append(module)
      next = module.start
    }
    close(&open, &next, before: nil)
  }

  /// Adds the parts of open modules from `next` on, up to an address or the end of them all.
  private mutating func close(_ open: inout [Part], _ next: inout UInt64, before end: UInt64?) {
    while let module = open.last {
      if let end, module.last >= end {
        if end > next { add(module, next, end - 1) }
        return
      }
      open.removeLast()
      guard module.last >= next else { continue }
      add(module, next, module.last)
      // Nothing is behind the end of the address space.
      guard module.last < .max else { return open.removeAll() }
      next = module.last + 1
    }
  }

  private mutating func add(_ module: Part, _ start: UInt64, _ last: UInt64) {
    parts.append(Part(start: start, last: last, base: module.base, index: module.index))
  }

  /// The module's index and the offset in it.
  package func lookup(_ address: UInt64) -> (module: Int, offset: UInt64)? {
    let behind = parts.indices.partitioningIndex { parts[$0].start > address }
    guard behind > 0, address <= parts[behind - 1].last else { return nil }
    return (parts[behind - 1].index, address &- parts[behind - 1].base)
  }
}
