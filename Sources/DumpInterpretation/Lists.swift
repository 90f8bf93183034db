internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

/// Reads arrays that occur in several maps.
///
/// These are methods of the tree, because they append to arrays of the interpreter's snapshot: a method of the
/// interpreter would hold a second reference to the array, which would then be copied at each call.
extension DumpTree {
  /// Appends the regions of an array that have data and an address of eight bytes.
  func appendMemory(
    of array: DumpNode, _ addressKey: DumpKey, _ dataKey: DumpKey, to regions: inout [MemoryRegion], _ bytes: RawSpan
  ) {
    regions.reserveCapacityForMore(countIfMany(of: array, in: bytes))
    var elements = records(of: array)
    while let element = elements.next(of: self, in: bytes) {
      let (address, data) = fields(addressKey, dataKey, of: element.node, in: bytes)
      if let address = address.uint64(in: bytes), let data = data.content(), !data.isEmpty {
        regions.append(MemoryRegion(address: address, content: data))
      }
    }
  }

  /// Appends the entries that have both a name and a value, in file order.
  func appendSimpleAnnotations(of array: DumpNode, to annotations: inout [Annotation], _ bytes: RawSpan) {
    annotations.reserveCapacityForMore(countIfMany(of: array, in: bytes))
    var elements = records(of: array)
    while let element = elements.next(of: self, in: bytes) {
      let (name, value) = fields(.annotationName, .annotationValue, of: element.node, in: bytes)
      if let name = name.content(), let value = value.content() {
        annotations.append(Annotation(name: name, value: value))
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
