// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The explanation of who ended the process, if the report states it.
extension ExplanationBuilder {
  /// Returns false if the termination adds nothing to the exception.
  mutating func explainTermination() -> Bool {
    guard let termination else { return false }
    addFlags(termination)
    result.certainty = .stated
    guard let code = termination.code else {
      let isKnown = explainWordsOfTermination(termination)
      if termination.namespace == "DYLD" { explainLoader(termination) }
      return isKnown
    }
    let name = termination.namespace
    let row = name.flatMap { MeaningTable.namespace($0) }
    if row?.name == "SIGNAL" { return explainSignal(code, termination) }
    if row?.name == "GUARD", code > UInt64(UInt32.max) {
      explainGuard(code, crash.exception.flatMap { $0.codes.count > 2 ? $0.codes[2] : nil })
      return true
    }
    if let known = row.flatMap({ MeaningTable.code(code, in: $0.name) }) {
      take(known, summary: termination.indicator.map { "\(sentence(known.event)) The system's words: \($0)." })
      // tccd answers the question; the system's code in the process ends it.
      if row?.name == "TCC", crash.exception?.signal == 6 {
        result.endedBy = ["The process itself, in the system's code that asked tccd for the permission."]
      }
    } else if let known = MeaningTable.terminationCode(code), row == nil || isSeen(known, in: row) {
      explainCode(known, code)
    } else {
      explainUnknown(code, row, termination)
      explainStatement()
    }
    if row?.name == "DYLD" { explainLoader(termination) }
    // The numbers in the text of a watchdog are explained already.
    let isWatchdog = code == 0x8bad_f00d
    addReasons(termination, limit: isWatchdog ? 1 : 4)
    if row?.name != "DYLD", !isWatchdog {
      if let line = messageLines.first { noteMessage(line) }
      addSuspectOfTermination(row)
    }
    return true
  }

  /// The part of the system that ended the process: the report's namespace says it, and the table which it mostly is.
  func ender(_ row: CodeMeaning) -> String {
    guard let namespace = termination?.namespace else { return row.endedBy }
    if namespace == "ASSERTIOND" { return "the daemon assertiond, in whose place RunningBoard is since iOS 13" }
    return MeaningTable.namespace(namespace)?.endedBy ?? row.endedBy
  }

  private func isSeen(_ code: CodeMeaning, in row: CodeMeaning?) -> Bool {
    code.aliases.isEmpty || code.aliases.contains { MeaningTable.namespace($0) == row }
  }

  private mutating func explainCode(_ row: CodeMeaning, _ code: UInt64) {
    switch code {
    case 0x8bad_f00d: explainWatchdog(row)
    case 0xdead_10cc:
      take(row)
      result.endedBy = [sentence(ender(row))]
      explainFileLock()
    default:
      take(row)
      result.endedBy = [sentence(ender(row))]
    }
    result.cautions += [row.myth].compactMap { $0 }
  }

  /// Explains a reason without a number: "TCC, This app has crashed because it attempted to access …".
  private mutating func explainWordsOfTermination(_ termination: ReportSnapshot.Termination) -> Bool {
    guard let name = termination.namespace, let row = MeaningTable.namespace(name), row.name != "SIGNAL" else {
      return false
    }
    // A description without its code has the watchdog's words.
    let watchdog = MeaningTable.terminationCode(0x8bad_f00d)
    if let watchdog, termination.reasons.contains(where: { $0.containsBytes("watchdog transgression") }) {
      explainWatchdog(watchdog)
      addReasons(termination, limit: 1)
      return true
    }
    take(row)
    addReasons(termination, limit: 4)
    return true
  }

  private mutating func explainUnknown(
    _ code: UInt64, _ row: CodeMeaning?, _ termination: ReportSnapshot.Termination
  ) {
    let name = termination.namespace.map { "namespace \($0)" } ?? "a namespace that the report does not name"
    result.certainty = .unknown
    result.summary = "The process was ended with code \(hex(code)) of \(name), which is unknown."
    if let row {
      result.endedBy.append(sentence(row.endedBy))
      add(row)
      result.advice += row.advice
    }
    if let indicator = termination.indicator { note("The system's words: \(indicator)") }
    result.notKnown.append("What \(hex(code)) means: no public list has it.")
    result.advice += CodeParser.collectTermination.map { "Collect \($0.prefix(1).lowercased() + $0.dropFirst())" }
  }

