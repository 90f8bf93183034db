// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Turns a crash report into an `.ips` that holds only allowed content.
///
/// The redacted report is made anew, member by member: a member that no line here copies is not in it. Each text goes
/// through the table of personal data, even one that Apple's reports have a fixed word in.
struct ReportRedactor {
  private let text: PersonalText
  private var removals = RemovalCounter()
  private var rule: PointerRule
  private let policy: RedactionPolicy
  private let kept: Set<PersonalKind>
  private let source: ProcessSnapshot
  private(set) var result: ProcessSnapshot

  /// Header fields without personal data.
  private static let keptFields: Set<String> = [
    "Release Type", "AppVariant", "Time Awake Since Boot", "Time Since Wake", "System Integrity Protection", "Locked",
    "Developer Mode", "Lockdown Mode", "Dyld Error", "Logical CPU", "Error Code", "Trap Number", "Event",
    "Action taken",
    "CPU", "Writes", "Wakeups", "Duration", "Steps", "Sampling", "Limit duration", "Crash Type", "Conclusion",
    "Foreground", "Exception Code", "Num samples", "Data Source", "Samples", "Note", "Reason", "Cause", "Violation",
    "Duration Sampled", "Hang Duration", "Launch Duration", "Total CPU Time", "Total Sampled Time", "Writes Caused",
    "Crash of the reporter", "Diagnostics", "Boot Faults", "Reset Reason",
  ]

  static func plan(
    _ bytes: RawSpan, _ form: ReportFormat, _ policy: RedactionPolicy, _ collector: UserNameCollector
  ) -> RedactionPlan? {
    guard let snapshot = ReportReader.read(bytes, form: form).snapshot else { return nil }
    let redactor = ReportRedactor(snapshot, bytes, policy, collector)
    let output = MemoryOutput()
    var json = JSONWriter(.indented) { output.write($0) }
    ReportWriter.write(redactor.result, bytes, to: &json)
    do { try json.finish() } catch { return nil }
    var plan = RedactionPlan(RedactionReport(.report, inputByteCount: bytes.byteCount), redactor.rule)
    // Other programs ask for the first line.
    plan.append(made: ReportWriter.header(redactor.result, bytes) + output.bytes)
    plan.report.removals = redactor.removals.sorted
    plan.report.outputByteCount = plan.byteCount
    return plan
  }

  /// Redacts a snapshot of a report, whose input these bytes are.
  init(
    _ snapshot: ProcessSnapshot, _ input: RawSpan, _ policy: RedactionPolicy, _ collector: UserNameCollector
  ) {
    self.policy = policy
    kept = policy.kept
    source = snapshot
    result = ProcessSnapshot(
      system: SystemSnapshot(
        architecture: snapshot.system.architecture, operatingSystem: snapshot.system.operatingSystem))
    text = PersonalText(
      TextRedactor(policy: policy, collector: collector, imageIDs: Self.imageIDs(snapshot)))
    rule = PointerRule(snapshot, keepsSmallNumbers: policy.keepsSmallNumbers)
    redact(input)
  }

  /// The UUIDs of images, by which symbols are found.
  private static func imageIDs(_ snapshot: ProcessSnapshot) -> Set<[UInt16]> {
    Set(
      snapshot.modules.compactMap { module in
        if case .uuid(let uuid, _)? = module.identity { Array(uuid.text.lowercased().utf16) } else { nil }
      })
  }

  // MARK: Text

  private mutating func hidden(
    _ value: String?, _ name: String, _ place: TextPlace = .free, limit: Int = TextRedactor.maximumLength
  ) -> String? {
    guard let value else { return nil }
    let hidden = text.hidden(value, place, limit: limit)
    for count in hidden.removed { removals.add(.text, name, byteCount: count) }
    return hidden.text
  }

  private mutating func hidden(_ values: [String], _ name: String) -> [String] {
    values.map { hidden($0, name) ?? "" }
  }

  /// A time keeps its form; the numbers of other texts may be anything.
  private mutating func hidden(time: String?) -> String? {
    guard let time, !Self.isTime(Array(time.utf8)) else { return time }
    return hidden(time, "time")
  }

  /// Whether the text is a date, a time and a zone, and nothing else.
  private static func isTime(_ text: [UInt8]) -> Bool {
    let form = Array("0000-00-00 00:00:00".utf8)
    guard (form.count...40).contains(text.count) else { return false }
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    let hasForm = form.indices.allSatisfy { index in
      isDigit(form[index]) ? isDigit(text[index]) : text[index] == form[index] || index == 10 && text[index] == 0x54
    }
    let rest = text[form.count...]
    // ". +-:Z" and no more digits than a fraction and a zone have.
    return hasForm && rest.allSatisfy { isDigit($0) || [0x2e, 0x20, 0x2b, 0x2d, 0x3a, 0x5a].contains($0) }
      && rest.count(where: isDigit) <= 13
  }

