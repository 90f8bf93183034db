// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadCore
internal import CrashpadJSON
internal import CrashpadMeaning
internal import CrashpadMinidump
internal import CrashpadSignatures
internal import CrashpadSnapshot
internal import CrashpadText

/// The facts about a crash that fit on one screen, as labels with values.
package struct CrashFactList: Sendable {
  package enum Scope: Sendable {
    /// All of them.
    case all
    /// The facts above stacks: the crash, the process, and the machine.
    case head
    /// The facts about one of many inputs: the crash, the process, and the time.
    case short
  }

  package enum Emphasis: Sendable {
    case none
    case summary
    case crash
  }

  package struct Line: Sendable {
    /// Empty if the line goes on with the label before it.
    package let label: String
    package let text: String
    package let emphasis: Emphasis
  }

  package private(set) var lines: [Line] = []
  private let view: CrashView
  private let scope: Scope
  /// A summary sentence; nil if it is printed elsewhere.
  private let summary: String?

  private var snapshot: ProcessSnapshot { view.snapshot }
  private var isHead: Bool { scope == .head }

  /// The number of messages and annotations on the screen; `--annotations` prints all.
  private static let messages = 4
  private static let annotations = 10

  package init(_ view: CrashView, _ scope: Scope, summary: String? = nil) {
    self.view = view
    self.scope = scope
    self.summary = summary
    describe()
  }

  private mutating func describe() {
    describeCrash()
    if scope == .all { describeReportFacts() }
    describeProcess()
    if scope == .short { return }
    describeSystem()
    describeMessages()
    if let signature = view.signature, isHead {
      add("Signature", "\(signature.id)  \(TextFormat.printable(signature.text))")
    }
    if isHead { return }
    describeCapture()
    describeContents()
  }

  private mutating func add(_ label: String, _ text: String?, _ emphasis: Emphasis = .none) {
    if let text { lines.append(Line(label: label, text: text, emphasis: emphasis)) }
  }

  private mutating func describeCrash() {
    add("Summary", summary, .summary)
    guard let exception = view.exception else {
      describeNoException()
      return
    }
    add("Crash", exception.title, .crash)
    // If no more specific cause is known, the summary contains the explanation already.
    if let explanation = exception.explanation, summary?.containsBytes(explanation) != true { add("", explanation) }
    if exception.isRaisedAgain {
      add("", "inferred: the process sent itself the signal, and this is the fault before it")
    }
    if isHead { return }
    add("Thrown", view.thrownType)
    describeTermination()
    if let frame = view.firstRecorded {
      add("Where", frame.line)
    } else if let context = exception.context {
      let pc = context.instructionPointer
      let place = exception.location?.line ?? exception.unloadedLine ?? (pc == 0 ? "unknown" : view.noModule)
      add("Where", "\(place) (pc \(TextFormat.hex(pc)))")
    } else {
      add("Where", "unknown: the exception has no registers")
    }
    describeThread(exception.threadID)
    add("Assertion", view.assertion)
    if let thread = view.crashedThread, let error = view.lastErrors[thread], error != 0 {
      add(
        "Last error",
        "\(CrashView.name(ofLastError: error)) (\(error < 0x10000 ? String(error) : TextFormat.hex(UInt64(error))))")
    }
  }

  private mutating func describeThread(_ threadID: UInt64) {
    let id = "id \(threadID)"
    if let index = view.crashedThread {
      let thread = snapshot.threads[index]
      let name = view.line(thread.name).map { " \"\($0)\"" } ?? ""
      let queue = view.line(thread.queue).map { ", queue \($0)" } ?? ""
      let number = thread.id.map { ", id \($0)" } ?? ""
      // A part of a report has few of the threads, and their numbers in the whole.
      let place = snapshot.threadNumber(index)
      let count = place < snapshot.threads.count ? " of \(grouped(snapshot.threads.count))" : ""
      add("Thread", "\(place)\(count)\(number)\(name)\(queue)")
    } else if snapshot.report == nil {
      add("Thread", "\(id), which is not among the \(TextFormat.count(snapshot.threads.count, "thread"))")
    }
  }

  /// Describes a dump or a report without an exception.
  private mutating func describeNoException() {
    let report = snapshot.report
    switch report?.kind {
    case nil where snapshot.hasLostException: add("Crash", "not known: the dump's exception can't be read")
    case nil: add("Crash", summary == nil ? "none: the dump has no exception" : "none")
    case .jetsam:
      add("Event", "JetsamEvent: the system ran short of memory", .crash)
      describeJetsam()
    case .resource:
      let event = report?.fields.first { $0.name == "Event" }.map { TextFormat.printable($0.value) }
      add("Event", event ?? "a resource limit was exceeded", .crash)
    case .hang:
      add("Event", hangEvent, .crash)
    case .stackshot:
      let isOfSystem = ["288", "188", "186"].contains(report?.bugType)
      add("Event", isOfSystem ? "stacks of the whole system; no process crashed" : "stacks; no process crashed")
      if isOfSystem, !snapshot.threads.isEmpty { add("", "FILE/PID and FILE/NAME show other processes") }
    case .panic, .forceReset: describePanic()
    case .crash, .osFault: add("Crash", "not known: the report names no exception")
    }
    describeTermination()
  }

  private var hangEvent: String {
    guard let report = snapshot.report else { return "a hang" }
    if report.isDeadlock { return "a deadlock of the main thread" }
    if field("Launch Duration") != nil { return "a slow launch" }
    return report.saysHang ? "a hang" : "samples of stacks; the report does not say that the process hung"
  }

  private func field(_ name: String) -> String? { snapshot.report?.fields.first { $0.name == name }?.value }

  /// Describes the end of the system itself.
  private mutating func describePanic() {
    let isReset = snapshot.report?.kind == .forceReset
    add("Event", isReset ? "the device was reset; no process crashed" : "a kernel panic; no process crashed", .crash)
    guard let panic = snapshot.report?.panic else { return }
    add("Panic", panic.headline.map { TextFormat.shortened(TextFormat.printable($0), to: 300) })
    let id = panic.taskID.map { ", pid \($0)" } ?? ""
    add("Task", panic.task.map { TextFormat.printable($0) + id })
  }

  /// Describes what a report says beside the exception: measures, memory, and the crash reporter's own conclusion.
  private mutating func describeReportFacts() {
    guard let report = snapshot.report else { return }
    let measures = [
      "Hang Duration", "Launch Duration", "Total CPU Time", "Total Sampled Time", "Writes Caused",
    ].compactMap { name in field(name).map { "\(name): \($0)" } }
    if !measures.isEmpty { add("Measured", TextFormat.printable(measures.joined(separator: ", "))) }
    add("Diagnosis", report.diagnosis.map { TextFormat.shortened(TextFormat.printable($0), to: 300) })
    if !report.deallocatedObjects.isEmpty {
      add("Deallocated", TextFormat.printable(report.deallocatedObjects.joined(separator: ", ")))
    }
    if let memory = report.memory, let footprint = memory.footprint {
      let limit = memory.limit.map { " of \(grouped($0))" } ?? ""
      let level = memory.level.map { ", level \($0)" } ?? ""
      add("Memory", TextFormat.printable("\(grouped(footprint))\(limit) bytes\(level)"))
    }
    for blocker in report.blockers.prefix(4) {
      add("Waits", TextFormat.printable("thread \(snapshot.threadNumber(blocker.thread)): \(blocker.text)"))
    }
    for (index, thread) in snapshot.threads.enumerated() {
      for gap in thread.elided.prefix(2) {
        let frames = gap.frames.map { TextFormat.count(Int(clamping: $0), "frame") } ?? "frames"
        let levels = gap.levels.map { " of a recursion of \(grouped($0)) calls" } ?? ""
        let place = gap.place(in: thread.frames?.count ?? 0)
        add("Left out", "thread \(snapshot.threadNumber(index)): \(frames)\(levels) \(place)")
      }
    }
  }

  private mutating func describeJetsam() {
    guard let jetsam = snapshot.report?.jetsam else { return }
    func size(_ process: ReportSnapshot.JetsamProcess) -> String {
      guard let pages = process.residentPages else { return "" }
      // The size of a page differs between devices.
      guard let page = jetsam.pageSize else { return ", \(TextFormat.count(Int(clamping: pages), "page"))" }
      return ", \(grouped(pages.multipliedReportingOverflow(by: page).partialValue >> 20)) MiB"
    }
    let killed = jetsam.processes.filter { $0.reason != nil }
    for (index, process) in killed.prefix(4).enumerated() {
      let states = process.states.isEmpty ? "" : " (\(process.states.joined(separator: ", ")))"
      add(
        index == 0 ? "Killed" : "",
        TextFormat.printable("\(process.name)\(states), \(process.reason ?? "")\(size(process))"))
    }
    if killed.isEmpty {
      add("Killed", snapshot.isComplete ? "none is marked as killed" : "unknown: the report is cut")
    }
    add("Largest", jetsam.largestProcess.map(TextFormat.printable))
    add("Processes", grouped(jetsam.processes.count))
  }

  /// Describes the termination: "FRONTBOARD 0x8badf00d", and the system's reasons.
  private mutating func describeTermination() {
    guard let termination = snapshot.report?.termination else { return }
    let code = termination.code.map { $0 < 1000 ? String($0) : TextFormat.hex($0) }
    let by = termination.byProcess.map { "by \($0)" }
    let parts = [termination.namespace, code, termination.indicator.map { "(\($0))" }, by].compactMap { $0 }
    if !parts.isEmpty { add("Ended", TextFormat.printable(parts.joined(separator: " "))) }
    for reason in (termination.reasons + termination.details).prefix(isHead ? 1 : 2) {
      add("", TextFormat.shortened(TextFormat.printable(reason), to: 300))
    }
  }

  private mutating func describeProcess() {
    if snapshot.outcome == .noProcess, snapshot.report?.kind != .stackshot { return add("When", when) }
    let executable = snapshot.executableIndex
    let listed = snapshot.report?.processName.flatMap { $0.isEmpty ? nil : TextFormat.printable($0) }
    var process = (listed ?? executable.map { view.moduleName($0) }).map { $0 + ", " } ?? ""
    process += snapshot.processID.map { "pid \($0)" } ?? "pid unknown"
    if let parent = snapshot.parentProcessID { process += ", parent \(parent)" }
    if let user = snapshot.userTime, let system = snapshot.systemTime {
      process += ", CPU \(TextFormat.cpuTime(user)) user, \(TextFormat.cpuTime(system)) system"
    }
    add("Process", process)
    if scope == .short {
      return add("When", when)
    }
    if let report = snapshot.report {
      let build = report.build.map { $0.isEmpty ? "" : "(\($0))" }
      let version = [report.version, build].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
      let parts = [report.bundleID, version, report.role].compactMap { $0 }.filter { !$0.isEmpty }
      if !parts.isEmpty { add("", TextFormat.printable(parts.joined(separator: ", "))) }
    }
    if let executable { add("", identity(executable)) }
    let command = view.commandLine
    if let path = view.executablePath, command.map({ $0 != path && !$0.hasPrefix(path + " ") }) ?? true {
      add("Executable", path)
    }
    add("Command", command.map { TextFormat.shortened(TextFormat.printable($0), to: 300) })
    add("When", when)
    if isHead { return }
    if let start = snapshot.startTime {
      var text = "since \(TextFormat.date(start))"
      if let end = snapshot.snapshotTime {
        text += ", for \(TextFormat.duration(seconds: end.seconds &- start.seconds))"
      }
      add("Running", text)
    }
    if let uptime = snapshot.system.crashpadUptime {
      add("Handler", "installed for \(TextFormat.duration(seconds: Int64(clamping: uptime / 1_000_000_000)))")
    }
  }

  /// The time of the end, or the period in which it was.
  private var when: String? {
    view.when.map { $0 + (view.hasPeriod ? "; the report does not say when" : zone) }
  }

  private func identity(_ index: Int) -> String? {
    let module = view.module(index)
    let kind = module.isBuildID ? "build id" : module.uuid == nil ? "PDB" : "UUID"
    return module.identity.map { "\(kind) \($0)" }
  }

  private var zone: String {
    let zone = snapshot.system.timeZone
    let isSummer = zone.daylightSaving == .daylightTime
    guard let offset = isSummer ? zone.daylightOffset : zone.standardOffset else { return "" }
    let name = view.line(isSummer ? zone.daylightName : zone.standardName)
    return " (local zone \([name, TextFormat.offset(seconds: offset)].compactMap { $0 }.joined(separator: ", ")))"
  }

  /// The architecture, with the narrow pointers of a watch's processor where the report states them; nil if it is not known, but the
  /// device is.
  private var architectureName: String? {
    let architecture = snapshot.system.architecture
    let type = snapshot.report?.codeType?.lowercased().split(separator: " ").first.map(String.init)
    if type == "arm64_32" || type == "arm-64_32" { return "arm64_32" }
    // Processors that no reader knows more of: "PPC (Native)".
    if architecture == .unknown, let type { return TextFormat.printable(type) }
    if architecture == .unknown, view.line(snapshot.system.machine) != nil { return nil }
    return architecture.rawValue + (snapshot.report?.isTranslated == true ? " (translated by Rosetta)" : "")
  }

  private mutating func describeSystem() {
    let system = snapshot.system
    // 0 where the handler could not count them, as in a container without /sys.
    let cpus = system.cpuCount.flatMap { $0 == 0 ? nil : TextFormat.count(Int($0), "CPU") }
    // The name of the model says more than its numbers, which have the vendor of x86.
    let hasProcessor = view.cpuModel == nil && view.processorText != nil
    let machine = [
      view.cpuModel ?? view.line(system.machine), architectureName,
      hasProcessor && system.architecture == .x86 ? nil : view.line(system.cpuVendor),
      hasProcessor ? view.processorText : nil, cpus,
    ]
    add("Device", machine.compactMap { $0 }.joined(separator: ", "))
    add("System", view.systemLine)
    add("Kernel", isHead || view.distribution == nil ? nil : view.kernel)
    if !isHead, let memory = system.memory, let page = system.pageSize {
      let parts = [
        ("free", memory.free), ("active", memory.active), ("inactive", memory.inactive), ("wired", memory.wired),
      ]
      let known = parts.compactMap { part in
        part.1.map {
          "\(grouped(UInt64($0).multipliedReportingOverflow(by: page).partialValue >> 20)) MiB \(part.0)"
        }
      }
      if !known.isEmpty { add("Memory", known.joined(separator: ", ")) }
    }
  }

  /// Adds the first messages and annotations; a dump may have a thousand.
  private mutating func describeMessages() {
    add("Messages", view.messages, limit: Self.messages, length: 300)
    if !isHead { add("Annotations", view.annotationEntries, limit: Self.annotations, length: 200) }
  }

  private mutating func add(_ label: String, _ entries: [CrashView.Entry], limit: Int, length: Int) {
    for (index, entry) in entries.prefix(limit).enumerated() { add(index == 0 ? label : "", entry.line(limit: length)) }
    let more = entries.count - limit
    if more > 0 { add("", "… \(grouped(more)) more; inspect --annotations shows all") }
  }

  /// Describes how long a Linux process was stopped for the dump, and what the dump lacks.
  private mutating func describeCapture() {
    var label = "Capture"
    if let duration = view.captureDuration {
      add(label, "took \(TextFormat.duration(nanoseconds: duration))")
      label = ""
    }
    for note in view.captureNotes.prefix(Self.messages) {
      add(label, TextFormat.shortened(note, to: 200))
      label = ""
    }
    let more = view.captureNotes.count - Self.messages
    if more > 0 { add("", "… \(grouped(more)) more; inspect --annotations shows all") }
    if let errors = view.softErrors, !errors.elements.isEmpty {
      add(label, "the writer of the dump noted \(TextFormat.count(errors.elements.count, "error")); JSON has them")
      label = ""
    }
    var ways = [(ThreadSnapshot.Capture.ptrace, "stopped by ptrace")]
    // The handler's own notes are more detailed.
    if view.captureNotes.isEmpty {
      ways += [(.proc, "with stack and instruction pointer only"), (.notStopped, "not stopped: without registers")]
    }
    for (capture, text) in ways where view.threadCount(capturedBy: capture) > 0 {
      add(label, "\(TextFormat.count(view.threadCount(capturedBy: capture), "thread")) \(text)")
      label = ""
    }
  }

  private mutating func describeContents() {
    let (ranges, bytes) = view.memorySize
    var parts = [
      TextFormat.count(snapshot.threads.count, "thread"), TextFormat.count(snapshot.modules.count, "module"),
      "\(TextFormat.count(ranges, "memory range")) with \(grouped(bytes)) bytes",
    ]
    // Reports hold no memory.
    if snapshot.report != nil { parts.removeLast() }
    if snapshot.report?.jetsam == nil, snapshot.report?.panic == nil { add("Contents", parts.joined(separator: ", ")) }
    add("Handles", view.handleSummary)
    if !view.streams.isEmpty {
      add("Streams", view.streams.map(\.type.name).joined(separator: " "))
    }
    if snapshot.reportID != .zero { add("Report", snapshot.reportID.text) }
    if snapshot.clientID != .zero { add("Client", snapshot.clientID.text) }
  }
}
