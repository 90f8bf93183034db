// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The memory of a process that has the code of its modules, unchanged since it was read from their files.
struct ModuleCode: Sendable {
  /// Sorted, without overlaps.
  private var ranges: [(start: UInt64, last: UInt64)] = []
  /// Addresses at which threads stood; none if the dump lists its memory.
  private var counters: [UInt64] = []
  private let modules: ModuleMap

  /// Windows writes so much around each of them.
  private static let mostAround = 4096

  /// - Parameter listed: nil if the dump does not list the memory.
  init(_ snapshot: ProcessSnapshot, _ listed: [ListedRange]?) {
    modules = ModuleMap(
      snapshot.modules.enumerated().compactMap { index, module in
        module.address.flatMap { address in module.size.map { (address, $0, index) } }
      })
    guard let listed else {
      let contexts = snapshot.threads.map(\.context) + [snapshot.exception?.context]
      counters = contexts.compactMap { $0?.instructionPointer }.filter { $0 != 0 }.sorted()
      return
    }
    for range in listed.sorted(by: { $0.address < $1.address })
    where range.size > 0 && range.protection.contains(.execute) && !range.protection.contains(.write) {
      guard range.address > ranges.last?.last ?? 0 else { continue }
      ranges.append((range.address, range.last))
    }
  }

  /// Whether some bytes of memory are code of one module.
  func holds(_ address: UInt64, _ count: Int) -> Bool {
    guard count > 0, case let (last, overflows) = address.addingReportingOverflow(UInt64(count) - 1), !overflows,
      let module = modules.lookup(address), modules.lookup(last)?.module == module.module
    else { return false }
    if !counters.isEmpty {
      let next = counters.indices.partitioningIndex { counters[$0] >= address }
      return count <= Self.mostAround && next < counters.count && counters[next] <= last
    }
    let behind = ranges.indices.partitioningIndex { ranges[$0].start > address }
    return behind > 0 && last <= ranges[behind - 1].last
  }
}
