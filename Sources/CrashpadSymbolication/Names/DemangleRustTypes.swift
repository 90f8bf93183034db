// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

// Types and constants in Rust's mangled names

extension RustSymbol {
  private static let basicTypes: [Unicode.Scalar: String] = [
    "a": "i8", "b": "bool", "c": "char", "d": "f64", "e": "str", "f": "f32", "h": "u8", "i": "isize", "j": "usize",
    "l": "i32", "m": "u32", "n": "i128", "o": "u128", "p": "_", "s": "i16", "t": "u16", "u": "()", "v": "...",
    "x": "i64", "y": "u64", "z": "!",
  ]

  mutating func type() throws(Invalid) {
    try enter()
    defer { leave() }
    let tag = try next()
    if let name = Self.basicTypes[Unicode.Scalar(tag)] { return try put(name) }
    switch Unicode.Scalar(tag) {
    case "R", "Q":
      try put("&")
      if eat("L") {
        let lifetime = try number62()
        if lifetime != 0 {
          try putLifetime(lifetime)
          try put(" ")
        }
      }
      if tag == UInt8(ascii: "Q") { try put("mut ") }
      try type()
    case "P", "O":
      try put(tag == UInt8(ascii: "P") ? "*const " : "*mut ")
      try type()
    case "A", "S":
      try put("[")
      try type()
      if tag == UInt8(ascii: "A") {
        try put("; ")
        try constant(inValue: true)
      }
      try put("]")
    case "T":
      try put("(")
      let count = try list(", ") { symbol throws(Invalid) in try symbol.type() }
      try put(count == 1 ? ",)" : ")")
    case "F": try binder { symbol throws(Invalid) in try symbol.function() }
    case "D":
      try put("dyn ")
      try binder { symbol throws(Invalid) in
        try symbol.list(" + ") { symbol throws(Invalid) in try symbol.dynamicTrait() }
      }
      guard eat("L") else { throw Invalid() }
      let lifetime = try number62()
      if lifetime != 0 {
        try put(" + ")
        try putLifetime(lifetime)
      }
    case "B": try reference { symbol throws(Invalid) in try symbol.type() }
    default:
      position -= 1
      try path(inValue: false)
    }
  }

  private mutating func function() throws(Invalid) {
    if eat("U") { try put("unsafe ") }
    if eat("K") {
      if eat("C") {
        try put("extern \"C\" ")
      } else {
        let name = try identifier()
        guard !name.isEmpty else { throw Invalid() }
        try put("extern \"\(name.split(separator: "_", omittingEmptySubsequences: false).joined(separator: "-"))\" ")
      }
    }
    try put("fn(")
    try list(", ") { symbol throws(Invalid) in try symbol.type() }
    try put(")")
    // A function without a return value
    if eat("u") { return }
    try put(" -> ")
    try type()
  }

  private mutating func dynamicTrait() throws(Invalid) {
    var isOpen = try openPath()
    while eat("p") {
      try put(isOpen ? ", " : "<")
      isOpen = true
      try put(try identifier() + " = ")
      try type()
    }
    if isOpen { try put(">") }
  }

  /// Parses a path and leaves its generic arguments open, if it has any; returns whether it has.
  private mutating func openPath() throws(Invalid) -> Bool {
    try enter()
    defer { leave() }
    if eat("B") {
      var isOpen = false
      try reference { symbol throws(Invalid) in isOpen = try symbol.openPath() }
      return isOpen
    }
    guard eat("I") else {
      try path(inValue: false)
      return false
    }
    try path(inValue: false)
    try put("<")
    try list(", ") { symbol throws(Invalid) in try symbol.genericArgument() }
    return true
  }

  // MARK: Constants

