// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// The state while a report is read.
struct ReportBuilder {
  var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .unknown, operatingSystem: .unknown))
  var report = ReportSnapshot(kind: .crash)
  var findings: FindingList
  /// Whether the report is not about a crash; then only the findings count.
  var isRefused = false
  /// The number of the platform in the first line of an `.ips`.
  var platformNumber: UInt64?
  /// Whether the input states the platform as a whole, so that nothing is to be concluded.
  var isPlatformRead = false

  init(limits: Limits) { findings = FindingList(limit: limits.maximumFindings) }

  mutating func finish() -> ReportReading {
    guard !isRefused else { return ReportReading(snapshot: nil, findings: findings) }
    if report.role?.lowercased() == "unknown" { report.role = nil }
    finishPlatform()
    finishArchitecture()
    if report.kind == .crash, !report.statesCrash, snapshot.exception == nil, report.exceptionType == nil,
      report.messages.contains(where: { EvidenceSearch.all.message($0.statement) != nil })
    {
      // A runtime's message of an end says what the text says nowhere else.
      report.statesCrash = true
    }
    // Texts of macOS up to 11 have the subtype among the codes.
    report.intendedAddress = (report.exceptionSubtype ?? report.exceptionCodes).flatMap(Self.intendedAddress)
    snapshot.report = report
    if let index = executable { snapshot.modules[index].fileType = .executable }
    return ReportReading(snapshot: snapshot, findings: findings)
  }

  /// The index of the main executable: the image with the path in the report's header,
  /// or with the name of the process.
  var executable: Int? {
    func has(_ content: SnapshotBytes?, _ name: String?) -> Bool {
      guard let content, let name, content.isInArena, content.count == name.utf8.count else { return false }
      return snapshot.arena[content.offset..<content.offset + content.count].elementsEqual(name.utf8)
    }
    return snapshot.modules.firstIndex { has($0.name, report.processPath) }
      ?? snapshot.modules.firstIndex { has($0.debugName, report.processName) || has($0.name, report.processName) }
  }

  /// Parses "KERN_INVALID_ADDRESS at 0x0a31323a523fae3e -> 0x0000003a523fae3e (possible pointer authentication failure)".
  private static func intendedAddress(_ subtype: String) -> UInt64? {
    guard let start = subtype.firstRange(of: " -> 0x")?.upperBound else { return nil }
    let digits = subtype[start...].prefix { $0.isHexDigit }
    // Reports fill it with zeros; fewer digits are what is left of a line that was cut.
    return digits.count == 16 || digits.first != "0" ? UInt64(digits, radix: 16) : nil
  }

  mutating func note(
    _ rule: Rule, at offset: Int? = nil, path: String = "", expected: Finding.Value? = nil, found: Finding.Value? = nil
  ) {
    guard findings.hasRoom(for: rule) else { return findings.append(Finding(rule)) }
    findings.append(Finding(rule, at: offset, path: path, expected: expected, found: found))
  }

  /// Reads a report that is one JSON document, as far as possible. Returns nil if there is none.
  mutating func readJSON(_ tree: JSONTree) -> JSONValue? {
    if let failure = tree.failure {
      note(failure.reason == .tooDeep ? ReportRules.tooLarge : ReportRules.notJSON, at: failure.offset)
      snapshot.isComplete = false
    }
    return tree.root
  }

  /// Refuses an input that is no report, with a finding unless it has one already.
  mutating func refuseEmpty(_ tree: JSONTree) {
    if tree.failure == nil { note(ReportRules.noBody, at: 0) }
    isRefused = true
  }

  mutating func addField(_ name: String, _ value: String?) {
    if let value { report.fields.append(ReportSnapshot.Field(name: name, value: value)) }
  }

  mutating func addMessage(_ text: String, image: String? = nil) {
    report.messages.append(ReportSnapshot.Message(image: image, text: text))
  }

  /// Adds an exception that a report names in members or lines of its own, without Foundation's message.
  mutating func addUncaught(_ name: String, reason: String?) {
    report.messages.append(
      ReportSnapshot.Message(image: nil, text: name + (reason.map { ": \($0)" } ?? ""), exception: name))
  }

  /// Stores a text in the snapshot.
  mutating func content(_ text: String?) -> SnapshotBytes? {
    guard let text, !text.isEmpty else { return nil }
    return snapshot.store(text)
  }

  /// Makes a module.
  ///
  /// - Parameters:
  ///   - name: the path, or the file's name if the path is not known.
  ///   - file: the file's name.
  ///   - uuid: the text of a UUID; other texts are ignored.
  mutating func module(
    _ name: String?, file: String?, address: UInt64?, size: UInt64? = nil, uuid: String? = nil
  ) -> ModuleSnapshot {
    var module = ModuleSnapshot()
    module.name = content(name)
    module.debugName = content(file)
    module.address = address
    module.size = size
    if let uuid = uuid.flatMap({ UUIDBytes(text: $0) }), uuid != .zero { module.identity = .uuid(uuid, age: 0) }
    return module
  }

  /// The registers that are the members of an object; nil if there are none.
  func context(_ registers: JSONValue?) -> CPUContext? {
    let registers = (registers?.members ?? []).compactMap { name, value in
      value.uint64.map { CPUContext.NamedRegister(name: name, value: $0) }
    }
    return registers.isEmpty ? nil : ReportRegisters.context(Array(registers.prefix(64)))
  }

  // MARK: Exception

  /// The id of the thread that the report names, or its index if it has no id.
  var faultingThreadID: UInt64 { report.faultingThread.map { snapshot.threads[$0].id ?? UInt64($0) } ?? .max }

  /// Sets the snapshot's exception from the text and numbers in a report, and its registers from the thread's.
  ///
  /// - Parameters:
  ///   - type: "EXC_BAD_ACCESS", "SIGBUS" or "00000020"; nil for a report without an exception.
  ///   - signal: "SIGSEGV".
  ///   - codes: the kernel's codes.
  ///   - thread: the thread's id, if it is not `faultingThreadID`.
  mutating func setException(type: String?, signal: String?, codes: [UInt64], thread: UInt64? = nil) {
    report.exceptionType = type
    report.exceptionSignal = signal
    defer { setExceptionContext() }
    guard let type else { return }
    let thread = thread ?? faultingThreadID
    if let code = MeaningTable.machExceptions[type] {
      var exception = ExceptionSnapshot(kind: .mach, threadID: thread, code: code)
      exception.codes = [UInt64(code)] + codes
      exception.info = UInt32(truncatingIfNeeded: codes.first ?? 0)
      exception.address = codes.count > 1 ? codes[1] : 0
      exception.signal = signal.flatMap { MeaningTable.darwinSignals[$0] }
      snapshot.exception = exception
    } else if let number = MeaningTable.darwinSignals[signal ?? type] {
      var exception = ExceptionSnapshot(kind: .softSignal, threadID: thread, code: 0x10003)
      exception.info = number
      // Crashpad stores the signal before its code.
      exception.codes = [0x10003, UInt64(number)] + codes
      exception.address = codes.count > 1 ? codes[1] : 0
      exception.isAddressKnown = codes.count > 1
      exception.signal = number
      snapshot.exception = exception
    }
  }

  /// Sets the exception's registers to those of the thread that the report names.
  mutating func setExceptionContext() {
    if let index = report.faultingThread { snapshot.exception?.context = snapshot.threads[index].context }
  }

  /// Sets the text of the codes, for reports that have only their numbers.
  mutating func setCodesText(_ codes: [UInt64]) {
    report.exceptionCodes = codes.map { "0x" + hexadecimal($0, width: 16) }.joined(separator: ", ")
  }
}

extension JSONValue {
  var int32: Int32? { int64.flatMap { Int32(exactly: $0) } }
  var uint32: UInt32? { uint64.flatMap { UInt32(exactly: $0) } }
}

/// Names in reports.
enum ReportNames {
  /// Parses "ARM-64", "X86-64 (Native)", "arm64e" and so on.
  static func architecture(_ text: String) -> CPUArchitecture {
    let name = text.lowercased()
    if name.hasPrefix("arm-64") || name.hasPrefix("arm64") { return .arm64 }
    if name.hasPrefix("x86-64") || name.hasPrefix("x86_64") { return .x86_64 }
    if name.hasPrefix("arm") { return .arm }
    if name.hasPrefix("x86") || name.hasPrefix("i386") { return .x86 }
    return .unknown
  }
}
