import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadText
import IntermediateDump
import CrashpadMeaning
import CrashpadMinidump
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot

/// An overview on one screen: what crashed, why, where, when, and whether the dump is complete.
struct OverviewText {
  private let view: DumpView
  private let name: String
  private let isHead: Bool
  private let style: TextStyle
  /// A summary sentence; nil if it is printed elsewhere.
  private var summary: String?
  private var lines: [(label: String, text: String, color: TextStyle.Color?)] = []

  /// The number of messages and annotations on the screen; `--annotations` prints all.
  private static let messages = 4
  private static let annotations = 10
  /// The number of terminal lines that one value may take.
  private static let linesPerValue = 3

  static func text(_ view: DumpView, name: String, summary: String, style: TextStyle = .plain) -> String {
    var overview = OverviewText(view: view, name: name, style: style)
    overview.summary = summary
    overview.describe()
    return overview.finished
  }

  /// A short overview for one of many inputs: what crashed, where and when.
  static func short(_ view: DumpView, name: String, summary: String, style: TextStyle = .plain) -> String {
    var overview = OverviewText(view: view, name: name, style: style)
    overview.summary = summary
    overview.describeCrash()
    overview.describeProcess(isShort: true)
    return overview.finished
  }

  /// The overview as labels with values.
  static func facts(_ view: DumpView) -> [CrashPage.Fact] {
    var overview = OverviewText(view: view, name: "", style: .plain)
    overview.describe()
    var facts: [CrashPage.Fact] = []
    for line in overview.lines {
      if line.label.isEmpty, !facts.isEmpty {
        facts[facts.count - 1].values.append(line.text)
      } else {
        facts.append(CrashPage.Fact(line.label, [line.text]))
      }
    }
    return facts
  }

  /// Such as "intermediate dump, 4,711 bytes, complete".
  static func kind(_ view: DumpView) -> String { OverviewText(view: view, name: "", style: .plain).kind }

  private var finished: String {
    let width = lines.map(\.label.count).max() ?? 0
    let heading = self.heading
    let headingLines: [String] = style.width.map { DisplayWidth.wrapped(heading, to: $0) } ?? [heading]
    var text = headingLines.joined(separator: "\n") + "\n\n"
    let indent = String(repeating: " ", count: width + 2)
    for (label, line, color) in lines {
      let parts = wrapped(line, indent: width + 2).map { part in color.map { style.colored(part, $0) } ?? part }
      text += label + String(indent.dropFirst(label.count)) + parts.joined(separator: "\n" + indent) + "\n"
    }
    return text
  }

  /// The lines of a value; on a terminal, long values are wrapped.
  private func wrapped(_ text: String, indent: Int) -> [String] {
    guard let width = style.width, width > indent + 16 else { return [text] }
    var lines = DisplayWidth.wrapped(text, to: width - indent)
    // On a narrow terminal, as much of the value as on one of 80 columns.
    let most = Self.linesPerValue * max(1, 80 / (width - indent))
    if lines.count > most {
      let rest = lines[(most - 1)...].joined(separator: " ")
      lines[(most - 1)...] = [DisplayWidth.cut(rest, to: width - indent)]
    }
    return lines
  }

  /// The text above stacks: what crashed and why, the process, and the machine.
  static func head(
    _ view: DumpView, name: String, signature: Signature? = nil, style: TextStyle = .plain
  ) -> String {
    var overview = OverviewText(view: view, name: name, style: style, isHead: true)
    overview.describeCrash()
    overview.describeProcess()
    overview.describeSystem()
    overview.describeMessages()
    if let signature { overview.add("Signature", "\(signature.id)  \(Wording.printable(signature.text))") }
    return overview.finished
  }

  private init(view: DumpView, name: String, style: TextStyle, isHead: Bool = false) {
    self.view = view
    self.name = name
    self.isHead = isHead
    self.style = style
  }

  private var heading: String { "\(name): \(kind)" }