  /// - Parameter inValue: whether the constant is part of another expression; if not, expressions are printed in
  /// braces.
  mutating func constant(inValue: Bool) throws(Invalid) {
    try enter()
    defer { leave() }
    let tag = try next()
    switch Unicode.Scalar(tag) {
    case "p": try put("_")
    case "h", "t", "m", "y", "o", "j": try unsigned()
    case "a", "s", "l", "x", "n", "i":
      if eat("n") { try put("-") }
      try unsigned()
    case "b":
      switch Self.value(of: try hexadecimal()) {
      case 0: try put("false")
      case 1: try put("true")
      default: throw Invalid()
      }
    case "c":
      guard let value = Self.value(of: try hexadecimal()), let code = UInt32(exactly: value),
        let scalar = Unicode.Scalar(code)
      else { throw Invalid() }
      try put("'\(Self.escaped(scalar, in: "'"))'")
    case "B": try reference { symbol throws(Invalid) in try symbol.constant(inValue: inValue) }
    case "R" where peek == UInt8(ascii: "e"):
      position += 1
      try string()
    default:
      if !inValue { try put("{") }
      try expression(tag)
      if !inValue { try put("}") }
    }
  }

  private mutating func expression(_ tag: UInt8) throws(Invalid) {
    switch Unicode.Scalar(tag) {
    case "e":
      try put("*")
      try string()
    case "R", "Q":
      try put(tag == UInt8(ascii: "R") ? "&" : "&mut ")
      try constant(inValue: true)
    case "A":
      try put("[")
      try constants()
      try put("]")
    case "T":
      try put("(")
      try put(try constants() == 1 ? ",)" : ")")
    case "V":
      try path(inValue: true)
      switch Unicode.Scalar(try next()) {
      case "U": break
      case "T":
        try put("(")
        try constants()
        try put(")")
      case "S":
        try put(" { ")
        try list(", ") { symbol throws(Invalid) in
          _ = try symbol.number62(behind: "s")
          try symbol.put(try symbol.identifier() + ": ")
          try symbol.constant(inValue: true)
        }
        try put(" }")
      default: throw Invalid()
      }
    default: throw Invalid()
    }
  }

  @discardableResult
  private mutating func constants() throws(Invalid) -> Int {
    try list(", ") { symbol throws(Invalid) in try symbol.constant(inValue: true) }
  }

  private mutating func hexadecimal() throws(Invalid) -> ArraySlice<UInt8> {
    let start = position
    while true {
      switch try next() {
      case 48...57, 97...102: break
      case UInt8(ascii: "_"): return bytes[start..<position - 1]
      default: throw Invalid()
      }
    }
  }

  /// Returns nil if the value does not fit in 64 bits.
  private static func value(of digits: ArraySlice<UInt8>) -> UInt64? {
    let digits = digits.drop { $0 == 48 }
    return digits.isEmpty ? 0 : UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  private mutating func unsigned() throws(Invalid) {
    let digits = try hexadecimal()
    try put(Self.value(of: digits).map { "\($0)" } ?? "0x\(String(decoding: digits, as: UTF8.self))")
  }

  /// Parses UTF-8 with two digits for each byte.
  private mutating func string() throws(Invalid) {
    let digits = Array(try hexadecimal())
    guard digits.count % 2 == 0 else { throw Invalid() }
    var utf8: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      utf8.append(UInt8(truncatingIfNeeded: Self.value(of: digits[index...index + 1]) ?? 0))
    }
    guard let text = String(validating: utf8, as: UTF8.self) else { throw Invalid() }
    try put("\"" + text.unicodeScalars.map { Self.escaped($0, in: "\"") }.joined() + "\"")
  }

  /// Escapes like Rust's `escape_debug`.
  private static func escaped(_ scalar: Unicode.Scalar, in quote: Unicode.Scalar) -> String {
    switch scalar {
    case "\0": return "\\0"
    case "\t": return "\\t"
    case "\n": return "\\n"
    case "\r": return "\\r"
    case "\\", quote: return "\\\(scalar)"
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .unassigned, .privateUse, .surrogate, .lineSeparator, .paragraphSeparator:
        return "\\u{\(String(scalar.value, radix: 16))}"
      default: return String(Character(scalar))
      }
    }
  }
}
