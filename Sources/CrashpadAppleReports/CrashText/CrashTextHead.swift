// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The lines of the header: the process, the time, the system and the exception.
extension CrashText {
  mutating func head(_ content: TextBytes) {
    if content.has(prefix: "Analysis of sampling ") {
      isSampled = true
      builder.report.kind = .hang
      if let start = content.last(of: "every ") { builder.addField("Sampling", content[start...].string) }
      return
    }
    if content.equals("Application main thread deadlocked") { return deadlocked() }
    if content.has(prefix: "Backtrace not available") { seen.noBacktrace = true }
    if uncaughtReason(content) || consoleException(content) || oldCodes(content) || signalCause(content) { return }
    guard let key = TextKey(content) else {
      if jetsamProcess(content) || continueField(content) { return }
      return untitledFrame(content)
    }
    if key.name == "Process", isOfOther(key.value) { return }
    if isOtherProcess { return }
    if isCr4shed, cr4shedHead(key) { return }
    if key.name == "Fatal Exception", builder.report.messages.isEmpty, !key.value.isEmpty {
      return beginUncaught(key.value)
    }
    if identity(key) || place(key) || readException(key) || lowMemory(key) { return }
    guard !key.value.isEmpty else { return }
    if key.name == "Event" { builder.report.kind = key.value.string.lowercased().contains("hang") ? .hang : .resource }
    if key.name == "Duration" || key.name == "Note", builder.report.kind == .crash,
      key.value.string.lowercased().containsBytes("unresponsive")
    {
      builder.report.kind = .hang
    }
    if key.name == "Error Code" {
      // Words of it may follow: "0x00000007 (invalid protections for user data write)".
      var value = key.value
      builder.report.syndrome = value.takeWord().number ?? builder.report.syndrome
    }
    builder.addField(key.name, key.value.string)
  }

  /// The keys of measures, whose values are sentences that a message may have broken.
  private static let measures: Set<String> = ["CPU", "Writes", "Wakeups", "Event", "Action taken"]

  /// Whether the line is the rest of the value above it: " average), exceeding limit of 50% cpu over 180 seconds".
  private mutating func continueField(_ content: TextBytes) -> Bool {
    guard !isAfterBlank, section == .head, let last = builder.report.fields.indices.last,
      Self.measures.contains(builder.report.fields[last].name), TextFrame(content) == nil
    else { return false }
    builder.report.fields[last].value += " " + content.string
    noteBrokenLine(content)
    return true
  }

  /// Reads a row below "Processes": "   Shop <0b3f…> 12.3 12345 0 … [per-process-limit] (frontmost) (resume)". The second
  /// number is that of the resident pages.
  private mutating func jetsamProcess(_ content: TextBytes) -> Bool {
    guard builder.report.jetsam != nil, let open = content.firstIndex(of: UInt8(ascii: "<")),
      let close = content[open...].firstIndex(of: UInt8(ascii: ">")), open > content.startIndex,
      let uuid = UUIDBytes(text: content[(open + 1)..<close].string)
    else { return false }
    var process = ReportSnapshot.JetsamProcess(name: content[..<open].trimmed.string)
    process.uuid = uuid
    var rest = content[(close + 1)...]
    _ = rest.takeWord()
    process.residentPages = rest.takeWord().decimal
    for word in rest.split(separator: 0x20) where word.count > 2 {
      let inner = word.dropFirst().dropLast()
      if word.first == UInt8(ascii: "["), word.last == UInt8(ascii: "]") { process.reason = inner.string }
      if word.first == UInt8(ascii: "("), word.last == UInt8(ascii: ")") { process.states.append(inner.string) }
    }
    builder.report.jetsam?.processes.append(process)
    return true
  }

  /// Reads the head of a report about low memory, as systems up to iOS 8 wrote it: "Largest process:   Shop".
  private mutating func lowMemory(_ key: TextKey) -> Bool {
    guard key.name == "Largest process", !key.value.isEmpty else { return false }
    var jetsam = ReportSnapshot.Jetsam()
    jetsam.largestProcess = key.value.string
    func pages(_ name: String) -> UInt64? {
      builder.report.fields.first { $0.name == name }.flatMap { UInt64($0.value) }
    }
    (jetsam.freePages, jetsam.pageSize) = (pages("Free pages"), pages("Page Size"))
    builder.report.jetsam = jetsam
    builder.report.kind = .jetsam
    return true
  }

  /// Reads "Fatal Exception: NSRangeException" of crash services, with its reason in this line or the next one.
  private mutating func beginUncaught(_ value: TextBytes) {
    let parts = ServiceException(value)
    uncaughtName = parts.reason == nil ? parts.name : nil
    builder.addUncaught(parts.name, reason: parts.reason)
    builder.report.statesCrash = true
  }

  /// Whether the line is the reason of the exception in the line before.
  private mutating func uncaughtReason(_ content: TextBytes) -> Bool {
    guard let name = uncaughtName else { return false }
    uncaughtName = nil
    guard TextKey(content)?.isPadded != true, TextFrame(content) == nil, !ServiceException.isQueue(content) else {
      return false
    }
    builder.report.messages.removeAll()
    builder.addUncaught(name, reason: content.string)
    return true
  }

