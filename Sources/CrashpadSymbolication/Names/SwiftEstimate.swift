// SPDX-License-Identifier: Apache-2.0
/// Estimates an upper bound for the length of a demangled Swift name, without demangling it.
///
/// A mangled name is a list of operators in postfix order, which push nodes or combine the nodes on top. It refers back
/// to its own types and identifiers by number, so a few dozen bytes can represent gigabytes. This type follows the
/// operators and stores the size of each node's text instead of the node. For unknown operators, it combines more nodes
/// than the demangler does, which can only increase the estimate.
struct SwiftEstimate {
  private let bytes: [UInt8]
  private var index = 0
  private var nodes: [Node] = []
  /// The size of all nodes.
  private var total = 0
  /// The size of each part that can be referenced.
  private var parts: [Int] = []
  private var words: [ArraySlice<UInt8>] = []
  /// The number of names around this one.
  private let depth: Int

  private struct Node {
    var size: Int
    var kind: Kind
  }
  private enum Kind { case plain, emptyList, firstElement, annotation }

  /// Larger than any name that is demangled.
  static let limit = 1 << 40
  /// The maximum text of an operator in bytes, without that of its nodes.
  private static let operatorSize = 32
  /// The maximum length of an identifier with substituted words. Longer ones are treated as unreadable.
  private static let maximumIdentifier = 1 << 16
  private static let maximumDepth = 8
  private static let maximumNodes = 1 << 14
  private static let maximumWords = 26
  /// Swift's own limit for repetitions.
  private static let maximumRepetitions = 2048

  /// Estimates the size of a whole mangled name, in bytes.
  static func size(of name: [UInt8]) -> Int { size(of: name, depth: 0) }

  private static func size(of name: [UInt8], depth: Int) -> Int {
    guard depth < maximumDepth else { return limit }
    var estimate = SwiftEstimate(bytes: name, depth: depth)
    return estimate.run()
  }

  private init(bytes: [UInt8], depth: Int) {
    self.bytes = bytes
    self.depth = depth
  }

  static let prefixes = ["$s", "$S", "$e", "_$s", "_$S", "_$e", "_T0", "@__swiftmacro_"].map { Array($0.utf8) }

  private mutating func run() -> Int {
    if let prefix = Self.prefixes.first(where: { bytes.starts(with: $0) }) {
      index = prefix.count
      while index < bytes.count {
        let start = index
        guard readOperator() else {
          index = start
          break
        }
      }
    }
    if neverEnds { return Self.limit }
    readReferences()
    return min(Self.limit, bytes.count + total)
  }

  /// Whether the demangler may never return: if a name ends with `Tf3p`, it reads the parameters of a specialization
  /// beyond the end. A nested name can do this too; its end is unknown here.
  private var neverEnds: Bool {
    let rest = bytes[index...]
    guard
      let start = rest.indices.dropLast().last(where: {
        rest[$0] == UInt8(ascii: "T") && rest[$0 + 1] == UInt8(ascii: "f")
      })
    else { return false }
    return !rest[start...].contains(UInt8(ascii: "_")) || bytes.dropFirst(3).contains(UInt8(ascii: "$"))
  }

  // MARK: Bytes

  private func peek() -> UInt8 { index < bytes.count ? bytes[index] : 0 }

  private mutating func next() -> UInt8 {
    let byte = peek()
    index += 1
    return byte
  }

  private mutating func skip(_ letter: Character) -> Bool {
    guard peek() == letter.asciiValue else { return false }
    index += 1
    return true
  }

  /// Reads a number; nil without a digit, or if the number is too large for a name.
  private mutating func natural() -> Int? {
    guard isDigit(peek()) else { return nil }
    var number = 0
    while isDigit(peek()) {
      number = number * 10 + Int(next() - UInt8(ascii: "0"))
      if number > 1 << 20 { return nil }
    }
    return number
  }

  /// Reads an index: `_` is 0, `0_` is 1.
  private mutating func number() -> Bool {
    if skip("_") { return true }
    return natural() != nil && skip("_")
  }

  private mutating func genericParameter() -> Bool {
    if skip("d") { return number() && number() }
    return skip("z") || skip("s") || number()
  }

  // MARK: Nodes

  private mutating func push(_ size: Int, _ kind: Kind = .plain) -> Bool {
    nodes.append(Node(size: size, kind: kind))
    total = min(Self.limit, total + size)
    return true
  }

