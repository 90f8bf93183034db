// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The explanation of the exception.
extension ExplanationBuilder {
  mutating func explainException() {
    guard let exception = crash.exception, let description else {
      if report?.kind == .resource { return explainResourceText() }
      return explainWithoutException()
    }
    if exception.kind == .mach, exception.code == 11, exception.codes.count < 2 || exception.codes[1] == 0 {
      return explainResourceText()
    }
    if exception.kind == .mach, exception.code == 12, exception.codes.count > 1,
      GuardCode.hasFlavor(exception.codes[1])
    {
      return explainGuard(exception.codes[1], exception.codes.count > 2 ? exception.codes[2] : nil)
    }
    if exception.kind == .mach, exception.code == 12, explainGuardNames() { return }
    for row in description.rows { add(row) }
    if let first = description.rows.first {
      let reading = CodeReading(description.title, description.rows)
      // A text that has the signal alone has no code of it.
      let hasCode = exception.kind != .linuxSignal || exception.isInfoKnown
      let advice = WindowsParameters(exception).advice ?? reading.advice
      result.advice += hasCode ? advice : advice.filter { !$0.containsBytes("si_code") }
      let endedBy = description.rows.lazy.map(\.endedBy).first { !$0.isEmpty } ?? CodeReading(first).endedBy
      if !endedBy.isEmpty { result.endedBy.append(sentence(endedBy)) }
      if let sent = SignalSending(exception) { explainSending(sent) }
      result.certainty = .stated
    } else {
      result.notKnown.append("What \(description.title) means: the table does not have it.")
    }
    result.summary = "\(description.title): \(description.explanation ?? "its meaning is not known")."
    for sentence in WindowsParameters(exception).notes { note(sentence) }
    if crash.lacksStackForHandler { explainFullStack(exception) }
    explainRaise(exception)
    if let last = crash.handlerSignal { explainEnd(byHandlerOf: exception, last) }
    explainRaisedAgain(exception)
    explainEarlierFaults()
    addSignature(exception)
    if explainHandler(exception) { return addStacks() }
    addAddress(exception)
    addBranch(exception)
    addTrap(exception)
    explainVerdict(exception)
    addStacks()
  }

  /// The kernel had no room on the stack for a handler of the program, which has no alternate stack.
  private mutating func explainFullStack(_ exception: ExceptionSnapshot) {
    let pointer = hex(exception.context?.stackPointer ?? 0)
    note(
      "The stack pointer, \(pointer), is at the end of the thread's stack: the kernel had no room there to call a handler of the program."
    )
    result.summary = "\(exceptionTitle): the thread probably had no stack left."
    result.certainty = .inferred
    result.advice = ["Look for endless recursion, and for large local variables."]
  }

  /// SIGABRT that a program sent to a thread of its own without abort().
  private mutating func explainRaise(_ exception: ExceptionSnapshot) {
    guard exception.kind == .linuxSignal, exception.code == 6, exception.sending == .tgkill,
      exception.isOfItself == true, let thread = crash.crashedThread, thread.frames.first?.function != nil,
      !thread.frames.prefix(Self.raiseDepth).contains(where: { $0.function?.containsBytes("abort") ?? true })
    else { return }
    result.endedBy = ["The process itself, with raise() or pthread_kill()."]
    result.summary = "\(exceptionTitle): the process sent the signal to itself."
    note("No abort() is on the stack", thread, frame: 0)
  }

  private static let raiseDepth = 24

  /// The program's own handler of a fault ended the process.
  private mutating func explainEnd(byHandlerOf exception: ExceptionSnapshot, _ last: UInt32) {
    let (fault, signal) = (SignalNames.linux.name(of: exception.code), SignalNames.linux.name(of: last))
    let isSent = exception.sending != nil
    result.endedBy = ["The program's own handler for \(fault), by \(signal)."] + (isSent ? result.endedBy : [])
    if let thread = crash.crashedThread {
      // The frame to which the handler returns is the last one of those that are left out.
      note("The kernel called a handler of the program for the \(isSent ? "signal" : "fault")", thread, frame: -1)
    }
    if !exception.isAddressKnown { result.notKnown.append("The address of the fault: it was removed from the dump.") }
  }

  /// The fault is not that of the signal that ended the process, but of a record of an earlier one.
  private mutating func explainRaisedAgain(_ exception: ExceptionSnapshot) {
    guard exception.isRaisedAgain else { return }
    let signal = SignalNames.linux.name(of: exception.code)
    note(
      "The process sent itself \(signal), which arrived at an instruction that sends nothing. There was a fault at that instruction, "
        + "with the same registers: a handler of the program raised the signal again."
    )
    result.certainty = .inferred
    result.endedBy = ["Most likely the program's own handler for \(signal), which raised it again."]
  }

