// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// The exception of a pasted text, kept until the threads are known.
struct PastedException {
  /// The name of an NSException that Crashlytics gives, and its reason.
  var name: String?
  var reason: String?
  var isNonFatal = false
  /// The number of a signal on Linux.
  var linuxSignal: UInt32?
  private var type: String?
  private var signal: String?
  private var codes: [UInt64] = []
  private var subtype: String?

  /// Reads the words of Xcode and lldb: "EXC_BAD_ACCESS (code=1, address=0x10)", "signal SIGABRT", "EXC_RESOURCE
  /// (RESOURCE_TYPE_MEMORY: limit exceeded) (limit=15 MB)".
  ///
  /// - Returns: false for other words, such as those of a breakpoint.
  mutating func read(stop text: TextBytes) -> Bool {
    var rest = text
    let word = rest.takeWord()
    if word.equals("signal") {
      // lldb on Linux explains it: "signal SIGILL: illegal instruction operand".
      let word = rest.takeWord()
      let name = (word.last == UInt8(ascii: ":") ? word.dropLast() : word).string
      if Self.harmlessSignals.contains(name) { return false }
      signal = name
      type = type ?? name
      return true
    }
    guard word.has(prefix: "EXC_") else { return false }
    type = word.string
    if word.equals("EXC_RESOURCE") {
      subtype = rest.trimmed.string
      return true
    }
    // Without the first code, the second one would be taken for it.
    guard let code = value("(code=", in: rest) else { return true }
    codes = [code, value("address=", in: rest) ?? value("subcode=", in: rest)].compactMap { $0 }
    return true
  }

  /// Signals that end no process; lldb stops a process that it attaches to by SIGSTOP.
  private static let harmlessSignals = [
    "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD", "SIGURG", "SIGIO", "SIGWINCH", "SIGINFO",
  ]

  private func value(_ key: String, in text: TextBytes) -> UInt64? {
    guard let start = text.first(of: key) else { return nil }
    let word = text[(start + key.utf8.count)...].prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ")") }
    return word.trimmed.number ?? TextCodes.code(named: word.trimmed.string)
  }

  /// Reads Crashlytics' "EXC_BAD_ACCESS KERN_INVALID_ADDRESS at 0x00000038".
  mutating func read(service line: TextBytes) -> Bool {
    var rest = line
    let word = rest.takeWord()
    guard word.has(prefix: "EXC_"), word.allSatisfy({ $0.isLetter || $0 == UInt8(ascii: "_") }) else { return false }
    type = word.string
    let name = rest.takeWord()
    guard let code = TextCodes.code(named: name.string) else { return true }
    var address = rest.takeWord()
    if address.equals("at") { address = rest.takeWord() }
    codes = [code, address.number].compactMap { $0 }
    return true
  }

  /// Takes what Instabug says of a signal.
  mutating func read(_ cause: (signal: TextBytes, code: TextBytes, address: UInt64?)) {
    signal = cause.signal.string
    type = type ?? signal
    codes = [TextCodes.code(named: cause.code.string), cause.address].compactMap { $0 }
    // An address alone would be taken for the code.
    if codes.count == 1, cause.address != nil { codes = [] }
  }

  /// Reads the line of a shell or of Xcode: "Abort trap: 6", "Message from debugger: Terminated due to signal 6".
  mutating func read(shell line: TextBytes) -> Bool {
    for (words, name) in Self.shellWords where line.equals(words) {
      signal = name
      return true
    }
    if line.equals("Message from debugger: Terminated due to memory issue") {
      signal = "SIGKILL"
      return true
    }
    let words = "Message from debugger: Terminated due to signal "
    guard line.has(prefix: words),
      let number = line.dropFirst(words.utf8.count).decimal.flatMap({ UInt32(exactly: $0) })
    else { return false }
    signal = darwinSignalName(number)
    return true
  }

  private static let shellWords: [(words: String, name: String)] = [
    ("Abort trap: 6", "SIGABRT"), ("Segmentation fault: 11", "SIGSEGV"), ("Illegal instruction: 4", "SIGILL"),
    ("Trace/BPT trap: 5", "SIGTRAP"), ("Bus error: 10", "SIGBUS"), ("Killed: 9", "SIGKILL"),
  ]

  func set(in builder: inout ReportBuilder) {
    if let name {
      builder.report.isNonFatal = isNonFatal
      // A report of an error that the program caught says no more than its name.
      let text = "Non-fatal Exception: \(name)" + (reason.map { ": \($0)" } ?? "")
      if isNonFatal {
        builder.addMessage(text)
      } else if name == "Il2CppExceptionWrapper" {
        builder.addMessage("Unhandled managed exception: \(name)" + (reason.map { ": \($0)" } ?? ""))
      } else if name.containsBytes("::") {
        builder.addMessage("terminating due to uncaught exception of type \(name)" + (reason.map { ": \($0)" } ?? ""))
      } else {
        builder.addUncaught(name, reason: reason)
      }
    }
    if let linuxSignal {
      builder.snapshot.system.operatingSystem = .linux
      var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: builder.faultingThreadID, code: linuxSignal)
      (exception.isInfoKnown, exception.isAddressKnown) = (false, false)
      builder.snapshot.exception = exception
    } else if type == "EXC_RESOURCE" {
      builder.report.kind = .resource
      builder.report.exceptionType = type
      builder.report.exceptionSubtype = subtype
    } else if let type = type ?? signal {
      builder.setException(type: type, signal: signal, codes: codes)
    }
  }
}
