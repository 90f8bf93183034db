// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The explanation of reports that are not about a crash.
extension ExplanationBuilder {
  /// Returns whether the report is not about a crash; if so, the explanation is complete.
  mutating func describesNoCrash() -> Bool {
    if crash.exception?.isSimulated == true { return explainSimulated() }
    addReporterEvidence()
    guard let report else { return explainNoException() }
    if crash.outcome == .quit { return explainQuit() }
    if report.isSimulated, crash.exception?.kind == .mach, crash.exception?.code == 12 {
      // The kernel makes such a report of a guard that is only watched.
      explainCondition(report)
      return explainNoCrash("The process went on (SIMULATED): \(result.summary)")
    }
    if report.isSimulated {
      return explainNoCrash("The report is simulated: a test or a tool asked for it, and nothing crashed.")
    }
    switch report.kind {
    case .jetsam:
      explainJetsam(report)
      return true
    case .stackshot:
      if let row = MeaningTable.terminationCode(0xbaaa_aaad) { add(row) }
      if let event = report.fields.first(where: { $0.name == "Event" })?.value {
        note("The report says: Event: \(shortened(event)).")
      }
      return explainStackshot(report)
    case .panic, .forceReset: return explainPanic(report)
    case .hang: return explainHang(report)
    case .osFault:
      explainException()
      return explainNoCrash("A system service reported a fault and went on: \(result.summary)")
    case .resource:
      return explainResource(report)
    case .crash:
      if report.endedForMemory { return explainMemory(report) }
      if report.isNonFatal {
        explainCondition(report)
        return explainNoCrash("The process went on (NON-FATAL CONDITION): \(result.summary)")
      }
      if crash.outcome == .notSaid, report.fields.contains(where: { $0.name == "Crash Type" && $0.value == "user" }) {
        return explainReported()
      }
      guard crash.outcome == .notSaid, crash.messages.isEmpty,
        EvidenceSearch.all.verdict(crash) == nil
      else { return false }
      return explainNoCrash(
        crash.threads.isEmpty
          ? "The report has neither an exception nor a termination nor stacks: it does not say that the process crashed."
          : "The report has stacks, and neither an exception nor a termination: it does not say that the process crashed."
      )
    }
  }

  /// Explains what a report is about that ended nothing: the guard's own code is in the termination.
  private mutating func explainCondition(_ report: ReportSnapshot) {
    if let code = report.termination?.guardCode {
      explainGuard(code, crash.exception.flatMap { $0.codes.count > 2 ? $0.codes[2] : nil })
    } else {
      explainException()
    }
  }

  /// Adds what the program's own crash reporter found, and what the report says of a recursion and an address.
  private mutating func addReporterEvidence() {
    guard let report else { return }
    if let diagnosis = report.diagnosis, !report.isDeadlock {
      note("The crash reporter's diagnosis: \(shortened(diagnosis.split(separator: "\n").joined(separator: "; "))).")
    }
    if let conclusion = report.fields.first(where: { $0.name == "Conclusion" })?.value {
      note("At the next start the crash reporter concluded: \(shortened(conclusion)).")
    }
    if report.exceptionSubtype == "Code Signature Invalid" {
      note("The report says: Code Signature Invalid: the system refused the signature of code that the process has.")
    }
    if let crash = report.fields.first(where: { $0.name == "Crash of the reporter" })?.value {
      note("The crash reporter crashed as well while it wrote the report: \(shortened(crash)).")
    }
    if !report.deallocatedObjects.isEmpty {
      let names = report.deallocatedObjects.prefix(4).joined(separator: ", ")
      note("Registers point to where objects were that are deallocated: \(names).")
    }
    if report.hasStackOverflow { note("The crash reporter found that the stack overflowed.") }
    if let address = report.intendedAddress {
      note("The report gives \(hex(address)) as the intended address: the upper bits are not part of it.")
    }
    for thread in crash.threads {
      for gap in thread.elided.prefix(2) {
        let frames = gap.frames.map { $0 == 1 ? "1 frame" : "\(grouped($0)) frames" } ?? "frames"
        let index = max(0, min(gap.index, thread.frames.count) - 1)
        guard thread.frames.indices.contains(index) else { continue }
        guard let levels = gap.levels else {
          // Only those of the thread that crashed are missed.
          let frame = thread.frames[index]
          if thread.index != crash.crashedThread?.index || frame.function == nil && frame.module == nil { continue }
          // The outermost frames say least, and what is not known without them is said elsewhere.
          if gap.frames == nil, gap.index == thread.frames.count { continue }
          let place = gap.index == 0 ? "the innermost \(frames), above" : "\(frames), below"
          note("The report lacks \(place) \(thread.frames[index].text)", thread, frame: index)
          continue
        }
        let calls = ", a recursion of \(grouped(levels)) calls"
        note("The report leaves out \(frames)\(calls) through \(thread.frames[index].text)", thread, frame: index)
      }
    }
  }

