// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reports without their exception, which are mostly parts of one: what their stacks, registers and messages say.
extension ExplanationBuilder {
  /// Explains a report that has neither exception nor termination by its stacks and messages.
  mutating func explainWithoutException() {
    guard result.summary.isEmpty else { return }
    if explainVerdict(nil) {
      addStacks()
      if let endedBy = result.rows.last?.endedBy, !endedBy.isEmpty { result.endedBy.append(sentence(endedBy)) }
      result.notKnown.append("The type and the codes of the exception: the report has none.")
      return
    }
    if explainAbortOnStack() || explainSignalOfTermination() || explainRecordedException() { return }
    let isOfCrash = report?.isTypedCrash == true
    result.summary =
      report?.statesCrash == true
      ? "A thread crashed; the report has neither an exception nor a termination."
      : isOfCrash
        ? "The process crashed, or was ended; the report does not have its exception, nor its termination."
        : "The report has neither an exception nor a termination."
    if isOfCrash, report?.statesCrash != true { note("The type of the report is that of a crash.") }
    if report?.statesCrash == true, !addSyndrome() { addObject("A thread crashed") }
    if let line = messageLines.first { noteMessage(line) }
    if crash.crashed != nil {
      addStacks()
    } else if let number = report?.faultingNumber {
      result.notKnown.append("Where it crashed: thread \(number) has no stack.")
    }
    result.notKnown.append("Why the process ended: the report has neither an exception nor a termination.")
  }

  /// Explains a thread by its registers, which say what the processor did, where the report has no exception.
  private mutating func addSyndrome() -> Bool {
    guard let value = report?.syndrome else { return false }
    if crash.system.architecture == .x86_64 { return addPageFault(value) }
    guard crash.system.architecture == .arm64 else { return false }
    let syndrome = FaultSyndrome(value)
    if let trap = syndrome.trap {
      addTrap(trap)
      result.summary = "A thread crashed at a trap; the report has neither an exception nor a termination."
      result.certainty = .stated
      return true
    }
    guard let isWrite = syndrome.isWrite, let address = report?.faultAddress else { return false }
    note("The registers say that a \(isWrite ? "write" : "read") failed, at \(hex(address)) (esr \(hex(value))).")
    result.summary =
      "A thread crashed at an access to \(hex(address)); the report has neither an exception nor a termination."
    result.certainty = .stated
    return true
  }

  /// Explains a report whose termination names the signal, and which lacks the exception.
  private mutating func explainSignalOfTermination() -> Bool {
    guard let termination, let code = termination.code, code != 0,
      termination.namespace.flatMap({ MeaningTable.namespace($0) })?.name == "SIGNAL",
      let row = MeaningTable.signal(code, on: .darwin)
    else { return false }
    result.summary = "\(row.name): \(row.event.prefix(1).lowercased() + row.event.dropFirst())."
    result.certainty = .stated
    result.advice += row.advice
    add(row)
    if let line = messageLines.first { noteMessage(line) }
    if crash.crashed != nil { addStacks() }
    result.notKnown.append("The type and the codes of the exception: the report has none.")
    return true
  }

  /// Explains a stack alone that is a crash reporter's, which records an exception that nothing caught.
  private mutating func explainRecordedException() -> Bool {
    guard report?.statesCrash == true, let thread = crash.crashedThread, thread.suspect == nil,
      let top = thread.frames.first, CrashReporters.contains(function: top.function ?? "", module: top.module),
      thread.frames.contains(where: { Self.isTerminateHandler($0.function ?? "") })
    else { return false }
    result.summary = "An exception was not caught: a crash reporter recorded it."
    result.certainty = .shown
    if let line = messageLines.first { noteMessage(line) }
    addStacks()
    result.notKnown.append("Which exception it was: the report does not name it.")
    return true
  }

  /// Explains a thread by the trap of an x86 processor, whose number and error code stand below its registers.
  private mutating func addPageFault(_ error: UInt64) -> Bool {
    let trap = report?.fields.first { $0.name == "Trap Number" }?.value
    guard trap == "14", let address = report?.faultAddress else { return false }
    note("The error code \(hex(error)): \(CodeParser.pageFault(error)), at \(hex(address)).")
    result.summary =
      "A thread crashed at an access to \(hex(address)); the report has neither an exception nor a termination."
    result.certainty = .stated
    return true
  }

  /// Explains a stack alone whose thread called abort().
  private mutating func explainAbortOnStack() -> Bool {
    let ends = ["abort", "__abort", "abort_with_payload", "abort_with_reason"] + Self.ownEnds
    guard report?.statesCrash == true, let thread = crash.crashedThread,
      let frame = thread.frames.prefix(8).firstIndex(where: { $0.function.map(ends.contains) ?? false })
    else { return false }
    let hasReason = thread.frames.prefix(8).contains { $0.function.map(Self.ownEnds.contains) ?? false }
    result.summary =
      hasReason
      ? "A library ended the process with a reason of its own (abort_with_payload), which the report does not have."
      : "The thread called abort(), which ends the process."
    result.certainty = .shown
    let handler = thread.frames.prefix(48).firstIndex { $0.function.map(Self.signalFrames.contains) ?? false }
    if !hasReason, let signal = handler, signal > frame {
      result.summary =
        "A handler of a signal called abort(), which ends the process; the report does not have that signal."
      note("The handler was called by \(thread.frames[signal].text)", thread, frame: signal)
    }
    // The system stores the backtrace only for an exception that nothing caught.
    if !crash.lastException.isEmpty { (result.summary, result.certainty) = ("An exception was not caught.", .inferred) }
    result.endedBy.append("The process itself, by abort(): SIGABRT.")
    note("The stack has \(thread.frames[frame].text)", thread, frame: frame)
    if let line = messageLines.first { noteMessage(line) }
    addStacks()
    result.notKnown.append("The type and the codes of the exception: the report has none.")
    return true
  }

  /// Functions of Apple's systems by which a library ends its process with a reason for the report's termination.
  private static let ownEnds = ["__abort_with_payload", "abort_with_payload_wrapper_internal"]
}
