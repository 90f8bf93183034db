// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// Maps thread ids to the 32-bit ids of a minidump.
///
/// Source: Crashpad, `minidump/minidump_thread_id_map.cc`.
struct ThreadIDMap {
  private var renumbered: [UInt64: UInt32]?
  private var known: Set<UInt64> = []

  init(_ threads: [ThreadSnapshot]) {
    known.reserveCapacity(threads.count)
    var low: Set<UInt32> = []
    low.reserveCapacity(threads.count)
    var collides = false
    for thread in threads where known.insert(thread.id ?? 0).inserted {
      if !low.insert(UInt32(truncatingIfNeeded: thread.id ?? 0)).inserted { collides = true }
    }
    guard collides else { return }
    // Two ids have the same lower 32 bits: number all ids in the order of their first appearance.
    var numbers: [UInt64: UInt32] = [:]
    for thread in threads where numbers[thread.id ?? 0] == nil { numbers[thread.id ?? 0] = UInt32(numbers.count) }
    renumbered = numbers
  }

  subscript(id: UInt64) -> UInt32 {
    guard let renumbered else { return UInt32(truncatingIfNeeded: id) }
    return renumbered[id] ?? UInt32(truncatingIfNeeded: id)
  }
}
