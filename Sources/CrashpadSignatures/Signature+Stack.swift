// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
package import CrashpadSymbolication

extension Signature {
  /// - Parameters:
  ///   - snapshot: what is known of the process.
  ///   - file: what the snapshot was read from.
  ///   - symbolization: stacks that are known already; others are made.
  ///   - options: where to find symbols, and which modules belong to the program.
  package init(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ symbolization: Symbolization? = nil, _ options: SignatureOptions
  ) {
    var (kind, stack) = Self.kindAndStack(snapshot, file, symbolization, options)
    var modules = SignatureModules(snapshot, file, inApp: options.inApp, options.version)
    let entries = options.names.entries(stack.frames, &modules)
    if options.version != .first, kind.program == nil, entries.allSatisfy({ $0.module == nil }) {
      kind.program = snapshot.executableIndex.flatMap { NameText.word(modules.module($0)?.name) }
    }
    self.init(kind, entries, options.version, of: stack.owner)
  }

  init(_ kind: CrashKind, _ entries: [StackEntry], _ version: RuleVersion, of owner: Anchor.Stack = .thread(nil)) {
    let stack = version == .first ? FirstChoice(kind, entries).stack : SignatureChoice(kind, entries).stack
    let canonical = Self.joined(stack.canonical.map(Self.escaped))
    self.init(
      id: SignatureDigest.text("crashpadctl-sig/\(version.rawValue)\n" + canonical),
      text: Self.cut(stack.shown.map(Self.escaped)), raw: Self.cut(stack.raw.map(Self.escaped)),
      isNamed: stack.isNamed, flags: stack.flags, explanation: stack.steps,
      anchor: stack.anchor.map { Anchor(stack: owner, line: $0.line) })
  }

  // MARK: Frames

  /// The kind of a crash and the stack that shows it. If a handler of the program ended the process for a fault, they are those of
  /// the fault.
  static func kindAndStack(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ symbolization: Symbolization?, _ options: SignatureOptions
  ) -> (CrashKind, Stack) {
    var kind = CrashKind(snapshot, options.version)
    let stack = stack(snapshot, file, symbolization, kind, options)
    guard options.version != .first, kind.place == .crashedThread, let thread = stack.thread else {
      return (kind, stack)
    }
    if let earlier = Symbolization.earlierFaults(thread, snapshot).last {
      let isRepaired = earlier.isRepaired(in: ListedMemory(snapshot, file).ranges)
      kind.earlier = (self.kind(of: earlier, options).text, earlier.frame + 1, isRepaired)
    }
    guard let ended = Symbolization.endedByHandler(thread, snapshot) else { return (kind, stack) }
    var fault = self.kind(of: ended, options)
    fault.handlerDepth = ended.frame + 1
    return (fault, stack)
  }

  private static func kind(of interrupted: Symbolization.InterruptedFault, _ options: SignatureOptions) -> CrashKind {
    var kind = CrashKind(interrupted.snapshot, options.version)
    // Only small numbers stay in a redacted dump.
    if interrupted.fault.address == nil, kind.text == "bad-access" { kind.text = "bad-access[wild]" }
    return kind
  }

  /// The stack that a signature is made of.
  struct Stack {
    var frames: [Symbolization.Frame] = []
    /// Nil for a stack that a report lists beside the threads.
    var thread: Symbolization.Thread?

    var owner: Anchor.Stack { thread.map { .thread($0.index) } ?? .lastException }
  }

  static func stack(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ symbolization: Symbolization?, _ kind: CrashKind,
    _ options: SignatureOptions
  ) -> Stack {
    if kind.place == .lastException {
      let known = symbolization ?? Symbolization(snapshot, file, options.cache, threads: .one(-1))
      if !known.lastException.isEmpty { return Stack(frames: known.lastException) }
    }
    let isMain = kind.place == .mainThread && !snapshot.threads.isEmpty
    if let known = symbolization?.threads.first(where: { isMain ? $0.index == 0 : $0.isCrashed }) {
      return Stack(frames: known.frames, thread: known)
    }
    // In a dump without a crash, all threads would be walked.
    if !isMain, snapshot.crashedThread == nil, snapshot.report != nil || snapshot.exception?.context == nil {
      return Stack()
    }
    let made = Symbolization(snapshot, file, options.cache, threads: isMain ? .one(0) : .crashed)
    let thread = made.threads.first { isMain ? $0.index == 0 : $0.isCrashed }
    return Stack(frames: thread?.frames ?? [], thread: thread)
  }
}
