// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

/// Turns a crash report into the body of an `.ips` that holds only allowed content.
///
/// Names of functions, images and threads stay under the rules for text. The ids of the device, the user and the
/// installation are removed, as are registers that are neither zero nor a code address.
struct ReportRedactor {
  private let text: TextRedactor
  private var removals = RemovalCounter()
  private var rule: PointerRule
  private let policy: RedactionPolicy

  /// Header fields without personal data.
  private static let keptFields: Set<String> = [
    "Release Type", "AppVariant", "Time Awake Since Boot", "Time Since Wake", "System Integrity Protection", "Locked",
    "Developer Mode", "Lockdown Mode", "Dyld Error", "Logical CPU", "Error Code", "Trap Number", "Event",
    "Action taken",
    "CPU", "Writes", "Wakeups", "Duration", "Steps", "Limit duration",
  ]

  static func plan(
    _ bytes: RawSpan, _ form: ReportFormat, _ policy: RedactionPolicy, _ collector: UserNameCollector
  ) -> RedactionPlan? {
    guard let snapshot = ReportReader.read(bytes, form: form).snapshot else { return nil }
    var redactor = ReportRedactor(snapshot, policy, collector)
    let output = MemoryOutput()
    var json = JSONWriter(.indented) { output.write($0) }
    let redacted = redactor.redacted(snapshot, bytes)
    ReportWriter.write(redacted, bytes, to: &json)
    do { try json.finish() } catch { return nil }
    var plan = RedactionPlan(RedactionReport(.report, inputByteCount: bytes.byteCount), redactor.rule)
    plan.append(made: output.bytes)
    plan.report.removals = redactor.removals.sorted
    plan.report.outputByteCount = plan.byteCount
    return plan
  }

  private init(_ snapshot: ProcessSnapshot, _ policy: RedactionPolicy, _ collector: UserNameCollector) {
    self.policy = policy
    text = TextRedactor(policy: policy, collector: collector)
    rule = PointerRule(snapshot, keepsSmallNumbers: policy.keepsSmallNumbers)
  }

  // MARK: Text

  private mutating func hidden(_ value: String?, _ name: String, limit: Int = TextRedactor.maximumLength) -> String? {
    guard let value else { return nil }
    let bytes = Array(value.utf8)
    var result = bytes
    let pieces = unsafe text.pieces(of: ByteRange(offset: 0, count: bytes.count), bytes.span.bytes, limit: limit)
    for piece in pieces where piece.isHidden {
      for index in piece.range.offset..<piece.range.end { result[index] = UInt8(ascii: "*") }
      removals.add(.text, name, byteCount: piece.range.count)
    }
    return String(decoding: result, as: UTF8.self)
  }

  private mutating func hidden(_ values: [String], _ name: String) -> [String] {
    values.map { hidden($0, name) ?? "" }
  }

  private mutating func drop(_ value: inout String?, _ name: String) {
    guard let old = value else { return }
    removals.add(.key, name, byteCount: old.utf8.count)
    value = nil
  }

  // MARK: Report

  private mutating func redacted(_ snapshot: ProcessSnapshot, _ input: RawSpan) -> ProcessSnapshot {
    var result = ProcessSnapshot(system: snapshot.system)
    result.isComplete = snapshot.isComplete
    result.processID = snapshot.processID
    result.parentProcessID = snapshot.parentProcessID
    result.startTime = snapshot.startTime
    result.snapshotTime = snapshot.snapshotTime
    result.exception = snapshot.exception
    result.system.osBuild = copy(snapshot.system.osBuild, "OS build", snapshot, input, to: &result)
    result.system.machine = copy(snapshot.system.machine, "model", snapshot, input, to: &result)
    for module in snapshot.modules { result.modules.append(redacted(module, snapshot, input, to: &result)) }
    for thread in snapshot.threads { result.threads.append(redacted(thread, snapshot, input, to: &result)) }
    if let report = snapshot.report { result.report = redacted(report) }
    if let index = result.report?.faultingThread, result.threads.indices.contains(index) {
      result.exception?.context = result.threads[index].context
    }
    return result
  }

  private mutating func copy(
    _ content: SnapshotBytes?, _ name: String, _ snapshot: ProcessSnapshot, _ input: RawSpan,
    limit: Int = TextRedactor.maximumNameLength, to result: inout ProcessSnapshot
  ) -> SnapshotBytes? {
    guard let content, let text = hidden(snapshot.text(content, in: input), name, limit: limit) else { return nil }
    return result.store(text)
  }