  /// Explains a stackshot by what it was taken for, which is the end of a process where its code is of one.
  private mutating func explainStackshot(_ report: ReportSnapshot) -> Bool {
    func field(_ name: String) -> String? { report.fields.first { $0.name == name }?.value }
    if let reason = field("Reason") { note("The report says: Reason: \(shortened(reason)).") }
    if let event = field("Event") { note("The report says: Event: \(shortened(event)).") }
    let summary = "The report is a stackshot, and not a crash"
    guard let text = field("Exception Code"), text.hasPrefix("0x"), let code = UInt64(text.dropFirst(2), radix: 16),
      code != Self.requested, let row = MeaningTable.terminationCode(code)
    else { return explainNoCrash(summary + ".") }
    add(row)
    _ = explainNoCrash("\(summary): it was taken for the code \(hex(code)). \(sentence(row.event))")
    result.notKnown.append("Which process it concerns, where the reason does not name it.")
    return true
  }

  /// The code of stackshots for which a person asked.
  private static let requested: UInt64 = 0xbaaa_aaad

  // MARK: Resources

  private mutating func explainResource(_ report: ReportSnapshot) -> Bool {
    if report.endedForMemory { return explainMemory(report) }
    let outcome = crash.outcome
    if outcome.isCrash, report.termination != nil { return false }
    if report.bugType == "385", crash.exception == nil, !report.fields.contains(where: { $0.name == "Event" }) {
      result.certainty = .unknown
      result.notKnown.append("Which resource or guard it was: the part of the report that is here does not say it.")
      return explainNoCrash(
        "The report is of its kind about a resource that was used up, or a guard that was broken, mostly without an end of the process."
      )
    }
    if !explainMeasures(report) { explainCondition(report) }
    switch outcome {
    case .crashed:
      result.endedBy = ["The kernel's monitor of resources."]
      return true
    case .wentOn where report.isNonFatal:
      return explainNoCrash("The process went on (NON-FATAL CONDITION): \(result.summary)")
    case .wentOn: return explainNoCrash("\(result.summary) The report is a warning.")
    case .quit, .notSaid, .noProcess:
      result.notKnown.append("Whether the process went on: the report does not say it.")
      return explainNoCrash(result.summary)
    }
  }

  /// Explains a resource by the measures that MetricKit gives in place of an exception.
  private mutating func explainMeasures(_ report: ReportSnapshot) -> Bool {
    func row(_ name: String) -> CodeMeaning? {
      CodeMeaning.resources.first { $0.context == "EXC_RESOURCE" && $0.name == name }
    }
    let found: CodeMeaning?
    if let time = report.measure("Total CPU Time") {
      let sampled = report.measure("Total Sampled Time").map { " of \($0) that were sampled" } ?? ""
      result.summary = "The process used too much CPU time: \(time)\(sampled)."
      found = row("CPU")
    } else if let writes = report.measure("Writes Caused") {
      result.summary = "The process wrote too much to the disk: \(writes)."
      found = row("IO")
    } else {
      return false
    }
    if let found {
      let reading = CodeReading(found)
      result.rows += reading.rows
      result.advice += reading.advice
    }
    if let thread = crash.crashedThread ?? crash.threads.first { noteSuspect(thread, "The heaviest stack was in") }
    return true
  }

  private mutating func explainMemory(_ report: ReportSnapshot) -> Bool {
    result.summary = "The system ended the process: it used more memory than it is allowed to."
    result.endedBy = ["The kernel's memory manager (jetsam)."]
    if let footprint = report.memory?.footprint {
      let limit = report.memory?.limit.map { " of the \(grouped($0)) that it may use" } ?? ""
      note("The process used \(grouped(footprint)) bytes\(limit).")
    }
    if let row = MeaningTable.namespace("JETSAM") { add(row) }
    if let row = CodeMeaning.namespaceCodes.first(where: { $0.context == "JETSAM" && $0.name == "per-process-limit" }) {
      add(row)
      result.advice += row.advice
    }
    if let thread = crash.crashedThread ?? crash.threads.first {
      noteSuspect(thread, "At the limit, memory was asked for in")
    } else {
      result.notKnown.append("The stacks: the report has none.")
    }
    return true
  }

