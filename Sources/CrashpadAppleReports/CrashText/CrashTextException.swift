// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

extension CrashText {
  /// Reads the line; false if it belongs neither to the exception nor to the termination.
  mutating func readException(_ key: TextKey) -> Bool {
    let value = key.value.string
    switch key.name {
    case "Exception Type": setType(key.value)
    // Up to Mac OS X 10.4: "Exception:  EXC_BAD_ACCESS (0x0001)".
    case "Exception" where key.value.has(prefix: "EXC_"): exception.type = key.value.prefix { $0 != 0x20 }.string
    case "Codes" where exception.type != nil: builder.report.exceptionCodes = value
    case "Thread" where key.value.decimal != nil: faultingNumber = key.value.decimal
    case "Exception Subtype": builder.report.exceptionSubtype = value
    case "Exception Codes": builder.report.exceptionCodes = value
    case "Exception Message": builder.report.exceptionMessage = value
    case "Exception Reason": builder.report.messages.append(ReportSnapshot.Message(image: nil, text: value))
    case "Exception Note":
      builder.report.exceptionNotes.append(value)
      if value.contains("NON-FATAL") { builder.report.isNonFatal = true }
      if value.contains("SIMULATED") { builder.report.isSimulated = true }
    case "Termination Signal": changeTermination { $0.indicator = value }
    case "Termination Reason":
      changeTermination { $0.read(reason: key.value) }
      section = .termination
    case "Termination Description":
      let isLoader = value.hasPrefix("DYLD, ") && builder.report.termination?.namespace == nil
      if isLoader { hasLoaderMessage = true }
      for part in (isLoader ? value.dropFirst(6) : value[...]).split(separator: "|") { addReason(String(part)) }
      section = .termination
    case "Terminating Process":
      let (name, number) = key.value.nameAndNumber
      changeTermination {
        $0.byProcess = name
        $0.byProcessID = number
      }
      section = .head
    case "Triggered by Thread", "Crashed Thread", "Highlighted Thread":
      var rest = key.value
      faultingNumber = rest.takeNumber()
      // Reports of crashes have it, and no others.
      if key.name != "Highlighted Thread" { seen.crashedThread = true }
      if faultingNumber == nil, key.value.isEmpty { seen.cutKey = key.value.startIndex }
      section = .head
    default: return false
    }
    return true
  }

  /// Reads "Code[0]:    0x00000001Code[1]:    0x8fe01280" of Mac OS X up to 10.2; false for another line.
  mutating func oldCodes(_ content: TextBytes) -> Bool {
    guard content.has(prefix: "Code[0]:") else { return false }
    let words = content.split(separator: UInt8(ascii: "C")).compactMap { part in
      part.firstIndex(of: UInt8(ascii: ":")).map { part[($0 + 1)...].trimmed.string }
    }
    builder.report.exceptionCodes = words.joined(separator: ", ")
    return true
  }

  private mutating func setType(_ value: TextBytes) {
    var type = value
    // "EXC_CRASH (SIGKILL (Code Signature Invalid))" since macOS 12, or "EXC_CRASH (Code Signature Invalid)" without a signal.
    if value.last == UInt8(ascii: ")"), let open = value.first(of: "(") {
      let words = value[(open + 1)...].dropLast()
      let isSignal = words.has(prefix: "SIG")
      let signal = isSignal ? words.prefix { $0 != 0x20 } : words
      exception.signal = signal.string
      let reason = isSignal ? words[signal.endIndex...].drop { $0 == 0x20 || $0 == 0x28 }.prefix { $0 != 0x29 } : words
      if isSignal ? !reason.isEmpty : reason.contains(0x20), builder.report.exceptionSubtype == nil {
        builder.report.exceptionSubtype = reason.string
      }
      type = value[..<open].trimmed
    } else if let open = value.first(of: " ("), value.last != UInt8(ascii: ")") {
      // The end of the text cuts the name of the signal.
      type = value[..<open].trimmed
      seen.cutKey = value.startIndex
    }
    exception.type = type.string
    if type.equals("EXC_RESOURCE"), builder.report.bugType == nil { builder.report.kind = .resource }
  }

  // MARK: Termination

