// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSymbolication

/// Functions of C++'s library that do nothing but call what they were made for.
enum CallableName {
  private static let callers = [
    "std::_Function_handler<", "std::thread::_State_impl<", "std::__1::__function::__func<", "tbb::detail::",
    "boost::detail::function::", "boost::asio::detail::", "absl::", "folly::detail::function::",
  ]
  /// The beginnings of their mangled names.
  private static let prefixes = ["_ZNSt", "_ZN3tbb6detail", "_ZN5boost", "_ZN4absl", "_ZN5folly6detail"]
  private static let maximumDepth = 6

  /// The call operator of the lambda that a function calls, as demanglers print it; nil of other functions.
  static func lambda(_ symbol: String) -> String? {
    guard prefixes.contains(where: { symbol.hasPrefix($0) }), symbol.utf8.count <= 4096,
      symbol.containsBytes("Ul") || symbol.containsBytes("$_"), let name = Demangler.demangle(symbol, .full)
    else { return nil }
    guard callers.contains(where: { name.hasPrefix($0) }) else { return nil }
    return lambda(in: NameText(name), depth: 0).map { $0 + "::operator()() const" }
  }

  /// Whether a function is the first one of a thread of C++.
  static func beginsThread(_ symbol: String) -> Bool { symbol.hasPrefix("_ZNSt6thread11_State_impl") }

  /// Whether a function is that of the library which calls the first one.
  static func startsThreads(_ symbol: String) -> Bool { symbol.hasPrefix("execute_native_thread_routine") }

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
