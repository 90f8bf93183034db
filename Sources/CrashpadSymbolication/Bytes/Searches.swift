// SPDX-License-Identifier: Apache-2.0
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
