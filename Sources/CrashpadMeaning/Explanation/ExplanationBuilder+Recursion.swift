// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The meaning of a function that is many times in the stack of the crash.
///
/// Finite recursions have hundreds of calls too: parsers, layouts, sorting. That one has no end is only likely where something
/// says that the stack was used up, and it is ruled out where the fault was somewhere else.
extension ExplanationBuilder {
  /// Whether the thread had stack left when it crashed.
  private enum StackRoom {
    case usedUp
    /// The fault was not at the end of the stack.
    case left
    case notKnown
  }

  mutating func noteRecursion(_ thread: CrashEvidence.Thread) {
    if let name = recursion(thread) {
      let searched = min(thread.frames.count, Self.searchedForRecursion)
      let isWhole = thread.frames.count <= searched && thread.elided.isEmpty
      let place = isWhole ? "the stack" : "the innermost \(searched) frames"
      let conclusion = conclude(room(thread), isDeep: searched >= Self.searchedForRecursion)
      note("\(name.function) is \(name.count) times in \(place): \(conclusion.text)", at: thread.title)
      if conclusion.isEndless { result.advice.insert("Look for the end of the recursion of \(name.function).", at: 0) }
    }
    guard let most = thread.elided.compactMap({ $0.levels ?? $0.frames }).max(), most >= 100 else { return }
    let isDeep = most >= Self.fewestOfOverflow
    let conclusion = conclude(room(thread), isDeep: isDeep)
    if isDeep { note("The stack has more than \(most) frames: \(conclusion.text)", at: thread.title) }
    if conclusion.isEndless {
      result.advice.insert("Look for the end of the recursion whose frames the report leaves out.", at: 0)
    }
  }

  private func conclude(_ room: StackRoom, isDeep: Bool) -> (text: String, isEndless: Bool) {
    switch room {
    case .usedUp: ("endless recursion is likely", true)
    case .left: ("a recursion that had stack left, as the fault was elsewhere", false)
    case .notKnown where isDeep: ("endless recursion is likely", true)
    case .notKnown: ("a recursion; whether it used up the stack is not known", false)
    }
  }

  private func room(_ thread: CrashEvidence.Thread) -> StackRoom {
    if crash.lacksStackForHandler || report?.isAddressInStackGuard == true || report?.saysStackOverflow == true
      || report?.hasStackOverflow == true || crash.messages.contains(where: Self.saysOverflow)
      || thread.frames.prefix(Self.depthOfRuntime).contains(where: { Self.handlesOverflow($0.function ?? "") })
    {
      return .usedUp
    }
    guard let exception = crash.exception else { return .notKnown }
    if exception.kind == .windows, exception.code == Self.windowsOverflow { return .usedUp }
    if exception.isAtStack(nil, pageSize: crash.system.pageSize.map { UInt64($0) }) { return .usedUp }
    guard isAccess(exception), exception.hasRecordedAddress else { return .notKnown }
    if exception.address < Self.lowestStack { return .left }
    guard let pointer = exception.context?.stackPointer else { return .notKnown }
    let distance = max(exception.address, pointer) - min(exception.address, pointer)
    return distance > Self.largestFrame ? .left : .notKnown
  }

  /// EXCEPTION_STACK_OVERFLOW.
  private static let windowsOverflow: UInt32 = 0xc000_00fd

  /// No system puts a stack below it.
  private static let lowestStack: UInt64 = 0x10000

  /// A function with large local variables may touch its frame this far from the stack pointer first, in bytes.
  private static let largestFrame: UInt64 = 64 << 20

  /// The number of innermost frames in which a runtime's own handling of an overflow stands.
  private static let depthOfRuntime = 24

  /// The words of runtimes when a stack is used up: of the kernel of iOS, Rust, Go, sanitizers and scripting languages.
  private static func saysOverflow(_ message: String) -> Bool {
    let text = message.lowercased()
    return [
      "stack overflow", "stack-overflow", "stackoverflow", "overflowed its stack", "stack exceeds",
      "excessive recursion",
      "stack level too deep", "call stack size exceeded", "recursion depth exceeded",
    ].contains { text.containsBytes($0) }
  }

  private static func handlesOverflow(_ function: String) -> Bool {
    function == "runtime.newstack" || function.containsBytes("stack_overflow")
      || function.containsBytes("StackOverflow")
  }

  /// The number of missing frames from which on no other cause is likely.
  private static let fewestOfOverflow: UInt64 = 10_000

  /// The number of frames in which a recursion is searched for.
  private static let searchedForRecursion = 1000

  /// A function that fills the stack, with the number of its frames: the one by which the crash is grouped, if it does.
  private func recursion(_ thread: CrashEvidence.Thread) -> (function: String, count: Int)? {
    var recursion = Recursion()
    for (index, frame) in thread.frames.prefix(Self.searchedForRecursion).enumerated() {
      guard let name = frame.function, !PlaceholderNames.isMade(name) else { continue }
      recursion.add(name, at: index, isOwn: frame.isOfApp)
    }
    guard recursion.most >= 20 else { return nil }
    let grouped = thread.fault.flatMap { thread.frames.indices.contains($0) ? thread.frames[$0].function : nil }
    let found = recursion.repeating(least: 10).first { $0.name == grouped } ?? recursion.function(least: 10)
    return found.map { ($0.name, $0.count) }
  }
}
