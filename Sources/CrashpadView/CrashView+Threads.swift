// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadCore
package import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText

/// The threads as the dump lists them, without stacks.
extension CrashView {
  package struct Thread: Sendable {
    let snapshot: ThreadSnapshot
    /// In the dump's list.
    package let index: Int
    package let isCrashed: Bool
    package let name: Text?
    package let queue: Text?
    /// The place of the thread's instruction; nil without registers, or outside all modules.
    package let location: Location?
    /// The same in a module that was unloaded.
    package let unloadedLine: String?
    /// The frames that the input lists, with the names of their modules; nil for a dump.
    package let recorded: [Recorded]?

    package var id: UInt64? { snapshot.id }
    /// The number by which the report names it, or else its index.
    package var number: Int { snapshot.number ?? index }
    /// The same, if it is not the index.
    package var ownNumber: Int? { snapshot.number }
    package var elided: [ElidedFrames] { snapshot.elided }
    package var priority: Int32? { snapshot.priority }
    package var suspendCount: Int32? { snapshot.suspendCount }
    package var dataAddress: UInt64? { snapshot.dataAddress }
    package var context: CPUContext? { snapshot.context }
    package var stack: ThreadSnapshot.Stack? { snapshot.stack }
    package var capture: ThreadSnapshot.Capture? { snapshot.capture }

    /// The values that a table of threads has beside names, such as "priority 31", "stack 0x16b0000 (16,384 bytes)".
    package var facts: [String] {
      var facts: [String] = []
      if let priority { facts.append("priority \(priority)") }
      if let suspendCount { facts.append("suspended \(suspendCount)") }
      if let context { facts.append("sp \(TextFormat.hex(context.stackPointer))") }
      if let stack {
        let place = stack.isSynthetic ? "from NSException" : TextFormat.hex(stack.region.address)
        facts.append("stack \(place) (\(TextFormat.count(stack.region.content.count, "byte")))")
      }
      if let capture { facts.append("captured by \(CrashView.name(of: capture))") }
      for gap in elided {
        let frames = gap.frames.map { TextFormat.count(Int(clamping: $0), "frame") } ?? "frames"
        facts.append("\(frames) left out before frame \(gap.index)")
      }
      return facts
    }
  }

  /// A frame as the input lists it.
  package struct Recorded: Sendable {
    package let frame: RecordedFrame
    /// Nil if the input does not say in which module it is.
    package let moduleName: String?

    /// Such as "objc_release + 116, libobjc.A.dylib + 0x1ee8"; the address if neither is known.
    package var line: String {
      let module = moduleName.map { name in name + (frame.moduleOffset.map { " + \(TextFormat.hex($0))" } ?? "") }
      let function = frame.function.map { name in
        TextFormat.printable(Demangler.demangle(name, .simplified) ?? name)
          + (frame.functionOffset.map { " + \($0)" } ?? "")
      }
      return [function, module ?? (function == nil ? TextFormat.hex(frame.address) : nil)].compactMap { $0 }
        .joined(separator: ", ")
    }
  }

  package var threadCount: Int { snapshot.threads.count }
  /// The number by which the report names the thread at an index.
  package func threadNumber(_ index: Int) -> Int { snapshot.threadNumber(index) }

  package var threads: [Thread] { snapshot.threads.indices.map { thread($0) } }

  package func thread(_ index: Int) -> Thread {
    let thread = snapshot.threads[index]
    return Thread(
      snapshot: thread, index: index, isCrashed: index == crashedThread, name: text(thread.name),
      queue: text(thread.queue), location: thread.context.flatMap { location($0.instructionAddress) },
      unloadedLine: thread.context.flatMap { unloadedLine($0.instructionAddress) },
      recorded: thread.frames.map { $0.map(recorded) })
  }

  private func recorded(_ frame: RecordedFrame) -> Recorded {
    Recorded(frame: frame, moduleName: frame.module.map { moduleName($0) })
  }

  /// The stack of the exception that led to the crash, as the input lists it; empty without one.
  package var recordedLastException: [Recorded] { (snapshot.report?.lastException ?? []).map(recorded) }

  /// The first frame that the input lists for the thread that crashed.
  package var firstRecorded: Recorded? { crashedThread.flatMap { snapshot.threads[$0].frames?.first }.map(recorded) }

  /// The number of threads that were captured in this way.
  package func threadCount(capturedBy capture: ThreadSnapshot.Capture) -> Int {
    snapshot.threads.count { $0.capture == capture }
  }
}
