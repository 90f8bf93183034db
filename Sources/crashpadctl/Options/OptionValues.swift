// SPDX-License-Identifier: Apache-2.0
/// The words of a command line by the option or argument that they belong to.
struct OptionValues {
  /// The values of each option in the order of the table; of a flag, its name.
  private(set) var words: [[String]]

  /// Nil if there are options that are unknown, or too few or too many arguments.
  init?(_ tokens: [OptionWords.Token], _ shapes: [OptionShape]) {
    words = Array(repeating: [], count: shapes.count)
    var places = ArgumentPlaces(shapes)
    for token in tokens {
      switch token {
      case .flag(let number, let name): words[number].append(name)
      case .option(let number, _, let value): words[number].append(value)
      case .word(let word):
        guard let number = places.next(isTerminated: false) else { return nil }
        words[number].append(word)
      case .afterTerminator(let word):
        guard let number = places.next(isTerminated: true) else { return nil }
        words[number].append(word)
      case .rest(let rest):
        guard let number = places.next(isTerminated: false) else { return nil }
        words[number] += rest
      case .unknown: return nil
      }
    }
    if places.isMissing { return nil }
  }
}

/// Says which argument a word is that is no option.
private struct ArgumentPlaces {
  private var places: ArraySlice<(number: Int, kind: OptionShape.Kind)>
  /// Whether the first place has a word.
  private var isFilled = false

  init(_ shapes: [OptionShape]) {
    var places: [(number: Int, kind: OptionShape.Kind)] = []
    for (number, shape) in shapes.enumerated() where shape.names.isEmpty { places.append((number, shape.kind)) }
    self.places = places[...]
  }

  /// The number of the argument that the next word is; nil if there is none left.
  mutating func next(isTerminated: Bool) -> Int? {
    // Words behind `--` belong to the argument that takes only those.
    if isTerminated, case .afterTerminator? = places.last?.kind { return places.last?.number }
    guard let place = places.first else { return nil }
    switch place.kind {
    case .arguments, .rest: isFilled = true
    case .afterTerminator: return nil
    case .argument, .flag, .option, .optionList: places.removeFirst()
    }
    return place.number
  }

  /// Whether an argument that has to be there is not.
  var isMissing: Bool {
    (isFilled ? places.dropFirst() : places).contains { place in
      switch place.kind {
      case .argument(let isRequired), .arguments(let isRequired): isRequired
      case .flag, .option, .optionList, .rest, .afterTerminator: false
      }
    }
  }
}