  private var kind: String {
    let kind = FormatRow.of(view.dump.format).title
    let state: String
    if let cause = view.dump.tree?.incomplete {
      state = "INCOMPLETE: reading stopped at byte \(grouped(cause.offset ?? 0)) (\(cause.rule.code))"
    } else if !view.snapshot.isComplete {
      state =
        view.dump.format == .minidump ? "made from an INCOMPLETE intermediate dump" : "INCOMPLETE"
    } else if view.dump.findings.count(of: .error) > 0 {
      state = "DAMAGED: \(Wording.count(view.dump.findings.count(of: .error), "error"))"
    } else {
      state = "complete"
    }
    return "\(kind), \(grouped(view.dump.file.byteCount)) bytes, \(state)"
  }

  private mutating func add(_ label: String, _ text: String?, _ color: TextStyle.Color? = nil) {
    if let text { lines.append((label, text, color)) }
  }

  private mutating func describe() {
    describeCrash()
    describeProcess()
    describeSystem()
    describeMessages()
    describeCapture()
    describeContents()
  }

  private mutating func describeCrash() {
    let snapshot = view.snapshot
    add("Summary", summary, .bold)
    guard let exception = snapshot.exception else {
      describeNoException()
      return
    }
    let description = ExceptionDescription(exception, snapshot.system)
    add("Crash", description.title, .error)
    // If no more specific cause is known, the summary contains the explanation already.
    if let explanation = description.explanation, summary?.holds(explanation) != true { add("", explanation) }
    if isHead { return }
    describeTermination()
    if let frame = snapshot.crashedThread.flatMap({ snapshot.threads[$0].frames?.first }) {
      add("Where", view.place(frame))
    } else if let context = exception.context {
      let pc = context.instructionPointer
      let place = view.location(pc) ?? (pc == 0 ? "unknown" : "no module")
      add("Where", "\(place) (pc \(Wording.hex(pc)))")
    } else {
      add("Where", "unknown: the exception has no registers")
    }
    describeThread(exception)
  }

  private mutating func describeThread(_ exception: ExceptionSnapshot) {
    let snapshot = view.snapshot
    let id = "id \(exception.threadID)"
    if let index = view.dump.crashedThread {
      let thread = snapshot.threads[index]
      let name = view.text(thread.name).map { " \"\($0)\"" } ?? ""
      let queue = view.text(thread.queue).map { ", queue \($0)" } ?? ""
      let number = thread.id.map { ", id \($0)" } ?? ""
      add("Thread", "\(index) of \(grouped(snapshot.threads.count))\(number)\(name)\(queue)")
    } else if snapshot.report == nil {
      add("Thread", "\(id), which is not among the \(Wording.count(snapshot.threads.count, "thread"))")
    }
  }

  /// Describes a dump or a report without an exception.
  private mutating func describeNoException() {
    let report = view.snapshot.report
    switch report?.kind {
    case nil: add("Crash", summary == nil ? "none: the dump has no exception" : "none")
    case .jetsam:
      add("Event", "JetsamEvent: the system ran short of memory", .error)
      describeJetsam()
    case .resource:
      let event = report?.fields.first { $0.name == "Event" }.map { Wording.printable($0.value) }
      add("Event", event ?? "a resource limit was exceeded", .error)
    case .hang: add("Event", "a hang", .error)
    case .stackshot:
      add("Event", "stacks of the whole system; no process crashed")
      add("", "FILE/PID and FILE/NAME show other processes")
    case .crash, .osFault: add("Crash", "none: the report has no exception")
    }
    describeTermination()
  }