  /// Explains an error that the program handed to its crash reporter, which may have ended it afterwards.
  private mutating func explainReported() -> Bool {
    if let text = crash.messages.first { note("The program's words: \(shortened(text)).") }
    if let thread = crash.crashedThread { noteSuspect(thread, "It was reported in") }
    result.notKnown.append("Whether the process ended: the report does not say it.")
    return explainNoCrash("The program reported an error of its own.")
  }

  // MARK: The user and the system

  private mutating func explainQuit() -> Bool {
    if let row = MeaningTable.terminationCode(ReportSnapshot.userQuit) { add(row) }
    result.isCrash = false
    result.summary = "The user forced the app to quit (0xdeadfa11). Nothing crashed."
    result.endedBy = ["The user."]
    return true
  }

  private mutating func explainPanic(_ report: ReportSnapshot) -> Bool {
    let isReset = report.kind == .forceReset
    // The text of a chip's watchdog is in a panic's report, and no kernel panicked.
    let isWatchdog = report.panic?.headline?.hasPrefix("Unexpected SoC (system) watchdog reset") == true
    let words =
      isReset
      ? "The device was reset"
      : isWatchdog
        ? "A hardware watchdog reset the chip" : "The kernel panicked, which ended the whole system"
    let headline = report.panic?.headline.map { ": \(shortened($0))." } ?? "."
    result.isCrash = false
    result.summary = words + headline
    result.endedBy = [
      isReset
        ? "A reset of the device." : isWatchdog ? "The watchdog of the chip, which ends its system." : "The kernel."
    ]
    if let task = report.panic?.task {
      note("The kernel names the task \(task)" + (report.panic?.taskID.map { " (pid \($0))." } ?? "."))
    }
    if let panic = report.panic { notePanic(panic, report) }
    for field in report.fields where ["Reset Reason", "Boot Faults"].contains(field.name) {
      note("The report says: \(field.name): \(shortened(field.value)).")
    }
    result.notKnown.append("Whether a program had a part in it: a process is not the subject of the report.")
    return true
  }

  /// Adds what the kernel's text says below its first line.
  private mutating func notePanic(_ panic: ReportPanic, _ report: ReportSnapshot) {
    if let trap = panic.trap {
      note("The processor's trap in the kernel: \(panic.trapName.map { "\($0), " } ?? "")number \(trap).")
    }
    if let address = report.faultAddress {
      let near = address < 0x1000 ? ", near 0: a null pointer, or a field of one" : ""
      note("The address of the fault: \(hex(address))\(near).")
    }
    if let syndrome = report.syndrome {
      if panic.trap == 14 {
        note("The error code \(hex(syndrome)): \(CodeParser.pageFault(syndrome)).")
      } else if panic.trap == nil {
        note("The syndrome \(hex(syndrome)): \(FaultSyndrome(syndrome).facts.text).")
      }
    }
    if !panic.extensions.isEmpty {
      note("Kernel extensions in the backtrace: \(panic.extensions.prefix(8).joined(separator: ", ")).")
    }
    if panic.isCut { result.notKnown.append("The rest of the kernel's text: the report ends within it.") }
  }

  private mutating func explainNoException() -> Bool {
    guard crash.exception == nil else { return false }
    if crash.hasLostException {
      result.summary = "The dump is damaged where its exception is or would be: what happened is not known."
      result.notKnown.append("The exception: the dump has none that can be read.")
      addStacks()
      return true
    }
    result.isCrash = false
    result.summary = "The dump has no exception: its process may not have crashed."
    result.endedBy = ["Nothing in the dump says that the process was ended."]
    return true
  }

  private mutating func explainSimulated() -> Bool {
    if let thread = crash.crashedThread { noteSuspect(thread, "The dump was asked for in") }
    result.isCrash = false
    result.summary = "Simulated exception: a dump without a crash (DumpWithoutCrash). Nothing crashed."
    result.endedBy = ["Nothing in the dump says that the process was ended."]
    return true
  }

