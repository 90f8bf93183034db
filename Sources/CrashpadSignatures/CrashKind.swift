// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// The kind of a crash, in words of a closed list: never an address, a number of a process, or text from a message.
struct CrashKind: Sendable {
  /// Whose stack has the fault.
  enum Place: Sendable {
    case crashedThread
    /// The stack of the exception that was not caught, where a report has it.
    case lastException
    case mainThread
  }

  var text: String
  var place = Place.crashedThread
  /// Whether the stack was captured after a time limit. The innermost frames then differ from one hang to the next.
  var isHang = false
  /// Whether the instruction that the thread stood at is the fault.
  var isFault = false
  /// Whether what raised it may say more: an abort may be an exception.
  var isAbort = false
  var isStackOverflow = false
  /// Whether the innermost frame is no code: the fault was to go on there.
  var isJumpOutOfCode = false
  /// The number of innermost frames of a handler that ended the process for a fault further out: no part of it.
  var handlerDepth = 0
  /// The kind of the first fault, if a handler that was called for it crashed itself, and the number of the handlers' frames, the
  /// innermost ones. Crashes in one handler are told apart by it, unless the handler had repaired it.
  var earlier: (text: String, depth: Int, isRepaired: Bool)?
  /// The function and the class of an error in a language that has no frames in the stack.
  var words: [String] = []
  /// The bundle id or the name of the process of a report, or a dump's executable, which tells crashes without a stack apart.
  var program: String?
  /// The system of the process, which tells whose handlers of exceptions are on the stack.
  private(set) var system = OperatingSystem.unknown
  /// Version 1 keeps what it made of reports, right or wrong, as trackers keep its ids.
  private var isFirst = false

  init(_ text: String) { self.text = text }

  init(_ snapshot: ProcessSnapshot, _ version: RuleVersion = .current) {
    self.init("none")
    isFirst = version == .first
    defer {
      system = snapshot.system.operatingSystem
      let report = version == .first ? nil : snapshot.report
      program = NameText.word(report?.bundleID) ?? NameText.word(report?.processName)
    }
    if let report = snapshot.report { describe(report, snapshot, version) }
    if text == "none", let exception = snapshot.exception { describe(exception, snapshot) }
    if text == "none", version != .first { infer(snapshot) }
    // AppKit ends the app by a trap for an exception that nothing caught.
    let isTrap = text == "trap" && version != .first
    if place == .crashedThread, text.hasPrefix("exception:") || isAbort || isTrap,
      snapshot.report?.lastException.isEmpty == false
    {
      place = .lastException
      if isAbort || isTrap { text = "exception:NSException" }
    }
  }

  /// The kind of a report without the type of its exception: by the stack of the exception that was not caught, by the message
  /// of a runtime, or by abort() on the stack. `explain` says the same of it.
  private mutating func infer(_ snapshot: ProcessSnapshot) {
    guard let report = snapshot.report, report.kind == .crash else { return }
    if let name = report.messages.lazy.compactMap({ Self.managed($0.statement) }).first {
      text = "exception:" + name
      return
    }
    if !report.lastException.isEmpty {
      text = "exception:NSException"
      return
    }
    if let word = report.termination?.guardCode {
      text = "guard:" + Self.path(GuardCode(code: word, subcode: nil).name)
      return
    }
    // Old texts have the code in place of the exception.
    if let termination = report.termination, termination.namespace == nil, let code = termination.code, code > 0xffff {
      self = Self.hang("killed:0x" + hexadecimal(code))
      return
    }
    if report.statesCrash, snapshot.system.architecture == .arm64, let value = report.syndrome {
      let syndrome = FaultSyndrome(value)
      if syndrome.trap != nil { return fault("trap") }
      if syndrome.isWrite != nil, let address = report.faultAddress {
        return fault(address < 0x1000 ? "bad-access[null]" : "bad-access[wild]")
      }
    }
    let rows = report.messages.lazy.compactMap { EvidenceSearch.all.message($0.statement) }
    if let row = rows.first {
      if row.grounds.runtime == .objectiveC {
        text = "exception:NSException"
      } else if row.endedBy.containsBytes("abort()") || row.endedBy.containsBytes("SIGABRT") {
        (text, isAbort) = ("abort", true)
      } else if row.endedBy.containsBytes("trap") {
        fault("trap")
      }
      return
    }
    let frames = snapshot.crashedThread.flatMap { snapshot.threads[$0].frames } ?? []
    if frames.prefix(8).contains(where: { ["abort", "__abort"].contains($0.function) }) {
      (text, isAbort) = ("abort", true)
    } else if frames.prefix(8).contains(where: { $0.function == Self.appKitEnd }) {
      text = "exception:NSException"
    } else if frames.prefix(16).contains(where: { $0.function?.hasPrefix("FIRCLSTerminateHandler") == true }) {
      text = "exception"
    }
  }