  /// Nil, or the value if the policy keeps its kind.
  private mutating func dropped(_ value: String?, _ name: String, _ kind: PersonalKind) -> String? {
    guard let value, !kept.contains(kind) else { return value }
    removals.add(.key, name, byteCount: value.utf8.count)
    return nil
  }

  /// A UUID of zeros: other programs need the member, and no two redacted reports are one by it.
  private mutating func incident(_ value: String?) -> String? {
    guard let value, !kept.contains(.incidents), value != UUIDBytes.zero.text else { return value }
    removals.add(.key, "Incident Identifier", byteCount: value.utf8.count)
    return UUIDBytes.zero.text
  }

  // MARK: Process

  private mutating func redact(_ input: RawSpan) {
    result.isComplete = source.isComplete
    result.processID = source.processID
    result.parentProcessID = source.parentProcessID
    result.startTime = source.startTime
    result.snapshotTime = source.snapshotTime
    result.exception = source.exception.map { redacted($0) }
    redactSystem(input)
    for module in source.modules { result.modules.append(redacted(module, input)) }
    for thread in source.threads { result.threads.append(redacted(thread, input)) }
    if let report = source.report { result.report = redacted(report) }
    if let index = result.report?.faultingThread, result.threads.indices.contains(index) {
      result.exception?.context = result.threads[index].context
    }
  }

  private mutating func redactSystem(_ input: RawSpan) {
    let system = source.system
    result.system.platform = system.platform.map { redacted($0) }
    result.system.osMajor = system.osMajor
    result.system.osMinor = system.osMinor
    result.system.osBugfix = system.osBugfix
    result.system.osBuild = copy(system.osBuild, "OS build", input, .version)
    result.system.machine = copy(system.machine, "model", input)
    result.system.memory = system.memory
    result.system.pageSize = system.pageSize
    result.system.addressMask = system.addressMask
  }

  private mutating func redacted(_ platform: Platform) -> Platform {
    var copy = Platform(platform.name, isSimulator: platform.isSimulator, isInferred: platform.isInferred)
    copy.simulatedVersion = hidden(platform.simulatedVersion, "system", .version)
    return copy
  }

  private func redacted(_ exception: ExceptionSnapshot) -> ExceptionSnapshot {
    var copy = ExceptionSnapshot(kind: exception.kind, threadID: exception.threadID, code: exception.code)
    copy.info = exception.info
    copy.isInfoKnown = exception.isInfoKnown
    copy.address = exception.address
    copy.isAddressKnown = exception.isAddressKnown
    copy.isRaisedAgain = exception.isRaisedAgain
    copy.codes = exception.codes
    copy.sender = exception.sender
    copy.signal = exception.signal
    return copy
  }

  private mutating func copy(
    _ content: SnapshotBytes?, _ name: String, _ input: RawSpan, _ place: TextPlace = .free,
    limit: Int = TextRedactor.maximumNameLength
  ) -> SnapshotBytes? {
    guard let content, let text = hidden(source.text(content, in: input), name, place, limit: limit) else { return nil }
    return result.store(text)
  }

  private mutating func redacted(_ module: ModuleSnapshot, _ input: RawSpan) -> ModuleSnapshot {
    var copy = ModuleSnapshot()
    copy.name = self.copy(module.name, "path of an image", input)
    copy.debugName = self.copy(module.debugName, "name of an image", input, .symbol)
    copy.address = module.address
    copy.size = module.size
    copy.fileType = module.fileType
    copy.identity = module.identity
    // The bytes of an id stand among those of the source.
    if case .buildID(let id)? = module.identity {
      copy.identity = .buildID(result.store(source.bytes(of: id, in: input)))
    }
    copy.bundleID = hidden(module.bundleID, "bundle")
    copy.bundleVersion = hidden(module.bundleVersion, "version", .version)
    copy.architecture = hidden(module.architecture, "architecture")
    return copy
  }

  private mutating func redacted(_ thread: ThreadSnapshot, _ input: RawSpan) -> ThreadSnapshot {
    var copy = ThreadSnapshot()
    copy.id = thread.id
    let limit = TextRedactor.maximumThreadNameLength
    copy.name = self.copy(thread.name, "thread name", input, limit: limit)
    copy.queue = self.copy(thread.queue, "queue", input, limit: limit)
    copy.number = thread.number
    copy.elided = thread.elided
    copy.context = thread.context.map { redacted($0) }
    copy.frames = thread.frames.map { redacted($0) }
    return copy
  }