  private mutating func changeTermination(_ change: (inout ReportSnapshot.Termination) -> Void) {
    // Changed in place, because there may be a reason for each line of the text.
    if builder.report.termination == nil { builder.report.termination = ReportSnapshot.Termination() }
    if builder.report.termination != nil { change(&builder.report.termination!) }
  }

  mutating func addReason(_ text: String) {
    var line = Array(text.utf8)[...].trimmed
    // Texts of iOS 9 have it within the section of the same name.
    if line.has(prefix: "Dyld Message: ") { line = line.dropFirst("Dyld Message: ".utf8.count) }
    guard !line.isEmpty else { return }
    changeTermination { $0.reasons.append(line.string) }
  }

  private static let exceptionKeys: Set<String> = [
    "Exception Type", "Exception Subtype", "Exception Codes", "Exception Message", "Exception Note", "Exception Reason",
    "Termination Signal", "Termination Reason", "Termination Description", "Terminating Process",
    "Triggered by Thread", "Crashed Thread", "Highlighted Thread",
  ]

  /// Reads a line after a termination: a key of the exception block, or one more reason.
  mutating func terminationLine(_ content: TextBytes) {
    if let key = TextKey(content), Self.exceptionKeys.contains(key.name) { return head(content) }
    // A line between the report and other text.
    guard content.contains(where: { $0.isLetter || $0.isDigit || $0 >= 0x80 }) else {
      section = .head
      return
    }
    addReason(content.string)
  }

  // MARK: The exception

  mutating func setException() {
    let codes =
      TextCodes.of(builder.report.exceptionCodes) ?? TextCodes.of(builder.report.exceptionSubtype)
      ?? TextCodes.ofGuard(builder.report.exceptionSubtype, builder.report.exceptionMessage) ?? []
    let type = exception.type ?? TextCodes.type(of: builder.report.exceptionCodes ?? builder.report.exceptionSubtype)
    // The system kills a process for that, if no termination says otherwise.
    let isKilled = exception.signal == "Code Signature Invalid" && builder.report.termination == nil
    builder.setException(type: type, signal: isKilled ? "SIGKILL" : exception.signal, codes: codes)
    if let contextOfUnlisted, builder.snapshot.exception?.context == nil {
      builder.snapshot.exception?.context = contextOfUnlisted
    }
    // Before iOS 10, the code of a termination was given as the exception type.
    if builder.snapshot.exception == nil, exception.type?.utf8.count == 8,
      exception.type?.allSatisfy(\.isHexDigit) == true, let code = codes.first
    {
      changeTermination { $0.code = $0.code ?? code }
    }
  }
}

extension ReportSnapshot.Termination {
  /// Parses "Namespace SIGNAL, Code 0xb", "Namespace DYLD, Code 1 Library missing", "SIGNAL 11 Segmentation fault:
  /// 11", "SPRINGBOARD; code 0x8badf00d", "TCC, This app has crashed because …".
  mutating func read(reason value: TextBytes) {
    var rest = value
    if rest.has(prefix: "Namespace ") { _ = rest.takeWord() }
    let namespace = rest.takeWord().withoutSeparator
    rest = rest.trimmed
    // Some people's tables have a bar between the parts.
    if rest.has(prefix: "| ") { rest = rest.dropFirst(2) }
    var afterCode = rest
    let word = afterCode.takeWord()
    if word.equals("Code") || word.equals("code") { rest = afterCode }
    var afterNumber = rest
    let number = afterNumber.takeWord().withoutSeparator
    // dyld writes [0x4].
    code =
      (number.first == UInt8(ascii: "[") && number.last == UInt8(ascii: "]") ? number.dropFirst().dropLast() : number)
      .number
    self.namespace = namespace.isEmpty ? nil : namespace.string
    let words = (code == nil ? rest : afterNumber).trimmed
    guard !words.isEmpty else { return }
    if code == nil { reasons.append(words.string) } else { indicator = words.string }
  }
}

extension TextBytes {
  /// The text without a trailing comma or semicolon.
  fileprivate var withoutSeparator: TextBytes {
    last == UInt8(ascii: ",") || last == UInt8(ascii: ";") ? dropLast() : self
  }
}
