// SPDX-License-Identifier: Apache-2.0
/// A part of a function, written as a FUNC record. Pieces do not overlap.
struct BreakpadPiece {
  let range: Range<UInt64>
  let function: Int
  /// Whether other pieces begin at the same address.
  let isShared: Bool

  /// Splits ranges so that they do not overlap: an address in several ranges belongs to the one that begins last, or to
  /// the last in the list if several do.
  static func separate(_ pieces: [(range: Range<UInt64>, function: Int)]) -> [BreakpadPiece] {
    let order = pieces.indices.sorted {
      (pieces[$0].range.lowerBound, $0) < (pieces[$1].range.lowerBound, $1)
    }
    var result: [BreakpadPiece] = []
    result.reserveCapacity(pieces.count)
    // Ranges that have begun and may continue
    var stack: [Int] = []
    var position: UInt64 = 0
    var shared: Set<UInt64> = []

    func emit(until limit: UInt64) {
      while position < limit, let top = stack.last {
        let (range, function) = pieces[top]
        guard range.upperBound > position else {
          stack.removeLast()
          continue
        }
        let end = min(range.upperBound, limit)
        let isShared = position == range.lowerBound && shared.contains(position)
        result.append(BreakpadPiece(range: position..<end, function: function, isShared: isShared))
        position = end
      }
      position = max(position, limit)
    }

    var previous: Int?
    for index in order {
      let range = pieces[index].range
      emit(until: range.lowerBound)
      if let previous, pieces[previous].range.lowerBound == range.lowerBound { shared.insert(range.lowerBound) }
      stack.append(index)
      previous = index
    }
    emit(until: .max)
    return result
  }
}
