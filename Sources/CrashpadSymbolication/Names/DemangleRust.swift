// SPDX-License-Identifier: Apache-2.0
/// Demangles Rust's own mangling "v0" (RFC 2603): `_R` and a path. The result is that of rustc-demangle's `{:#}`,
/// without the hashes of crates and the types of constants.
struct RustSymbol {
  /// Returns nil if the name is not a Rust symbol, damaged, nested too deeply or too long.
  static func demangle(_ bytes: [UInt8]) -> String? {
    guard bytes.count > 2, bytes[1] == UInt8(ascii: "R"), bytes[2] >= 65, bytes[2] <= 90,
      bytes.allSatisfy({ $0 < 0x80 })
    else { return nil }
    var symbol = RustSymbol(bytes: Array(bytes.dropFirst(2)))
    do {
      try symbol.path(inValue: true)
      if let next = symbol.peek, next >= 65, next <= 90 {
        // The crate that instantiated this copy.
        symbol.isSilent = true
        try symbol.path(inValue: false)
      }
    } catch {
      return nil
    }
    guard let suffix = suffix(symbol.bytes[symbol.position...]) else { return nil }
    return String(decoding: symbol.output, as: UTF8.self) + suffix
  }

  /// The suffix that an optimizer appended, without the module number of LLVM. Nil if it is something else.
  static func suffix(_ bytes: ArraySlice<UInt8>) -> String? {
    guard let first = bytes.first else { return "" }
    guard first == UInt8(ascii: "."), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix(".llvm."), text.dropFirst(6).allSatisfy({ $0.isHexDigit && !$0.isLowercase || $0 == "@" })
    else { return text }
    return ""
  }

  struct Invalid: Error {}

  let bytes: [UInt8]
  var position = 0
  var output: [UInt8] = []
  /// Whether the current part is parsed but not printed.
  var isSilent = false
  private var depth = 0
  /// The number of steps so far: references can make a short name expensive.
  private var steps = 0
  /// The number of lifetimes of the enclosing `for<…>` binders.
  var lifetimes: UInt64 = 0

  private static let maximumDepth = 200
  private static let maximumSteps = 1 << 16
  private static let maximumOutput = 1 << 16

  private init(bytes: [UInt8]) { self.bytes = bytes }

  // MARK: Characters and numbers

  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func next() throws(Invalid) -> UInt8 {
    guard let byte = peek else { throw Invalid() }
    position += 1
    return byte
  }

  mutating func eat(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  mutating func put(_ text: String) throws(Invalid) {
    if isSilent { return }
    output += Array(text.utf8)
    if output.count > Self.maximumOutput { throw Invalid() }
  }

  mutating func enter() throws(Invalid) {
    depth += 1
    steps += 1
    if depth > Self.maximumDepth || steps > Self.maximumSteps { throw Invalid() }
  }

  mutating func leave() { depth -= 1 }

  /// Reads a number in base 62 that ends with an underscore; the underscore alone is 0.
  mutating func number62() throws(Invalid) -> UInt64 {
    if eat("_") { return 0 }
    var value: UInt64 = 0
    while !eat("_") {
      let digit: UInt8
      switch try next() {
      case let byte where byte >= 48 && byte <= 57: digit = byte - 48
      case let byte where byte >= 97 && byte <= 122: digit = byte - 97 + 10
      case let byte where byte >= 65 && byte <= 90: digit = byte - 65 + 36
      default: throw Invalid()
      }
      let (product, tooMuch) = value.multipliedReportingOverflow(by: 62)
      let (sum, overflow) = product.addingReportingOverflow(UInt64(digit))
      guard !tooMuch, !overflow else { throw Invalid() }
      value = sum
    }
    guard value < .max else { throw Invalid() }
    return value + 1
  }

  /// Reads a number after `tag`; 0 if the tag is missing.
  mutating func number62(behind tag: Unicode.Scalar) throws(Invalid) -> UInt64 {
    guard eat(tag) else { return 0 }
    let value = try number62()
    guard value < .max else { throw Invalid() }
    return value + 1
  }

  mutating func identifier() throws(Invalid) -> String {
    let isPunycode = eat("u")
    var length = 0
    guard let first = peek, first >= 48, first <= 57 else { throw Invalid() }
    if !eat("0") {
      while let byte = peek, byte >= 48, byte <= 57 {
        length = length * 10 + Int(byte) - 48
        position += 1
        guard length <= bytes.count else { throw Invalid() }
      }
    }
    // An underscore separates the length from a name that begins with a digit or an underscore.
    _ = eat("_")
    guard length <= bytes.count - position else { throw Invalid() }
    let name = bytes[position..<position + length]
    position += length
    if !isPunycode { return String(decoding: name, as: UTF8.self) }
    guard let text = Punycode.decode(Array(name)) else { throw Invalid() }
    return text
  }

  /// Parses `content` until an E and prints the separator between; returns the number of elements.
  @discardableResult
  mutating func list(
    _ separator: String, _ content: (inout RustSymbol) throws(Invalid) -> Void
  ) throws(Invalid) -> Int {
    var count = 0
    while !eat("E") {
      if count > 0 { try put(separator) }
      try content(&self)
      count += 1
    }
    return count
  }

  /// Parses `content` at the target of a reference, which precedes the reference. Not followed in parts that are not
  /// printed.
  mutating func reference(_ content: (inout RustSymbol) throws(Invalid) -> Void) throws(Invalid) {
    let start = position - 1
    let target = try number62()
    guard target < UInt64(start) else { throw Invalid() }
    if isSilent { return }
    let end = position
    position = Int(target)
    try content(&self)
    position = end
  }
}

// MARK: Paths

extension RustSymbol {
  mutating func path(inValue: Bool) throws(Invalid) {
    try enter()
    defer { leave() }
    switch try next() {
    case UInt8(ascii: "C"):
      _ = try number62(behind: "s")
      try put(try identifier())
    case UInt8(ascii: "N"): try nested(inValue)
    case UInt8(ascii: "M"):
      try implementation()
      try put("<")
      try type()
      try put(">")
    case UInt8(ascii: "X"):
      try implementation()
      try traitMember()
    case UInt8(ascii: "Y"): try traitMember()
    case UInt8(ascii: "I"):
      try path(inValue: inValue)
      if inValue { try put("::") }
      try put("<")
      try list(", ") { symbol throws(Invalid) in try symbol.genericArgument() }
      try put(">")
    case UInt8(ascii: "B"): try reference { symbol throws(Invalid) in try symbol.path(inValue: inValue) }
    default: throw Invalid()
    }
  }

