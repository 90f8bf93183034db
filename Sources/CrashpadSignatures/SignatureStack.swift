// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning

/// A stack with the decisions about its frames, as both versions of the rules make them.
struct SignatureStack {
  let entries: [StackEntry]
  /// Decisions on frames, by their index.
  var decisions: [(decision: Signature.Step.Decision, rule: String, reason: String)?]

  private(set) var shown: [String] = []
  private(set) var canonical: [String] = []
  private(set) var raw: [String] = []
  private(set) var isNamed = false
  var flags: [Signature.Flag] = []

  /// - Parameter kind: the kind by the exception alone, with which the raw signature begins.
  init(_ entries: [StackEntry], raw kind: CrashKind) {
    self.entries = entries
    decisions = Array(repeating: nil, count: entries.count)
    raw = [kind.text] + raw(of: kind)
  }

  // MARK: Parts

  /// Begins the signature with a kind.
  mutating func begin(_ kind: CrashKind) { (shown, canonical) = ([kind.text], [kind.text]) }

  mutating func add(_ shown: String, _ canonical: String) {
    self.shown.append(shown)
    self.canonical.append(canonical)
  }

  mutating func flag(_ flag: Signature.Flag, _ word: String) {
    flags = [flag]
    add(word, word)
  }

  /// Says that there is no frame, or none in a module. Crashes of several programs are several.
  mutating func takeNothing(of program: String?) {
    if entries.isEmpty { flag(.noThread, "no-thread") } else { flag(.runtimeOnly, "no-module") }
    if let program { add(program, program) }
  }

  /// - Parameters:
  ///   - mark: the words behind the name, which count.
  ///   - shown: other words for users.
  mutating func take(_ index: Int, _ rule: String, _ reason: String, mark: String = "", shown: String? = nil) {
    decisions[index] = (.anchor, rule, reason)
    isNamed = entries[index].isNamed
    add(entries[index].text + (shown ?? mark), entries[index].key + mark)
  }

  mutating func takeNext(_ index: Int, _ rule: String, _ reason: String, mark: String = "") {
    decisions[index] = (.next, rule, reason)
    add(entries[index].text + mark, entries[index].key + mark)
  }

  /// Takes a frame that is no code, by its module: the place in it is another in each build.
  ///
  /// - Parameter caller: what went on there.
  mutating func takeData(_ index: Int, from caller: Int, _ rule: String) {
    guard let module = entries[index].module?.name else { return }
    decisions[index] = (.next, rule, "the anchor went on there, and it is no code")
    let text = entries[caller].module?.name == module ? "data" : "data of " + module
    add(text, text)
  }

  /// Takes a frame that is no code and in no module: its place says nothing.
  mutating func takeNoCode(_ index: Int, _ rule: String) {
    decisions[index] = (.next, rule, "the anchor went on there, and it is no code")
    add("no code", "no code")
  }

  /// Adds an earlier fault whose handler was running.
  ///
  /// - Parameters:
  ///   - kind: the kind of the fault.
  ///   - index: the index of the program's function that faulted; nil if no function of the program is in that stack.
  ///   - depth: the number of the handlers' frames.
  mutating func addEarlier(_ kind: String, at index: Int?, depth: Int) {
    let words = "after " + kind
    add(words, words)
    raw.append(words)
    if let place = entries.first(where: { $0.frame >= depth && $0.isInApp && $0.raw != nil })?.raw { raw.append(place) }
    guard let index else { return }
    takeNext(index, "earlier-fault", "a handler of the program was running for a fault there")
  }

  /// Takes words of a language's own stack, which has no frames here.
  mutating func takeWords(_ words: [String]) {
    isNamed = true
    for word in words { add(word, word) }
  }

  /// The function that the signature names.
  var anchor: StackEntry? { decisions.firstIndex { $0?.decision == .anchor }.map { entries[$0] } }

  // MARK: Raw

  /// The first frame of the program and the one that it called, by modules alone; without one the first two.
  private func raw(of kind: CrashKind) -> [String] {
    let (isAbort, isHang) = (kind.isAbort, kind.isHang)
    let physical = entries.lazy.filter { !$0.isInlined && !$0.isTailCalled && $0.frame >= kind.handlerDepth }
    let frames = Array(physical.prefix(512))
    guard let own = frames.firstIndex(where: { $0.isInApp && $0.raw != nil }) else {
      return frames.compactMap(\.raw).prefix(2).map { $0 }
    }
    let callee = own > 0 && !isHang ? frames[..<own].last { $0.raw != nil }?.raw : nil
    return [frames[own].raw, callee, isAbort ? Self.path(in: frames, from: own) : nil].compactMap { $0 }
  }

