extension Range<Int> {
  /// The first index for which `isBehind` is true, or the end. It must be false before that index, and true after it.
  @inline(__always)
  func partition(_ isBehind: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Array {
  /// The first result of `body` that is not nil, for the elements in their order.
  func firstResult<Result>(_ body: (Element) throws -> Result?) rethrows -> Result? {
    for element in self { if let result = try body(element) { return result } }
    return nil
  }

  /// Whether no element is before the one that precedes it. Most files are sorted already.
  @inline(__always)
  func isSorted(_ isBefore: (Element, Element) -> Bool) -> Bool {
    for index in indices.dropFirst() where isBefore(self[index], self[index - 1]) { return false }
    return true
  }
}