  /// Whether the line is the console's of an exception, above a report that does not repeat its reason.
  private mutating func consoleException(_ content: TextBytes) -> Bool {
    guard let start = content.first(of: "Terminating app due to uncaught exception '") else { return false }
    builder.report.statesCrash = true
    builder.addMessage(content[content.withStars(start)...].string)
    return true
  }

  /// Reads "# Cause: Crash due to signal: SIGSEGV(SEGV_ACCERR) at 19288dcb4", with which Instabug's reports begin.
  private mutating func signalCause(_ content: TextBytes) -> Bool {
    guard exception.type == nil, let cause = PastedLine.signalCause(content) else { return false }
    exception.type = cause.signal.string
    builder.report.statesCrash = true
    if !cause.code.isEmpty {
      builder.report.exceptionCodes = cause.code.string + (cause.address.map { " at 0x" + String($0, radix: 16) } ?? "")
    }
    return true
  }

  /// Reads a frame above the first title of a thread: the text begins within a stack.
  private mutating func headlessFrame(_ content: TextBytes) -> Bool {
    guard builder.snapshot.threads.isEmpty, frames.last.isEmpty, let frame = TextFrame(content), frame.hasAddress,
      let number = frame.number, headless.last.map({ $0.number.map { $0 &+ 1 } == number }) ?? true
    else { return false }
    headless.append(frame)
    return true
  }

  /// Gives the frames above the first title to the stack that reports have there: that of the thread before, and above the
  /// first thread that of the exception.
  mutating func placeHeadless(before number: UInt64?) {
    guard !headless.isEmpty else { return }
    if number == 0, frames.last.isEmpty {
      frames.last = headless
    } else if number != 0 {
      frames.threads[threadIndex(number.map { $0 - 1 } ?? 0)] = headless
    }
    endHeadless("")
  }

  /// Gives the frames above registers, which stand below all stacks, to the main thread, if the registers are its. Else their thread
  /// is not known.
  mutating func placeHeadless(aboveRegistersOf number: UInt64) {
    guard !headless.isEmpty else { return }
    let isMain = headless.contains {
      $0.function == "main" || $0.function == "start" && $0.image.first(of: "dyld") != nil
    }
    let isKnown = number == 0 && isMain
    if isKnown { frames.threads[threadIndex(0)] = headless }
    endHeadless(isKnown ? "" : ", and its thread is not named: its frames are left out")
  }

  private mutating func endHeadless(_ words: String) {
    guard let first = headless.first else { return }
    headless = []
    builder.note(ReportRules.damagedWrapping, at: first.offset, found: .text("the text begins within a stack\(words)"))
  }

  /// Begins the stack that people paste below the exception without the title of its thread.
  private mutating func untitledFrame(_ content: TextBytes) {
    if exception.type == nil || content.first != UInt8(ascii: "0"), headlessFrame(content) { return }
    guard exception.type != nil, builder.snapshot.threads.isEmpty, content.first == UInt8(ascii: "0"),
      PastedFrame(content, mayBeBare: true, after: nil) != nil
    else { return }
    let number = faultingNumber ?? 0
    faultingNumber = number
    thread = threadIndex(number)
    section = .thread
    readFrame(content, of: .thread(thread))
  }

  /// KSCrash ends the process when its main thread has not run for a while.
  private mutating func deadlocked() {
    builder.report.isDeadlock = true
    builder.report.kind = .hang
    exception = TextException()
  }

  /// Whether the line begins the section of another process, as in a spindump of the whole system.
  private mutating func isOfOther(_ value: TextBytes) -> Bool {
    guard let number = value.nameAndNumber.number else { return false }
    // A spindump of one process names it before these fields.
    if builder.report.processName == nil, builder.snapshot.processID == nil,
      builder.report.fields.contains(where: { $0.name == "Data Source" || $0.name == "Steps" })
    {
      builder.report.kind = .stackshot
    }
    isOtherProcess = builder.snapshot.processID.map { Int64($0) != number } ?? false
    return isOtherProcess
  }

  /// The name and the number of a process: "Shop [123]", and "Shop 123" in the texts that sample(1) wrote up to Mac OS X 10.6.
  private func process(_ value: TextBytes) -> (name: String?, number: Int64?) {
    let parts = value.nameAndNumber
    guard isSampled, parts.number == nil, let blank = value.lastIndex(of: 0x20),
      let number = value[(blank + 1)...].decimal.flatMap({ Int64(exactly: $0) })
    else { return parts }
    return (value[..<blank].trimmed.nameAndNumber.name, number)
  }

  private func known(_ value: TextBytes) -> String? {
    value.isEmpty || value.equals("???") || value.equals("()") ? nil : value.string
  }