  /// The number of frames between the panic of a runtime that is linked into the program and the call that aborts, and two more.
  private static let runtimeDepth = 13

  /// A digest of the frames of an abort that the program called from many frames of its own.
  ///
  /// Without names the first of them says nothing: every panic of a Rust program aborts at one place.
  func path(from own: Int) -> String? { Self.path(in: entries, from: own) }

  private static func path(in entries: [StackEntry], from own: Int) -> String? {
    let path = entries[own...].prefix(runtimeDepth)
    guard own > 0, entries[own - 1].module?.isCLibrary == true, path.count == runtimeDepth,
      path.dropLast(3).allSatisfy(\.isInApp)
    else { return nil }
    return "~" + SignatureDigest.text(path.compactMap(\.raw).joined(separator: "\n")).prefix(8)
  }

  // MARK: Frames

  /// Whether the frame may be named: no row skips it, and it has a name or a module.
  func isTaken(_ index: Int, mayBeEntry: Bool = false) -> Bool {
    let entry = entries[index]
    if decisions[index] != nil || entry.module == nil && !entry.isNamed { return false }
    return entry.rule == nil || mayBeEntry && entry.rule?.frameClass == .entry
  }

  mutating func skip(_ indices: some Sequence<Int>, _ rule: String, _ reason: String) {
    for index in indices where decisions[index] == nil {
      let own = entries[index].rule
      decisions[index] = (.skipped, own?.id ?? rule, own?.reason ?? reason)
    }
  }

  /// The object for which the innermost frames wait; nil if they do not.
  func wait(from start: Int) -> String? { ThreadWait(entries[start...])?.object }

  // MARK: Idle threads and recursion

  /// A thread that waits for events: all its frames are skipped, and one of them is a loop or waits.
  func isIdle(from start: Int) -> Bool {
    var hasLoop = false
    for entry in entries[start...] {
      guard let rule = entry.rule else {
        if entry.module == nil || !entry.isInApp && hasLoop && !entry.isNamed { continue }
        // Frameworks stand between a loop and main.
        if hasLoop, !entry.isInApp { continue }
        return false
      }
      switch rule.frameClass {
      case .loop: hasLoop = true
      case .wait, .runtime, .base, .entry: break
      case .capture, .raise: return false
      }
    }
    guard hasLoop, let first = entries[start...].first else { return false }
    return first.rule?.frameClass == .wait
  }

  /// The function of a recursion. A row skips no function that is counted.
  func cycle(from start: Int) -> Int? {
    var recursion = Recursion()
    for index in entries.indices[start...] where isTaken(index) {
      recursion.add(entries[index].key, at: index, isOwn: entries[index].isInApp)
    }
    return recursion.function(least: 3)?.first
  }

  // MARK: Explanation

  /// Frames behind this number are not explained.
  private static let explained = 512

  var steps: [Signature.Step] {
    let last = decisions.lastIndex { $0.map { $0.decision != .skipped } ?? false } ?? entries.count
    return entries.indices.prefix(Self.explained).map { index in
      let entry = entries[index]
      let (decision, rule, reason): (Signature.Step.Decision, String, String)
      if let known = decisions[index] {
        (decision, rule, reason) = known
      } else if index > last {
        (decision, rule, reason) = (.unused, "caller", "called the anchor")
      } else if let row = entry.rule {
        (decision, rule, reason) = (.skipped, row.id, row.reason)
      } else if entry.module == nil, !entry.isNamed {
        (decision, rule, reason) = (.skipped, "no-module", "in no module, and without a name")
      } else {
        (decision, rule, reason) = (.unused, entry.isInApp ? "in-app" : "system", "not chosen")
      }
      return Signature.Step(
        frame: entry.frame, name: entry.text, module: entry.module?.name, decision: decision, rule: rule,
        reason: reason)
    }
  }
}

extension CrashKind {
  /// Whether a thread that waits for events is no fault, so that it may be idle.
  var mayBeIdle: Bool { isHang || text.hasPrefix("jetsam") || text == "none" || text == "simulated" }
}
