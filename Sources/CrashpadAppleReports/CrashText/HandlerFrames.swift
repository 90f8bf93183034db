// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The frames of a program's own handler of signals, which writes the stack that it is in: the fault is below them.
enum HandlerFrames {
  /// One frame from the innermost on.
  struct Frame {
    var function: String?
    /// The path or the name of the module's file.
    var module: TextBytes?
  }

  /// The number of frames down to the kernel's call of the handler; nil if none is known to be it.
  ///
  /// - Parameters:
  ///   - signal: the name of the signal.
  ///   - hasRestorer: whether such stacks always have the frame by which the kernel calls, also where they leave out the handler.
  static func count(_ frames: [Frame], signal: String?, hasRestorer: Bool = false) -> Int? {
    let frames = Array(frames.prefix(12))
    if let call = frames.firstIndex(where: { $0.function.map(isRestorer) ?? false }) { return call + 1 }
    if let handler = frames.prefix(8).lastIndex(where: { $0.function.map(PastedLine.isHandler) ?? false }) {
      let below = frames.indices.dropFirst(handler + 1)
      if let call = below.prefix(5).first(where: { isUnnamedCall(frames[$0]) }) { return call + 1 }
      if let next = below.first, frames[next].function == nil { return min(handler + 2, frames.count) }
      // The text ends in the handler.
      return below.isEmpty ? handler + 1 : nil
    }
    let unnamed = frames.prefix { $0.function == nil }
    if hasRestorer {
      if let call = unnamed.prefix(5).firstIndex(where: isUnnamedCall) { return call + 1 }
      // Without names of modules: the handler, and the call of it.
      if unnamed.count >= 2, unnamed.count < frames.count, unnamed[1].module == nil { return 2 }
    }
    // The thread raised the signal itself: what has no name above that is the handler.
    guard signal == "SIGABRT", (1..<5).contains(unnamed.count), unnamed.count < frames.count,
      raisers.contains(frames[unnamed.count].function ?? "")
    else { return nil }
    return unnamed.count
  }

  /// Whether a frame without a name is of the C library: the first one below a handler is where the kernel calls it.
  private static func isUnnamedCall(_ frame: Frame) -> Bool {
    guard frame.function == nil, let file = frame.module?.fileName else { return false }
    return ["libpthread.so", "libpthread-2.", "libc.so.", "libc-2."].contains { file.has(prefix: $0) }
  }

  /// Whether a function is one by which the system calls a handler of signals.
  static func isRestorer(_ function: String) -> Bool { restorers.contains(function) }

  private static let restorers: Set = [
    "__restore_rt", "__default_rt_sa_restorer", "__default_sa_restorer", "__kernel_rt_sigreturn", "_sigtramp",
    "<signal handler called>",
  ]
  private static let raisers: Set = [
    "gsignal", "raise", "__GI_raise", "__pthread_kill", "pthread_kill", "__pthread_kill_implementation",
  ]
}

extension ToolStacks {
  /// Leaves out the frames of the program's handler, which are the innermost ones of the last thread.
  mutating func leaveOutHandler(signal: String?, hasRestorer: Bool = false) {
    let frames = (threads.last?.frames ?? []).prefix(12).map { frame in
      HandlerFrames.Frame(function: frame.function, module: frame.module.flatMap { builder.path(ofModule: $0) })
    }
    if let count = HandlerFrames.count(frames, signal: signal, hasRestorer: hasRestorer) {
      leaveOutHandler(count, of: threads.count - 1)
    }
  }
}

extension ReportBuilder {
  /// Leaves out the innermost frames of a thread, which are those of a handler of signals: the fault is below them.
  mutating func leaveOutHandler(_ count: Int, of thread: Int) {
    snapshot.threads[thread].frames?.removeFirst(count)
    snapshot.threads[thread].elided.removeAll { $0.index < count }
    for index in snapshot.threads[thread].elided.indices { snapshot.threads[thread].elided[index].index -= count }
    report.notes.append("The frames of the program's handler of signals, which ended the process, are left out.")
  }

  /// The path or the name of a module, by its index.
  func path(ofModule index: Int) -> TextBytes? {
    guard let name = snapshot.modules[index].name, name.isInArena else { return nil }
    return Array(snapshot.arena[name.offset..<name.offset + name.count])[...]
  }
}