  private mutating func redacted(_ frames: [RecordedFrame]) -> [RecordedFrame] {
    frames.map { frame in
      var copy = RecordedFrame(address: frame.address)
      copy.module = frame.module
      copy.moduleOffset = frame.moduleOffset
      copy.function = hidden(frame.function, "function", .symbol)
      copy.functionOffset = frame.functionOffset
      copy.file = hidden(frame.file, "source file")
      copy.line = frame.line
      copy.isInlined = frame.isInlined
      return copy
    }
  }

  // MARK: Registers

  private mutating func kept(_ word: UInt64) -> UInt64 {
    if policy.keepsRegisters || rule.keeps(word) { return word }
    removals.add(.register, byteCount: 8)
    return 0
  }

  private mutating func redacted(_ context: CPUContext) -> CPUContext {
    switch context {
    case .arm64(var registers):
      for index in 0..<29 { registers.x[index] = kept(registers.x[index]) }
      registers.fp = kept(registers.fp)
      return .arm64(registers)
    case .x86_64(var registers):
      for path in [\X86_64Context.rax, \.rbx, \.rcx, \.rdx, \.rdi, \.rsi, \.rbp] {
        registers[keyPath: path] = kept(registers[keyPath: path])
      }
      for index in 0..<8 { registers.r[index] = kept(registers.r[index]) }
      return .x86_64(registers)
    case .named(let architecture, let registers, let instructionPointer, let stackPointer):
      let words = registers.map { register in
        let isKept = register.value == instructionPointer || register.value == stackPointer
        let name = hidden(register.name, "register") ?? ""
        return CPUContext.NamedRegister(name: name, value: isKept ? register.value : kept(register.value))
      }
      return .named(architecture, registers: words, instructionPointer: instructionPointer, stackPointer: stackPointer)
    }
  }

  // MARK: Report

  private mutating func redacted(_ report: ReportSnapshot) -> ReportSnapshot {
    var copy = ReportSnapshot(kind: report.kind)
    copy.bugType = hidden(report.bugType, "bug type")
    redactIdentity(report, into: &copy)
    redactException(report, into: &copy)
    copy.termination = report.termination.map { redacted($0) }
    copy.faultingThread = report.faultingThread
    copy.messages = redacted(report.messages)
    copy.lastException = redacted(report.lastException)
    copy.kernelTriage = hidden(report.kernelTriage, "kernel triage")
    copy.vmRegionInfo = hidden(report.vmRegionInfo, "VM region info")
    copy.notes = hidden(report.notes, "notes")
    copy.faultAddress = report.faultAddress
    copy.syndrome = report.syndrome
    copy.syndromeText = hidden(report.syndromeText, "exception")
    copy.codeBefore = report.codeBefore
    copy.codeAt = report.codeAt
    copy.jetsam = report.jetsam.map { redacted($0) }
    copy.fields = redacted(report.fields)
    redactFacts(report, into: &copy)
    return copy
  }

  private mutating func redactFacts(_ report: ReportSnapshot, into copy: inout ReportSnapshot) {
    copy.statesCrash = report.statesCrash
    copy.faultingNumber = report.faultingNumber
    copy.intendedAddress = report.intendedAddress
    copy.diagnosis = hidden(report.diagnosis, "diagnosis")
    copy.deallocatedObjects = report.deallocatedObjects.map { hidden($0, "class", .symbol) ?? "" }
    copy.endedForMemory = report.endedForMemory
    copy.isDeadlock = report.isDeadlock
    copy.hasStackOverflow = report.hasStackOverflow
    if let memory = report.memory {
      var kept = ReportMemory()
      kept.footprint = memory.footprint
      kept.limit = memory.limit
      kept.remaining = memory.remaining
      kept.level = hidden(memory.level, "memory")
      kept.pressure = hidden(memory.pressure, "memory")
      copy.memory = kept
    }
    copy.blockers = report.blockers.map { blocker in
      var kept = ReportBlocker(thread: blocker.thread, text: hidden(blocker.text, "blocker") ?? "")
      kept.holder = blocker.holder
      kept.process = hidden(blocker.process, "process")
      return kept
    }
    if let panic = report.panic {
      var kept = ReportPanic(text: hidden(panic.text, "panic") ?? "")
      kept.headline = hidden(panic.headline, "panic")
      kept.task = hidden(panic.task, "process")
      kept.taskID = panic.taskID
      kept.trap = panic.trap
      kept.trapName = hidden(panic.trapName, "panic")
      kept.extensions = hidden(panic.extensions, "panic")
      kept.isCut = panic.isCut
      copy.panic = kept
    }
  }

