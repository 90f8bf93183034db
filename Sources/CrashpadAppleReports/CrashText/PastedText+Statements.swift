// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Lines that say how the process ended, or which stack follows.
extension PastedText {
  /// Reads such a line; false for another one.
  mutating func statement(_ line: TextBytes) -> Bool {
    serviceException(line) || bridgedException(line) || crashedThread(line) || threadTitle(line) || receivedSignal(line)
      || reporterSignal(line) || console(line)
      || termination(line)
      || loader(line) || debugger(line) || runtimeMessage(line) || bareStop(line) || exception.read(service: line)
      || exception.read(shell: line)
  }

  // MARK: Crash services

  /// "Fatal Exception: NSRangeException", with or without its reason; the frames of its stack follow.
  private mutating func serviceException(_ line: TextBytes) -> Bool {
    var line = line.has(prefix: "Thread : ") ? line.dropFirst("Thread : ".utf8.count) : line
    if let tab = line.first(of: "\tFatal Exception: ") { line = line[(tab + 1)...] }
    let isNonFatal = line.has(prefix: "Non-fatal Exception: ")
    guard isNonFatal || line.has(prefix: "Fatal Exception: "), let colon = line.first(of: ": ") else { return false }
    let parts = ServiceException(line[(colon + 2)...])
    guard !parts.name.isEmpty else { return false }
    exception.name = parts.name
    exception.isNonFatal = isNonFatal
    exception.reason = parts.reason ?? exception.reason
    isReasonNext = exception.reason == nil
    builder.report.statesCrash = builder.report.statesCrash || !isNonFatal
    beginException()
    return true
  }

  /// "Objective-C exception thrown.  Name: NSRangeException Reason: text", of .NET's runtime; the stack of the throw follows.
  private mutating func bridgedException(_ line: TextBytes) -> Bool {
    guard var rest = PastedLine.bridgedException(line) else { return false }
    exception.name = rest.takeWord().string
    let words = "Reason: "
    rest = rest.trimmed
    exception.reason = rest.has(prefix: words) ? rest.dropFirst(words.utf8.count).trimmed.string : nil
    builder.report.statesCrash = true
    beginException()
    return true
  }

  mutating func crashedThread(_ line: TextBytes) -> Bool {
    // The head of registers, below the stacks.
    if TextStart.hasCrashed(line), let title = ThreadTitle(line), title.rest.has(prefix: " crashed with ") {
      builder.report.statesCrash = true
      let number = Int(exactly: title.number)
      if builder.report.faultingThread == nil, !builder.snapshot.threads.contains(where: { $0.number == number }) {
        builder.report.faultingNumber = number
      }
      return true
    }
    guard var name = PastedLine.crashedThread(line) else { return false }
    // Pages that lose their line ends have the exception behind the name of the queue.
    if let start = name.first(of: " EXC_") {
      _ = exception.read(service: name[(start + 1)...])
      name = name[..<start].trimmed
    }
    // Old pages have the name twice: above the exception, and above the stack.
    if case .thread(let index) = owner, builder.snapshot.threads[index].frames?.isEmpty == true {
      owner = .none
      builder.snapshot.threads.removeLast()
      if builder.report.faultingThread == index { builder.report.faultingThread = nil }
    }
    beginThread(named: name, isCrashed: true)
    return true
  }

  /// "Thread 8:", "Thread 8:: Dispatch queue: com.example.wheel", of a part of a report that is quoted.
  private mutating func threadTitle(_ line: TextBytes) -> Bool {
    guard let title = ThreadTitle(line), title.rest.equals(":") || title.rest.has(prefix: ":: ") else { return false }
    let name = title.rest.drop { $0 == UInt8(ascii: ":") }.trimmed
    let words = "Dispatch queue: "
    beginThread(named: name.has(prefix: words) ? name.dropFirst(words.utf8.count) : name)
    if case .thread(let index) = owner { builder.snapshot.threads[index].number = Int(exactly: title.number) }
    return true
  }

  // MARK: Linux

  /// "Received signal 11. Backtrace:"; the frames follow.
  private mutating func receivedSignal(_ line: TextBytes) -> Bool {
    // The number of SIGBUS is another on Linux.
    if let chromium = PastedLine.chromiumSignal(line), let code = chromium.code {
      beginThread(named: nil, isCrashed: true)
      builder.report.statesCrash = true
      // The name of the code begins with that of its signal.
      let name = "SIG" + code.prefix { $0 != UInt8(ascii: "_") }.string
      exception.read((Array(name.utf8)[...], code, chromium.address))
      return true
    }
    guard let number = PastedLine.receivedSignal(line) else {
      return PastedLine.caughtSignal(line).map { exception.read(stop: Array("signal \($0)".utf8)[...]) } ?? false
    }
    beginThread(named: nil, isCrashed: true)
    exception.linuxSignal = UInt32(exactly: number)
    return true
  }

  // MARK: Crash reporters

