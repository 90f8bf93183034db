// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads tracebacks of Go.
enum GoText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let title = lines.firstIndex(where: { goroutine($0) != nil }) else { return false }
    let lines = whole(lines[title...])
    return zip(lines, lines.dropFirst()).contains { function($0) != nil && place($1) != nil }
  }

  /// The lines without those that pages broke before the arguments of a function.
  private static func whole(_ lines: some Sequence<TextBytes>) -> [TextBytes] {
    var whole: [TextBytes] = []
    for line in lines {
      if line.first == UInt8(ascii: "("), line.last == UInt8(ascii: ")"), let last = whole.last, !last.contains(0x20),
        last.contains(UInt8(ascii: ".")), last.last != UInt8(ascii: ")")
      {
        whole[whole.count - 1] = (Array(last) + line)[...]
      } else {
        whole.append(line)
      }
    }
    return whole
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var message: [String] = []
    var isInStack = false
    var running: Int?
    // The function whose place stands on the next line.
    var open: TextBytes?
    var signal: (name: String, code: String?, address: UInt64?)?
    for line in whole(lines) {
      if let goroutine = goroutine(line) {
        stacks.beginThread(name: goroutine.name, number: goroutine.number)
        if running == nil, line.first(of: "[running") != nil { running = stacks.threads.indices.last }
        (isInStack, open) = (true, nil)
      } else if line.isEmpty {
        // Pages write a blank line below the title, too.
        (isInStack, open) = (isInStack && stacks.threads.last?.frames?.isEmpty == true, nil)
      } else if let place = place(line), isInStack {
        guard let name = open else { continue }
        var frame = RecordedFrame(address: 0)
        frame.function = name.string
        (frame.file, frame.line, frame.functionOffset) = (place.file.string, place.line, place.offset)
        stacks.add(frame)
        open = nil
      } else if isInStack {
        // The caller of "go" does not wait for the goroutine.
        open = line.has(prefix: "created by ") ? nil : function(line)
      } else if stacks.threads.isEmpty, isMessage(line) {
        message.append(line.string)
        signal = signal ?? self.signal(line)
      }
    }
    guard !message.isEmpty else { return }
    let text = message.joined(separator: "\n")
    stacks.builder.addMessage(text)
    // A server of net/http reports what its handlers do wrong, and goes on.
    // So does Kubernetes' library, unless it raises the panic again, which then stands below.
    stacks.builder.report.isNonFatal =
      text.containsBytes("http: panic serving ")
      || text.containsBytes("Observed a panic: ") && !message.contains { $0.hasPrefix("panic: ") }
    leaveOutDeferred(&stacks)
    stacks.builder.report.faultingThread = running ?? stacks.threads.indices.first
    if stacks.builder.report.isNonFatal { return }
    stacks.crash(in: nil)
    guard let signal else { return }
    if signal.name.hasPrefix("SIG") {
      stacks.setSignal(signal.name, code: signal.code, address: signal.address)
    } else {
      stacks.builder.report.exceptionType = signal.name
      stacks.builder.snapshot.system.operatingSystem = .windows
      stacks.builder.setWindowsException(signal.code ?? signal.name, nil, address: signal.address)
    }
  }

  /// "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x12e9b1a]", whose codes are the same on all systems; "[signal
  /// 0xc0000005 code=0x0 addr=0x20 pc=0x9a92c7]", of Windows.
  private static func signal(_ line: TextBytes) -> (name: String, code: String?, address: UInt64?)? {
    let words = "[signal "
    guard line.has(prefix: words) else { return nil }
    let name = line.dropFirst(words.utf8.count).prefix { $0.isLetter || $0.isDigit }.string
    func number(_ key: String) -> UInt64? {
      line.first(of: key).flatMap { line[($0 + key.utf8.count)...].prefix { $0 != 0x20 && $0 != 0x5d }.number }
    }
    let codes: [UInt64: String] =
      switch name {
      case "SIGSEGV": [1: "SEGV_MAPERR", 2: "SEGV_ACCERR"]
      case "0xc0000005": [0: "_READ", 1: "_WRITE", 8: "_EXEC"].mapValues { "EXCEPTION_ACCESS_VIOLATION" + $0 }
      default: [:]
      }
    let code = number(" code=").flatMap { codes[$0] }
    return name.hasPrefix("SIG") || name.hasPrefix("0x") ? (name, code, number(" addr=")) : nil
  }

  private static func isMessage(_ line: TextBytes) -> Bool {
    let words = [
      "panic: ", "fatal error: ", "runtime error: ", "runtime: out of memory", "runtime: goroutine stack exceeds ",
      "[signal ",
    ]
    return words.contains { line.has(prefix: $0) } || line.first(of: "http: panic serving ") != nil
      || line.first(of: "Observed a panic: ") != nil
  }

  /// Leaves out the deferred functions that a panic called, which print the stack: the panic was raised below them.
  private static func leaveOutDeferred(_ stacks: inout ToolStacks) {
    for thread in stacks.threads.indices {
      let frames = stacks.threads[thread].frames ?? []
      guard let panic = frames.prefix(16).firstIndex(where: { $0.function == "panic" }), panic > 0 else { continue }
      stacks.builder.snapshot.threads[thread].frames?.removeFirst(panic)
      stacks.builder.report.notes.append("The deferred functions that the panic called are left out.")
    }
  }

  /// "goroutine 7 [chan receive, 3 minutes]:", "goroutine 1 gp=0xc000002380 m=0 mp=0x1 [running]:".
  private static func goroutine(_ line: TextBytes) -> (name: TextBytes, number: UInt64)? {
    guard line.has(prefix: "goroutine "), line.has(suffix: "]:"), line.first(of: " [") != nil else { return nil }
    var rest = line.dropFirst("goroutine ".utf8.count)
    guard let number = rest.takeNumber() else { return nil }
    return (line.dropLast(), number)
  }

  /// "main.(*Gear).Turn(0xc000012345, 0x3)", without the arguments.
  private static func function(_ line: TextBytes) -> TextBytes? {
    guard line.last == UInt8(ascii: ")"), let open = line.lastIndex(of: UInt8(ascii: "(")), open > line.startIndex,
      !line[..<open].contains(0x20)
    else { return nil }
    return line[..<open]
  }

  /// "/home/x/gear.go:12 +0x1d", as it stands below the function.
  private static func place(_ line: TextBytes) -> (file: TextBytes, line: UInt32, offset: UInt64?)? {
    var path = line
    var offset: UInt64?
    if let plus = line.last(of: " +0x") {
      offset = line[(plus + 2)...].number
      path = line[..<plus]
    }
    guard let place = path.sourcePlace, [".go", ".s", ".c"].contains(where: { place.file.has(suffix: $0) }) else {
      return nil
    }
    return (place.file, place.line, offset)
  }
}

