// SPDX-License-Identifier: Apache-2.0
/// Chooses the frames of a signature from one stack, by version 1 of the rules.
struct FirstChoice {
  private var kind: CrashKind
  private(set) var stack: SignatureStack

  private var entries: [StackEntry] { stack.entries }

  init(_ kind: CrashKind, _ entries: [StackEntry]) {
    self.kind = kind
    stack = SignatureStack(entries, raw: kind)
    let start = startBehindCapture()
    nameKind(from: start)
    choose(from: start)
  }

  // MARK: Where to start

  /// The depth to which a handler's frames are searched.
  private static let captureDepth = 32

  /// Behind the last frame of a crash handler. A fault within a program's own handler of signals stays where it is.
  private mutating func startBehindCapture() -> Int {
    var start = 0
    for index in entries.indices.prefix(Self.captureDepth) where entries[index].rule?.frameClass == .capture {
      let isOwnFault = kind.isFault && entries[start..<index].contains { $0.isInApp && $0.rule == nil }
      if isOwnFault { break }
      start = index + 1
    }
    guard start > 0, start < entries.count else { return 0 }
    stack.skip(0..<start, "capture", "called by a crash handler")
    return start
  }

  // MARK: Kind

  /// An abort is what the raising frames say; a hang waits for what the innermost waiting frame says.
  private mutating func nameKind(from start: Int) {
    if kind.isAbort {
      // Only what leads to the signal counts: a frame of the program ends the search.
      for entry in entries[start...].prefix(64) {
        guard let rule = entry.rule else {
          if entry.isInApp { break }
          continue
        }
        if rule.frameClass == .raise, let meaning = rule.meaning {
          kind.text = meaning
          break
        }
        // The allocator aborts for memory that was corrupted before, and not for its caller's own reason.
        if ["allocator", "malloc-check", "apple-allocator"].contains(rule.id) {
          kind.text = "abort[heap]"
          break
        }
      }
    }
    if kind.isHang, let wait = stack.wait(from: start) { kind.text += "[\(wait)]" }
  }

  // MARK: Anchor

  private mutating func choose(from start: Int) {
    stack.begin(kind)
    guard start < entries.count else { return stack.flag(.noThread, "no-thread") }
    if kind.isStackOverflow, let anchor = stack.cycle(from: start) {
      return stack.take(anchor, "recursion", "the first by name of the functions that repeat")
    }
    if kind.mayBeIdle, stack.isIdle(from: start) { return stack.flag(.idle, "idle") }
    let own = entries.indices[start...].first { stack.isTaken($0, mayBeEntry: true) && entries[$0].isInApp }
    if let own {
      let path = entries[own].isNamed || !kind.isAbort ? nil : stack.path(from: own)
      stack.take(own, "in-app", "the first function of the program that no rule skips")
      if let path {
        stack.add(path, path)
      } else if !kind.isHang {
        takeNext(above: own, from: start)
      }
      return
    }
    takeOther(from: start)
  }

  /// The callee of the anchor that no rule skips: it tells two faults in one large function apart.
  private mutating func takeNext(above own: Int, from start: Int) {
    let callee = entries.indices[start..<own].last { stack.isTaken($0) && entries[$0].key != entries[own].key }
    guard let callee else { return }
    stack.takeNext(callee, "callee", "called by the anchor")
  }

  private mutating func takeOther(from start: Int) {
    let isLibraryOnly = { (entry: StackEntry) in
      FirstRuleIndex.shared.rule(nil, in: entry.module?.name) != nil
    }
    if let system = entries.indices[start...].first(where: { stack.isTaken($0) && !isLibraryOnly(entries[$0]) }) {
      stack.flags = [.system]
      stack.take(system, "system", "no function of the program is in the stack", mark: " (system)")
      return
    }
    stack.flags = [.runtimeOnly]
    let named = entries.indices[start...].first { entries[$0].isNamed && stack.decisions[$0] == nil }
    if let frame = named ?? entries.indices[start...].first(where: { entries[$0].module != nil }) {
      stack.take(frame, "runtime-only", "every frame is skipped", mark: " (runtime only)")
    } else {
      stack.flag(.noThread, "no-thread")
    }
  }
}