  private mutating func redactIdentity(_ report: ReportSnapshot, into copy: inout ReportSnapshot) {
    copy.processName = hidden(report.processName, "process")
    copy.processPath = hidden(report.processPath, "path")
    copy.bundleID = hidden(report.bundleID, "bundle")
    copy.version = hidden(report.version, "version", .version)
    copy.build = hidden(report.build, "version", .version)
    copy.isVersionInferred = report.isVersionInferred
    copy.isArchitectureInferred = report.isArchitectureInferred
    copy.incident = incident(report.incident)
    copy.reporterKey = dropped(report.reporterKey, "CrashReporter Key", .reporterKeys)
    copy.role = hidden(report.role, "role")
    copy.codeType = hidden(report.codeType, "code type")
    copy.isTranslated = report.isTranslated
    copy.parentName = hidden(report.parentName, "parent")
    copy.responsibleName = hidden(report.responsibleName, "responsible process")
    copy.coalition = hidden(report.coalition, "coalition")
    copy.osText = hidden(report.osText, "system", .version)
    copy.captureTime = hidden(time: report.captureTime)
    copy.launchTime = hidden(time: report.launchTime)
    copy.periodStart = report.periodStart
  }

  private mutating func redactException(_ report: ReportSnapshot, into copy: inout ReportSnapshot) {
    copy.exceptionType = hidden(report.exceptionType, "exception")
    copy.exceptionSignal = hidden(report.exceptionSignal, "exception")
    copy.exceptionSubtype = hidden(report.exceptionSubtype, "exception")
    copy.exceptionMessage = hidden(report.exceptionMessage, "exception")
    copy.exceptionCodes = hidden(report.exceptionCodes, "exception")
    copy.exceptionNotes = hidden(report.exceptionNotes, "exception")
    copy.isNonFatal = report.isNonFatal
    copy.isSimulated = report.isSimulated
  }

  private mutating func redacted(_ termination: ReportSnapshot.Termination) -> ReportSnapshot.Termination {
    var copy = ReportSnapshot.Termination()
    copy.namespace = hidden(termination.namespace, "termination")
    copy.code = termination.code
    copy.flags = termination.flags
    copy.indicator = hidden(termination.indicator, "termination")
    copy.reasons = hidden(termination.reasons, "termination")
    copy.details = hidden(termination.details, "termination")
    copy.byProcess = hidden(termination.byProcess, "termination")
    copy.byProcessID = termination.byProcessID
    return copy
  }

  private mutating func redacted(_ messages: [ReportSnapshot.Message]) -> [ReportSnapshot.Message] {
    guard policy.keeps(annotation: Array(RedactionPolicy.messageName.utf8)) else {
      for message in messages {
        removals.add(.annotation, RedactionPolicy.messageName, byteCount: message.text.utf8.count)
      }
      return []
    }
    return messages.map {
      ReportSnapshot.Message(
        image: hidden($0.image, "image", .symbol), text: hidden($0.text, RedactionPolicy.messageName) ?? "",
        exception: hidden($0.exception, RedactionPolicy.messageName))
    }
  }

  private mutating func redacted(_ jetsam: ReportSnapshot.Jetsam) -> ReportSnapshot.Jetsam {
    var copy = ReportSnapshot.Jetsam()
    copy.pageSize = jetsam.pageSize
    copy.freePages = jetsam.freePages
    copy.largestProcess = hidden(jetsam.largestProcess, "process")
    copy.processes = jetsam.processes.map { redacted($0) }
    return copy
  }

  private mutating func redacted(_ process: ReportSnapshot.JetsamProcess) -> ReportSnapshot.JetsamProcess {
    var copy = ReportSnapshot.JetsamProcess(name: hidden(process.name, "process") ?? "")
    copy.processID = process.processID
    copy.uuid = process.uuid
    copy.states = hidden(process.states, "process")
    copy.priority = process.priority
    copy.residentPages = process.residentPages
    copy.lifetimeMaximumPages = process.lifetimeMaximumPages
    copy.reason = hidden(process.reason, "process")
    return copy
  }

  private mutating func redacted(_ fields: [ReportSnapshot.Field]) -> [ReportSnapshot.Field] {
    fields.compactMap { field in
      guard Self.keptFields.contains(field.name) else {
        removals.add(.key, hidden(field.name, "name of a field") ?? "", byteCount: field.value.utf8.count)
        return nil
      }
      return ReportSnapshot.Field(name: field.name, value: hidden(field.value, field.name) ?? "")
    }
  }
}
