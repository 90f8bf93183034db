// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// Finds the modules that were at an address before they were unloaded.
///
/// The list of a dump is a log: a module may be in it several times, and the places of several may overlap.
package struct UnloadedModuleMap: Sendable {
  /// A place in a module that was there.
  package struct Place: Sendable, Hashable {
    /// Index in the snapshot's list.
    package let module: Int
    /// The offset from the start of the module, in bytes.
    package let offset: UInt64
  }

  /// By address. The reach is the furthest end of all entries up to this one.
  private var ranges: [(start: UInt64, end: UInt64, reach: UInt64, module: Int)] = []
  /// A hostile list may have thousands of modules at one place.
  private static let mostPlaces = 64

  package init(_ modules: [UnloadedModuleSnapshot]) {
    guard !modules.isEmpty else { return }
    for (index, module) in modules.enumerated() where module.size > 0 {
      let (end, overflow) = module.address.addingReportingOverflow(UInt64(module.size))
      ranges.append((module.address, overflow ? .max : end, 0, index))
    }
    ranges.sort { ($0.start, $0.module) < ($1.start, $1.module) }
    var reach: UInt64 = 0
    for index in ranges.indices {
      reach = max(reach, ranges[index].end)
      ranges[index].reach = reach
    }
  }

  /// The places at the address, in the order of the dump's list.
  package func places(at address: UInt64) -> [Place] {
    var places: [Place] = []
    var index = ranges.indices.partitioningIndex { ranges[$0].start > address }
    while index > 0, places.count < Self.mostPlaces, ranges[index - 1].reach > address {
      index -= 1
      guard ranges[index].end > address else { continue }
      places.append(Place(module: ranges[index].module, offset: address - ranges[index].start))
    }
    return places.sorted { $0.module < $1.module }
  }
}