  private mutating func describeJetsam() {
    guard let jetsam = view.snapshot.report?.jetsam else { return }
    let page = jetsam.pageSize ?? 16384
    func size(_ process: ReportSnapshot.JetsamProcess) -> String {
      process.residentPages.map {
        ", \(grouped($0.multipliedReportingOverflow(by: page).partialValue >> 20)) MiB"
      } ?? ""
    }
    let killed = jetsam.processes.filter { $0.reason != nil }
    for (index, process) in killed.prefix(4).enumerated() {
      let states = process.states.isEmpty ? "" : " (\(process.states.joined(separator: ", ")))"
      add(
        index == 0 ? "Killed" : "",
        Wording.printable("\(process.name)\(states), \(process.reason ?? "")\(size(process))"))
    }
    if killed.isEmpty { add("Killed", "none is marked as killed") }
    add("Largest", jetsam.largestProcess.map(Wording.printable))
    add("Processes", grouped(jetsam.processes.count))
  }

  /// Describes the termination: "FRONTBOARD 0x8badf00d", and the system's reasons.
  private mutating func describeTermination() {
    guard let termination = view.snapshot.report?.termination else { return }
    let code = termination.code.map { $0 < 1000 ? String($0) : Wording.hex($0) }
    let by = termination.byProcess.map { "by \($0)" }
    let parts = [termination.namespace, code, termination.indicator.map { "(\($0))" }, by].compactMap { $0 }
    if !parts.isEmpty { add("Ended", Wording.printable(parts.joined(separator: " "))) }
    for reason in (termination.reasons + termination.details).prefix(isHead ? 1 : 2) {
      add("", Wording.shortened(Wording.printable(reason), to: 300))
    }
  }

  private mutating func describeProcess(isShort: Bool = false) {
    let snapshot = view.snapshot
    if snapshot.report?.jetsam != nil { return add("When", snapshot.snapshotTime.map { Wording.date($0) + zone }) }
    let executable = snapshot.executableIndex
    let listed = snapshot.report?.processName.map { Wording.printable($0) }
    var process = (listed ?? executable.map { view.moduleName($0) }).map { $0 + ", " } ?? ""
    process += snapshot.processID.map { "pid \($0)" } ?? "pid unknown"
    if let parent = snapshot.parentProcessID { process += ", parent \(parent)" }
    if let user = snapshot.userTime, let system = snapshot.systemTime {
      process += ", CPU \(Wording.cpuTime(user)) user, \(Wording.cpuTime(system)) system"
    }
    add("Process", process)
    if isShort {
      if let time = snapshot.snapshotTime { add("When", Wording.date(time) + zone) }
      return
    }
    if let report = snapshot.report {
      let version = report.version.map { version in report.build.map { "\(version) (\($0))" } ?? version }
      let parts = [report.bundleID, version, report.role].compactMap { $0 }
      if !parts.isEmpty { add("", Wording.printable(parts.joined(separator: ", "))) }
    }
    if let executable { add("", identity(snapshot.modules[executable])) }
    let command = view.commandLine
    if let path = view.executablePath, command.map({ $0 != path && !$0.hasPrefix(path + " ") }) ?? true {
      add("Executable", path)
    }
    add("Command", command.map { Wording.shortened(Wording.printable($0), to: 300) })
    if let time = snapshot.snapshotTime { add("When", Wording.date(time) + zone) }
    if isHead { return }
    if let start = snapshot.startTime {
      var text = "since \(Wording.date(start))"
      if let end = snapshot.snapshotTime { text += ", for \(Wording.duration(seconds: end.seconds &- start.seconds))" }
      add("Running", text)
    }
    if let uptime = snapshot.system.crashpadUptime {
      add("Handler", "installed for \(Wording.duration(seconds: Int64(clamping: uptime / 1_000_000_000)))")
    }
  }

  private func identity(_ module: ModuleSnapshot) -> String? {
    guard let identity = view.identity(module) else { return nil }
    if case .buildID? = module.identity { return "build id \(identity)" }
    return "UUID \(identity)"
  }

  private var zone: String {
    let zone = view.snapshot.system.timeZone
    let isSummer = zone.daylightSaving == .daylightTime
    guard let offset = isSummer ? zone.daylightOffset : zone.standardOffset else { return "" }
    let name = view.text(isSummer ? zone.daylightName : zone.standardName)
    return " (local zone \([name, Wording.offset(seconds: offset)].compactMap { $0 }.joined(separator: ", ")))"
  }