  /// Reads a line that identifies the process; false if it does not.
  private mutating func identity(_ key: TextKey) -> Bool {
    switch key.name {
    case "Process", "Command":
      let (name, number) = process(key.value)
      builder.report.processName = name ?? builder.report.processName
      if let number { setProcess(number, key) }
    case "PID": setProcess(key.value.decimal.flatMap { Int64(exactly: $0) }, key)
    case "Path": builder.report.processPath = known(key.value)
    case "Identifier": builder.report.bundleID = known(key.value)
    case "Version": version = key.value.string
    case "Code Type":
      builder.report.codeType = known(key.value)
      builder.report.isTranslated = key.value.last(of: "(Translated)") != nil
      setArchitecture(key.value.string)
    case "Architecture": setArchitecture(key.value.string)
    case "Role": builder.report.role = known(key.value)
    case "Parent Process", "Parent":
      let (name, number) = process(key.value)
      builder.report.parentName = name
      builder.snapshot.parentProcessID = number.flatMap { Int32(exactly: $0) }
      if let number { builder.addField("Parent PID", String(number)) }
    case "Responsible", "Responsible Process":
      let (name, number) = key.value.nameAndNumber
      builder.report.responsibleName = name
      if let number { builder.addField("Responsible PID", String(number)) }
    case "Coalition":
      let (name, number) = key.value.nameAndNumber
      builder.report.coalition = name
      if let number { builder.addField("Coalition ID", String(number)) }
    default: return false
    }
    return true
  }

  private mutating func setProcess(_ number: Int64?, _ key: TextKey) {
    guard let number, let id = Int32(exactly: number) else {
      return builder.note(
        ReportRules.badNumber, at: key.value.startIndex, path: key.name, found: .text(key.value.string))
    }
    builder.snapshot.processID = id
  }

  private mutating func setArchitecture(_ text: String) {
    let architecture = ReportNames.architecture(text)
    if architecture != .unknown { builder.snapshot.system.architecture = architecture }
  }

  /// Reads a line about the time or the system; false if it is another one.
  private mutating func place(_ key: TextKey) -> Bool {
    switch key.name {
    case "Incident Identifier": builder.report.incident = known(key.value)
    case "CrashReporter Key", "Anonymous UUID": builder.report.reporterKey = known(key.value)
    case "Hardware Model", "Hardware model":
      builder.snapshot.system.machine = builder.content(known(key.value))
    case "Date/Time":
      builder.report.captureTime = known(key.value)
      builder.snapshot.snapshotTime = ReportTime.timestamp(builder.report.captureTime) ?? builder.snapshot.snapshotTime
    // A stackshot of systems up to iOS 9 has its time so.
    case "Date" where builder.report.kind == .stackshot && ReportTime.isTime(key.value.string):
      builder.report.captureTime = key.value.string
      builder.snapshot.snapshotTime = ReportTime.timestamp(key.value.string)
    case "CrashDoctor Diagnosis": builder.report.diagnosis = known(key.value)
    case "Launch Time":
      builder.report.launchTime = known(key.value)
      builder.snapshot.startTime = ReportTime.timestamp(builder.report.launchTime)
    // Up to Mac OS X 10.4 the version stands alone: "10.3.9 (Build 7W98)".
    case "OS Version": builder.setSystem(known(key.value).map { $0.hasPrefix("10.") ? "Mac OS X " + $0 : $0 })
    case "Active cpus": builder.snapshot.system.cpuCount = key.value.decimal.flatMap { Int32(exactly: $0) }
    default: return false
    }
    return true
  }

  /// Parses "1.4.4 (44)" or "44 (1.4.4)": the version and the build.
  mutating func setVersion() {
    guard let version, let text = Optional(Array(version.utf8)[...]) else { return }
    var outer = text.trimmed
    var inner: TextBytes = []
    if outer.last == UInt8(ascii: ")"), let open = outer.last(of: " (") {
      inner = outer[(open + 2)...].dropLast().trimmed
      outer = outer[..<open].trimmed
    }
    let isSwapped = !inner.isEmpty && order(outer, inner) == .buildFirst
    builder.report.version = known(isSwapped ? inner : outer) ?? builder.report.version
    builder.report.build = known(isSwapped ? outer : inner) ?? builder.report.build
  }

  /// The order of the two; what their forms show counts more than the rule, which other programs do not keep.
  private mutating func order(_ outer: TextBytes, _ inner: TextBytes) -> VersionOrder {
    builder.finishPlatform()
    // The logger of resources always had the version first. It writes no threads, and no exception.
    let isOfLogger = threadNumbers.isEmpty && exception.type == nil && builder.report.exceptionCodes == nil
    let rule = isOfLogger ? .versionFirst : isForeign ? nil : VersionOrder.of(builder.snapshot.system)
    guard known(outer) != nil, known(inner) != nil else { return rule ?? .versionFirst }
    let shown = VersionOrder.shown(by: outer.string, inner.string)
    builder.report.isVersionInferred = rule == nil || (shown != nil && shown != rule)
    return shown ?? rule ?? .versionFirst
  }

  /// Whether another program than Apple's wrote the text: PLCrashReporter has a signal as the type of the exception.
  private var isForeign: Bool { exception.type?.hasPrefix("SIG") == true && exception.signal == nil }
}
