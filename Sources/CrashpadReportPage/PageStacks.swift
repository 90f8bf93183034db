// SPDX-License-Identifier: Apache-2.0
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

    fileprivate init(_ owners: [CrashView.Stack], _ page: CrashPage, limit: Int) {
      self.owners = owners
      let (first, leftOut, last) = owners[0].rows(limit: limit)
      frames = page.frames(
        Array(first) + Array(last), marking: owners[0].isCrashed, quotes: owners[0].isCrashed)
      self.leftOut = leftOut
      leftOutAt = first.count
    }
  }

  /// The thread that crashed.
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
    let last = view.lastException?.rows.prefix(CrashPage.crashedFrames) ?? []
    lastException = page.frames(Array(last), marking: false, quotes: true)
    var groups: [[CrashView.Stack]] = []
    var places: [StackKey: Int] = [:]
    for stack in view.threadStacksInOrder {
      if stack.isCrashed, view.hasCrash, crashed == nil {
        crashed = Group([stack], page, limit: CrashPage.crashedFrames)
        continue
      }
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
    others = groups.map { Group($0, page, limit: limit) }
  }

  /// Whether a link to the frame leads somewhere.
  func shows(thread: Int, frame: Int) -> Bool {
    ([crashed].compactMap { $0 } + others).contains { group in
      group.owners[0].thread == thread && group.frames.contains { $0.line.number == frame }
    }
  }
}