/// Reads the panics of Rust with their stacks.
enum RustText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: isPanic) else { return false }
    return lines[head...].contains { $0.equals("stack backtrace:") }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var message: String?
    var isInMessage = false
    var hasEnded = false
    for line in lines where !hasEnded {
      if isPanic(line) {
        // A second panic is of a destructor that ran for the first one, or of the panic's own handling. It may be the one with a stack.
        if let frames = stacks.threads.last?.frames, !frames.isEmpty { break }
        stacks.removeThreads()
        if let first = message { stacks.builder.addMessage(first) }
        message = line.string
        isInMessage = true
        stacks.beginThread(name: line.between("thread '", "'"), isCrashed: true)
      } else if stacks.threads.isEmpty {
        continue
      } else if line.equals("stack backtrace:") {
        isInMessage = false
      } else if isInMessage {
        message = line.isEmpty || line.has(prefix: "note: ") ? message : message.map { "\($0)\n\(line.string)" }
      } else if line.has(prefix: "at "), let place = line.dropFirst(3).trimmed.sourcePlace {
        setPlace(place, &stacks)
      } else if let frame = frame(line) {
        stacks.add(frame)
      } else {
        hasEnded = line.has(prefix: "note: ")
      }
    }
    if let message { stacks.builder.addMessage(message) }
  }

  /// "thread 'main' panicked at src/gear.rs:12:10:", "thread 'main' (77) panicked at 'no gear', src/gear.rs:12".
  private static func isPanic(_ line: TextBytes) -> Bool {
    line.has(prefix: "thread '") && line.first(of: "' ") != nil && line.first(of: " panicked at ") != nil
      || line.has(prefix: "thread '") && line.first(of: "' panicked: ") != nil
  }

  private static func setPlace(_ place: (file: TextBytes, line: UInt32), _ stacks: inout ToolStacks) {
    guard let thread = stacks.threads.indices.last, let frame = stacks.threads[thread].frames?.indices.last else {
      return
    }
    stacks.builder.snapshot.threads[thread].frames?[frame].file = place.file.string
    stacks.builder.snapshot.threads[thread].frames?[frame].line = place.line
  }

  /// "3: gear::turn", "3:     0x55b5b7565112 - gear::turn::h46a716bba2450163".
  private static func frame(_ line: TextBytes) -> RecordedFrame? {
    var rest = line
    guard rest.takeNumber() != nil, rest.first == UInt8(ascii: ":") else { return nil }
    rest = rest.dropFirst().trimmed
    var frame = RecordedFrame(address: 0)
    var afterAddress = rest
    if let address = afterAddress.takeWord().address, afterAddress.has(prefix: " - ") {
      frame.address = address
      rest = afterAddress.dropFirst(3).trimmed
    }
    guard !rest.isEmpty else { return nil }
    frame.function = rest.string
    return frame
  }
}