  /// "Application received signal SIGSEGV", with which Umeng's reports begin.
  private mutating func reporterSignal(_ line: TextBytes) -> Bool {
    // Instabug's words do not say which of the stacks it was.
    if let cause = PastedLine.signalCause(line) {
      exception.read(cause)
      builder.report.statesCrash = true
      return true
    }
    let words = "Application received "
    guard line.has(prefix: words), exception.read(stop: line.dropFirst(words.utf8.count)) else { return false }
    builder.report.statesCrash = true
    beginThread(named: nil, isCrashed: true)
    return true
  }

  // MARK: Consoles

  private mutating func console(_ line: TextBytes) -> Bool {
    if let start = line.first(of: "Terminating app due to uncaught exception '") {
      readOrigin(line[..<start])
      // Pages that lose their line ends have the stack behind the message.
      let mark = ["*** First throw call stack:", "* First throw call stack:"].compactMap {
        line[start...].first(of: $0)
      }
      guard let end = mark.min() else {
        add(message: line[line.withStars(start)...].string)
        return true
      }
      add(message: line[line.withStars(start)..<end].trimmed.string)
      beginException()
      if let open = line[end...].firstIndex(of: UInt8(ascii: "(")) {
        addAddresses(line[open...].prefix { $0 != UInt8(ascii: ")") })
      }
      return true
    }
    if line.has(suffix: "First throw call stack:") || line.has(prefix: "Uncaught Kotlin exception: ") {
      if line.has(prefix: "Uncaught") { add(message: line.string) }
      builder.report.statesCrash = true
      beginException()
      return true
    }
    // The system's words behind its reason are of the termination.
    let privacy = line.has(prefix: "Termination Reason:") ? nil : PastedLine.privacy(line)
    if let words = PastedLine.terminate(line) ?? PastedLine.guru(line) ?? privacy {
      add(message: words.string)
      return true
    }
    guard line.first == UInt8(ascii: "("), line.dropFirst().trimmed.has(prefix: "0x") else { return false }
    addAddresses(line)
    return true
  }

  /// "2018-06-29 14:25:29.407019+0800 Shop[2275:2108939]": the time, and the name and the id of the process.
  private mutating func readOrigin(_ text: TextBytes) {
    builder.report.statesCrash = true
    guard let open = text.last(of: "["), let colon = text[open...].firstIndex(of: UInt8(ascii: ":")) else { return }
    guard let number = text[(open + 1)..<colon].decimal.flatMap({ Int32(exactly: $0) }) else { return }
    var words = text[..<open].trimmed
    let (day, time) = (words.takeWord(), words.takeWord())
    let name = words.trimmed
    guard ReportTime.isTime("\(day.string) \(time.string)") else { return }
    builder.snapshot.processID = number
    // People replace the name by dots.
    if name.contains(where: { $0.isLetter || $0.isDigit || $0 >= 0x80 }) { builder.report.processName = name.string }
    builder.report.captureTime = "\(day.string) \(time.string)"
    builder.snapshot.snapshotTime = ReportTime.timestamp(builder.report.captureTime)
  }

  /// "(0x1850ea364 0x184330528)"
  private mutating func addAddresses(_ line: TextBytes) {
    guard case .lastException = owner else { return }
    for word in line.split(whereSeparator: { "() ".utf8.contains($0) }) {
      if let address = word.address { builder.report.lastException.append(RecordedFrame(address: address)) }
    }
    owner = .none
  }

  private mutating func add(message: String) {
    builder.report.statesCrash = true
    guard messages.insert(message).inserted else { return }
    builder.addMessage(message)
    // It names the exception, and the lines of other runtimes only its class.
    if message.hasPrefix("*** Terminating app") || message.hasPrefix("Terminating app") {
      builder.report.messages.swapAt(0, builder.report.messages.count - 1)
    }
  }

  /// Lines of runtimes and libraries that end the process.
  private mutating func runtimeMessage(_ line: TextBytes) -> Bool {
    if let words = PastedLine.trap(line) {
      add(message: words.string)
      isAfterFailure = true
      isInCheck = words.has(suffix: "Validation")
      return true
    }
    if let words = PastedLine.check(line) {
      add(message: words.string)
      // Its stack stands below.
      beginThread(named: nil, isCrashed: true)
      return true
    }
    let words = ["Fatal error: ", "malloc: *** error for object ", "Swift runtime failure: "]
    guard let start = words.compactMap({ line.first(of: $0) }).min(), PastedLine.beginsMessage(line, start) else {
      return false
    }
    add(message: line[start...].string)
    return true
  }

  // MARK: The loader

