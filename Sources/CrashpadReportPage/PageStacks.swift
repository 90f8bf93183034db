// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSignatures
internal import CrashpadSymbolication
internal import CrashpadView

/// The stacks of a page: threads whose stacks are equal stand together.
struct PageStacks {
  /// Frames of all other stacks together, as far as each may have the smallest number.
  private static let otherFrames = 9000
  private static let fewestFrames = 12

  /// Threads with equal stacks.
  struct Group {
    let owners: [CrashView.Stack]
    let frames: [CrashPage.Frame]
    /// Frames between `frames[leftOutAt]` and the one before it that are not shown.
    let leftOut: Int
    let leftOutAt: Int

    /// The object that the threads wait for, as the frames say.
    fileprivate(set) var wait: ThreadWait?

    fileprivate init(_ owners: [CrashView.Stack], _ page: CrashPage, limit: Int, quotes: Bool = false) {
      self.owners = owners
      let (first, leftOut, last) = owners[0].rows(limit: limit)
      frames = page.frames(Array(first) + Array(last), of: owners[0], quotes: quotes)
      self.leftOut = leftOut
      leftOutAt = first.count
    }
  }

  /// The thread that crashed, or else that in which the fault is, such as the main thread of a hang.
  private(set) var crashed: Group?
  /// The others, in the order of their first threads.
  private(set) var others: [Group] = []
  /// The frames from which the uncaught exception was thrown; empty without one.
  let lastException: [CrashPage.Frame]

  private struct StackKey: Hashable {
    let addresses: [UInt64]
    let end: WalkEnd
  }

  init(_ page: CrashPage) {
    let view = page.view
    lastException =
      view.lastException.map { stack in
        page.frames(Array(stack.rows.prefix(CrashPage.crashedFrames)), of: stack, quotes: true)
      } ?? []
    var groups: [[CrashView.Stack]] = []
    var places: [StackKey: Int] = [:]
    let stacks = view.threadStacksInOrder
    let first = page.firstStack.flatMap { first in stacks.firstIndex { $0.owner == first.owner } }
    if let first { crashed = Group([stacks[first]], page, limit: CrashPage.crashedFrames, quotes: true) }
    for (index, stack) in stacks.enumerated() where index != first {
      let key = StackKey(addresses: stack.frames.map(\.frame.instruction), end: stack.end)
      // Threads without a stack have nothing in common.
      if let place = places[key], !stack.frames.isEmpty {
        groups[place].append(stack)
      } else {
        places[key] = groups.count
        groups.append([stack])
      }
    }
    let limit = min(
      CrashPage.crashedFrames, max(Self.fewestFrames, Self.otherFrames / max(1, groups.count)))
    let waits = view.waits(groups.map { $0[0] }, page.signatures)
    others = zip(groups, waits).map { owners, wait in
      var group = Group(owners, page, limit: limit)
      group.wait = wait
      return group
    }
  }

  /// Whether a link to the thread leads somewhere.
  func shows(thread: Int) -> Bool {
    ([crashed].compactMap { $0 } + others).contains { group in group.owners.contains { $0.thread == thread } }
  }

  /// Whether a link to the frame leads somewhere.
  func shows(thread: Int, frame: Int) -> Bool {
    ([crashed].compactMap { $0 } + others).contains { group in
      group.owners[0].thread == thread && group.frames.contains { $0.line.number == frame }
    }
  }
}
