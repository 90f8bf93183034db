// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The texts of sample(1) and spindump: a tree of calls for each thread, with the number of samples of each frame.
extension CrashText {
  /// Begins a thread at a line of sample(1) such as "    2531 Thread_51234   DispatchQueue_1: com.apple.main-thread
  /// (serial)", or of spindump such as `  Thread 0xc453    DispatchQueue "com.apple.main-thread"(1)    1001 samples`.
  ///
  /// - Returns: false for another line.
  mutating func beginTextTree(_ content: TextBytes) -> Bool {
    var rest = content
    if rest.has(prefix: "Thread 0x") {
      rest = rest.dropFirst("Thread ".utf8.count)
      beginTree(rest.takeWord().address, spindumpNames(rest))
      return true
    }
    guard rest.takeNumber() != nil, rest.first == 0x20 else { return false }
    rest = rest.trimmed
    guard rest.has(prefix: "Thread_") else { return false }
    rest = rest.dropFirst("Thread_".utf8.count)
    guard let id = rest.takeNumber() else { return false }
    beginTree(id, sampleNames(rest))
    return true
  }

  private mutating func beginTree(_ id: UInt64?, _ names: (name: String?, queue: String?)) {
    trees.append(TextTree(id: id, name: names.name, queue: names.queue))
    section = .tree
  }

  /// `DispatchQueue "com.apple.main-thread"(1)    Thread name "worker"    1001 samples (1-1001)`
  private func spindumpNames(_ text: TextBytes) -> (name: String?, queue: String?) {
    func quoted(after words: String) -> String? {
      guard let start = text.first(of: words) else { return nil }
      var rest = text[(start + words.utf8.count)...].drop { TextBytes.isBlank($0) }
      if rest.first == UInt8(ascii: "\"") { rest.removeFirst() }
      let value = rest.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "(") }.trimmed
      return value.isEmpty ? nil : value.string
    }
    return (quoted(after: "Thread name \""), quoted(after: "DispatchQueue \""))
  }

  /// "   DispatchQueue_1: com.apple.main-thread  (serial)" or ": worker"
  private func sampleNames(_ text: TextBytes) -> (name: String?, queue: String?) {
    if let start = text.first(of: "DispatchQueue_"), let colon = text[start...].first(of: ": ") {
      var queue = text[(colon + 2)...].trimmed
      if queue.last == UInt8(ascii: ")"), let open = queue.last(of: "  (") { queue = queue[..<open].trimmed }
      return (nil, queue.isEmpty ? nil : queue.string)
    }
    let name = text.drop { $0 == UInt8(ascii: ":") }.trimmed
    return (name.isEmpty ? nil : name.string, nil)
  }

  /// Reads a line of the tree of a thread.
  mutating func treeLine(_ line: TextBytes) {
    let content = line.trimmed
    if beginTextTree(content) { return }
    guard !trees.isEmpty else { return }
    if let start = content.last(of: "blocked by "), start > 0, "( ".utf8.contains(content[start - 1]) {
      trees[trees.count - 1].blocked = content[start...].prefix { $0 != UInt8(ascii: ")") }.string
    }
    guard let sample = TextSample(line) else { return }
    // The kernel's part of a stack is not the process's.
    if content.first != UInt8(ascii: "*") { trees[trees.count - 1].samples.append(sample) }
  }

  /// Makes threads of the trees: each has the path with the most samples, the innermost frame first.
  mutating func endTrees() {
    guard !trees.isEmpty, threadNumbers.isEmpty else { return }
    // The heaviest stack is that of one of them.
    frames.threads = []
    builder.snapshot.threads = []
    for tree in trees {
      var thread = ThreadSnapshot()
      thread.id = tree.id
      thread.name = builder.content(tree.name)
      thread.queue = builder.content(tree.queue)
      thread.frames = []
      builder.snapshot.threads.append(thread)
      frames.threads.append(TextSample.heaviestPath(tree.samples).reversed())
    }
    if builder.report.kind != .stackshot {
      builder.report.kind = .hang
      builder.report.faultingThread = trees.firstIndex { $0.queue == "com.apple.main-thread" } ?? 0
    }
    var indices: [UInt64: Int] = [:]
    for (index, tree) in trees.enumerated().reversed() { if let id = tree.id { indices[id] = index } }
    for (index, tree) in trees.enumerated() {
      guard let text = tree.blocked else { continue }
      var blocker = ReportBlocker(thread: index, text: text)
      readHolder(Array(text.utf8)[...], indices, &blocker)
      builder.report.blockers.append(blocker)
    }
  }

  /// Parses "blocked by turnstile waiting for Sample [4242] [unique pid 99] thread 0xc828".
  private func readHolder(_ text: TextBytes, _ indices: [UInt64: Int], _ blocker: inout ReportBlocker) {
    guard let start = text.first(of: "waiting for ") else { return }
    let owner = text[(start + "waiting for ".utf8.count)...]
    if owner.has(prefix: "this thread") {
      blocker.holder = blocker.thread
      return
    }
    let end = owner.first(of: " [") ?? owner.first(of: " after ") ?? owner.endIndex
    if !owner.has(prefix: "thread 0x") { blocker.process = owner[..<end].trimmed.string }
    guard let start = text.last(of: "thread 0x") else { return }
    var rest = text[(start + "thread ".utf8.count)...]
    guard let id = rest.takeWord().address else { return }
    blocker.holder = indices[id]
  }
}

extension TextSample {
  /// The path with the most samples, from the outermost frame on.
  static func heaviestPath(_ samples: [TextSample]) -> [TextFrame] {
    var path: [TextFrame] = []
    var range = samples.indices
    while let depth = samples[range].map(\.depth).min() {
      let level = range.filter { samples[$0].depth == depth }
      guard let heaviest = level.max(by: { (samples[$0].count, $1) < (samples[$1].count, $0) }) else { break }
      path.append(samples[heaviest].frame)
      let end = samples[(heaviest + 1)..<range.upperBound].firstIndex { $0.depth <= depth } ?? range.upperBound
      range = heaviest + 1..<end
    }
    return path
  }
}