  private mutating func describeSystem() {
    let system = view.snapshot.system
    // 0 where the handler could not count them, as in a container without /sys.
    let cpus = system.cpuCount.flatMap { $0 == 0 ? nil : Wording.count(Int($0), "CPU") }
    let machine = [
      view.cpuModel ?? view.text(system.machine), system.architecture.rawValue, view.text(system.cpuVendor), cpus,
    ]
    add("Device", machine.compactMap { $0 }.joined(separator: ", "))
    var os = system.operatingSystem.rawValue
    if let version = view.osVersion { os += " \(version)" }
    var kernel: String?
    if let distribution = view.distribution {
      os += " (\(distribution))"
      if !isHead { kernel = view.kernel }
    } else if let build = view.text(system.osBuild) {
      // On Linux the build is the whole uname(1), including name and version.
      os = build.hasPrefix(os) ? build : "\(os) (\(build))"
    }
    add("System", os)
    add("Kernel", kernel)
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
    let texts = AnnotationText(view: view)
    add("Messages", texts.messages, limit: Self.messages, length: 300)
    if !isHead { add("Annotations", texts.annotations, limit: Self.annotations, length: 200) }
  }

  private mutating func add(_ label: String, _ entries: [CrashPage.Entry], limit: Int, length: Int) {
    for (index, entry) in entries.prefix(limit).enumerated() { add(index == 0 ? label : "", entry.line(limit: length)) }
    let more = entries.count - limit
    if more > 0 { add("", "… \(grouped(more)) more; inspect --annotations shows all") }
  }

  /// Describes how long a Linux process was stopped for the dump, and what the dump lacks.
  private mutating func describeCapture() {
    var label = "Capture"
    if let duration = view.captureDuration {
      add(label, "took \(Wording.duration(nanoseconds: duration))")
      label = ""
    }
    for note in view.captureNotes.prefix(Self.messages) {
      add(label, Wording.shortened(note, to: 200))
      label = ""
    }
    let more = view.captureNotes.count - Self.messages
    if more > 0 { add("", "… \(grouped(more)) more; inspect --annotations shows all") }
    let snapshot = view.snapshot
    func count(_ capture: ThreadSnapshot.Capture) -> Int { snapshot.threads.count { $0.capture == capture } }
    var ways = [(ThreadSnapshot.Capture.ptrace, "stopped by ptrace")]
    // The handler's own notes are more detailed.
    if view.captureNotes.isEmpty {
      ways += [(.proc, "with stack and instruction pointer only"), (.notStopped, "not stopped: without registers")]
    }
    for (capture, text) in ways where count(capture) > 0 {
      add(label, "\(Wording.count(count(capture), "thread")) \(text)")
      label = ""
    }
  }

  private mutating func describeContents() {
    let snapshot = view.snapshot
    // Added up without building the list, which may have a million entries.
    var ranges = snapshot.extraMemory.count
    var bytes = snapshot.extraMemory.reduce(0) { $0 + $1.content.count }
    for stack in snapshot.threads.compactMap(\.stack) where !stack.isSynthetic && !stack.region.content.isEmpty {
      ranges += 1
      bytes += stack.region.content.count
    }
    var parts = [
      Wording.count(snapshot.threads.count, "thread"), Wording.count(snapshot.modules.count, "module"),
      "\(Wording.count(ranges, "memory range")) with \(grouped(bytes)) bytes",
    ]
    // Reports hold no memory.
    if snapshot.report != nil { parts.removeLast() }
    if snapshot.report?.jetsam == nil { add("Contents", parts.joined(separator: ", ")) }
    if !view.dump.streams.isEmpty {
      add("Streams", view.dump.streams.map(\.type.name).joined(separator: " "))
    }
    if snapshot.reportID != .zero { add("Report", snapshot.reportID.text) }
    if snapshot.clientID != .zero { add("Client", snapshot.clientID.text) }
  }
}
