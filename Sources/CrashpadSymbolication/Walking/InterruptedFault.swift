// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

extension Symbolization {
  /// A fault whose handler was running in the crashed thread, and a snapshot that has the fault as its exception. A process may also
  /// have sent the fault's signal.
  package struct InterruptedFault: Sendable {
    /// The index of the frame from which the handler returns, in the crashed thread.
    package let frame: Int
    package let fault: HandledFault
    package let snapshot: ProcessSnapshot

    /// Whether the memory permits the access by now, as after a handler that repaired the fault, such as a write barrier's.
    package func isRepaired(in ranges: [ListedMemory.Range]?) -> Bool {
      guard let ranges, let address = fault.address, !fault.isSent, [7, 11].contains(fault.signal),
        let index = ListedMemory.index(of: address, in: ranges)
      else { return false }
      return ranges[index].protection.isSuperset(of: fault.access ?? [.read, .write])
    }
  }

  /// The fault for which the program's own handler ended the process by another signal. Nil if the crashed thread ran no handler of
  /// a fault, or the signal that ended the process is not the handler's: it calls abort(), or raises the signal of the fault again.
  package func endedByHandler(_ snapshot: ProcessSnapshot) -> InterruptedFault? {
    threads.first(where: \.isCrashed).flatMap { Self.endedByHandler($0, snapshot) }
  }

  package static func endedByHandler(_ thread: Thread, _ snapshot: ProcessSnapshot) -> InterruptedFault? {
    guard let exception = snapshot.exception, exception.isOfItself == true,
      let interrupted = interruptedFault(thread, from: 0, snapshot),
      exception.code == 6 || exception.code == interrupted.fault.signal,
      !failsCheck(thread.frames[..<interrupted.frame])
    else { return nil }
    return interrupted
  }

  /// Whether a library aborts because a check failed, and not the handler itself.
  private static func failsCheck(_ frames: ArraySlice<Frame>) -> Bool {
    frames.contains { frame in
      guard let name = frame.symbol?.frames.last?.function else { return false }
      return checks.contains { name.hasPrefix($0) }
    }
  }

  /// The functions by which assertions, the heap, checked functions and the runtime of C++ end a process.
  private static let checks = [
    "__assert", "__GI___assert", "malloc_printerr", "__libc_message", "__fortify_fail", "__chk_fail",
    "__stack_chk_fail",
    "std::terminate", "__cxa_throw", "__cxa_pure_virtual", "__gnu_cxx::__verbose_terminate_handler",
  ]

  /// The faults whose handlers faulted themselves, or failed a check, the last one first; empty if no handler of a fault was running.
  package func earlierFaults(_ snapshot: ProcessSnapshot) -> [InterruptedFault] {
    threads.first(where: \.isCrashed).map { Self.earlierFaults($0, snapshot) } ?? []
  }

  package static func earlierFaults(_ thread: Thread, _ snapshot: ProcessSnapshot) -> [InterruptedFault] {
    guard let exception = snapshot.exception, exception.kind == .linuxSignal, exception.isInfoKnown,
      !exception.isSimulated
    else { return [] }
    let isFault = exception.sending == nil && ExceptionSnapshot.faultSignals.contains(exception.code)
    let handler = thread.frames.prefix { !$0.frame.isSignalFrame }
    guard isFault || exception.code == 6 && exception.isOfItself == true && failsCheck(handler) else { return [] }
    var faults: [InterruptedFault] = []
    var start = 0
    while faults.count < mostEarlierFaults, let next = interruptedFault(thread, from: start, snapshot),
      !next.fault.isSent, !thread.frames[...next.frame].contains(where: { $0.frame.trust == .scan })
    {
      // A record that a scan found may be left over from a handler that has returned.
      faults.append(next)
      start = next.frame + 1
    }
    return faults
  }

  /// A process has few signals of faults, and a handler of each that is called once.
  private static let mostEarlierFaults = 8

  /// - Parameter start: the index of the first frame at which a handler may return.
  private static func interruptedFault(
    _ thread: Thread, from start: Int, _ snapshot: ProcessSnapshot
  ) -> InterruptedFault? {
    guard let exception = snapshot.exception,
      let index = thread.frames[start...].firstIndex(where: { $0.frame.isSignalFrame }),
      index + 1 < thread.frames.count,
      let fault = thread.frames[index].frame.handled, fault.isSent || !thread.frames[index].frame.interruptsSystemCall
    else { return nil }
    var original = ExceptionSnapshot(kind: .linuxSignal, threadID: exception.threadID, code: fault.signal)
    original.info = UInt32(bitPattern: fault.code)
    original.isAddressKnown = fault.isSent || fault.address != nil
    original.address = fault.address ?? 0
    original.takeSender(processID: snapshot.processID)
    let interrupted = thread.frames[index + 1].frame
    original.context = exception.context?.moved(to: interrupted.instruction, interrupted.stackPointer)
    var changed = snapshot
    changed.exception = original
    if let crashed = changed.crashedThread { changed.threads[crashed].context = original.context }
    return InterruptedFault(frame: index, fault: fault, snapshot: changed)
  }
}

extension CPUContext {
  /// The same with another instruction and stack pointer; the other registers are a handler's.
  fileprivate func moved(to instruction: UInt64, _ stack: UInt64?) -> Self? {
    guard let stack else { return nil }
    switch self {
    case .x86_64(var context):
      (context.rip, context.rsp) = (instruction, stack)
      return .x86_64(context)
    case .arm64(var context):
      (context.pc, context.sp) = (instruction, stack)
      return .arm64(context)
    case .named: return nil
    }
  }
}