  /// "dyld[123]: Library not loaded: @rpath/libA.dylib", and the lines below it.
  private mutating func loader(_ line: TextBytes) -> Bool {
    if let words = PastedLine.loader(line) {
      var termination = ReportSnapshot.Termination()
      termination.namespace = "DYLD"
      termination.code = words.has(prefix: "Library") ? 1 : words.has(prefix: "Symbol") ? 4 : nil
      termination.reasons = [words.string]
      builder.report.termination = builder.report.termination ?? termination
      builder.report.statesCrash = true
      return true
    }
    guard let reasons = builder.report.termination?.reasons else { return false }
    if let last = reasons.last, builder.report.termination?.namespace == "DYLD", isOpen(last) {
      builder.report.termination?.reasons[reasons.count - 1] = last + " " + line.string
      return true
    }
    // Below "no suitable image found.  Did find:" come the paths, each with the loader's words.
    let isFile = line.first == UInt8(ascii: "/") && line.first(of: ": ") != nil
    if isFile, reasons.last.map({ $0.hasSuffix("Did find:") || $0.hasPrefix("/") }) == true {
      builder.report.termination?.addReasons(line)
      return true
    }
    let isReason = ["Referenced from: ", "Reason: ", "Expected in: "].contains { line.has(prefix: $0) }
    guard isReason || isInTermination else { return false }
    builder.report.termination?.addReasons(line)
    return true
  }

  /// Whether the loader's list of paths goes on in the next line, as tools break lines: a parenthesis or a quotation is open, or a
  /// comma is last.
  private func isOpen(_ reason: String) -> Bool {
    guard let tried = reason.firstRange(of: "tried: ") else { return false }
    let list = reason[tried.upperBound...].utf8
    return list.last == UInt8(ascii: ",") || list.count { $0 == UInt8(ascii: "'") } % 2 == 1
      || list.count { $0 == UInt8(ascii: "(") } > list.count { $0 == UInt8(ascii: ")") }
  }

  /// "Termination Reason:    Namespace DYLD, Code 1 Library missing", and the lines below it.
  private mutating func termination(_ line: TextBytes) -> Bool {
    if description(line) { return true }
    guard line.has(prefix: "Termination Reason:"), builder.report.termination == nil else { return false }
    var termination = ReportSnapshot.Termination()
    termination.read(reason: line.dropFirst("Termination Reason:".utf8.count).trimmed)
    builder.report.termination = termination
    isInTermination = true
    return true
  }

  /// "Termination Description: SPRINGBOARD, scene-create watchdog transgression: a exhausted …", and the lines below it.
  private mutating func description(_ line: TextBytes) -> Bool {
    guard line.has(prefix: "Termination Description:") else { return false }
    let words = line.dropFirst("Termination Description:".utf8.count).trimmed
    var termination = builder.report.termination ?? ReportSnapshot.Termination()
    let namespace = words.prefix { $0 != UInt8(ascii: ",") }
    if termination.namespace == nil, namespace.count < words.count, namespace.allSatisfy(\.isLetter) {
      termination.namespace = namespace.string
    }
    termination.addReasons(words)
    builder.report.termination = termination
    builder.report.statesCrash = true
    isInTermination = true
    return true
  }

  // MARK: Debuggers

  private mutating func debugger(_ line: TextBytes) -> Bool {
    if let stop = PastedLine.debuggerStop(line) {
      let queue = quoted("queue = '", in: stop.rest)
      beginThread(named: queue ?? quoted("name = '", in: stop.rest))
      stopped(thread: stop.number, stop.reason)
      return true
    }
    if let stop = PastedLine.xcode(line) {
      beginThread(named: stop.name)
      stopped(thread: stop.number, stop.reason)
      return true
    }
    return false
  }

  /// "EXC_BAD_ACCESS (code=1, address=0x10)", without the thread.
  private mutating func bareStop(_ line: TextBytes) -> Bool {
    guard line.has(prefix: "EXC_RESOURCE ") || line.first(of: " (code=") != nil, exception.read(stop: line) else {
      return false
    }
    if !line.has(prefix: "EXC_RESOURCE") { builder.report.statesCrash = true }
    return true
  }

  private mutating func stopped(thread number: UInt64, _ reason: TextBytes) {
    guard case .thread(let index) = owner else { return }
    builder.snapshot.threads[index].number = Int(exactly: number)
    // lldb writes it for the other threads of a core.
    if reason.equals("signal 0") { return }
    if reason.has(prefix: "Fatal error: ") {
      add(message: reason.string)
    } else if reason.first == UInt8(ascii: "\"") {
      add(message: (reason.last == UInt8(ascii: "\"") ? reason.dropFirst().dropLast() : reason.dropFirst()).string)
    } else if !reason.isEmpty, !exception.read(stop: reason) {
      // A breakpoint, a step, a signal that ends nothing: nothing crashed.
      return
    }
    builder.report.faultingThread = builder.report.faultingThread ?? index
    if !reason.has(prefix: "EXC_RESOURCE") { builder.report.statesCrash = true }
  }

  private func quoted(_ words: String, in text: TextBytes) -> TextBytes? {
    guard let start = text.first(of: words) else { return nil }
    return text[(start + words.utf8.count)...].prefix { $0 != UInt8(ascii: "'") }
  }
}

extension ReportSnapshot.Termination {
  /// Adds the parts of a line, which has bars between them; one of the loader is a whole, whatever its paths have.
  fileprivate mutating func addReasons(_ line: TextBytes) {
    if namespace == "DYLD" { return reasons.append(line.string) }
    reasons += line.split(separator: UInt8(ascii: "|")).map(\.trimmed).filter { !$0.isEmpty }.map(\.string)
  }
}
