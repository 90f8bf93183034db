internal import BinaryFormat
internal import IntermediateDump
internal import Snapshot

/// Arrays that stand in several maps.
///
/// These belong to the tree and not to the interpreter, because they add to arrays of its snapshot: a method of the
/// interpreter would be handed a copy of it beside the array, which then had two owners and was copied at each call.
extension DumpTree {
  /// Adds the regions of an array that have an address of eight bytes and data.
  func appendMemory(
    of array: DumpNode, _ addressKey: DumpKey, _ dataKey: DumpKey, to regions: inout [MemoryRegion], _ bytes: RawSpan
  ) {
    regions.reserveCapacityForMore(countIfMany(of: array, in: bytes))
    var elements = records(of: array)
    while let element = elements.next(of: self, in: bytes) {
      var address = DumpField()
      var data = DumpField()
      var records = records(of: element.node)
      while let record = records.next(of: self, in: bytes) {
        if record.key == addressKey { address.record = record }
        if record.key == dataKey { data.record = record }
      }
      if let address = address.uint64(in: bytes), let data = data.content(), !data.isEmpty {
        regions.append(MemoryRegion(address: address, content: data))
      }
    }
  }

  /// Adds the entries that have both a name and a value, in file order.
  func appendSimpleAnnotations(of array: DumpNode, to annotations: inout [Annotation], _ bytes: RawSpan) {
    annotations.reserveCapacityForMore(countIfMany(of: array, in: bytes))
    var elements = records(of: array)
    while let element = elements.next(of: self, in: bytes) {
      var name = DumpField()
      var value = DumpField()
      var records = records(of: element.node)
      while let record = records.next(of: self, in: bytes) {
        switch record.key {
        case .annotationName: name.record = record
        case .annotationValue: value.record = record
        default: break
        }
      }
      if let name = name.content(), let value = value.content() {
        annotations.append(Annotation(name: name, value: value))
      }
    }
  }
}

extension Array {
  /// Makes room for `count` further elements: for many at once exactly, as then there is memory to save. But at least half as
  /// much again as there is, so that many calls do not copy it each time.
  mutating func reserveCapacityForMore(_ count: Int) {
    let needed = self.count + count
    if needed > capacity { reserveCapacity(Swift.max(needed, capacity + capacity / 2)) }
  }
}