  private mutating func explainNoCrash(_ summary: String) -> Bool {
    result.isCrash = false
    result.summary = summary
    result.endedBy = ["The report does not say that the process was ended."]
    return true
  }

  private mutating func explainHang(_ report: ReportSnapshot) -> Bool {
    if crash.outcome.isCrash, !report.isDeadlock, report.termination != nil { return false }
    if let main = crash.mainThread { explainMainThread(main) }
    if result.advice.isEmpty {
      result.advice = ["Read the main thread's stack: it shows where the app did not respond."]
    }
    if report.isDeadlock {
      result.summary = "The main thread was deadlocked: it did not run any more."
      result.endedBy = ["The process itself: its crash reporter ended it after a time without an answer."]
      if let diagnosis = report.diagnosis { note("The crash reporter's diagnosis: \(shortened(diagnosis)).") }
      return true
    }
    if let duration = report.measure("Launch Duration") {
      return explainNoCrash("The app took \(duration) to launch.")
    }
    guard report.saysHang else {
      let time = report.measure("Duration Sampled") ?? report.measure("Duration")
      result.notKnown.append("Whether the process hung: the report does not say it.")
      result.advice = ["Compare the main thread's stack with that of another sample: what stays the same may hang."]
      return explainNoCrash("The stacks of the process were sampled" + (time.map { " for \($0)." } ?? "."))
    }
    if let time = report.timeBeforeSampling {
      return explainNoCrash("The process had not responded for \(time) when it was sampled.")
    }
    let duration = report.measure("Hang Duration") ?? report.measure("Duration")
    return explainNoCrash("The process did not respond for \(duration ?? "a while").")
  }

  // MARK: Jetsam

  private mutating func explainJetsam(_ report: ReportSnapshot) {
    let jetsam = report.jetsam ?? ReportSnapshot.Jetsam()
    let killed = jetsam.processes.filter { $0.reason != nil }
    if let row = MeaningTable.namespace("JETSAM") { add(row) }
    result.endedBy = ["The kernel's memory manager (jetsam)."]
    if jetsam.processes.isEmpty {
      result.isCrash = false
      result.summary = "The system was short of memory; the report does not have the list of processes."
      result.endedBy = ["The report does not say whether a process was ended."]
      result.notKnown.append("Which process was killed: the list of processes is missing.")
    } else if killed.isEmpty, crash.isCut {
      result.isCrash = false
      result.certainty = .unknown
      result.summary =
        "The system was short of memory; the part of the report that is here names no process that was killed."
      result.endedBy = ["The report does not say whether a process was ended: it is cut."]
      result.notKnown.append("Which process was killed: the report is cut.")
    } else if killed.isEmpty {
      result.isCrash = false
      result.summary = "The system was short of memory; the report names no process that was killed."
      result.endedBy = ["The report does not say that a process was ended."]
    } else {
      let names = killed.map { "\($0.name) (\($0.reason ?? ""))" }.joined(separator: ", ")
      result.summary = "The system was short of memory and killed \(names)."
    }
    for process in killed {
      note(Self.memory(process, jetsam))
      let row = CodeMeaning.namespaceCodes.first { $0.context == "JETSAM" && $0.name == process.reason }
      if let row {
        add(row)
        result.advice += row.advice
      } else if let reason = process.reason {
        result.notKnown.append("What \"\(reason)\" means: the table does not have it.")
      }
    }
    if let largest = jetsam.largestProcess, !killed.contains(where: { $0.name == largest }) {
      if jetsam.processes.isEmpty || crash.isCut {
        note("The largest process was \(largest).")
      } else {
        result.cautions.append("\(largest) is the largest process, and was not killed.")
      }
    }
    result.notKnown.append("The stacks: a jetsam leaves none.")
  }

  private static func memory(_ process: ReportSnapshot.JetsamProcess, _ jetsam: ReportSnapshot.Jetsam) -> String {
    var text = "\(process.name)" + (process.processID.map { " [\($0)]" } ?? "")
    if let pages = process.residentPages, let size = jetsam.pageSize {
      text += " used \(pages.multipliedReportingOverflow(by: size).partialValue >> 20) MiB"
    }
    if !process.states.isEmpty { text += ", was \(process.states.joined(separator: ", "))" }
    if let priority = process.priority { text += ", band \(priority)" }
    return text + "."
  }
}
