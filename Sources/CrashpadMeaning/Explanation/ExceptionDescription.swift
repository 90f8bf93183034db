// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// A description of an exception. Names and meanings come from the table of codes.
package struct ExceptionDescription: Sendable, Hashable {
  /// "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x10"
  package let title: String
  /// The meaning, for readers who rarely see these names; nil if the name is self-explanatory.
  package let explanation: String?
  /// The rows of the table, the most specific first.
  package let rows: [CodeMeaning]

  private init(_ title: String, _ explanation: String?, _ rows: [CodeMeaning?] = []) {
    self.title = title
    self.explanation = explanation.map { Self.lowercasingArticle($0) }
    self.rows = rows.compactMap { $0 }
  }

  package init(_ exception: ExceptionSnapshot, _ system: SystemSnapshot) {
    if exception.isSimulated {
      self = Self.simulated
      return
    }
    self =
      switch exception.kind {
      case .mach: Self.mach(exception, system.architecture)
      case .softSignal:
        Self.signal(
          exception.info, exception.codes.count > 2 ? Int32(truncatingIfNeeded: exception.codes[2]) : 0,
          exception.isAddressKnown ? exception.address : nil, SignalNames.darwin)
      case .linuxSignal where exception.code == 0 && !exception.isInfoKnown:
        Self("Unknown signal", "a crash whose signal was not recorded")
      case .linuxSignal:
        Self.signal(
          exception.code,
          exception.isInfoKnown && !exception.mayBeOfKernel ? Int32(bitPattern: exception.info) : nil,
          exception.hasRecordedAddress ? exception.address : nil, SignalNames.linux, sent: SignalSending(exception),
          isX86: [.x86, .x86_64].contains(system.architecture))
      case .nsException:
        Self(
          "NSException", "an uncaught Objective-C exception",
          [CodeMeaning.messages.first { $0.name == "Uncaught NSException" }])
      case .windows: Self.windows(exception)
      }
  }

  /// Lowercases the article of an event, which is a sentence in the table but follows a name here.
  private static func lowercasingArticle(_ text: String) -> String {
    for article in ["The ", "A ", "An "] where text.hasPrefix(article) {
      return text.prefix(1).lowercased() + text.dropFirst()
    }
    return text
  }

  private static let simulated = Self("Simulated exception", "a dump without a crash (DumpWithoutCrash)")

  // MARK: Mach

  private static func mach(_ exception: ExceptionSnapshot, _ architecture: CPUArchitecture) -> Self {
    let code = UInt64(exception.info)
    // Crashpad stores the type before the kernel's codes.
    let first = exception.codes.count > 1 ? exception.codes[1] : code
    let second = exception.codes.count > 2 ? exception.codes[2] : nil
    guard let type = MeaningTable.exception(UInt64(exception.code)) else {
      let title = "Mach exception \(hex(exception.code))"
      return Self(exception.codes.count > 1 ? "\(title) / code \(hex(first))" : title, nil)
    }
    switch exception.code {
    case 10:
      // Reports have zeros for the code, and state the signal separately.
      let code = exception.signal.map { first == 0 ? UInt64($0) << 24 : first } ?? first
      return crash(CrashCode(code: code), type, architecture)
    case 11:
      let decoded = ResourceCode(code: first, subcode: second)
      return words(first, type, decoded.name, decoded.facts, decoded.rows, "more of a resource than the system allows")
    case 12:
      if !GuardCode.hasFlavor(first) { return words(0, type, type.name, [], [], "a guarded resource was misused") }
      let decoded = GuardCode(code: first, subcode: second)
      return words(first, type, decoded.name, decoded.facts, decoded.rows, "a guarded resource was misused")
    case 1, 2, 3, 5, 6:
      // One processor alone has these codes, which a text may have without its processor.
      let isBare = exception.code == 1 && architecture == .unknown
      let platform =
        isBare && code == 13
        ? .x86_64 : isBare && (0x101...0x10f).contains(code) ? .arm64 : CodeMeaning.Platform(codesOf: architecture)
      let row = MeaningTable.code(code, of: type.name, on: platform)
      // No code of the kernel's is 0: the report does not have it.
      var title = type.name
      if let name = row?.name ?? (code == 0 ? nil : "code \(hex(code))") { title += " / \(name)" }
      // The second code of a general protection fault is not an address.
      if exception.code == 1, row?.name != "EXC_I386_GPFLT", exception.hasRecordedAddress {
        title += " at \(hex(exception.address))"
      }
      let isKnown = row != nil || code == 0 || exception.code == 2 || exception.code == 3 || exception.code == 6
      return Self(title, isKnown ? row?.event ?? type.event : nil, [row, type])
    default: return Self(exception.codes.count > 1 ? "\(type.name) / code \(hex(first))" : type.name, nil, [type])
    }
  }

  /// The description of an exception whose codes are words of several fields.
  ///
  /// - Parameter event: the event if no row has it.
  private static func words(
    _ code: UInt64, _ type: CodeMeaning, _ name: String, _ facts: [DecodedFact], _ rows: [CodeMeaning], _ event: String
  ) -> Self {
    let event = rows.first?.event ?? event
    // Text reports have zeros for the code.
    let title = code == 0 ? type.name : "\(type.name) / \(name)"
    return Self(title, facts.isEmpty || code == 0 ? event : "\(event): \(facts.text)", rows + [type])
  }

  private static func crash(_ code: CrashCode, _ type: CodeMeaning, _ architecture: CPUArchitecture) -> Self {
    var title = type.name
    if code.signal != 0 { title += " (\(SignalNames.darwin.name(of: code.signal)))" }
    let original = MeaningTable.exception(code.exception)
    if let original { title += " from \(original.name)" }
    let row =
      original.map { MeaningTable.code(code.code, of: $0.name, on: CodeMeaning.Platform(codesOf: architecture)) ?? $0 }
      ?? MeaningTable.code(UInt64(code.signal), of: type.name, on: .darwin)
    // A signal that was sent, or came of an exception that the report does not have.
    let name = SignalNames.darwin.name(of: code.signal)
    let sent = code.signal == 0 ? nil : "\(name) ended the process; the report does not say why"
    return Self(title, row?.event ?? sent ?? type.event, [row, original, type])
  }

  // MARK: Signals

  /// - Parameters:
  ///   - code: nil if it is not known; the signal of a fault is then taken for one.
  ///   - sent: nil if no process is known to have sent the signal.
  private static func signal(
    _ number: UInt32, _ code: Int32?, _ address: UInt64?, _ names: SignalNames, sent: SignalSending? = nil,
    isX86: Bool = false
  ) -> Self {
    var title = names.name(of: number)
    let row = code.flatMap { names.codeRow($0, of: number) }
    // On Linux 0 is SI_USER; on Darwin 0 is not a code.
    if let row { title += " / \(row.name)" } else if let code, code != 0 { title += " / code \(code)" }
    // The processor has no address for a general protection fault.
    let hasNoAddress = row?.name == "SI_KERNEL" && address == 0
    if let address, names.hasAddress(number), code.map(names.isFault) ?? true, !hasNoAddress {
      title += " at \(hex(address))"
    }
    if let sent, sent.replacesMeaning { return Self(title, sent.event ?? row?.event, [row]) }
    let signal = names.row(of: number)
    let isSent = row != nil && row?.context == nil
    // The row of the code is about addresses, which a trap has none of.
    if row?.name == "SI_KERNEL", signal?.name == "SIGTRAP" { return Self(title, signal?.event, [signal]) }
    // The signal's row is about an address.
    if hasNoAddress, names.hasAddress(number) {
      return Self(title, faultWithoutAddress(signal?.name, isX86: isX86), [row])
    }
    // If another program or raise() sent a fault signal, the fault itself did not happen.
    let isNoFault = isSent && names.hasAddress(number) && row?.name != "SI_KERNEL"
    let event = isSent && !isNoFault ? signal?.event : row?.event ?? signal?.event
    return Self(title, event, isSent ? [signal, row] : [row, signal])
  }

  /// The words for a fault for which the kernel has no address. Only the instruction says which of the causes it was.
  ///
  /// Source: Linux, arch/x86/kernel/traps.c: general protection faults are SIGSEGV, and those of the stack's segment SIGBUS.
  private static func faultWithoutAddress(_ signal: String?, isX86: Bool) -> String {
    switch signal {
    case "SIGSEGV"? where isX86:
      "a general protection fault, mostly an address that no pointer can have or that the instruction needs aligned"
    case "SIGBUS"? where isX86:
      "a fault of the stack's segment, mostly an address in the stack or frame pointer that no pointer can have"
    default: "a fault for which the kernel has no address"
    }
  }

  // MARK: Windows

  private static func windows(_ exception: ExceptionSnapshot) -> Self {
    let known = MeaningTable.windows(UInt64(exception.code))
    let parameters = WindowsParameters(exception)
    let name = known?.name ?? WindowsErrorNames.lastError(exception.code) ?? "Exception \(hex(exception.code))"
    let title = ([name] + parameters.names).joined(separator: " / ")
    return Self(
      title + (parameters.address.map { " at \(hex($0))" } ?? ""), parameters.event ?? known?.event,
      [parameters.row, known])
  }
}

extension CodeMeaning.Platform {
  /// The platform whose codes of Mach exceptions the kernel has for a processor: those of 32 and 64 bits are the same.
  init(codesOf architecture: CPUArchitecture) {
    switch architecture {
    case .arm: self = .arm64
    case .x86: self = .x86_64
    default: self.init(architecture)
    }
  }

  package init(_ architecture: CPUArchitecture) {
    switch architecture {
    case .arm64: self = .arm64
    case .x86_64: self = .x86_64
    default: self = .any
    }
  }
}