  private mutating func redacted(
    _ module: ModuleSnapshot, _ snapshot: ProcessSnapshot, _ input: RawSpan, to result: inout ProcessSnapshot
  ) -> ModuleSnapshot {
    var copy = ModuleSnapshot()
    copy.name = self.copy(module.name, "path of an image", snapshot, input, to: &result)
    copy.debugName = self.copy(module.debugName, "name of an image", snapshot, input, to: &result)
    copy.address = module.address
    copy.size = module.size
    copy.fileType = module.fileType
    copy.identity = module.identity
    copy.bundleID = hidden(module.bundleID, "bundle")
    copy.bundleVersion = hidden(module.bundleVersion, "version")
    copy.architecture = hidden(module.architecture, "architecture")
    return copy
  }

  private mutating func redacted(
    _ thread: ThreadSnapshot, _ snapshot: ProcessSnapshot, _ input: RawSpan, to result: inout ProcessSnapshot
  ) -> ThreadSnapshot {
    var copy = ThreadSnapshot()
    copy.id = thread.id
    let limit = TextRedactor.maximumThreadNameLength
    copy.name = self.copy(thread.name, "thread name", snapshot, input, limit: limit, to: &result)
    copy.queue = self.copy(thread.queue, "queue", snapshot, input, limit: limit, to: &result)
    copy.context = thread.context.map { redacted($0) }
    copy.frames = thread.frames.map { redacted($0) }
    return copy
  }

  private mutating func redacted(_ frames: [RecordedFrame]) -> [RecordedFrame] {
    frames.map { frame in
      var copy = frame
      copy.function = hidden(frame.function, "function")
      copy.file = hidden(frame.file, "source file")
      return copy
    }
  }

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
        return CPUContext.NamedRegister(name: register.name, value: isKept ? register.value : kept(register.value))
      }
      return .named(architecture, registers: words, instructionPointer: instructionPointer, stackPointer: stackPointer)
    }
  }

  private mutating func redacted(_ report: ReportSnapshot) -> ReportSnapshot {
    var copy = report
    copy.processName = hidden(report.processName, "process")
    copy.processPath = hidden(report.processPath, "path")
    copy.bundleID = hidden(report.bundleID, "bundle")
    copy.version = hidden(report.version, "version")
    copy.build = hidden(report.build, "version")
    drop(&copy.reporterKey, "CrashReporter Key")
    copy.parentName = hidden(report.parentName, "parent")
    copy.responsibleName = hidden(report.responsibleName, "responsible process")
    copy.coalition = hidden(report.coalition, "coalition")
    copy.exceptionSubtype = hidden(report.exceptionSubtype, "exception")
    copy.exceptionMessage = hidden(report.exceptionMessage, "exception")
    copy.exceptionNotes = hidden(report.exceptionNotes, "exception")
    copy.termination?.indicator = hidden(report.termination?.indicator, "termination")
    copy.termination?.reasons = hidden(report.termination?.reasons ?? [], "termination")
    copy.termination?.details = hidden(report.termination?.details ?? [], "termination")
    copy.termination?.byProcess = hidden(report.termination?.byProcess, "termination")
    copy.messages = redacted(report.messages)
    copy.lastException = redacted(report.lastException)
    copy.kernelTriage = hidden(report.kernelTriage, "kernel triage")
    copy.vmRegionInfo = hidden(report.vmRegionInfo, "VM region info")
    copy.notes = hidden(report.notes, "notes")
    copy.fields = redacted(report.fields)
    for index in (report.jetsam?.processes ?? []).indices {
      copy.jetsam?.processes[index].name = hidden(report.jetsam?.processes[index].name, "process") ?? ""
    }
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
      ReportSnapshot.Message(image: hidden($0.image, "image"), text: hidden($0.text, RedactionPolicy.messageName) ?? "")
    }
  }

  private mutating func redacted(_ fields: [ReportSnapshot.Field]) -> [ReportSnapshot.Field] {
    fields.compactMap { field in
      guard Self.keptFields.contains(field.name) else {
        removals.add(.key, field.name, byteCount: field.value.utf8.count)
        return nil
      }
      return ReportSnapshot.Field(name: field.name, value: hidden(field.value, field.name) ?? "")
    }
  }
}
