// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// The exception that ended a process, judged by the functions that raised it.
package enum RaisedException: Sendable, Hashable {
  case objectiveC
  case cxx
  /// The handler of both languages' exceptions is on the stack, and nothing that tells them apart.
  case objectiveCOrCxx
  /// A function that throws nothing called the handler: no throw ended the process, though an exception may have been handled.
  case terminated
  /// The function that throws an exception once more called the handler: it was not caught, or there was none.
  case rethrown

  /// Nil if no function on the stack raises an exception.
  ///
  /// The throw of an Objective-C exception calls that of C++, and handlers of one call those of the other: on Apple's systems
  /// the throw of C++ says C++ only where its caller is known.
  ///
  /// - Parameter functions: the functions of the raising frames, the innermost first; nil for a frame without a name.
  package init?(_ functions: some Sequence<String?>, on system: OperatingSystem) {
    var isRaised = false
    var isThrown = false
    var isRethrown = false
    // On Apple's systems functions of the system catch exceptions and call the handler themselves.
    let showsCaller = !system.isApple && system != .unknown
    var isCallerNext = false
    for function in functions {
      guard let function, !function.isEmpty else {
        if isThrown { break }
        isCallerNext = false
        continue
      }
      func has(_ words: [String]) -> Bool { words.contains { function.containsWord($0) } }
      if has(Self.objectiveCThrows) || Self.objectiveCRaisers.contains(where: { function.containsBytes($0) }) {
        self = .objectiveC
        return
      }
      if isThrown, !has(Self.throwing) {
        self = .cxx
        return
      }
      if function.containsWord("__cxa_throw") { isThrown = true }
      if function.containsWord("__cxa_rethrow") { isRethrown = true }
      let isHandler = has(Self.handlers)
      let unwinds = Self.unwinders.contains { function.containsBytes($0) }
      if isCallerNext, !isThrown, !isHandler, !unwinds {
        self = .terminated
        return
      }
      isCallerNext = isHandler && showsCaller && !unwinds
      if isThrown || isHandler { isRaised = true }
    }
    guard isRaised else { return nil }
    // A stack that was pasted alone may be of any system.
    self = !showsCaller ? .objectiveCOrCxx : isRethrown && !isThrown ? .rethrown : .cxx
  }

  /// Functions that raise in Objective-C alone, for a stack whose throw has no name.
  private static let objectiveCRaisers = [
    "[NSException raise", "_CFThrowFormattedException", "doesNotRecognizeSelector:",
    "[NSAssertionHandler handleFailure", "[NSApplication _crashOnException:", "[NSApplication reportException:",
  ]
  static let objectiveCThrows = ["objc_exception_throw", "__exceptionPreprocess", "objc_exception_rethrow"]
  private static let throwing = ["__cxa_throw", "failed_throw"]
  /// Functions that end a process, or throw once more, because of an exception that was thrown before.
  private static let unwinders = [
    "_Unwind_", "__gxx_personality", "call_terminate", "call_unexpected", "rethrow", "__throw_", "failed_throw",
    "unexpected",
  ]
  private static let handlers = [
    "_objc_terminate", "demangling_terminate_handler", "std::__terminate", "std::terminate",
    "__verbose_terminate_handler", "__cxxabiv1::__terminate", "__cxa_rethrow", "failed_throw",
  ]
}