  /// The function of AppKit that ends the app for an exception that nothing caught.
  static let appKitEnd = "-[NSApplication _crashOnException:]"

  /// The class of a .NET exception, as in the message "Unhandled managed exception: Il2CppExceptionWrapper".
  private static func managed(_ text: String) -> String? {
    guard let mark = text.firstRange(of: "Unhandled managed exception: ") else { return nil }
    return NameText.word(String(text[mark.upperBound...].prefix { $0 != ":" && $0 != "\n" && $0 != " " }))
  }

  private static func hang(_ text: String) -> CrashKind {
    var kind = CrashKind(text)
    kind.isHang = true
    kind.place = .mainThread
    return kind
  }

  // MARK: Reports

  private mutating func describe(_ report: ReportSnapshot, _ snapshot: ProcessSnapshot, _ version: RuleVersion) {
    if report.endedForMemory, version != .first {
      self = Self.hang("killed:memory")
      place = .crashedThread
      return
    }
    switch report.kind {
    case .hang: self = Self.hang("hang")
    case .stackshot: self = CrashKind("stackshot")
    case .panic: self = CrashKind("panic")
    case .forceReset: self = CrashKind("force-reset")
    case .jetsam:
      let reason = report.jetsam?.processes.compactMap(\.reason).first
      self = CrashKind("jetsam:" + (NameText.word(reason) ?? "unknown"))
    case .resource:
      text = snapshot.exception.flatMap(Self.resource) ?? "resource"
      isHang = true
    case .crash, .osFault:
      if let termination = report.termination, let kind = Self.kind(of: termination, version) { self = kind }
    }
    guard text == "none" else { return }
    if version != .first, let raised = RaisedMessage(report) {
      text = "exception:" + raised.kind
      words = raised.words
    } else if version == .first || !isFaultAlone(snapshot), let name = Self.exceptionName(report, version) {
      text = "exception:" + name
    }
  }

  /// Whether a fault ended the process: an exception of which a message says that it was not caught came before, and did not
  /// end it.
  private func isFaultAlone(_ snapshot: ProcessSnapshot) -> Bool {
    snapshot.exception.map { $0.kind == .mach && $0.code == 1 && EndOfProcess($0) == .fault } ?? false
  }

  /// Nil where the exception says more.
  private static func kind(of termination: ReportSnapshot.Termination, _ version: RuleVersion) -> CrashKind? {
    let space = termination.namespace?.uppercased() ?? ""
    switch space {
    case "", "SIGNAL", "OBJC", "LIBSYSTEM", "GUARD", "PORT_SPACE", "SWIFT", "MACH", "LIBC++ABI": return nil
    case "DYLD":
      let name =
        termination.code.flatMap { MeaningTable.code($0, in: "DYLD")?.name } ?? termination.code.map { String($0) }
      // Version 1 takes no name of two words.
      let words = version == .first ? name : name?.replacing(" ", with: "-")
      let library = version == .first ? nil : missingLibrary(termination).map { "/" + $0 }
      return CrashKind("dyld:" + (NameText.word(words) ?? "unknown") + (library ?? ""))
    case "JETSAM", "MEMORYSTATUS":
      let name =
        termination.code.flatMap { MeaningTable.code($0, in: "JETSAM")?.name } ?? termination.code.map { String($0) }
      return CrashKind("jetsam:" + (NameText.word(name) ?? "unknown"))
    default: break
    }
    guard let code = termination.code else {
      // Some texts have the watchdog's words without its code.
      return version == .first ? nil : watchdogEvent(termination, version).map { hang("killed:0x8badf00d/" + $0) }
    }
    guard code > 0xffff else {
      let detail = version == .first ? nil : privacyKey(termination)
      let text = "killed:\(NameText.word(space) ?? "unknown")/" + (detail ?? String(code))
      // Other namespaces are those of libraries, by which the thread that crashed ended the process.
      return version == .first || supervisors.contains(space) ? hang(text) : CrashKind(text)
    }
    // One code is written by several services, from release to release another.
    return hang("killed:0x" + hexadecimal(code) + (watchdogEvent(termination, version).map { "/" + $0 } ?? ""))
  }

