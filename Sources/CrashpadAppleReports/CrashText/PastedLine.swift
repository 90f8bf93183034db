// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The lines by which a pasted text is known.
enum PastedLine {
  /// The line without marks of quotations and code, and without the name of a tool in brackets.
  static func content(_ line: TextBytes) -> TextBytes {
    var line = line.drop { TextBytes.isBlank($0) || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "`") }.trimmed
    if line.first == UInt8(ascii: "["), let close = line.prefix(16).firstIndex(of: UInt8(ascii: "]")),
      line[close...].dropFirst().first == 0x20, case let words = line[..<close].dropFirst(),
      words.allSatisfy({ $0.isLetter }) || isFlutterTime(words)
    {
      line = line[(close + 1)...].trimmed
    }
    // Containers write the time before each line.
    if line.first?.isDigit == true {
      let word = line.prefix { !TextBytes.isBlank($0) }
      if isTime(word) { line = line[word.endIndex...].trimmed }
    }
    while line.last == UInt8(ascii: "`") { line = line.dropLast() }
    // Bold in Markdown; three stars are the console's own.
    if line.has(prefix: "**"), !line.has(prefix: "***"), line.has(suffix: "**"), line.count > 4 {
      line = line.dropFirst(2).dropLast(2).trimmed
    }
    return line
  }

  /// Whether brackets hold what flutter writes before lines: "[ +711 ms] ", or blanks where no time went by.
  private static func isFlutterTime(_ words: TextBytes) -> Bool {
    let time = words.trimmed
    return time.isEmpty && !words.isEmpty || time.has(prefix: "+") && (time.has(suffix: "ms") || time.has(suffix: "s"))
  }

  /// Whether a word is a time as RFC 3339 writes it: "2023-09-06T13:36:58.114865247Z".
  private static func isTime(_ word: TextBytes) -> Bool {
    let signs: [(offset: Int, byte: UInt8)] = [(4, 0x2d), (7, 0x2d), (10, 0x54), (13, 0x3a), (16, 0x3a)]
    return (20...35).contains(word.count) && signs.allSatisfy { word[word.startIndex + $0.offset] == $0.byte }
      && word.allSatisfy { $0.isDigit || "-:.+TZ".utf8.contains($0) }
  }

  /// Whether a text has a line that says how a process ended, or a stack.
  static func areIn(_ text: TextBytes) -> Bool {
    // Stacks are pasted without their first frames, too.
    var count = 0
    var last: UInt64?
    for whole in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
      let line = content(whole)
      if isOther(line) { return false }
      if isMark(line) { return true }
      if check(line) != nil { return !isForeign(text[..<whole.startIndex]) }
      guard let frame = PastedFrame(line, mayBeBare: false, after: nil) else { continue }
      count = frame.number != nil && frame.number == last.map { $0 &+ 1 } ? count + 1 : 1
      last = frame.number
      if count == 3 { return !isForeign(text[..<whole.startIndex]) }
    }
    return false
  }

  /// Whether a line is of another tool's text: frames below it are that tool's.
  private static func isForeign(_ text: TextBytes) -> Bool {
    text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }).contains { OtherTexts.isIn($0) }
  }

  /// Whether a line is of a stack of Java, which Crashlytics shows with the same words, or of a sanitizer's stop.
  private static func isOther(_ line: TextBytes) -> Bool {
    if let stop = debuggerStop(line), sanitizerStops.contains(where: { stop.reason.equals($0) }) { return true }
    return line.has(prefix: "Fatal Exception: ")
      && ["java.", "javax.", "kotlin.", "android."].contains { line.dropFirst(17).has(prefix: $0) }
  }

  /// The words of lldb for errors that Address Sanitizer found.
  private static let sanitizerStops = [
    "Heap buffer overflow", "Stack buffer overflow", "Global buffer overflow", "Use of deallocated memory",
    "Use of out-of-scope stack memory", "Use of returned stack memory",
  ]

  /// Whether the line says how a process ended, or which stack follows.
  static func isEnd(_ line: TextBytes) -> Bool { isMark(line) }

  private static func isMark(_ line: TextBytes) -> Bool {
    if line.first(of: "\tFatal Exception: ") != nil { return true }
    let starts = ["# Crashlytics - ", "Fatal Exception: ", "Non-fatal Exception: ", "Thread : Fatal Exception: "]
    if starts.contains(where: { line.has(prefix: $0) }) { return true }
    if line.has(prefix: "Termination Reason: ") || line.has(prefix: "Termination Description: ") { return true }
    if line.first(of: "Terminating app due to uncaught exception '") != nil { return true }
    if line.has(suffix: "First throw call stack:") || terminate(line) != nil || loader(line) != nil { return true }
    if bridgedException(line) != nil { return true }
    if signalCause(line) != nil { return true }
    if receivedSignal(line) != nil || chromiumSignal(line)?.code != nil || resource(line)
      || line.first(of: "malloc: *** error for object 0x") != nil
    {
      return true
    }
    if debuggerStop(line) != nil || xcode(line) != nil || privacy(line) != nil || trap(line) != nil { return true }
    if line.first(of: "frame #") != nil, line.contains(UInt8(ascii: "`")) {
      return PastedFrame(line, mayBeBare: false, after: nil) != nil
    }
    return line.has(prefix: "Uncaught Kotlin exception: ") || crashedThread(line) != nil
  }

  /// Whether a debugger's reason stands alone: "EXC_RESOURCE RESOURCE_TYPE_MEMORY (limit=650 MB, unused=0x0)".
  private static func resource(_ line: TextBytes) -> Bool {
    line.has(prefix: "EXC_RESOURCE ") && line.first(of: "RESOURCE_TYPE_") != nil
      || line.has(prefix: "EXC_") && line.first(of: " (code=") != nil
  }

  // MARK: Words of single forms

  /// "Received signal 11. Backtrace:", of the package swift-backtrace on Linux: the number.
  static func receivedSignal(_ line: TextBytes) -> UInt64? {
    let words = "Received signal "
    guard line.has(prefix: words), line.has(suffix: ". Backtrace:") else { return nil }
    return line.dropFirst(words.utf8.count).dropLast(". Backtrace:".utf8.count).decimal
  }

  /// "Received signal 11 SEGV_MAPERR 002400000004", "Received signal 6", "Received signal 11 <unknown> 000000000010", of Chromium: the
  /// number, the name of the code, and the address.
  ///
  /// Source: Chromium, base/debug/stack_trace_posix.cc, `StackDumpSignalHandler`.
  static func chromiumSignal(_ line: TextBytes) -> (number: UInt64, code: TextBytes?, address: UInt64?)? {
    let words = "Received signal "
    guard line.has(prefix: words) else { return nil }
    let parts = line.dropFirst(words.utf8.count).split(separator: 0x20)
    guard let number = parts.first?.decimal, parts.count == 1 || parts.count == 3 else { return nil }
    guard parts.count == 3 else { return (number, nil, nil) }
    guard parts[2].count >= 12, let address = parts[2].hexadecimal else { return nil }
    let isCode = ["SEGV_", "BUS_", "FPE_", "ILL_"].contains { parts[1].has(prefix: $0) }
    guard isCode || parts[1].equals("<unknown>") else { return nil }
    return (number, isCode ? parts[1] : nil, address)
  }

  /// Whether the name of a function says that it handles signals of crashes.
  static func isHandler(_ function: String) -> Bool {
    let name = function.lowercased()
    return [
      "crash", "signalhandler", "signal_handler", "sigsegv", "segfault", "fatal_signal", "fatalsignal", "quitabruptly",
      "rb_bug", "rb_vm_bugreport", "print_stacktrace", "printstack", "stackdump", "dumpstack", "logstacktrace",
      "sigsegvhandler",
    ].contains { name.containsBytes($0) }
  }

  /// "mysqld got signal 11 ;", "Received signal 11", "mongo got signal 11 (Segmentation fault: 11)", "*** Caught signal 6", "*** Caught
  /// signal (Aborted) **", "server process (PID 7) was terminated by signal 11": the name of the signal. Only numbers that all systems share count.
  static func caughtSignal(_ line: TextBytes) -> String? {
    for words in [
      "got signal ", "Got signal ", "Got signal: ", "Received signal ", "received signal ", "Caught signal ",
      "terminated by signal ", "exited on signal ", "exit signal ", " crashed by signal: ", "Received fatal signal: ",
    ] {
      guard var rest = line.after(words) else { continue }
      if let name = SignalWords.name(rest.drop { $0 == UInt8(ascii: "(") }) { return name }
      if words == "Received fatal signal: " {
        let name = rest.prefix { $0.isLetter }.string
        return SignalWords.names.contains(name) ? name : nil
      }
      guard let number = rest.takeNumber() else { continue }
      let isEnd =
        rest.isEmpty || rest.first.map { " .,;:".utf8.contains($0) } == true
      return isEnd ? SignalWords.name(ofNumber: number) : nil
    }
    return nil
  }

  /// "# Cause: Crash due to signal: SIGSEGV(SEGV_ACCERR) at 19288dcb4": the name of the signal, that of its code, and the address.
  static func signalCause(_ line: TextBytes) -> (signal: TextBytes, code: TextBytes, address: UInt64?)? {
    let words = "Crash due to signal: SIG"
    guard let start = line.first(of: words) else { return nil }
    let rest = line[(start + words.utf8.count - 3)...]
    let name = rest.prefix { $0.isLetter || $0.isDigit }
    guard name.endIndex < rest.endIndex, rest[name.endIndex] == UInt8(ascii: "("),
      let close = rest.firstIndex(of: UInt8(ascii: ")"))
    else { return (name, [], nil) }
    var behind = rest[(close + 1)...]
    let address = behind.takeWord().equals("at") ? behind.takeWord().hexadecimal : nil
    return (name, rest[(name.endIndex + 1)..<close], address)
  }

  /// "Swift/Range.swift:754: Fatal error: Range requires lowerBound <= upperBound", from the file on.
  static func trap(_ line: TextBytes) -> TextBytes? {
    if let words = failure(line) ?? libraryCheck(line) { return words }
    let marks = [": Fatal error: ", ": Assertion failed: ", ": Precondition failed: "]
    guard let file = line.first(of: ".swift:"), let mark = marks.compactMap({ line[file...].first(of: $0) }).min()
    else {
      return nil
    }
    let number = line[file..<mark].dropFirst(".swift:".utf8.count)
    guard !number.isEmpty, number.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // The file and the line are a part of the message; what a console writes before them is not.
    let start = line[..<file].last(of: " ").map { $0 + 1 } ?? line.startIndex
    return line[start...]
  }

  /// Whether a message begins at an offset of a line: nothing stands before it, or what a log or a program writes before its words.
  /// People quote such words in sentences.
  static func beginsMessage(_ line: TextBytes, _ start: Int) -> Bool {
    let before = line[..<start].trimmed
    guard let last = before.last else { return true }
    let isApart = before.endIndex < start
    return isApart ? TextBytes.endsStart(last) || last == UInt8(ascii: "`") : ":]>".utf8.contains(last)
  }

  /// "[123:45:0603/143054.18:FATAL:curve.cc(48)] Check failed: speed > 0 (0 vs. 0)" of Chromium's code, from the words on.
  static func check(_ line: TextBytes) -> TextBytes? {
    guard let level = line.first(of: "FATAL:"), let mark = line[level...].first(of: ")] Check failed: ") else {
      return nil
    }
    return line[(mark + 3)...]
  }

  /// The whole line of a check that libc++, libstdc++ or Metal wrote: "/usr/include/c++/v1/vector:1459: assertion __n < size()
  /// failed: vector[] index out of bounds", "validateDraw:52: failed assertion `Draw Errors Validation".
  private static func libraryCheck(_ line: TextBytes) -> TextBytes? {
    if line.first(of: ": failed assertion `") != nil { return line }
    for (place, words) in [("/c++/v1/", ": assertion "), ("/bits/stl_", ": Assertion '")] {
      guard let start = line.first(of: place), let mark = line[start...].first(of: words) else { continue }
      return line[mark...].first(of: " failed") == nil ? nil : line
    }
    return nil
  }

  /// "Assertion failed: file Shop/Cart.swift, line 12", with or without words between, as Swift and assert(3) write it.
  private static func failure(_ line: TextBytes) -> TextBytes? {
    // Swift up to version 4 began it in lower case, and named no file in builds for release.
    let isOld = line.has(prefix: "fatal error: ")
    if isOld, oldFailures.contains(where: { line.dropFirst("fatal error: ".utf8.count).has(prefix: $0) }) {
      return line
    }
    let words = ["Assertion failed: ", "Precondition failed: ", "Fatal error: "]
    guard isOld || words.contains(where: { line.has(prefix: $0) }),
      let mark = line.last(of: ", line "),
      ["file ", "/", "."].contains(where: { line[..<mark].first(of: $0) != nil }),
      line[(mark + ", line ".utf8.count)...].first.map({ (0x30...0x39).contains($0) }) == true
    else { return nil }
    return line
  }

  private static let oldFailures = [
    "unexpectedly found nil", "Index out of range", "Array index is out of range", "Array index out of range",
    "Can't form Range", "Range end index", "attempt to ", "Negative count", "Division by zero", "use of unimplemented",
  ]

  /// "Crashed: com.apple.main-thread", "Thread : Crashed: worker": the name of the thread.
  static func crashedThread(_ line: TextBytes) -> TextBytes? {
    // Pages that were translated have the wide colon.
    guard let start = line.first(of: "Crashed: ") ?? line.first(of: wideCrashed) else { return nil }
    let before = line[..<start]
    // Crashlytics numbers the threads of a file: "#0. Crashed: com.apple.main-thread".
    let isNumbered = before.has(suffix: ". ") && before.dropLast(2).drop { $0 == UInt8(ascii: "#") }.decimal != nil
    guard before.isEmpty || before.has(suffix: ": ") || before.has(suffix: "# ") || isNumbered else { return nil }
    let isWide = line[start...].has(prefix: wideCrashed)
    return line[(start + (isWide ? wideCrashed : "Crashed: ").utf8.count)...].trimmed
  }

  private static let wideCrashed = "Crashed\u{ff1a}"

  /// "libc++abi.dylib: terminating with uncaught exception of type E: text", from the word on; "terminate called after throwing an
  /// instance of 'E'" of GNU's library.
  static func terminate(_ line: TextBytes) -> TextBytes? {
    if let start = line.first(of: "terminate called after throwing an instance of '") { return line[start...] }
    guard let name = line.first(of: "libc++abi") else { return nil }
    // Without an exception the line is no longer.
    if line[name...].equals("libc++abi: terminating") || line[name...].equals("libc++abi.dylib: terminating") {
      return line[name...]
    }
    return line.first(of: "terminating ").map { line[$0...] }
  }

  /// "Guru Meditation: decrRefCount against refcount <= 0 #object.c:323", the words of Redis before it crashes itself.
  static func guru(_ line: TextBytes) -> TextBytes? { line.first(of: "Guru Meditation: ").map { line[$0...] } }

  /// "Objective-C exception thrown.  Name: NSRangeException Reason: text", from the name on.
  static func bridgedException(_ line: TextBytes) -> TextBytes? {
    let words = "Objective-C exception thrown.  Name: "
    return line.first(of: words).map { line[($0 + words.utf8.count)...] }
  }

  /// "This app has crashed because it attempted to access privacy-sensitive data without a usage description."
  static func privacy(_ line: TextBytes) -> TextBytes? {
    line.first(of: "This app has crashed because it attempted to access privacy-sensitive data").map { line[$0...] }
  }

  /// "dyld[123]: Library not loaded: @rpath/libA.dylib", from the first word behind the colon on.
  static func loader(_ line: TextBytes) -> TextBytes? {
    guard line.has(prefix: "dyld"), let colon = line.first(of: ": ") else { return nil }
    let name = line[..<colon].dropFirst(4)
    guard name.isEmpty || name.first == UInt8(ascii: "[") && name.last == UInt8(ascii: "]") else { return nil }
    let words = line[(colon + 2)...]
    return loaderWords.contains { words.has(prefix: $0) } ? words : nil
  }

  private static let loaderWords = [
    "Library not loaded: ", "Symbol not found: ", "cannot load '", "unknown required load command 0x",
  ]

  /// "* thread #1, queue = 'com.apple.main-thread', stop reason = EXC_BAD_ACCESS (code=1, address=0x10)".
  static func debuggerStop(_ line: TextBytes) -> (number: UInt64, rest: TextBytes, reason: TextBytes)? {
    var rest = line
    rest = rest.drop { PastedFrame.debuggerMarks.contains($0) }
    guard rest.has(prefix: "thread #"), let reason = rest.last(of: "stop reason = ") else { return nil }
    rest = rest.dropFirst("thread #".utf8.count)
    guard let number = rest.takeNumber() else { return nil }
    return (number, rest[..<reason], rest[(reason + "stop reason = ".utf8.count)...].trimmed)
  }

  /// "Thread 1: EXC_BAD_ACCESS (code=1, address=0x10)", "Thread 1: signal SIGABRT", "Thread 11 [Crashed]:", and the reason of
  /// an exception in quotation marks: `Thread 1: "*** -[__NSArrayM objectAtIndex:]: index 3 beyond bounds"`.
  static func xcode(_ line: TextBytes) -> (name: TextBytes?, number: UInt64, reason: TextBytes)? {
    guard let title = ThreadTitle(line) else { return namedThread(line) }
    if title.rest.trimmed.has(prefix: "[Crashed]") { return (nil, title.number, []) }
    guard title.rest.has(prefix: ": ") else { return nil }
    let reason = title.rest.dropFirst(2).trimmed
    return stops.contains { reason.has(prefix: $0) } ? (nil, title.number, reason) : nil
  }

  /// The words that Xcode writes behind a thread's title when it stops there.
  private static let stops = ["EXC_", "signal SIG", "Fatal error: ", "\"*** -[", "\"*** +[", "\"-[", "\"+["]

  /// "com.example.loader (12): EXC_BAD_ACCESS (code=1, address=0x10)": a thread that has a name stands so in Xcode.
  private static func namedThread(_ line: TextBytes) -> (name: TextBytes?, number: UInt64, reason: TextBytes)? {
    guard let mark = line.first(of: "): "), let open = line[..<mark].last(of: " ("), open > line.startIndex,
      let number = line[(open + 2)..<mark].decimal
    else { return nil }
    let reason = line[(mark + 3)...].trimmed
    return stops.contains { reason.has(prefix: $0) } ? (line[..<open], number, reason) : nil
  }
}