  /// A handler of the program ended the process, by a fault of its own or a check that failed, while it handled another fault.
  private mutating func explainEarlierFaults() {
    guard let thread = crash.crashedThread else { return }
    for earlier in crash.earlierFaults where earlier.frame < thread.frames.count {
      let title = ExceptionDescription(earlier.exception, crash.system).title
      note(
        "A handler of the program was running for an earlier fault, \(title), in \(thread.frames[earlier.frame].text)"
          + (earlier.isRepaired ? "; the memory permits that access by now, as if the handler had repaired it" : ""),
        thread, frame: earlier.frame)
    }
    guard let first = crash.earlierFaults.last, !first.isRepaired else { return }
    let signal = SignalNames.linux.name(of: first.exception.code)
    result.advice.insert(
      "Look at the first fault (\(signal)), too: the process ended while a handler of the program was running for it.",
      at: 0)
  }

  /// Names the process that sent a signal in place of what the table says of all signals.
  private mutating func explainSending(_ sent: SignalSending) {
    if let endedBy = sent.endedBy { result.endedBy = [endedBy] }
    result.advice.removeAll { $0.containsBytes("si_pid") }
    if let advice = sent.advice { result.advice.insert(advice, at: 0) }
  }

  /// Adds the file whose page the kernel rejected, which its messages name.
  private mutating func addSignature(_ exception: ExceptionSnapshot) {
    guard exception.kind == .mach, exception.codes.count > 1, exception.codes[1] == 50 else { return }
    let words = "in file \""
    let lines = (report?.notes ?? []).filter { $0.containsBytes("CODE SIGNING: ") }
    guard let line = lines.first(where: { $0.containsBytes(words) }), let start = line.firstRange(of: words)?.upperBound
    else { return }
    note("The kernel rejected a page of the file \(line[start...].prefix { $0 != "\"" }).")
  }

  /// Explains a fault in a crash reporter by the crash that it handled.
  private mutating func explainHandler(_ exception: ExceptionSnapshot) -> Bool {
    // A handler is on the stack of each report that was made in one; here the jump out of it is the fault.
    guard EndOfProcess(exception) == .fault, let index = crash.crashed, let thread = crash.crashedThread,
      let top = thread.frames.first, top.module == nil, top.function == nil,
      let signal = thread.frames.prefix(48).firstIndex(where: { $0.function.map(Self.signalFrames.contains) ?? false }),
      let reporter = thread.frames[..<signal].firstIndex(where: {
        CrashReporters.contains(function: $0.function ?? "", module: $0.module)
      })
    else { return false }
    note(
      "The fault is in a crash reporter, which handled a signal: \(thread.frames[reporter].text)", thread,
      frame: reporter)
    var handled = crash
    handled.exception = nil
    handled.threads[index].frames.removeFirst(signal + 1)
    let row = EvidenceSearch.all.verdict(handled)?.row
    result.summary =
      "A crash reporter crashed (\(exceptionTitle)) while it handled the first crash"
      + (row.map { ": \($0.event.prefix(1).lowercased())\($0.event.dropFirst())." } ?? ".")
    result.certainty = .shown
    result.advice = row?.advice ?? []
    result.advice.append("Install one crash reporter alone: the handlers of several call each other.")
    if let row { add(row) } else { result.notKnown.append("What the first crash was: its stack does not say.") }
    return true
  }

  static let signalFrames = ["_sigtramp", "<signal handler called>", "__restore_rt"]

  /// Explains a resource by the text of a report, which does not have the kernel's codes in their usual form.
  mutating func explainResourceText() {
    let fields = report?.fields ?? []
    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    let words = "\(report?.exceptionSubtype ?? "") \(field("Event") ?? "")".uppercased()
    let names = [("WAKEUPS", "WAKEUPS"), ("DISK WRITES", "IO"), ("IO", "IO"), ("MEMORY", "MEMORY"), ("CPU", "CPU")]
    let name = names.first { words.contains($0.0) }?.1
    let row = CodeMeaning.resources.first { $0.context == "EXC_RESOURCE" && $0.name == name }
    if let row {
      let reading = CodeReading(row)
      result.rows += reading.rows
      result.advice += reading.advice
      result.summary = "A limit was exceeded: \(row.event)."
    } else if let event = field("Event") {
      result.summary = "The report is about the event \(shortened(event))."
      result.notKnown.append("Whether the process caused the event.")
    } else {
      result.summary = "The process used more of a resource than the system allows."
      result.notKnown.append("Which resource it was.")
    }
    if let message = report?.exceptionMessage { note("The report says: \(message).") }
    if let subtype = report?.exceptionSubtype, let limit = Self.limit(subtype) { note("The limit was \(limit).") }
    for name in ["Writes", "CPU", "Wakeups", "Action taken"] {
      if let value = field(name) { note("The report says: \(name): \(value).") }
    }
    if let thread = crash.crashedThread ?? crash.threads.first { noteSuspect(thread, "The heaviest stack was in") }
  }

  /// "650 MB", of a debugger's "RESOURCE_TYPE_MEMORY (limit=650 MB, unused=0x0)".
  private static func limit(_ text: String) -> String? {
    guard let start = text.firstRange(of: "limit=")?.upperBound else { return nil }
    let value = text[start...].prefix { $0 != "," && $0 != ")" }
    return value.first?.isNumber == true ? String(value) : nil
  }

  mutating func explainGuard(_ code: UInt64, _ subcode: UInt64?) {
    result.certainty = .stated
    let decoded = GuardCode(code: code, subcode: subcode)
    let reading = CodeParser.guardReading(code, subcode)
    for row in reading.rows { add(row) }
    result.summary = "EXC_GUARD / \(decoded.name): \(decoded.rows.first?.event ?? "a guarded resource was misused")."
    // A report says of itself whether it ended something.
    let ended = report.map { $0.isNonFatal } ?? true ? reading.endedBy[...] : reading.endedBy.prefix { $0 != ";" }
    result.endedBy.append(sentence(String(ended)))
    note(
      "The guard's code \(hex(code)): \(decoded.facts.text).")
    if let message = report?.exceptionMessage { note("The report says: \(message).") }
    result.advice += reading.advice
    if let thread = crash.crashedThread { noteSuspect(thread, "The application was in") }
  }

  /// Explains a guard of which the report has the names alone: "GUARD_TYPE_MACH_PORT", and "INVALID_RIGHT on mach port".
  private mutating func explainGuardNames() -> Bool {
    let violation = report?.fields.first { $0.name == "Violation" }?.value
    let texts = [report?.exceptionCodes, report?.exceptionSubtype, report?.exceptionMessage, violation]
    let words = texts.compactMap { $0 }.flatMap { $0.split { !$0.isLetter && $0 != "_" }.map(String.init) }
    func has(_ row: CodeMeaning) -> Bool { words.contains(row.name) || words.contains { row.aliases.contains($0) } }
    guard let type = CodeMeaning.guards.first(where: { $0.context == "EXC_GUARD" && has($0) }) else { return false }
    let flavors = CodeMeaning.guards.filter { $0.context == "EXC_GUARD \(type.name)" && has($0) }
    for row in flavors + [type] { add(row) }
    let name = ([type.name] + flavors.map(\.name)).joined(separator: " ")
    result.summary = "EXC_GUARD / \(name): \((flavors.first ?? type).event)."
    result.certainty = .stated
    result.endedBy.append(sentence(String(CodeParser.guardReading(0, nil).endedBy.prefix { $0 != ";" })))
    result.advice += type.advice
    if let message = report?.exceptionMessage { note("The report says: \(message).") }
    // Its names have no digits.
    if report?.exceptionMessage?.contains(where: \.isNumber) != true {
      result.notKnown.append("What was misused: the report has no numbers of the guard.")
    }
    addStacks()
    return true
  }

  // MARK: Messages and stacks

  /// The lines of all messages, without "dyld2 mode", which dyld leaves in each process.
  var messageLines: [String] {
    crash.messages.flatMap { $0.split(whereSeparator: \.isNewline).map(String.init) }
      .filter { !($0.hasPrefix("dyld") && $0.hasSuffix(" mode")) }
      // The simulator leaves its version in each process.
      .filter { !($0.hasPrefix("CoreSimulator ") && $0.containsBytes(" - Device: ")) }
  }

  /// Adds a line of a message, or the exception that the report names without one.
  mutating func noteMessage(_ line: String) {
    let named = report?.messages.first { message in
      message.exception != nil && message.statement.split(whereSeparator: \.isNewline).contains { $0 == line }
    }
    guard let named, let name = named.exception else {
      return note("The program left the message: \(shortened(line)).")
    }
    let start = name + ": "
    let reason = named.text.hasPrefix(start) ? String(named.text.dropFirst(start.count)) : named.text
    note(
      "The report names the exception \(name)" + (named.text == name ? "." : ", with the reason \(shortened(reason))."))
  }

  /// Explains a process that ended itself by what its messages and stacks say.
  ///
  /// - Parameter exception: nil for a report without one, of which the stacks are all that is known.
  /// - Returns: Whether they say something.
  @discardableResult
  mutating func explainVerdict(_ exception: ExceptionSnapshot?) -> Bool {
    let isOwnEnd = exception.map { EndOfProcess($0) != .fault } ?? true || isPanicForSignal
    guard let verdict = EvidenceSearch.all.verdict(crash, isFault: !isOwnEnd) else {
      if isOwnEnd, explainAllocatorAbort(exception) { return true }
      if let line = messageLines.first { noteMessage(line) }
      // The system stores the backtrace only for an exception that nothing caught.
      if isOwnEnd, exception != nil, !crash.lastException.isEmpty {
        takeGeneral("An exception was not caught", exception)
        result.certainty = .inferred
      }
      return false
    }
    let row = verdict.row
    noteGround(of: verdict)
    takeGeneral(row.event, exception)
    if isPanicForSignal, !row.endedBy.isEmpty { result.endedBy = [sentence(row.endedBy)] }
    result.advice = row.advice + result.advice
    add(row)
    return true
  }

  /// Whether the runtime of Go caught the signal of a fault, and panicked for it.
  private var isPanicForSignal: Bool {
    crash.messages.contains { $0.hasPrefix("panic: ") && $0.containsBytes("[signal SIG") }
  }

  /// Explains an abort() that an allocator called: between the two are functions without names only, which report the error.
  private mutating func explainAllocatorAbort(_ exception: ExceptionSnapshot?) -> Bool {
    guard let thread = crash.crashedThread,
      let end = thread.frames.prefix(8).firstIndex(where: { $0.function == "abort" }),
      let caller = thread.frames[(end + 1)...].prefix(6).firstIndex(where: \.isOfAllocator),
      thread.frames[(end + 1)..<caller].allSatisfy({ $0.function.map { PlaceholderNames.isMade($0) } ?? true }),
      let row = EvidenceSearch.all.function("malloc_printerr")
    else { return false }
    note("abort() was called by the allocator, in \(thread.frames[caller].text)", thread, frame: caller)
    takeGeneral(row.event, exception)
    result.certainty = .inferred
    result.advice = row.advice + result.advice
    add(row)
    if let line = messageLines.first { noteMessage(line) }
    return true
  }

  /// Adds the message or frame on which the verdict rests.
  private mutating func noteGround(of verdict: Verdict) {
    result.certainty =
      verdict.line != nil ? .stated : verdict.row.grounds.level == .unspecific ? .inferred : .shown
    if case .message = verdict.place {
      return noteMessage(verdict.line ?? "")
    }
    let check = verdict.line.map { "The check says: \(shortened($0))" }
    switch verdict.place {
    case .lastException(let frame):
      note(check ?? "The stack has \(crash.lastException[frame].text)", at: "last exception backtrace, frame \(frame)")
    case .thread(let frame):
      if let thread = crash.crashedThread {
        note(check ?? "The stack has \(thread.frames[frame].text)", thread, frame: frame)
      }
    case .message: break
    }
    if let line = messageLines.first { noteMessage(line) }
  }

  mutating func takeGeneral(_ event: String, _ exception: ExceptionSnapshot?) {
    let event = String(sentence(event).dropLast())
    result.summary =
      exception == nil ? "\(event)." : "\(event) (\(exceptionTitle))."
  }

  func shortened(_ text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? text
    guard line.count > 200 else { return "\"\(line)\"" }
    // Swift's messages end with the place.
    let end = String(line.suffix(16))
    let isPlace = end.firstRange(of: ", line ").map { end[$0.upperBound...].allSatisfy(\.isNumber) } ?? false
    return isPlace ? "\"\(line.prefix(119))…\(line.suffix(80))\"" : "\"\(line.prefix(199))…\""
  }

  mutating func addStacks() {
    if let index = crash.lastSuspect {
      note(
        "The exception was raised below \(crash.lastException[index].text)",
        at: "last exception backtrace, frame \(index)")
    }
    guard let thread = crash.crashedThread else {
      result.notKnown.append("The stack of the thread that crashed: the report does not have it.")
      return
    }
    guard !thread.frames.isEmpty else {
      result.notKnown.append("Where it crashed: \(thread.title) has no stack.")
      return
    }
    if let signal = thread.frames.prefix(48).firstIndex(where: { $0.function.map(Self.signalFrames.contains) ?? false }
    ),
      thread.frames.indices.contains(signal + 1), case let frame = thread.frames[signal + 1], frame.module == nil,
      frame.function == nil, !crash.lacksModulePlaces
    {
      let isNull = frame.address.map { $0 < 0x1000 } ?? false
      note(
        "Where the signal came, the program counter is in no module: a jump through a wrong pointer"
          + (isNull ? "." : ", or code that was made while the program ran."), thread, frame: signal + 1)
    }
    noteWindows(thread)
    noteRecursion(thread)
    // A handler above code of the program only reports its crash.
    if let top = thread.frames.first, thread.suspect == nil, report?.isNonFatal != true,
      CrashReporters.contains(function: top.function ?? "", module: top.module)
    {
      if let handler = thread.frames.firstIndex(where: { Self.isTerminateHandler($0.function ?? "") }) {
        note(
          "The crash reporter handled an exception that nothing caught: \(thread.frames[handler].text)", thread,
          frame: handler)
      } else {
        note("The crash was in a crash reporter: \(top.text)", thread, frame: 0)
        result.notKnown.append("Whether the crash reporter handled another crash: its stack does not say it.")
      }
    }
    // The first frame of a stack without its innermost ones is only a caller.
    noteSuspect(
      thread,
      thread.elided.first?.index == 0 ? "The crashed thread was below" : "The crashed thread was in")
    if thread.frames.allSatisfy({ $0.function == nil }) {
      result.notKnown.append("The names of the functions: give their symbols with --symbols.")
    }
  }

  /// EXCEPTION_BREAKPOINT.
  private static let breakpoint: UInt32 = 0x8000_0003

  private mutating func noteWindows(_ thread: CrashEvidence.Thread) {
    guard let exception = crash.exception, exception.kind == .windows else { return }
    // Windows writes the registers of the moment at which the dump was made for each thread.
    if crash.report == nil, exception.context == nil {
      result.notKnown.append(
        "Where it crashed: the registers of the exception can't be read. The stack of \(thread.title) is that at which the dump was written."
      )
    }
    // A debugger starts a thread in the process that meets a breakpoint of the system.
    if exception.code == Self.breakpoint, !thread.frames.contains(where: \.isOfApp) {
      result.endedBy = [
        "Nothing, or Windows: a debugger that breaks into a program leaves the same, and the program may go on."
      ]
      result.notKnown.append("Whether the program crashed: the thread has none of its code in its stack.")
    }
  }

  /// Whether a function of a crash reporter is what runs for an exception that nothing caught: what `std::terminate` calls of
  /// Crashlytics, KSCrash and Sentry, and Crashlytics' record of one.
  static func isTerminateHandler(_ function: String) -> Bool {
    ["FIRCLSTerminateHandler", "CLSTerminateHandler", "CPPExceptionTerminate", "FIRCLSExceptionRecordNSException"]
      .contains { function.hasPrefix($0) }
  }

  // MARK: The system

  /// Adds lines written by the kernel and the reporter.
  mutating func addSystemEvidence() {
    guard let report else { return }
    for line in report.kernelTriage.prefix(200) {
      guard let row = MeaningTable.kernelTriage(line) else { continue }
      note("The kernel noted \"\(row.name)\": \(row.event).")
      add(row)
      if row.myth == nil {
        result.advice += row.advice
      } else {
        result.cautions.append("The kernel's note \"\(row.name)\" is no cause of a crash.")
      }
    }
    if let region = report.vmRegionInfo, crash.exception?.code == 1, report.termination?.namespace != "DYLD" {
      if report.isAddressInStackGuard {
        note("The address is in the guard page of a stack: a stack overflow.")
        result.advice.insert("Look for endless recursion, and for large local variables.", at: 0)
      } else if let owner = report.otherGuardedThread {
        note(
          "The address is in the guard page of the stack of thread \(owner), and another thread crashed: it went beyond"
            + " the end of its own stack, or used a wrong pointer.")
        result.advice.insert("Look for arrays on the stack that are written beyond their ends.", at: 0)
      } else if region.contains("is not in any region") {
        note("The address is in no region of memory.")
      } else if let line = region.split(separator: "\n").first(where: { $0.contains("--->") }),
        line.contains("r-x/") || line.contains("r--/")
      {
        note("The region of the address can't be written to.")
      }
    }
  }
}
