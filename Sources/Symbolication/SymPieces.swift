/// A part of a function, as a FUNC record has it. No two overlap.
struct SymPiece {
  let range: Range<UInt64>
  let function: Int
  /// Whether others begin at the same address.
  let isShared: Bool

  /// Makes of ranges that may overlap some that do not: where several cover an address, the one that begins last has it, and
  /// of those the one that comes last.
  static func separate(_ pieces: [(range: Range<UInt64>, function: Int)]) -> [SymPiece] {
    let order = pieces.indices.sorted {
      (pieces[$0].range.lowerBound, $0) < (pieces[$1].range.lowerBound, $1)
    }
    var result: [SymPiece] = []
    result.reserveCapacity(pieces.count)
    // Those that were begun and may go on.
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
        result.append(SymPiece(range: position..<end, function: function, isShared: isShared))
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