  /// The namespaces of those that end a process from outside, for the time that its main thread takes.
  private static let supervisors: Set<String> = [
    "FRONTBOARD", "SPRINGBOARD", "BACKBOARD", "RUNNINGBOARD", "ASSERTIOND", "CAROUSEL", "PINEBOARD", "WATCHKIT", "HANG",
  ]

  /// "NSCameraUsageDescription", which the application lacks, from the text of TCC.
  private static func privacyKey(_ termination: ReportSnapshot.Termination) -> String? {
    guard termination.namespace?.uppercased() == "TCC" else { return nil }
    let texts = [termination.indicator].compactMap { $0 } + termination.reasons + termination.details
    let words = texts.flatMap { $0.split { $0 == " " || $0 == "\n" } }
    let key = words.first { $0.hasPrefix("NS") && $0.contains("UsageDescription") }
    return NameText.word(key.map(String.init))
  }

  /// "libgears.dylib", from "Library not loaded: @rpath/libgears.dylib".
  private static func missingLibrary(_ termination: ReportSnapshot.Termination) -> String? {
    let start = "Library not loaded: "
    guard let line = termination.reasons.first(where: { $0.hasPrefix(start) }) else { return nil }
    let path = line.dropFirst(start.count).prefix { !$0.isNewline }
    return NameText.word(path.split(separator: "/").last.map(String.init))
  }

  /// "scene-update", from "WatchdogEvent: scene-update" or "scene-update watchdog transgression".
  private static func watchdogEvent(_ termination: ReportSnapshot.Termination, _ version: RuleVersion) -> String? {
    let indicator = version == .first ? nil : termination.indicator
    let texts = [indicator].compactMap { $0 } + termination.reasons + termination.details
    for line in texts.flatMap({ $0.split(separator: "\n") }) {
      if let range = line.firstRange(of: "WatchdogEvent: ") {
        return NameText.word(String(line[range.upperBound...].prefix { $0 != " " && $0 != "," }))
      }
      if let range = line.firstRange(of: " watchdog transgression") {
        let head = line[..<range.lowerBound]
        if version == .first {
          let start = head.lastIndex { $0 == ":" || $0 == " " }.map { head.index(after: $0) } ?? head.startIndex
          return NameText.word(String(head[start...]))
        }
        return NameText.word(WatchdogText.event(head).split(separator: " ").joined(separator: "-"))
      }
    }
    return nil
  }

  /// The exception that a runtime's message names: "NSRangeException", "std::out_of_range".
  private static func exceptionName(_ report: ReportSnapshot, _ version: RuleVersion) -> String? {
    let texts = report.messages.map(\.statement) + [report.exceptionMessage].compactMap { $0 }
    // The type in Swift's "Could not cast value of type 'A' to 'B'" is that of a value.
    for text in texts where version == .first || !text.containsBytes("Could not cast") {
      for (start, ends) in [
        ("due to uncaught exception '", "'"), ("uncaught exception of type ", ":\n "), ("of type '", "'"),
        ("*** Terminating app due to uncaught exception of class '", "'"),
      ] {
        guard let range = text.firstRange(of: start) else { continue }
        if let name = NameText.word(
          String(text[range.upperBound...].prefix { !ends.contains($0) || $0 == ":" && ends.count > 1 }))
        {
          return name
        }
      }
    }
    return nil
  }

  // MARK: Exceptions

