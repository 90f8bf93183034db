// SPDX-License-Identifier: Apache-2.0
/// Chooses the frames of a signature from one stack.
struct SignatureChoice {
  private var kind: CrashKind
  private let entries: [StackEntry]
  /// Decisions on frames, by their index.
  private var decisions: [(decision: Signature.Step.Decision, rule: String, reason: String)?]

  private(set) var shown: [String] = []
  private(set) var canonical: [String] = []
  private(set) var raw: [String] = []
  private(set) var isNamed = false
  private(set) var flags: [Signature.Flag] = []

  init(_ kind: CrashKind, _ stack: [StackEntry]) {
    self.kind = kind
    entries = stack
    decisions = Array(repeating: nil, count: stack.count)
    raw = [kind.text] + rawFrames()
    let start = startBehindCapture()
    nameKind(from: start)
    choose(from: start)
  }

  // MARK: Raw

  /// The first frame of the program and the one that it called, by modules alone; without one the first two.
  private func rawFrames() -> [String] {
    let frames = entries.prefix(512)
    guard let own = frames.firstIndex(where: { $0.isInApp && $0.raw != nil }) else {
      return frames.compactMap(\.raw).prefix(2).map { $0 }
    }
    let callee = own > 0 && !kind.isHang ? frames[..<own].last { $0.raw != nil }?.raw : nil
    return [entries[own].raw, callee, path(from: own)].compactMap { $0 }
  }

  /// The number of frames between the panic of a runtime that is linked into the program and the call that aborts, and two more.
  private static let runtimeDepth = 13

  /// A digest of the frames of an abort that the program called from many frames of its own.
  ///
  /// Without names the first of them says nothing: every panic of a Rust program aborts at one place.
  private func path(from own: Int) -> String? {
    let path = entries[own...].prefix(Self.runtimeDepth)
    guard kind.isAbort, own > 0, entries[own - 1].module?.isCLibrary == true, path.count == Self.runtimeDepth,
      path.dropLast(3).allSatisfy(\.isInApp)
    else { return nil }
    return "~" + Signature.digest(path.compactMap(\.raw).joined(separator: "\n")).prefix(8)
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
    for index in 0..<start {
      decisions[index] = (
        .skipped, entries[index].rule?.id ?? "capture", entries[index].rule?.reason ?? "called by a crash handler"
      )
    }
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
    guard kind.isHang else { return }
    var wait: String?
    for entry in entries[start...].prefix(64) {
      guard let rule = entry.rule, [.wait, .runtime].contains(rule.frameClass) else { break }
      if rule.frameClass == .wait { wait = stronger(rule.meaning, wait) }
    }
    if let wait { kind.text += "[\(wait)]" }
  }

  /// A wait for a queue is made with a lock or a message, and is the one to name.
  private func stronger(_ outer: String?, _ inner: String?) -> String? {
    guard let inner else { return outer }
    return ["dispatch_sync", "semaphore", "condition", "join"].contains(outer) ? outer : inner
  }

  // MARK: Anchor

  private mutating func choose(from start: Int) {
    shown = [kind.text]
    canonical = [kind.text]
    guard start < entries.count else {
      flags = [.noThread]
      add("no-thread", "no-thread")
      return
    }
    if kind.isStackOverflow, let anchor = cycle(from: start) {
      take(anchor, "recursion", "the first by name of the functions that repeat")
      return
    }
    if isIdle(from: start) {
      flags = [.idle]
      add("idle", "idle")
      return
    }
    let own = entries.indices[start...].first { isTaken($0, mayBeEntry: true) && entries[$0].isInApp }
    if let own {
      let path = entries[own].isNamed ? nil : path(from: own)
      take(own, "in-app", "the first function of the program that no rule skips")
      if let path {
        add(path, path)
      } else if !kind.isHang {
        takeNext(above: own, from: start)
      }
      return
    }
    takeOther(from: start)
  }

  private func isTaken(_ index: Int, mayBeEntry: Bool = false) -> Bool {
    let entry = entries[index]
    if decisions[index] != nil || entry.module == nil && !entry.isNamed { return false }
    return entry.rule == nil || mayBeEntry && entry.rule?.frameClass == .entry
  }

  /// The callee of the anchor that no rule skips: it tells two faults in one large function apart.
  private mutating func takeNext(above own: Int, from start: Int) {
    let callee = entries.indices[start..<own].last { isTaken($0) && entries[$0].key != entries[own].key }
    guard let callee else { return }
    decisions[callee] = (.next, "callee", "called by the anchor")
    add(entries[callee].text, entries[callee].key)
  }

  private mutating func takeOther(from start: Int) {
    let isLibraryOnly = { (entry: StackEntry) in
      RuleIndex.shared.rule(nil, in: entry.module?.name) != nil
    }
    if let system = entries.indices[start...].first(where: { isTaken($0) && !isLibraryOnly(entries[$0]) }) {
      flags = [.system]
      take(system, "system", "no function of the program is in the stack", mark: " (system)")
      return
    }
    flags = [.runtimeOnly]
    let named = entries.indices[start...].first { entries[$0].isNamed && decisions[$0] == nil }
    if let frame = named ?? entries.indices[start...].first(where: { entries[$0].module != nil }) {
      take(frame, "runtime-only", "every frame is skipped", mark: " (runtime only)")
    } else {
      flags = [.noThread]
      add("no-thread", "no-thread")
    }
  }

  private mutating func take(_ index: Int, _ rule: String, _ reason: String, mark: String = "") {
    decisions[index] = (.anchor, rule, reason)
    isNamed = entries[index].isNamed
    add(entries[index].text + mark, entries[index].key + mark)
  }

  private mutating func add(_ shown: String, _ canonical: String) {
    self.shown.append(shown)
    self.canonical.append(canonical)
  }

  // MARK: Idle threads and recursion

  /// A thread that waits for events: all its frames are skipped, and one of them is a loop or waits.
  private func isIdle(from start: Int) -> Bool {
    guard kind.isHang || kind.text.hasPrefix("jetsam") || kind.text == "none" || kind.text == "simulated" else {
      return false
    }
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

  /// The repeating function whose name is the first in the order of bytes. The innermost one would not do: a recursion
  /// overflows the stack in any of its functions.
  private func cycle(from start: Int) -> Int? {
    var counts: [String: (count: Int, first: Int)] = [:]
    for index in entries.indices[start...] where isTaken(index) {
      counts[entries[index].key, default: (0, index)].count += 1
    }
    let most = counts.values.map(\.count).max() ?? 0
    guard most >= 3 else { return nil }
    let repeated = counts.filter { $0.value.count >= 3 && 2 * $0.value.count >= most }
    let own = repeated.filter { entries[$0.value.first].isInApp }
    return (own.isEmpty ? repeated : own).min { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }?
      .value.first
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
        frame: index, name: entry.text, module: entry.module?.name, decision: decision, rule: rule, reason: reason)
    }
  }
}
