// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

extension CrashText {
  /// Reads the line; false if it belongs neither to the exception nor to the termination.
  mutating func readException(_ key: TextKey) -> Bool {
    let value = key.value.string
    switch key.name {
    case "Exception Type": setType(key.value)
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
      section = .head
    default: return false
    }
    return true
  }

  private mutating func setType(_ value: TextBytes) {
    var type = value
    if value.last == UInt8(ascii: ")"), let open = value.last(of: "(") {
      exception.signal = value[(open + 1)...].dropLast().string
      type = value[..<open].trimmed
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
    let line = Array(text.utf8)[...].trimmed
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
    addReason(content.string)
  }

  // MARK: The exception

  mutating func setException() {
    let codes =
      TextCodes.of(builder.report.exceptionCodes) ?? TextCodes.of(builder.report.exceptionSubtype)
      ?? TextCodes.ofGuard(builder.report.exceptionSubtype, builder.report.exceptionMessage) ?? []
    builder.setException(type: exception.type, signal: exception.signal, codes: codes)
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

/// The kernel's codes as spelled in reports.
enum TextCodes {
  /// kern_return_t and the codes of the processors, from XNU's osfmk/mach/kern_return.h and
  /// exception.h in mach/arm and mach/i386.
  private static let names: [String: UInt64] = [
    "KERN_INVALID_ADDRESS": 1, "KERN_PROTECTION_FAILURE": 2, "KERN_NO_SPACE": 3, "KERN_INVALID_ARGUMENT": 4,
    "KERN_FAILURE": 5, "KERN_RESOURCE_SHORTAGE": 6, "KERN_NO_ACCESS": 8, "KERN_MEMORY_FAILURE": 9,
    "KERN_MEMORY_ERROR": 10, "KERN_ABORTED": 14, "KERN_CODESIGN_ERROR": 50, "KERN_DENIED": 53,
    "EXC_ARM_DA_ALIGN": 0x101, "EXC_ARM_DA_DEBUG": 0x102, "EXC_ARM_SP_ALIGN": 0x103, "EXC_ARM_SWP": 0x104,
    "EXC_ARM_PAC_FAIL": 0x105, "EXC_ARM_BREAKPOINT": 1, "EXC_ARM_UNDEFINED": 1, "EXC_I386_GPFLT": 13,
    "EXC_I386_INVOP": 1, "EXC_I386_BPT": 2, "EXC_I386_SGL": 1, "EXC_I386_DIV": 1, "EXC_I386_ALIGNFLT": 17,
    "BUS_ADRALN": 1, "BUS_ADRERR": 2, "BUS_OBJERR": 3, "SEGV_MAPERR": 1, "SEGV_ACCERR": 2, "SEGV_NOOP": 0,
    "BUS_NOOP": 0,
  ]

  /// Parses "0x0000000000000001, 0x000000011ecc5adc", "KERN_INVALID_ADDRESS at 0x18",
  /// "UNKNOWN_0x32 at 0x10"; nil for other text.
  static func of(_ text: String?) -> [UInt64]? {
    guard let text else { return nil }
    var rest = Array(text.utf8)[...]
    if rest.first.map({ (0x30...0x39).contains($0) }) == true { return ReportBuilder.codes(text) }
    let name = rest.takeWord()
    guard let code = names[name.string] ?? unknown(name) else { return nil }
    guard rest.takeWord().equals("at"), let address = rest.takeWord().number else {
      // The codes of processors have no address.
      return name.has(prefix: "EXC_") ? [code, 0] : [code]
    }
    return [code, address]
  }

  /// The flavors of a guarded descriptor, from XNU's bsd/sys/guarded.h.
  private static let descriptorFlavors: [String: UInt64] = [
    "CLOSE": 1, "DUP": 2, "NOCLOEXEC": 4, "SOCKET_IPC": 8, "FILEPORT": 16, "MISMATCH": 32, "WRITE": 64,
  ]

  /// The code words of "GUARD_TYPE_FD" and "CLOSE on file descriptor 14 (guarded with 0x08fd4dbfade2dead)", as the kernel
  /// packs them; nil for other guards.
  static func ofGuard(_ subtype: String?, _ message: String?) -> [UInt64]? {
    guard let subtype, subtype.hasPrefix("GUARD_TYPE_FD"), let message else { return nil }
    var rest = Array(message.utf8)[...]
    guard let flavor = descriptorFlavors[rest.takeWord().string], rest.takeWord().equals("on"),
      rest.takeWord().equals("file"), rest.takeWord().equals("descriptor"), let number = rest.takeWord().decimal
    else { return nil }
    let guardWord = message.firstRange(of: "guarded with ").flatMap { range in
      Array(message[range.upperBound...].utf8)[...].filter { $0 != UInt8(ascii: ")") }[...].trimmed.number
    }
    return [2 << 61 | flavor << 32 | UInt64(UInt32(truncatingIfNeeded: number)), guardWord ?? 0]
  }

  private static func unknown(_ name: TextBytes) -> UInt64? {
    name.has(prefix: "UNKNOWN_") ? name.dropFirst(8).number : nil
  }
}