  private mutating func nested(_ inValue: Bool) throws(Invalid) {
    let space = try next()
    try path(inValue: inValue)
    let number = try number62(behind: "s")
    let name = try identifier()
    switch space {
    case 65...90:
      let kind =
        space == UInt8(ascii: "C")
        ? "closure" : space == UInt8(ascii: "S") ? "shim" : String(Character(Unicode.Scalar(space)))
      try put("::{\(kind)\(name.isEmpty ? "" : ":")\(name)#\(number)}")
    case 97...122: if !name.isEmpty { try put("::\(name)") }
    default: throw Invalid()
    }
  }

  /// Parses the location of the implementation, which is not printed.
  private mutating func implementation() throws(Invalid) {
    _ = try number62(behind: "s")
    let wasSilent = isSilent
    isSilent = true
    try path(inValue: false)
    isSilent = wasSilent
  }

  private mutating func traitMember() throws(Invalid) {
    try put("<")
    try type()
    try put(" as ")
    try path(inValue: false)
    try put(">")
  }

  mutating func genericArgument() throws(Invalid) {
    if eat("L") {
      try putLifetime(try number62())
    } else if eat("K") {
      try constant(inValue: false)
    } else {
      try type()
    }
  }

  /// Prints a lifetime by its number, counted from the innermost `for<…>` outwards; 0 is the anonymous lifetime.
  mutating func putLifetime(_ number: UInt64) throws(Invalid) {
    if isSilent { return }
    guard number > 0 else { return try put("'_") }
    guard number <= lifetimes else { throw Invalid() }
    let index = lifetimes - number
    if index < 26 {
      try put("'\(Character(Unicode.Scalar(UInt8(97 + index))))")
    } else {
      try put("'_\(index)")
    }
  }

  /// Parses `content` with the lifetimes that precede it.
  mutating func binder(_ content: (inout RustSymbol) throws(Invalid) -> Void) throws(Invalid) {
    let count = try number62(behind: "G")
    let outer = lifetimes
    if count > 0, !isSilent {
      guard count < 1000 else { throw Invalid() }
      try put("for<")
      for index in 0..<count {
        if index > 0 { try put(", ") }
        lifetimes += 1
        try putLifetime(1)
      }
      try put("> ")
    }
    try content(&self)
    lifetimes = outer
  }
}

/// Punycode (RFC 3492), with an underscore instead of the hyphen.
enum Punycode {
  static func decode(_ bytes: [UInt8]) -> String? {
    let delimiter = bytes.lastIndex(of: UInt8(ascii: "_"))
    var scalars = delimiter.map { bytes[..<$0].map { Unicode.Scalar($0) } } ?? []
    var rest = bytes[(delimiter.map { $0 + 1 } ?? 0)...]
    guard !rest.isEmpty else { return nil }
    var code = 0x80
    var index = 0
    var bias = 72
    var isFirst = true
    while !rest.isEmpty {
      var delta = 0
      var weight = 1
      var k = 36
      while true {
        guard let byte = rest.popFirst() else { return nil }
        let digit: Int
        switch byte {
        case 97...122: digit = Int(byte) - 97
        case 48...57: digit = Int(byte) - 48 + 26
        default: return nil
        }
        let (step, overflow) = digit.multipliedReportingOverflow(by: weight)
        guard !overflow, step < 1 << 32, delta < 1 << 32 else { return nil }
        delta += step
        let threshold = min(max(k - bias, 1), 26)
        if digit < threshold { break }
        weight *= 36 - threshold
        guard weight < 1 << 32 else { return nil }
        k += 36
      }
      index += delta
      let count = scalars.count + 1
      code += index / count
      index %= count
      guard code < 0x11_0000, let scalar = Unicode.Scalar(UInt32(code)) else { return nil }
      scalars.insert(scalar, at: index)
      index += 1
      // The bias for the next character.
      delta /= isFirst ? 700 : 2
      isFirst = false
      delta += delta / count
      k = 0
      while delta > 455 {
        delta /= 35
        k += 36
      }
      bias = k + 36 * delta / (delta + 38)
    }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars)
    return String(text)
  }
}
