// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

/// Reads arrays that occur in several maps.
///
/// These are methods of the tree, because they append to arrays of the interpreter's snapshot: a method of the
/// interpreter would hold a second reference to the array, which would then be copied at each call.
extension DumpTree {
  /// The maximum number of regions that `appendMemory` appends, for all arrays of regions for a minidump: a region takes
  /// 33 bytes at least.
  func maximumRegions(in bytes: RawSpan) -> Int { min(memoryRegionCount, bytes.byteCount / 33) }

  /// Appends the regions of an array that have data and an address of eight bytes.
  func appendMemory(
    of array: DumpNode, _ addressKey: DumpKey, _ dataKey: DumpKey, to regions: inout [MemoryRegion], _ bytes: RawSpan
  ) {
    var elements = elements(of: array)
    while let (address, data) = elements.nextValues(addressKey, dataKey, of: self, in: bytes) {
      if let address, address.count == 8, let data, data.count > 0 {
        regions.append(MemoryRegion(address: bytes.uint64(at: address.offset), content: SnapshotBytes(data)))
      }
    }
  }

  /// Appends the entries that have both a name and a value, in file order.
  func appendSimpleAnnotations(of array: DumpNode, to annotations: inout [Annotation], _ bytes: RawSpan) {
    annotations.reserveCapacityForMore(countIfMany(of: array, in: bytes))
    var elements = elements(of: array)
    while let (name, value) = elements.nextValues(.annotationName, .annotationValue, of: self, in: bytes) {
      if let name, let value {
        annotations.append(Annotation(name: SnapshotBytes(name), value: SnapshotBytes(value)))
      }
    }
  }
}

extension Array {
  /// Reserves room for `count` further elements: the exact number if there are many, to save memory, but at least half
  /// of the current capacity, so that repeated calls do not copy the array each time.
  mutating func reserveCapacityForMore(_ count: Int) {
    let needed = self.count + count
    if needed > capacity { reserveCapacity(Swift.max(needed, capacity + capacity / 2)) }
  }
}