  /// Explains an end whose code is unknown by what a runtime said, which the program left in the report.
  private mutating func explainStatement() {
    guard let exception = crash.exception, EndOfProcess(exception) == .itself,
      let verdict = EvidenceSearch.all.verdict(crash), verdict.line != nil
    else { return }
    result.advice = []
    explainVerdict(exception)
  }

  private mutating func addReasons(_ termination: ReportSnapshot.Termination, limit: Int) {
    for line in (termination.reasons + termination.details).prefix(limit) where !line.isEmpty {
      note("The termination says: \(line)")
    }
  }

  private mutating func addFlags(_ termination: ReportSnapshot.Termination) {
    guard let flags = termination.flags else { return }
    if flags & 0x40 != 0 { note("The flags say that it will happen again at each start (CONSISTENT_FAILURE).") }
    if flags & 0x100 != 0 {
      result.cautions.append("No thread caused the termination (NO_CRASHED_TID): the one that is marked is no culprit.")
    }
    for bit in [0x40, 0x100] as [UInt64] where flags & bit != 0 {
      if let row = CodeMeaning.terminationFlags.first(where: { $0.has(bit) }) { add(row) }
    }
  }

  private mutating func addSuspectOfTermination(_ namespace: CodeMeaning?) {
    let ended = crash.exception?.signal == 9 || report?.exceptionSignal?.hasPrefix("SIGKILL") == true
    guard ended, let thread = crash.crashedThread else { return }
    let isOwn = termination?.byProcess == crash.processName && termination?.byProcess != nil
    if !isOwn, ["JETSAM", "RUNNINGBOARD", "SPRINGBOARD", "CAROUSEL"].contains(namespace?.name) {
      result.cautions.append(
        "\(sentence(thread.title).dropLast()) is marked as crashed because the kernel stood there; it is no culprit."
      )
    }
  }

  // MARK: Signals

  /// Explains namespace SIGNAL by the exception and the sender of the signal.
  private mutating func explainSignal(_ code: UInt64, _ termination: ReportSnapshot.Termination) -> Bool {
    let name = SignalNames.darwin.name(of: UInt32(truncatingIfNeeded: code))
    let sender = termination.byProcess
    let isFault = sender == "exc handler"
    // Nil where the report does not name the process that crashed, or its sender.
    let isOwn =
      termination.byProcessID.flatMap { id in crash.processID.map { $0 == id } }
      ?? sender.flatMap { name in crash.processName.map { $0 == name } }
    explainException()
    if isFault || code == 0 { return true }
    if isOwn == true {
      result.endedBy = ["The process itself, with \(name) (abort or raise)."]
      return true
    }
    guard let sender else { return true }
    let process = sender + (termination.byProcessID.map { " [\($0)]" } ?? "")
    if isOwn == nil {
      result.endedBy = ["The process \(process) sent \(name); whether to itself, the report does not say."]
    } else {
      result.endedBy = ["The process \(process) sent \(name)."]
      result.summary = "Another process, \(process), ended it with \(name)."
      result.advice = ["Find out why \(sender) ended the process."] + result.advice
    }
    return true
  }

  // MARK: The loader

  private mutating func explainLoader(_ termination: ReportSnapshot.Termination) {
    for line in termination.reasons {
      if line.hasPrefix("Library not loaded: ") {
        let library = line.dropFirst(20)
        let refusal = Self.refusal(termination.reasons)
        if refusal == nil, [nil, 1].contains(termination.code) {
          result.summary = "The dynamic loader did not find the library \(library)."
        } else {
          let reason = refusal ?? MeaningTable.code(termination.code ?? 9, in: "DYLD")?.name ?? "another reason"
          result.summary = "The dynamic loader found the library \(library), and did not load it: \(reason)."
        }
      }
      if let command = line.firstRange(of: "load command 0x"),
        line.hasPrefix("cannot load '") || line.hasPrefix("unknown required ")
      {
        let number = line[command.upperBound...].prefix(while: \.isHexDigit)
        result.summary =
          "The dynamic loader did not load a file, as it does not know a part of it: load command 0x\(number)."
        result.advice.append("Build the file for this system: it may be for a newer one.")
      }
      if line.hasPrefix("Symbol not found: ") {
        result.summary = "The dynamic loader did not find the symbol \(line.dropFirst(18))."
      }
    }
    let words = termination.details + termination.reasons
    if words.contains(where: { $0.contains("ignore backtrace") }) {
      result.cautions.append("The program was terminated at its launch: ignore the stacks, which are the loader's.")
    }
  }

