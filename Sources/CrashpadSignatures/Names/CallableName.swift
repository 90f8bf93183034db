// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSymbolication

/// Functions of C++'s library that do nothing but call what they were made for.
enum CallableName {
  private static let callers = [
    "std::_Function_handler<", "std::thread::_State_impl<", "std::__1::__function::__func<",
  ]
  private static let maximumDepth = 6

  /// The call operator of the lambda that a function calls, as demanglers print it; nil of other functions.
  static func lambda(_ symbol: String) -> String? {
    guard symbol.hasPrefix("_ZNSt"), symbol.utf8.count <= 4096, let name = Demangler.demangle(symbol, .full) else {
      return nil
    }
    guard callers.contains(where: { name.hasPrefix($0) }) else { return nil }
    return lambda(in: NameText(name), depth: 0).map { $0 + "::operator()() const" }
  }

  /// The first lambda among the types in the first list of a name.
  private static func lambda(in name: NameText, depth: Int) -> String? {
    guard depth < maximumDepth, let open = name.bytes.firstIndex(of: UInt8(ascii: "<")), let end = name.end(of: open)
    else { return nil }
    var rest = NameText(name.bytes[(open + 1)..<(end - 1)])
    while !rest.bytes.isEmpty {
      let comma = rest.findOutside(",") ?? rest.bytes.count
      let type = NameText(rest.bytes[..<comma].drop { $0 == UInt8(ascii: " ") })
      if isLambda(type) { return type.text }
      if let found = lambda(in: type, depth: depth + 1) { return found }
      rest = NameText(rest.bytes.dropFirst(comma + 1))
    }
    return nil
  }

  /// "f(int)::{lambda(int)#1}", "f()::$_0", "f()::'lambda'(int)"
  private static func isLambda(_ type: NameText) -> Bool {
    if type.findOutside("::{lambda(") != nil { return type.hasSuffix("}") }
    if type.findOutside("::'lambda") != nil { return true }
    guard let mark = type.findOutside("::$_") else { return false }
    return type.bytes[(mark + 4)...].allSatisfy(NameText.isDigit)
  }
}