/// Reads what Python's module faulthandler writes at a signal.
enum PythonText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    lines.contains { $0.has(prefix: "Fatal Python error: ") } && lines.contains { thread($0) != nil }
      && lines.contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    for line in lines {
      if line.has(prefix: "Fatal Python error: ") {
        stacks.builder.addMessage(line.string)
        stacks.crash(in: nil)
        let words = line.dropFirst("Fatal Python error: ".utf8.count)
        if let signal = SignalWords.name(words) { stacks.setSignal(signal) }
      } else if let thread = thread(line) {
        stacks.beginThread(name: thread.name, isCrashed: thread.isCurrent)
      } else if let frame = frame(line) {
        stacks.add(frame)
      }
    }
  }

  /// "Current thread 0x00007ffff7d8a740 [python] (most recent call first):"
  private static func thread(_ line: TextBytes) -> (name: TextBytes?, isCurrent: Bool)? {
    let isCurrent = line.has(prefix: "Current thread 0x")
    guard isCurrent || line.has(prefix: "Thread 0x"), line.has(suffix: " (most recent call first):") else { return nil }
    return (line.between("[", "]"), isCurrent)
  }

  /// "File \"/home/x/gear.py\", line 12 in turn"; in a traceback "line 12, in turn".
  static func frame(_ line: TextBytes) -> RecordedFrame? {
    guard line.has(prefix: "File \""), let file = line.between("\"", "\", line "), var rest = line.after("\", line "),
      let number = rest.takeNumber(), let name = rest.after(" in "), rest.count - name.count <= ", in ".utf8.count
    else { return nil }
    var frame = RecordedFrame(address: 0)
    frame.function = name.trimmed.string
    frame.file = file.string
    frame.line = UInt32(exactly: number)
    return frame
  }
}

/// Reads what V8 prints before it ends the process, with the stack of Node.
enum EngineText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { message($0) != nil }) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    for line in lines {
      if let message = message(line) {
        stacks.builder.addMessage(message.string)
        if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
      } else if !stacks.threads.isEmpty, let frame = frame(line) {
        // A process may end twice.
        if frame.number == 1, stacks.threads[0].frames?.isEmpty == false { break }
        stacks.add(frame.frame, module: frame.module)
      } else if let process = process(line) {
        stacks.builder.snapshot.processID = process
      }
    }
  }

  /// "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "# Check failed: speed > 0."
  private static func message(_ line: TextBytes) -> TextBytes? {
    if line.has(prefix: "FATAL ERROR: ") { return line }
    let words = line.drop { $0 == UInt8(ascii: "#") || TextBytes.isBlank($0) }
    guard line.first == UInt8(ascii: "#") else { return nil }
    return words.has(prefix: "Check failed: ") || words.has(prefix: "Fatal error in ") ? words : nil
  }

  /// "[6650:0x140008000]    27186 ms: Mark-Compact 2033.8 (2084.5) -> 2033.4 (2084.9) MB": the number of the process.
  private static func process(_ line: TextBytes) -> Int32? {
    guard line.first == UInt8(ascii: "["), line.first(of: " ms: ") != nil else { return nil }
    var rest = line.dropFirst()
    guard let number = rest.takeNumber(), rest.has(prefix: ":0x") else { return nil }
    return Int32(exactly: number)
  }

  /// "3: 0xd6b3f0 v8::Utils::ReportOOMFailure(char const*) [node]", "1: 0x56290a45b105  [./node]".
  private static func frame(_ line: TextBytes) -> (number: UInt64, frame: RecordedFrame, module: TextBytes)? {
    var rest = line
    guard let number = rest.takeNumber(), rest.has(prefix: ": "), line.last == UInt8(ascii: "]"),
      let open = rest.last(of: "[")
    else { return nil }
    let module = rest[(open + 1)...].dropLast()
    rest = rest[..<open].dropFirst(2)
    guard let address = rest.takeWord().address else { return nil }
    var frame = RecordedFrame(address: address)
    let name = rest.trimmed
    if !name.isEmpty { frame.function = name.string }
    return (number, frame, module)
  }
}
