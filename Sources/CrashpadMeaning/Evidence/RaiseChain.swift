// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The functions between the end of a process and the code that led to it, the innermost first: those that raise a signal
/// or an exception for others, and the first function of the program. What stands behind it called it, and ended nothing.
struct RaiseChain {
  /// The functions by frame; empty for a frame without a name.
  let names: [String]
  /// The exception that they raised.
  private let raised: RaisedException?

  /// The number of frames that are searched for the program's first one.
  private static let depth = 32

  init(_ frames: [CrashEvidence.Frame], on system: OperatingSystem) {
    var names: [String] = []
    var functions: [String?] = []
    for (index, frame) in frames.prefix(Self.depth).enumerated() {
      let name = frame.function ?? ""
      // A check of libc++ or Swift is inlined into the code that failed it.
      let isInlined = CrashEvidence.Frame.isInlinedCheck(name)
      let isHandler = !isInlined && CrashReporters.contains(function: name, module: frame.module)
      names.append(isHandler ? "" : name)
      // A crash reporter handles a crash, and doesn't cause it.
      if !isHandler { functions.append(frame.function) }
      if frame.isOfApp, !isHandler, !isInlined, !KnownLibraries.contains(function: name),
        !Self.isTerminating(frames[(index + 1)...])
      {
        break
      }
    }
    self.names = names
    raised = RaisedException(functions, on: system)
  }

  /// The number of frames in which the caller of a handler of uncaught exceptions is searched.
  private static let handlerDepth = 8

  /// Whether what was called by these frames is a program's handler of uncaught exceptions, which ends it for them.
  private static func isTerminating(_ callers: ArraySlice<CrashEvidence.Frame>) -> Bool {
    callers.prefix(handlerDepth).contains { frame in
      guard let function = frame.function else { return false }
      return ["std::terminate()", "std::terminate", "std::__terminate", "__cxxabiv1::__terminate"].contains {
        function == $0 || function.hasPrefix($0 + "(")
      }
    }
  }

  /// Whether the functions around frame `index` are as `need` says.
  func meets(_ need: Grounds.Need?, at index: Int, isRaised: Bool) -> Bool {
    switch need {
    case nil: true
    case .objectiveCThrow: isBelowThrow(index, isRaised: isRaised)
    case .swiftCheck:
      names[..<index].last { !$0.isEmpty }.map { name in Self.swiftChecks.contains { name.containsWord($0) } } ?? false
    case .raised(let exception): exception == raised
    }
  }

  /// - Parameter isRaised: whether the stack is that of an exception, whose throw it may begin behind.
  private func isBelowThrow(_ index: Int, isRaised: Bool) -> Bool {
    for name in names[..<index].reversed() {
      if RaisedException.objectiveCThrows.contains(where: { name.containsWord($0) }) { return true }
      guard name.isEmpty || Self.objectiveCRaisers.contains(where: { name.containsBytes($0) }) else { return false }
    }
    return isRaised
  }

  private static let swiftChecks = ["_assertionFailure", "_fatalErrorMessage", "_preconditionFailure"]

  /// Functions of Foundation that raise for their callers.
  private static let objectiveCRaisers = [
    "[NSException raise", "_CFThrowFormattedException", "__CFRaise", "_NSArrayRaise", "RaiseBoundException",
    "RaiseError", "raiseError", "throw_NSException", "[__NS", "[NSString", "[NSArray", "[NSDictionary", "[NSSet",
    "doesNotRecognizeSelector:", "___forwarding___", "_CF_forwarding_prep", "[NSAssertionHandler",
    // Names next to functions of CoreFoundation that have none.
    "__CFExceptionProem", "[NSObject(NSObject) _copyDescription]",
    "[NSObject(NSObject) instanceMethodSignatureForSelector:]",
  ]
}