  /// The loader's words about a file that is there, and that it did not load; nil if each path had no file, or nothing is said.
  ///
  /// "tried: '/a/F' (no such file), '/b/F' (code signature invalid in '/b/F' (errno=1) sliceOffset=0x0, …)" of dyld 4, and "no
  /// suitable image found.  Did find:" with a path and words on the next line of earlier ones.
  private static func refusal(_ reasons: [String]) -> String? {
    if var tried = reasons.lazy.compactMap({ line in line.firstRange(of: "tried: ").map { line[$0.upperBound...] } })
      .first
    {
      while let end = tried.firstRange(of: "' (") {
        tried = tried[end.upperBound...]
        if !tried.hasPrefix("no such file") { return words(tried) }
      }
      return nil
    }
    guard let found = reasons.firstIndex(where: { $0.hasSuffix("Did find:") }), found + 1 < reasons.count else {
      return nil
    }
    // "/a/F: mmap() errno=1 validating first page of '/a/F'"
    let line = reasons[found + 1]
    guard let colon = line.firstRange(of: ": ") else { return nil }
    let said = line[colon.upperBound...]
    let end = [" of '", " in '", " for '", " '"].compactMap { said.firstRange(of: $0)?.lowerBound }.min()
    return String(said[..<(end ?? said.endIndex)])
  }

  /// "mach-o file, but is an incompatible architecture", of what the loader writes into a parenthesis.
  private static func words(_ text: Substring) -> String {
    // "code signature in <UUID> '/a/F' not valid for use in process: mapping process and mapped file (non-platform) have …"
    if text.hasPrefix("code signature in <"), let valid = text.firstRange(of: "' not valid ") {
      return "code signature" + parenthesis(text[valid.lowerBound...].dropFirst())
    }
    // "mach-o file (/a/F), but incompatible platform (have 'iOS', need 'visionOS')"
    if let path = text.firstRange(of: " (/"), let close = text[path.upperBound...].firstRange(of: "), but ") {
      return text[..<path.lowerBound] + ", but " + parenthesis(text[close.upperBound...])
    }
    let ends = [" (", ")", " in '", ", not in dyld cache", "'"].compactMap { text.firstRange(of: $0)?.lowerBound }
    return String(text[..<(ends.min() ?? text.endIndex)])
  }

  /// The text to the end of the parenthesis in which it stands, with parentheses of its own.
  private static func parenthesis(_ text: Substring) -> Substring {
    var depth = 0
    let end = text.firstIndex { character in
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      return depth < 0
    }
    return text[..<(end ?? text.endIndex)]
  }

  // MARK: File locks

  /// Explains 0xdead10cc: the thread that holds the lock is not the one that is marked.
  private mutating func explainFileLock() {
    var found = false
    for thread in crash.threads {
      guard let index = FileLocks.frame(of: thread) else { continue }
      found = true
      note("A thread is in database or file code: \(thread.frames[index].text)", thread, frame: index)
      noteSuspect(thread, "Its code of the application:")
    }
    if !found {
      let words =
        crash.threads.isEmpty
        ? "the report has no stacks." : "no thread stands in code of a database or file lock."
      result.notKnown.append("Who holds the lock: \(words)")
    }
  }

  // MARK: Disagreement

  /// Points out when exception and termination differ; they are independent statements.
  mutating func addDisagreement() {
    guard let termination, let exception = crash.exception, exception.kind == .mach, exception.code != 10 else {
      return
    }
    guard let namespace = termination.namespace.flatMap({ MeaningTable.namespace($0) }), let code = termination.code
    else { return }
    if namespace.name == "SIGNAL" {
      let name = SignalNames.darwin.name(of: UInt32(truncatingIfNeeded: code))
      // No signal has the number 0: the end of the line was lost, or the system wrote none.
      guard let signal = exception.signal, code != 0, UInt64(signal) != code else { return }
      result.endedBy.append(
        "The exception (\(exceptionTitle)) became \(SignalNames.darwin.name(of: signal)), but the termination says \(name): the"
          + " process survived the exception, or was ended by another event.")
    } else if namespace.name != "GUARD", namespace.name != "PAC_EXCEPTION", namespace.name != "MTE_FAIL",
      exception.code != 11
    {
      result.endedBy.append(
        "The exception says \(exceptionTitle), the termination \(namespace.name) \(hex(code)): the termination ended the process."
      )
      result.rows += description?.rows ?? []
    }
  }
}
