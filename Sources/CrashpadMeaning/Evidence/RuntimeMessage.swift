// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The last message of a process, as its runtime wrote it: who wrote it, and which exception it names.
package struct RuntimeMessage: Sendable, Hashable {
  /// Nil where the words fit several runtimes, or none that is known.
  package var runtime: Runtime?
  /// Such as "NSRangeException" or "std::out_of_range".
  package var exception: String?
  /// The text of the exception, which is the program's or a framework's.
  package var reason: String?
  /// The words, in lower case, by which the tables know such a message where its writer has others; empty for most.
  package var usualWords = ""

  package init(_ text: String) {
    self =
      Self.engine(text) ?? Self.objectiveC(text) ?? Self.cxx(text) ?? Self.typeAlone(text) ?? Self.swift(text)
      ?? Self.musl(text)
      ?? RuntimeMessage(runtime: Self.writer(of: text))
  }

  private init(runtime: Runtime?, exception: String? = nil, reason: String? = nil) {
    self.runtime = runtime
    self.exception = exception.flatMap { $0.isEmpty ? nil : $0 }
    self.reason = reason
  }

  // MARK: Exceptions

  /// "… due to uncaught exception 'RCTFatalException: Unhandled JS Exception: TypeError: …", of which Foundation's words say
  /// nothing, and "Uncaught Kotlin exception: kotlin.IllegalStateException: text".
  private static func engine(_ text: String) -> Self? {
    if let mark = text.firstRange(of: "Unhandled JS Exception: ") {
      return Self(runtime: .javaScript, exception: "RCTFatalException", reason: String(text[mark.upperBound...]))
    }
    guard let mark = text.firstRange(of: "Uncaught Kotlin exception: ") else { return nil }
    let rest = text[mark.upperBound...].prefix { $0 != "\n" }
    let name = rest.prefix { $0 != ":" && $0 != " " }
    return Self(
      runtime: .kotlin, exception: String(name), reason: String(rest[name.endIndex...].drop { $0 == ":" || $0 == " " }))
  }

  /// "*** Terminating app due to uncaught exception 'NSRangeException', reason: '*** -[__NSArrayI …'"
  private static func objectiveC(_ text: String) -> Self? {
    // The reason alone, as Xcode shows it: "*** -[NSConcreteTextStorage attribute:atIndex:]: Range or index out of bounds"
    if ["*** -[", "*** +[", "-[", "+["].contains(where: { text.hasPrefix($0) }), text.containsBytes("]: ") {
      return Self(runtime: .objectiveC)
    }
    if let start = text.firstRange(of: "due to uncaught exception '") {
      let rest = text[start.upperBound...]
      guard let end = rest.firstRange(of: "'") else { return Self(runtime: .objectiveC) }
      let name = String(rest[..<end.lowerBound])
      // Services name exceptions of several languages so. No class of Objective-C has such a name.
      let runtime: Runtime =
        name.hasSuffix("*") || name.containsBytes("::") ? .cxx : name.hasPrefix("System.") ? .dotNet : .objectiveC
      let reason = rest[end.upperBound...].firstRange(of: "reason: '").map { quoted(rest[$0.upperBound...]) }
      var message = Self(runtime: runtime, exception: name, reason: reason)
      if runtime == .cxx { message.usualWords = uncaughtCxx }
      if runtime == .dotNet { message.usualWords = "unhandled managed exception " }
      return message
    }
    // "… of class 'E'" of an object that is no NSException.
    if let start = text.firstRange(of: "due to uncaught exception of class '") {
      let name = text[start.upperBound...].prefix { $0 != "'" && $0 != "\n" }
      return Self(runtime: .objectiveC, exception: String(name))
    }
    return nil
  }

  /// The text that may follow the quoted reason: in the same message, or in the next ones, which some reports join to it.
  private static let trailers = [
    "'\n***", "'\nterminating", "'\nlibc++abi", "'\nabort() called", "'\nCoreSimulator", "', userInfo:", "'\nuserInfo:",
    "'\n(", "' *** First throw",
  ]
  /// Lines that other code writes behind a reason that was cut off, without its quotation mark.
  private static let otherLines = ["\n*** First throw call stack", "\nterminating due to ", "\nabort() called"]

  /// The text up to the closing quotation mark. A reason may have quotation marks and line feeds of its own.
  private static func quoted(_ text: Substring) -> String {
    let ends = trailers.compactMap { text.firstRange(of: $0)?.lowerBound }
    if let end = ends.min() { return String(text[..<end]) }
    if let end = otherLines.compactMap({ text.firstRange(of: $0)?.lowerBound }).min() { return String(text[..<end]) }
    return String(text.hasSuffix("'") ? text.dropLast() : text)
  }

  private static let uncaughtCxx = "uncaught exception of type "

  /// "N4shop7RefusalE", and nothing else: crash reporters have the type of a C++ exception, as the compiler writes it, in place of
  /// a reason. And "libc++abi: terminating" of a std::terminate() without an exception.
  private static func typeAlone(_ text: String) -> Self? {
    if text == "libc++abi: terminating" || text == "libc++abi.dylib: terminating" {
      var message = Self(runtime: .cxx)
      message.usualWords = "terminate called without an active exception "
      return message
    }
    let isNested = text.hasPrefix("N") && text.hasSuffix("E")
    guard isNested || text.hasPrefix("St"), text.utf8.count < 512 else { return nil }
    var rest = isNested ? text.dropFirst().dropLast() : text[...]
    var parts: [String] = []
    if rest.hasPrefix("St") {
      parts.append("std")
      rest = rest.dropFirst(2)
    }
    while !rest.isEmpty {
      let digits = rest.prefix(while: \.isNumber)
      guard let length = Int(digits), length > 0, case let name = rest[digits.endIndex...].prefix(length),
        name.count == length, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
      else { return nil }
      parts.append(String(name))
      rest = rest[name.endIndex...]
    }
    guard parts.count > 1 else { return nil }
    var message = Self(runtime: .cxx, exception: parts.joined(separator: "::"))
    message.usualWords = uncaughtCxx
    return message
  }

  /// "uncaught exception of type std::out_of_range: no such key", "… throwing an instance of 'E'\n  what():  text"
  private static func cxx(_ text: String) -> Self? {
    if let start = text.firstRange(of: uncaughtCxx) {
      let rest = text[start.upperBound...].prefix { $0 != "\n" }
      let end = rest.firstRange(of: ": ")
      let name = String(end.map { rest[..<$0.lowerBound] } ?? rest)
      let isObjectiveC = name.hasPrefix("NS") || name.hasPrefix("_NS") || name.lowercased().hasPrefix("nsexception")
      // The C++ runtime names the class of an object that was thrown, not the exception.
      if isObjectiveC { return Self(runtime: .objectiveC) }
      // Kotlin throws its exceptions in an object of C++.
      if name.containsBytes("ExceptionObjHolder") { return Self(runtime: .kotlin) }
      return Self(runtime: .cxx, exception: name, reason: end.map { String(rest[$0.upperBound...]) })
    }
    guard let start = text.firstRange(of: "throwing an instance of '"),
      let end = text[start.upperBound...].firstRange(of: "'")
    else { return text.containsBytes("terminate called") ? Self(runtime: .cxx) : nil }
    let what = text[end.upperBound...].firstRange(of: "what():").map { text[$0.upperBound...].drop { $0 == " " } }
    return Self(
      runtime: .cxx, exception: String(text[start.upperBound..<end.lowerBound]),
      reason: what.map { String($0.prefix { $0 != "\n" }) })
  }

  /// "Fatal error: Error raised at top level: Shop.Refusal.noStock"
  private static func swift(_ text: String) -> Self? {
    for start in ["Error raised at top level: ", "unexpectedly raised an error: "] {
      guard let range = text.firstRange(of: start) else { continue }
      let reason = text[range.upperBound...].prefix { $0 != "\n" }
      return Self(runtime: .swift, exception: String(reason.prefix { $0 != "(" && $0 != " " }), reason: String(reason))
    }
    return nil
  }

  // MARK: Writers

  /// Words by which a runtime is known, in its own spelling. Swift 3 and Go have "fatal error: " in common.
  private static let words: [(Runtime, [String])] = [
    (.swift, ["Fatal error", "Precondition failed", "Swift runtime failure: ", "Swift/", ".swift:", "SWIFT TASK "]),
    (.cxx, ["/c++/v1/", "libc++ Hardening assertion", "vector[] index", "/bits/stl_", "this->size()' failed"]),
    (.rust, ["panicked at "]),
    (.kotlin, ["Uncaught Kotlin exception"]),
    (.javaScript, ["Unhandled JS Exception", "JavaScript heap out of memory"]),
    (.dotNet, ["Unhandled managed exception", "Unhandled exception. System."]),
    (
      .go,
      [
        "fatal error: all goroutines", "panic: runtime error", "goroutine ", "fatal error: concurrent map",
        "fatal error: unexpected signal", "fatal error: stack overflow", "fatal error: runtime: ",
        "fatal error: sync: ",
        "runtime: out of memory", "runtime: cannot allocate memory",
      ]
    ),
    (
      .library,
      [
        "BUG IN CLIENT OF", "BUG IN LIB", "*** error for object", "*** stack smashing", "*** buffer overflow",
        "free(): ", "malloc(): ", "munmap_chunk(): ", "double free or corruption", ", function ",
        ": failed assertion `",
      ]
    ),
  ]

  private static func musl(_ text: String) -> Self? {
    guard text.containsBytes("Assertion failed: "),
      text.split(whereSeparator: \.isNewline).contains(where: isMuslAssertion)
    else { return nil }
    var message = Self(runtime: .library)
    message.usualWords = "assertion `"
    return message
  }

  /// Whether a line is C's assertion in the words of musl: "Assertion failed: count > 0 (cart.c: total: 12)".
  private static func isMuslAssertion(_ line: Substring) -> Bool {
    guard let mark = line.firstRange(of: "Assertion failed: "), line.hasSuffix(")"),
      let open = line[mark.upperBound...].lastIndex(of: "(")
    else { return false }
    let parts = line[line.index(after: open)...].dropLast().split(separator: ":", omittingEmptySubsequences: false)
    // A file, a function and a line, the last two behind a blank.
    guard parts.count >= 3, !parts[0].isEmpty, let number = parts.last, number.first == " " else { return false }
    return parts[parts.count - 2].first == " " && number.dropFirst().allSatisfy(\.isNumber) && number.count > 1
  }

  private static func writer(of text: String) -> Runtime? {
    words.first { $0.1.contains { text.containsBytes($0) } }?.0
  }
}