  private mutating func describe(_ exception: ExceptionSnapshot, _ snapshot: ProcessSnapshot) {
    if exception.isSimulated {
      text = "simulated"
      return
    }
    switch exception.kind {
    case .mach: mach(exception, snapshot)
    case .nsException: text = "exception:NSException"
    case .windows: windows(exception, snapshot)
    case .softSignal:
      let code = exception.codes.count > 2 ? Int32(truncatingIfNeeded: exception.codes[2]) : 0
      signal(darwinName(exception.info), code, exception, snapshot)
    case .linuxSignal where exception.code == 0 && !exception.isInfoKnown: text = "signal:unknown"
    case .linuxSignal where !isFirst && exception.sending != nil && exception.isOfItself != true:
      // No fault, and no abort(): whatever it was, another process ended it, or kill() did.
      text = "signal:" + linuxSignalName(Int32(truncatingIfNeeded: exception.code)).replacing(" ", with: "-")
    case .linuxSignal:
      signal(
        linuxSignalName(Int32(truncatingIfNeeded: exception.code)),
        exception.isInfoKnown ? Int32(bitPattern: exception.info) : 1, exception, snapshot)
    }
  }

  private mutating func mach(_ exception: ExceptionSnapshot, _ snapshot: ProcessSnapshot) {
    // Crashpad has the type in front of the kernel's codes.
    let first = exception.codes.count > 1 ? exception.codes[1] : UInt64(exception.info)
    let second = exception.codes.count > 2 ? exception.codes[2] : nil
    switch exception.code {
    case 1: access(exception, snapshot, code: first)
    case 2, 6: fault("trap")
    case 3: fault("arithmetic")
    case 5 where first == 0x1_0002 && !isFirst:
      text = "abort"
      isAbort = true
    case 10: crash(exception, first, snapshot)
    case 11: text = Self.resource(exception) ?? "resource"
    case 12:
      // The code may be in the termination alone.
      let word = first >> 61 == 0 && !isFirst ? snapshot.report?.termination?.guardCode ?? first : first
      // The first version did not know the codes without a type.
      let name = isFirst && word >> 61 == 0 ? "type 0" : GuardCode(code: word, subcode: second).name
      text = "guard:" + Self.path(name)
    default:
      text =
        "exception:" + (NameText.word(MeaningTable.exception(UInt64(exception.code))?.name) ?? "mach-\(exception.code)")
    }
  }

  /// EXC_CRASH has the exception that it was made of, or the signal.
  private mutating func crash(_ exception: ExceptionSnapshot, _ first: UInt64, _ snapshot: ProcessSnapshot) {
    let code = CrashCode(code: exception.signal.map { first == 0 ? UInt64($0) << 24 : first } ?? first)
    switch code.exception {
    case 1: access(exception, snapshot, code: code.code)
    case 2, 6: fault("trap")
    case 3: fault("arithmetic")
    // The signal alone says nothing of memory: a process may have sent it.
    case 0 where !isFirst && [10, 11].contains(code.signal): text = "signal:\(darwinName(UInt32(code.signal)))"
    case 0 where !isFirst && code.signal == 0:
      // Texts of macOS have other words in place of the signal, which the termination has.
      let termination = snapshot.report?.termination
      let number = termination?.namespace?.uppercased() == "SIGNAL" ? termination?.code ?? 0 : 0
      if number > 0, number < 32 {
        signal(darwinName(UInt32(number)), 0, exception, snapshot)
      } else {
        text = "signal:unknown"
      }
    default: signal(darwinName(UInt32(truncatingIfNeeded: code.signal)), 0, exception, snapshot)
    }
  }

  private func darwinName(_ number: UInt32) -> String {
    number < 32 ? String(darwinSignalName(number).prefix { $0 != " " }) : "signal-\(number)"
  }

  private static func resource(_ exception: ExceptionSnapshot) -> String? {
    guard exception.code == 11 else { return nil }
    let first = exception.codes.count > 1 ? exception.codes[1] : UInt64(exception.info)
    let name = ResourceCode(code: first, subcode: exception.codes.count > 2 ? exception.codes[2] : nil).name
    if name.hasPrefix("type") { return nil }
    return "resource:" + (NameText.word(name.split(separator: " ").first.map(String.init)) ?? "unknown")
  }

  private static func path(_ name: String) -> String {
    let parts = name.split(separator: " ").prefix(2).compactMap { NameText.word(String($0)) }
    return parts.isEmpty ? "unknown" : parts.joined(separator: "/")
  }

