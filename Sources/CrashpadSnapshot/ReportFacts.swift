// SPDX-License-Identifier: Apache-2.0
/// The memory of a process that was ended for it, or near its limit, in bytes.
public struct ReportMemory: Sendable, Hashable {
  /// The memory that the process used.
  public var footprint: UInt64?
  /// The memory that it may use at most.
  public var limit: UInt64?
  /// The memory that was left to it.
  public var remaining: UInt64?
  /// Such as "terminal".
  public var level: String?
  /// The pressure on the memory of the system, such as "critical".
  public var pressure: String?

  package init() {}
}

/// The end of the whole system: a panic of its kernel, or a reset.
public struct ReportPanic: Sendable, Hashable {
  /// All of the kernel's text.
  public var text: String
  /// The first line that says what happened.
  public var headline: String?
  /// The task that the kernel names, such as "kernel_task".
  public var task: String?
  /// The id of that task.
  public var taskID: Int64?
  /// The number of the trap of an x86 processor that the kernel did not expect, such as 14 for a page fault.
  public var trap: UInt64?
  /// Its name in the kernel's text.
  public var trapName: String?
  /// The bundles of kernel extensions whose code is in the kernel's stack, without those that they depend on.
  public var extensions: [String] = []
  /// Whether the report ends within the kernel's text.
  public var isCut = false

  package init(text: String) { self.text = text }
}

/// A thread that waits for another, as the report states it.
public struct ReportBlocker: Sendable, Hashable {
  /// The index of the thread that waits, in the snapshot's threads.
  public var thread: Int
  /// The report's words, such as "blocked by turnstile waiting for Sample [4242] [unique pid 99] thread 0xc828".
  public var text: String
  /// The index of the thread that it waits for, if the snapshot has it.
  public var holder: Int?
  /// The process that it waits for.
  public var process: String?

  package init(thread: Int, text: String) {
    self.thread = thread
    self.text = text
  }
}

/// Frames of an endless recursion that a report leaves out.
public struct ElidedFrames: Sendable, Hashable {
  /// The index of the frame before which frames are missing.
  public var index: Int
  /// The number of frames that are missing; nil if the report does not say it.
  public var frames: UInt64?
  /// The number of calls of the function that calls itself.
  public var levels: UInt64?

  /// Such as "before frame 3", and "behind frame 2" at the end of a stack with as many frames.
  package func place(in count: Int) -> String {
    index > 0 && index == count ? "behind frame \(index - 1)" : "before frame \(index)"
  }

  package init(index: Int, frames: UInt64?, levels: UInt64?) {
    self.index = index
    self.frames = frames
    self.levels = levels
  }
}
