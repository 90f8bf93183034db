import CrashpadCore
import CrashpadReportPage
import CrashpadSnapshot
import CrashpadSymbolication

/// Stacks of a page: threads whose stacks are equal stand together.
extension CrashPageFiller {
  /// Frames of the thread that crashed, the first and the last.
  private static let crashedFrames = 512
  /// Frames of all other stacks together, as far as each may have the smallest number.
  private static let otherFrames = 9000
  private static let fewestFrames = 12

  func addStacks(to page: inout CrashPage) {
    let (crashed, others) = groups
    let limit = min(Self.crashedFrames, max(Self.fewestFrames, Self.otherFrames / max(1, others.count)))
    if let crashed { page.stacks.append(stack([crashed], limit: Self.crashedFrames)) }
    page.stacks += others.map { stack($0, limit: limit) }
    page.lastException = frames(
      SymbolizedView.rows(symbolized.result.lastException).prefix(Self.crashedFrames), mark: nil, quotes: true)
  }

  private struct StackKey: Hashable {
    let addresses: [UInt64]
    let end: WalkEnd
  }

  /// The thread that crashed, and the others by their stacks in order of their first threads.
  private var groups: (crashed: Symbolization.Thread?, others: [[Symbolization.Thread]]) {
    let hasCrash = snapshot.exception != nil || snapshot.report?.faultingThread != nil
    var crashed: Symbolization.Thread?
    var groups: [[Symbolization.Thread]] = []
    var places: [StackKey: Int] = [:]
    for thread in symbolized.threadsInOrder {
      if thread.isCrashed, hasCrash, crashed == nil {
        crashed = thread
        continue
      }
      let key = StackKey(addresses: thread.frames.map(\.frame.instruction), end: thread.end)
      // Threads without a stack have nothing in common.
      if let place = places[key], !thread.frames.isEmpty {
        groups[place].append(thread)
      } else {
        places[key] = groups.count
        groups.append([thread])
      }
    }
    return (crashed, groups)
  }

  private func stack(_ threads: [Symbolization.Thread], limit: Int) -> CrashPage.Stack {
    let thread = threads[0]
    var stack = CrashPage.Stack(threads: threads.map(title))
    stack.isCrashed = thread.isCrashed
    let rows = SymbolizedView.rows(thread.frames)
    let (first, leftOut, last) = SymbolizedView.shown(rows, limit: limit)
    let shown = Array(first) + Array(last)
    stack.frames = frames(
      shown[...], mark: thread.isCrashed ? symbolized.firstOwn(shown) : nil, quotes: thread.isCrashed)
    stack.leftOut = leftOut
    stack.leftOutAt = first.count
    stack.end = StackText.sentence(thread)
    return stack
  }

  private func title(_ thread: Symbolization.Thread) -> CrashPage.Thread {
    guard let index = thread.index else {
      return CrashPage.Thread(index: nil, id: snapshot.exception.map { "id \($0.threadID)" })
    }
    let recorded = snapshot.threads[index]
    return CrashPage.Thread(
      index: index, id: recorded.id.map { "id \($0)" }, name: symbolized.threadName(thread),
      queue: view.text(recorded.queue))
  }

  /// - Parameters:
  ///   - mark: the index of the program's first frame.
  ///   - quotes: whether source lines are added, of each place once: the frames of a recursion have the same.
  private func frames(
    _ rows: ArraySlice<SymbolizedView.Row>, mark: Int?, quotes: Bool
  ) -> [CrashPage.Frame] {
    var quoted: Set<String> = []
    var frames: [CrashPage.Frame] = []
    frames.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() {
      let line = StackLine(row, symbolized, showsAddress: false)
      var frame = CrashPage.Frame(number: row.number, name: line.name)
      frame.offset = line.offset
      frame.location = maker.isRedacted ? line.location.map { lastPathComponent($0) } : line.location
      frame.module = line.module
      frame.trust = line.origin.isEmpty ? "" : "found by scanning the stack"
      frame.isOwn = row.frame.frame.module.map { evidence.isOfApp[$0] } ?? false
      frame.isMarked = index == mark
      if quotes, let location = SymbolizedView.location(row.function), location.line > 0,
        quoted.insert("\(location.file):\(location.line)").inserted
      {
        frame.source = maker.sources?.lines(of: location.file, around: location.line)
      }
      frames.append(frame)
    }
    return frames
  }
}
