// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The functions between the end of a process and the code that led to it, the innermost first: those that raise a signal
/// or an exception for others, and the first function of the program. What stands behind it called it, and ended nothing.
struct RaiseChain {
  /// The functions by frame; empty for a frame without a name.
  let names: [String]
  /// The frames of crash reporters, which handle a crash and don't cause it.
  private let handlers: [Bool]

  /// The number of frames that are searched for the program's first one.
  private static let depth = 32

  init(_ frames: [CrashEvidence.Frame]) {
    var names: [String] = []
    var handlers: [Bool] = []
    for frame in frames.prefix(Self.depth) {
      let name = frame.function ?? ""
      let isHandler = CrashReporters.contains(function: name, module: frame.module)
      names.append(isHandler ? "" : name)
      handlers.append(isHandler)
      // A check of libc++ or Swift is inlined into the code that failed it.
      let isInlined = name.hasPrefix("Swift runtime failure: ") || name.containsBytes("/include/c++/v1/")
      if frame.isOfApp, !isHandler, !isInlined, !KnownLibraries.contains(function: name) { break }
    }
    self.names = names
    self.handlers = handlers
  }

  /// Whether what stands next to frame `index` is as `need` says.
  func meets(_ need: Grounds.Need?, at index: Int, isRaised: Bool) -> Bool {
    switch need {
    case nil: return true
    case .objectiveCThrow: return isBelowThrow(index, isRaised: isRaised)
    case .callerOtherThanObjectiveC:
      guard let caller = names.indices[(index + 1)...].first(where: { !handlers[$0] }) else { return false }
      let name = names[caller]
      return !name.isEmpty && !Self.objectiveCThrows.contains { name.containsWord($0) }
        && !name.containsBytes("failed_throw")
    }
  }

  /// - Parameter isRaised: whether the stack is that of an exception, whose throw it may begin behind.
  private func isBelowThrow(_ index: Int, isRaised: Bool) -> Bool {
    for name in names[..<index].reversed() {
      if Self.objectiveCThrows.contains(where: { name.containsWord($0) }) { return true }
      guard name.isEmpty || Self.objectiveCRaisers.contains(where: { name.containsBytes($0) }) else { return false }
    }
    return isRaised
  }

  static let objectiveCThrows = ["objc_exception_throw", "__exceptionPreprocess", "objc_exception_rethrow"]

  /// Functions of Foundation that raise for their callers.
  private static let objectiveCRaisers = [
    "[NSException raise", "_CFThrowFormattedException", "__CFRaise", "_NSArrayRaise", "RaiseBoundException",
    "RaiseError", "raiseError", "throw_NSException", "[__NS", "[NSString", "[NSArray", "[NSDictionary", "[NSSet",
    "doesNotRecognizeSelector:", "___forwarding___", "_CF_forwarding_prep", "[NSAssertionHandler",
  ]
}

/// The exception that ended a process, judged by the functions that raised it.
package enum RaisedException: Sendable, Hashable {
  case objectiveC
  case cxx
  /// The handler of both languages' exceptions is on the stack, and nothing that tells them apart.
  case objectiveCOrCxx

  /// Nil if no function on the stack raises an exception.
  ///
  /// The throw of an Objective-C exception calls that of C++, and handlers of one call those of the other: the throw of
  /// C++ says C++ only where its caller is known.
  ///
  /// - Parameter functions: the functions of the raising frames, the innermost first; nil for a frame without a name.
  package init?(_ functions: some Sequence<String?>) {
    var hasHandler = false
    var isThrown = false
    for function in functions {
      guard let function, !function.isEmpty else {
        if isThrown { break }
        continue
      }
      if RaiseChain.objectiveCThrows.contains(where: { function.containsWord($0) }) {
        self = .objectiveC
        return
      }
      if isThrown, !Self.throwing.contains(where: { function.containsWord($0) }) {
        self = .cxx
        return
      }
      if function.containsWord("__cxa_throw") { isThrown = true }
      if Self.handlers.contains(where: { function.containsWord($0) }) { hasHandler = true }
    }
    guard hasHandler || isThrown else { return nil }
    self = .objectiveCOrCxx
  }

  private static let throwing = ["__cxa_throw", "failed_throw"]
  private static let handlers = [
    "_objc_terminate", "demangling_terminate_handler", "std::__terminate", "std::terminate",
    "__verbose_terminate_handler", "__cxa_rethrow", "failed_throw",
  ]
}