  private mutating func fault(_ name: String) {
    text = name
    isFault = true
  }

  private mutating func signal(
    _ name: String, _ code: Int32, _ exception: ExceptionSnapshot, _ snapshot: ProcessSnapshot
  ) {
    switch name {
    // One that a process sent says nothing of memory.
    case "SIGSEGV" where code > 0 || code == 0 && exception.kind != .linuxSignal,
      "SIGBUS" where code > 0 || exception.kind != .linuxSignal:
      access(exception, snapshot, code: code == 0x80 ? 0x80 : 0)
    case "SIGILL", "SIGTRAP": fault("trap")
    case "SIGFPE": fault("arithmetic")
    case "SIGABRT":
      text = "abort"
      isAbort = true
    default: text = "signal:" + (NameText.word(name.split(separator: " ").joined(separator: "-")) ?? "unknown")
    }
  }

  private mutating func windows(_ exception: ExceptionSnapshot, _ snapshot: ProcessSnapshot) {
    switch exception.code {
    case 0xc000_0005: access(exception, snapshot, code: 0)
    // The memory was there: its file or disk was not.
    case 0xc000_0006: fault("bad-access[page-in]")
    case 0xc000_0409: fastFail(exception)
    case 0xc000_00fd:
      fault("bad-access[stack-overflow]")
      isStackOverflow = true
    case 0x8000_0003, 0xc000_001d, 0xc000_0096: fault("trap")
    case 0xc000_008c...0xc000_0095: fault("arithmetic")
    case 0xe06d_7363: text = "exception:C++"
    case 0xc000_0374, 0x4000_0015:
      text = "abort"
      isAbort = true
    default: text = "exception:0x" + hexadecimal(UInt64(exception.code))
    }
  }

  /// An abort, or the check that failed.
  private mutating func fastFail(_ exception: ExceptionSnapshot) {
    let reason = exception.codes.first.flatMap { $0 == 7 ? nil : MeaningTable.fastFail($0 & 0xffff_ffff)?.name }
    guard let reason else {
      text = "abort"
      isAbort = true
      return
    }
    text = "abort[\(reason.dropFirst("FAST_FAIL_".count).lowercased().split(separator: "_").joined(separator: "-"))]"
  }

  // MARK: Addresses

  private mutating func access(_ exception: ExceptionSnapshot, _ snapshot: ProcessSnapshot, code: UInt64) {
    isFault = true
    isJumpOutOfCode = exception.isJumpOutOfCode(snapshot.crashedThread.flatMap { snapshot.threads[$0].context })
    let isARM = snapshot.system.architecture == .arm64
    if isARM, code == 0x105 {
      text = "bad-access[pac]"
    } else if isARM, code == 0x106 || exception.kind == .linuxSignal && [8, 9].contains(exception.info) {
      text = "bad-access[mte]"
    } else if exception.kind == .mach, code == Self.codeSigningError, !isFirst {
      text = "bad-access[codesign]"
    } else if isAtStack(exception, snapshot) || (!isFirst && snapshot.lacksStackForHandler) {
      text = "bad-access[stack-overflow]"
      isStackOverflow = true
    } else {
      // A general protection fault has no address.
      let hasAddress =
        code != 0x80 && !(exception.kind == .mach && snapshot.system.architecture == .x86_64 && code == 13)
      text =
        !exception.hasRecordedAddress && !isFirst
        ? "bad-access" : hasAddress && exception.address < 0x1000 ? "bad-access[null]" : "bad-access[wild]"
    }
  }

  /// KERN_CODESIGN_ERROR: the page was there, and its signature was not valid.
  private static let codeSigningError: UInt64 = 50

  private func isAtStack(_ exception: ExceptionSnapshot, _ snapshot: ProcessSnapshot) -> Bool {
    if isFirst {
      if snapshot.report?.vmRegionInfo?.uppercased().containsBytes("STACK GUARD") == true { return true }
    } else if snapshot.report?.isAddressInStackGuard == true || snapshot.report?.saysStackOverflow == true {
      return true
    }
    let context = snapshot.crashedThread.flatMap { snapshot.threads[$0].context }
    return exception.isAtStack(context, pageSize: snapshot.system.pageSize.map { UInt64($0) })
  }
}
