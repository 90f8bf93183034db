// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot
package import CrashpadSymbolication
internal import CrashpadText

/// The stacks that were walked, or that the input lists.
extension CrashView {
  /// The stack of a thread, or of the exception that led to the crash.
  package struct Stack: Sendable {
    package enum Owner: Sendable, Hashable {
      /// An index of `threads`.
      case thread(Int)
      /// The thread of the exception, which is not among the threads.
      case exceptionThread(id: UInt64?)
      /// The exception that was not caught: where it was thrown.
      case lastException
    }

    package let owner: Owner
    /// Whether it is the thread that crashed, or the one that a report of no crash is about.
    package let isCrashed: Bool
    /// Whether a report says that the process went on, or does not say that it crashed.
    package var isOfNoCrash = false
    /// The number that a report gives the thread, if it is not the index.
    package let number: Int?
    package let id: UInt64?
    package let name: String?
    package let queue: String?
    package let frames: [Symbolization.Frame]
    package let end: WalkEnd
    /// The registers at the start of the walk.
    package let context: CPUContext?

    /// The thread's index; nil if it is not among the threads.
    package var thread: Int? { if case .thread(let index) = owner { index } else { nil } }

    /// Whether the first frame of the program in it is marked, where no signature names a better one.
    package var isMarked: Bool { isCrashed || owner == .lastException }

    /// The lines of the stack. Inlined calls come before the frame that contains them, and functions that ended with a jump
    /// before the one that called them; all are numbered like frames.
    package var rows: [Row] {
      var rows: [Row] = []
      rows.reserveCapacity(frames.count)
      for frame in frames {
        for call in frame.tailCalls {
          rows.append(
            Row(number: rows.count, frame: frame, function: call.function, isInlined: call.isInlined, tailCall: call))
        }
        let functions = (frame.symbol ?? frame.inferred)?.frames ?? []
        for function in functions.dropLast() {
          rows.append(Row(number: rows.count, frame: frame, function: function, isInlined: true))
        }
        rows.append(Row(number: rows.count, frame: frame, function: functions.last, isInlined: false))
      }
      return rows
    }

    /// The rows to print: if there are more than `limit`, the first and the last.
    package func rows(limit: Int?) -> (first: ArraySlice<Row>, leftOut: Int, last: ArraySlice<Row>) {
      let rows = self.rows
      guard let limit, rows.count > limit else { return (rows[...], 0, []) }
      return (rows.prefix(limit - limit / 2), rows.count - limit, rows.suffix(limit / 2))
    }
  }

  /// One line of a stack: a frame, or a call inlined into one.
  package struct Row: Sendable {
    package let number: Int
    let frame: Symbolization.Frame
    /// Nil without symbols.
    package let function: SymbolizedAddress.Frame?
    package let isInlined: Bool
    /// Set for a function that ended with a jump to the one above, and so has no frame of its own.
    package var tailCall: TailCall?

    /// Whether it is a frame of the stack itself.
    package var isFrame: Bool { !isInlined && tailCall == nil }
    package var address: UInt64 { frame.frame.instruction }
    package var trust: FrameTrust { frame.frame.trust }
    package var module: Int? { frame.frame.module }
    package var moduleOffset: UInt64? { frame.frame.moduleOffset }
    package var isSignalFrame: Bool { frame.frame.isSignalFrame }
    /// Whether the name is that of the nearest symbol before the address, which may be another function.
    package var isNearest: Bool { frame.symbol?.isNearest == true }

    /// Whether the name is inferred from a perf map.
    package var isInferred: Bool { frame.symbol == nil && frame.inferred != nil }

    /// The name as one line; nil without symbols.
    package var name: String? { SymbolizedAddress.line(function) }

    /// The offset from the first instruction of the function, in bytes. A report may say it of a frame whose module has no
    /// address.
    package var functionOffset: UInt64? {
      frame.functionOffset(of: frame.frame.moduleOffset ?? frame.frame.instruction)
    }
  }

  /// The stack of the exception that was not caught, if the input has it; the stack of the crashed thread, and then those of the
  /// others, in the order in which people read them.
  package var stacks: [Stack] { (lastException.map { [$0] } ?? []) + threadStacks }

  /// The stacks of threads, the crashed one first.
  package var threadStacks: [Stack] { symbolization?.threads.map(stack) ?? [] }

  /// The same in the order of the dump.
  package var threadStacksInOrder: [Stack] {
    (symbolization?.threads.sorted { ($0.index ?? -1) < ($1.index ?? -1) } ?? []).map(stack)
  }

  /// The stack of the thread that crashed.
  package var crashedStack: Stack? { symbolization?.threads.first(where: \.isCrashed).map(stack) }

  /// The stack from which the uncaught exception was thrown; nil if the input does not have it beside the threads.
  package var lastException: Stack? {
    guard let frames = symbolization?.lastException, !frames.isEmpty else { return nil }
    return Stack(
      owner: .lastException, isCrashed: false, number: nil, id: nil, name: nil, queue: nil, frames: frames,
      end: .recorded,
      context: nil)
  }

  private func stack(_ thread: Symbolization.Thread) -> Stack {
    let recorded = thread.index.map { snapshot.threads[$0] }
    var stack = Stack(
      owner: thread.index.map { .thread($0) } ?? .exceptionThread(id: snapshot.exception?.threadID),
      isCrashed: thread.isCrashed, number: recorded?.number,
      id: thread.index == nil ? snapshot.exception?.threadID : recorded?.id,
      name: line(recorded?.name), queue: line(recorded?.queue), frames: thread.frames, end: thread.end,
      context: thread.context)
    stack.isOfNoCrash = snapshot.report != nil && !snapshot.outcome.isCrash
    return stack
  }

  /// The module's name without directories; nil for a frame outside all modules.
  package func moduleName(_ row: Row) -> String? { row.module.map { moduleName($0) } }
  package func moduleName(_ frame: Symbolization.Frame) -> String? { frame.frame.module.map { moduleName($0) } }

  /// The index of the first row in the executable.
  package func firstOwn(_ rows: [Row]) -> Int? {
    guard let main = mainModule else { return nil }
    return rows.firstIndex { $0.module == main && !$0.isSignalFrame }
  }
}

extension Symbolization.Frame {
  /// The offset of the frame from the first instruction of its function, in bytes.
  ///
  /// - Parameter offset: that of the frame in its module.
  package func functionOffset(of offset: UInt64?) -> UInt64? {
    guard let start = (symbol ?? inferred)?.functionAddress, let offset, offset >= start else { return nil }
    return offset - start
  }
}

extension WalkEnd {
  /// The reason why a walk ended, as a sentence; nil if the stack is complete.
  ///
  /// - Parameter frames: the number of frames that were walked.
  package func sentence(frames: Int) -> String? {
    switch self {
    case .done, .recorded: nil
    case .endOfChain: "The chain of frame pointers ends here."
    case .nullReturnAddress: "The walk ends here: the return address is null."
    case .noCaller: "The walk ends here: nothing leads to a caller."
    case .missingMemory: "The walk ends here: the dump does not have the stack's memory from here on."
    case .noProgress: "The walk ends here: the stack is corrupt and leads back to itself."
    case .tooManyFrames: "The walk ends here: no more than \(grouped(frames)) frames are walked."
    case .noRegisters: "No stack: the thread has no registers that can be walked from."
    }
  }
}