  /// Combines the nodes from `start` on. A start that is too low only increases the estimate.
  private mutating func combine(from start: Int, _ kind: Kind = .plain) -> Bool {
    let start = max(0, start)
    let size = nodes[start...].reduce(Self.operatorSize) { min(Self.limit, $0 + $1.size) }
    nodes.removeSubrange(start...)
    nodes.append(Node(size: size, kind: kind))
    total = min(Self.limit, total + Self.operatorSize)
    return true
  }

  private mutating func combine(_ count: Int, _ kind: Kind = .plain) -> Bool {
    combine(from: nodes.count - count, kind)
  }

  private mutating func combineAll() -> Bool { combine(from: 0) }

  /// Makes the node on top referenceable.
  private mutating func addPart() -> Bool {
    parts.append(nodes.last?.size ?? 0)
    return true
  }

  /// Combines annotations, and the types of parameters and result below them.
  private mutating func combineFunctionType() -> Bool {
    let annotations = nodes.reversed().prefix { $0.kind == .annotation }.count
    return combine(annotations + 2)
  }

  /// Combines lists of types down to the empty list at their beginning, and the node below it.
  private mutating func combineGeneric() -> Bool {
    guard let start = nodes.lastIndex(where: { $0.kind == .emptyList }) else { return combineAll() }
    return combine(from: start - 1)
  }

  private mutating func combineTuple() -> Bool {
    if nodes.last?.kind == .emptyList { return combine(1) }
    guard let start = nodes.lastIndex(where: { $0.kind == .firstElement }) else { return combineAll() }
    // The mark follows the first element: type, name, and the marker of a variadic one.
    return combine(from: start - 3)
  }

  // MARK: Operators

  /// Returns false if the operator is unknown, or the name is damaged.
  private mutating func readOperator() -> Bool {
    let letter = next()
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      index -= 1
      return readIdentifier()
    case UInt8(ascii: "A"): return readParts()
    case UInt8(ascii: "S"): return readStandardType()
    case UInt8(ascii: "C"), UInt8(ascii: "O"), UInt8(ascii: "P"), UInt8(ascii: "V"), UInt8(ascii: "a"):
      return combine(2) && addPart()
    case UInt8(ascii: "G"): return combineGeneric() && addPart()
    case UInt8(ascii: "t"): return combineTuple()
    case UInt8(ascii: "c"): return combineFunctionType()
    case UInt8(ascii: "y"): return push(0, .emptyList)
    case UInt8(ascii: "_"): return push(0, .firstElement)
    case UInt8(ascii: "K"): return push(Self.operatorSize, .annotation)
    case UInt8(ascii: "d"), UInt8(ascii: "s"), UInt8(ascii: "x"): return push(Self.operatorSize)
    case UInt8(ascii: "h"), UInt8(ascii: "m"), UInt8(ascii: "n"), UInt8(ascii: "z"), UInt8(ascii: "Z"):
      return combine(1)
    case UInt8(ascii: "D"), UInt8(ascii: "E"), UInt8(ascii: "F"), UInt8(ascii: "N"), UInt8(ascii: "p"),
      UInt8(ascii: "l"), UInt8(ascii: "u"):
      return combineAll()
    case UInt8(ascii: "q"): return genericParameter() && push(Self.operatorSize)
    case UInt8(ascii: "r"): return readCounts() && combineAll()
    case UInt8(ascii: "B"): return readBuiltin()
    case UInt8(ascii: "I"): return readConventions(digits: false) && combineAll()
    case UInt8(ascii: "L"): return readLocalName()
    case UInt8(ascii: "Q"): return readArchetype()
    case UInt8(ascii: "R"): return readRequirement()
    case UInt8(ascii: "T"): return readThunk()
    case UInt8(ascii: "X"): return readSpecialType()
    case UInt8(ascii: "Y"): return readAnnotation()
    case UInt8(ascii: "f"): return readFunctionEntity()
    case UInt8(ascii: "i"), UInt8(ascii: "v"): return readAccessor()
    case UInt8(ascii: "o"): return isOne(of: "ipP", next()) && combine(1)
    default: return false
    }
  }

  private func isOne(of letters: String, _ byte: UInt8) -> Bool { letters.utf8.contains(byte) }

  /// Reads the number of generic parameters at each depth.
  private mutating func readCounts() -> Bool {
    while !skip("l") {
      guard skip("z") || number() else { return false }
    }
    return true
  }

  private mutating func readBuiltin() -> Bool {
    let letter = next()
    if isOne(of: "fi", letter) { return number() && push(Self.operatorSize) }
    return isOne(of: "bBeOopjDdctwIAP", letter) && push(Self.operatorSize)
  }

  private mutating func readLocalName() -> Bool {
    if skip("L") { return combine(2) }
    if skip("l") { return combine(1) }
    if isOne(of: "abcdefghijABCDEFGHIJ", peek()) {
      index += 1
      return combine(1)
    }
    return number() && combine(1)
  }

  private mutating func readArchetype() -> Bool {
    switch next() {
    case UInt8(ascii: "a"): return combine(2) && addPart()
    case UInt8(ascii: "O"): return combine(1)
    case UInt8(ascii: "r"): return push(Self.operatorSize)
    case UInt8(ascii: "R"): return number() && push(Self.operatorSize)
    case UInt8(ascii: "o"): return number() && combineGeneric() && addPart()
    case UInt8(ascii: "x"): return combine(3) && addPart()
    case UInt8(ascii: "y"): return genericParameter() && combine(2) && addPart()
    case UInt8(ascii: "z"): return combine(2) && addPart()
    case UInt8(ascii: "X"), UInt8(ascii: "Z"): return combineAll() && addPart()
    case UInt8(ascii: "Y"): return genericParameter() && combineAll() && addPart()
    default: return false
    }
  }

  private mutating func readRequirement() -> Bool {
    let letter = next()
    if isOne(of: "SBQ", letter) { return combineAll() }
    if letter == UInt8(ascii: "i") { return number() && genericParameter() && combineAll() }
    if isOne(of: "sb", letter) { return genericParameter() && combineAll() }
    if isOne(of: "pPcCtT", letter) { return genericParameter() && combineAll() && addPart() }
    guard isOne(of: "zd_0123456789", letter) else { return false }
    index -= 1
    return genericParameter() && combineAll()
  }

  private static let specializations = "gGBpPis"

  private mutating func readThunk() -> Bool {
    let letter = next()
    switch letter {
    case UInt8(ascii: "t"):
      // Numbers of dropped arguments
      repeat { _ = natural() } while skip("t")
      return isOne(of: Self.specializations, next()) && readPass() && combineAll()
    case UInt8(ascii: "f"): return readConventions(digits: true) && readResult() && combineAll()
    case UInt8(ascii: "Q"), UInt8(ascii: "Y"): return number() && combineAll()
    case _ where isOne(of: Self.specializations, letter): return readPass() && combineAll()
    default: return isOne(of: "RryAmcjqoODdauwX", letter) && combineAll()
    }
  }

  /// Reads the optimizer pass that made a specialization.
  private mutating func readPass() -> Bool {
    _ = skip("q")
    _ = skip("a")
    return isDigit(next())
  }

  /// Reads the change of the result in a specialization.
  private mutating func readResult() -> Bool {
    let letter = next()
    if isOne(of: "go", letter) { _ = skip("X") }
    return isOne(of: "ngox", letter)
  }

  /// Reads the letters of parameters and results, up to an underscore.
  private mutating func readConventions(digits: Bool) -> Bool {
    while isLetter(peek()) || digits && isDigit(peek()) { index += 1 }
    return skip("_")
  }

  private mutating func readSpecialType() -> Bool {
    let letter = next()
    if isOne(of: "EAfKULBC", letter) { return combineFunctionType() }
    if isOne(of: "ouwbDp", letter) { return combine(1) }
    if isOne(of: "mM", letter) { return isOne(of: "tTo", next()) && combine(1) }
    return isOne(of: "clxX", letter) && combineAll()
  }

  private mutating func readAnnotation() -> Bool {
    let letter = next()
    if isOne(of: "abACT", letter) { return push(Self.operatorSize, .annotation) }
    if isOne(of: "cK", letter) { return combine(1, .annotation) }
    return isOne(of: "iktu", letter) && combine(1)
  }

  private mutating func readFunctionEntity() -> Bool {
    let letter = next()
    if isOne(of: "UuA", letter) { return number() && combineAll() }
    return isOne(of: "cCdDi", letter) && combineAll()
  }

  private mutating func readAccessor() -> Bool {
    let letter = next()
    if letter == UInt8(ascii: "a") || letter == UInt8(ascii: "l") { return isOne(of: "uOop", next()) && combineAll() }
    return isOne(of: "mgGsSwWxrMip", letter) && combineAll()
  }

  // MARK: References

  /// The target of one letter or number after an `A` or `S`, and the number of repetitions.
  private struct Reference {
    let number: Int
    let count: Int
    let isLast: Bool
  }

  private mutating func reference() -> Reference? {
    var count: Int?
    if isDigit(peek()) {
      count = natural()
      if count == nil { return nil }
    }
    let byte = next()
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"):
      guard count ?? 0 <= Self.maximumRepetitions else { return nil }
      return Reference(number: Int(byte) - 97, count: max(1, count ?? 1), isLast: false)
    case UInt8(ascii: "A")...UInt8(ascii: "Z"):
      guard count ?? 0 <= Self.maximumRepetitions else { return nil }
      return Reference(number: Int(byte) - 65, count: max(1, count ?? 1), isLast: true)
    case UInt8(ascii: "_"): return Reference(number: 26 + (count.map { $0 + 1 } ?? 0), count: 1, isLast: true)
    default: return nil
    }
  }

  /// Reads references: `AbC` are parts 1 and 2, `A3C` is three times part 2, `A5_` is part 32.
  private mutating func readParts() -> Bool {
    while let reference = reference(), reference.number < parts.count {
      if nodes.count > Self.maximumNodes { total = Self.limit }
      for _ in 0..<reference.count { _ = push(parts[reference.number]) }
      if reference.isLast { return true }
    }
    return false
  }

  private mutating func readStandardType() -> Bool {
    if skip("g") { return combine(1) && addPart() }
    if skip("o") || skip("C") { return push(Self.operatorSize) }
    var count = 1
    if isDigit(peek()) {
      guard let number = natural(), number <= Self.maximumRepetitions else { return false }
      count = max(1, number)
    }
    _ = skip("c")
    guard isLetter(next()) else { return false }
    // The size of `UnsafeMutableRawBufferPointer` and its module
    for _ in 0..<count { _ = push(40) }
    return true
  }

  /// Estimates the rest of the name, in which operators can't be told apart: each `A` may be a reference. A part that
  /// is still unknown is at most as large as the text before the first reference to it, or to a later part.
  private mutating func readReferences() {
    let start = index
    var position = start
    while position < bytes.count {
      let letter = bytes[position]
      position += 1
      total = min(Self.limit, total + 2)
      guard letter == UInt8(ascii: "A") || letter == UInt8(ascii: "S") else { continue }
      index = position
      while let reference = reference(), reference.number < bytes.count {
        if letter == UInt8(ascii: "S") {
          total = min(Self.limit, total + (reference.count - 1) * 40)
          break
        }
        if reference.number >= parts.count {
          parts += repeatElement(total, count: reference.number + 1 - parts.count)
        }
        let (size, overflow) = parts[reference.number].multipliedReportingOverflow(by: reference.count)
        total = overflow ? Self.limit : min(Self.limit, total + size)
        if reference.isLast { break }
      }
    }
    index = bytes.count
  }

  // MARK: Identifiers

  /// Reads `3foo`; after `0`, letters stand for words of earlier identifiers, and `00` begins Punycode.
  private mutating func readIdentifier() -> Bool {
    var hasWords = false
    var isPunycode = false
    if skip("0") {
      isPunycode = skip("0")
      hasWords = !isPunycode
    }
    var text: [UInt8] = []
    repeat {
      while hasWords, isLetter(peek()) {
        let letter = next()
        // A capital letter marks the last word.
        hasWords = letter >= UInt8(ascii: "a")
        let number = Int(letter | 0x20) - 97
        guard number < words.count, text.count <= Self.maximumIdentifier else { return false }
        text += words[number]
      }
      if skip("0") { break }
      guard let count = natural(), count > 0 else { return false }
      if isPunycode { _ = skip("_") }
      guard count <= bytes.count - index else { return false }
      let slice = bytes[index..<index + count]
      index += count
      text += slice
      if !isPunycode { addWords(slice) }
    } while hasWords
    // A character of Punycode has at most four bytes of UTF-8.
    var size = isPunycode ? text.count * 4 : text.count
    // Specializations contain the names of other functions, which are demangled separately.
    if Self.prefixes.contains(where: { text.starts(with: $0) }) {
      size = max(size, Self.size(of: text, depth: depth + 1))
    }
    return push(size) && addPart()
  }

  private mutating func addWords(_ slice: ArraySlice<UInt8>) {
    var start: Int?
    for position in slice.startIndex...slice.endIndex {
      let byte = position < slice.endIndex ? slice[position] : 0
      if let word = start, isWordEnd(byte, slice[position - 1]) {
        if position - word >= 2, words.count < Self.maximumWords { words.append(slice[word..<position]) }
        start = nil
      }
      if start == nil, byte != 0, byte != UInt8(ascii: "_"), !isDigit(byte) { start = position }
    }
  }

  private func isWordEnd(_ byte: UInt8, _ previous: UInt8) -> Bool {
    byte == 0 || byte == UInt8(ascii: "_") || (!isCapital(previous) && isCapital(byte))
  }

  private func isCapital(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }
  private func isLetter(_ byte: UInt8) -> Bool {
    isCapital(byte) || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
  }
  private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
