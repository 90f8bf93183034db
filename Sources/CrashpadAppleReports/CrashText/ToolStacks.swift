// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// The words in which tools describe signals.
enum SignalWords {
  private static let all: [(words: String, name: String)] = [
    ("Segmentation fault", "SIGSEGV"), ("Aborted", "SIGABRT"), ("Bus error", "SIGBUS"),
    ("Illegal instruction", "SIGILL"),
    ("Floating point exception", "SIGFPE"), ("Floating-point exception", "SIGFPE"), ("Arithmetic exception", "SIGFPE"),
    ("Trace/breakpoint trap", "SIGTRAP"),
  ]

  /// The name of the signal that a text begins with the words of.
  static func name(_ text: TextBytes) -> String? { all.first { text.has(prefix: $0.words) }?.name }
}

/// The stacks of a tool's text while they are read.
struct ToolStacks {
  var builder: ReportBuilder
  private var modules: [TextBytes: Int] = [:]

  init(_ builder: ReportBuilder) { self.builder = builder }

  var threads: [ThreadSnapshot] { builder.snapshot.threads }

  // MARK: Threads

  /// - Parameters:
  ///   - number: the number that the text gives the thread.
  ///   - id: the system's number of the thread.
  mutating func beginThread(name: TextBytes? = nil, number: UInt64? = nil, id: UInt64? = nil, isCrashed: Bool = false) {
    var thread = ThreadSnapshot()
    thread.frames = []
    thread.id = id
    thread.number = number.flatMap { Int(exactly: $0) }
    thread.name = builder.content(name?.trimmed.string)
    builder.snapshot.threads.append(thread)
    if isCrashed { crash(in: builder.snapshot.threads.count - 1) }
  }

  /// Says that the process ended, and in which of the threads.
  mutating func crash(in thread: Int?) {
    builder.report.statesCrash = true
    if builder.report.faultingThread == nil { builder.report.faultingThread = thread }
  }

  /// Adds a frame to the last thread.
  ///
  /// - Parameter module: the path or the name of the module's file.
  mutating func add(_ frame: RecordedFrame, module: TextBytes? = nil) {
    guard let last = builder.snapshot.threads.indices.last else { return }
    var frame = frame
    if let name = frame.function, PlaceholderNames.isMissing(name) { frame.function = nil }
    frame.module = module.flatMap { self.module($0.trimmed) }
    builder.snapshot.threads[last].frames?.append(frame)
  }

  /// Leaves out the innermost frames of a thread, which are those of a handler of signals: the fault is below them.
  mutating func leaveOutHandler(_ count: Int, of thread: Int) {
    builder.snapshot.threads[thread].frames?.removeFirst(count)
    builder.snapshot.threads[thread].elided.removeAll { $0.index < count }
    for index in builder.snapshot.threads[thread].elided.indices {
      builder.snapshot.threads[thread].elided[index].index -= count
    }
    builder.report.notes.append(
      "The frames of the program's handler of signals, which ended the process, are left out.")
  }

  mutating func setContextOfLast(_ context: CPUContext) {
    guard let last = builder.snapshot.threads.indices.last else { return }
    builder.snapshot.threads[last].context = context
  }

  /// Adds that frames are missing in the last thread before one, as the numbers tell.
  mutating func addGap(before number: UInt64, after last: UInt64?) {
    let expected = last.map { $0 &+ 1 } ?? 0
    guard number > expected, let thread = builder.snapshot.threads.indices.last else { return }
    let count = builder.snapshot.threads[thread].frames?.count ?? 0
    builder.snapshot.threads[thread].elided.append(
      ElidedFrames(index: count, frames: number - expected, levels: nil))
  }

  private mutating func module(_ path: TextBytes) -> Int? {
    guard !path.isEmpty, !path.has(prefix: "<"), !path.equals("n/a"), !path.equals("??") else { return nil }
    if let index = modules[path] { return index }
    let name = path.fileName.string
    var module = builder.module(path.string, file: name, address: nil)
    module.debugName = builder.content(name)
    modules[path] = builder.snapshot.modules.count
    builder.snapshot.modules.append(module)
    return builder.snapshot.modules.count - 1
  }

  // MARK: The end

  /// Says that the text ends early.
  mutating func noteCut() {
    builder.note(ReportRules.cut)
    builder.snapshot.isComplete = false
  }

  /// Sets the signal that ended the process. A name that no system has is ignored.
  ///
  /// - Parameters:
  ///   - code: the name or the number of its si_code.
  mutating func setSignal(_ name: String, code: String? = nil, address: UInt64? = nil) {
    builder.report.exceptionType = name
    builder.setLinuxSignal(name, code: code, address: address)
    builder.report.faultAddress = address
  }

  mutating func finish() -> ReportBuilder {
    removeEmptyThreads()
    builder.setExceptionContext()
    let thread = builder.faultingThreadID
    builder.snapshot.exception?.threadID = thread
    if builder.snapshot.threads.isEmpty { builder.note(ReportRules.noThreads) }
    builder.note(ReportRules.noImages)
    return builder
  }

  /// Removes threads of which the text has only the title.
  private mutating func removeEmptyThreads() {
    let kept = threads.indices.filter { threads[$0].frames?.isEmpty == false }
    guard kept.count < threads.count else { return }
    let crashed = builder.report.faultingThread
    builder.report.faultingThread = crashed.flatMap { kept.firstIndex(of: $0) }
    builder.snapshot.threads = kept.map { threads[$0] }
  }
}

extension TextBytes {
  /// The last part of a path of any system.
  var fileName: TextBytes {
    let end = lastIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    return end.map { self[($0 + 1)...] } ?? self
  }

  /// The text between the first occurrence of `start` and the next of `end`.
  func between(_ start: String, _ end: String) -> TextBytes? {
    guard let place = first(of: start) else { return nil }
    let rest = self[(place + start.utf8.count)...]
    return rest.first(of: end).map { rest[..<$0] }
  }

  /// The text behind the first occurrence of `words`.
  func after(_ words: String) -> TextBytes? { first(of: words).map { self[($0 + words.utf8.count)...] } }

  /// Splits "/src/gear.c:20:3" or "gear.c:20" into the file and the line; nil if no number follows the file.
  var sourcePlace: (file: TextBytes, line: UInt32)? {
    var path = self
    var numbers: [UInt64] = []
    while numbers.count < 2, let colon = path.lastIndex(of: UInt8(ascii: ":")),
      let number = path[(colon + 1)...].decimal
    {
      numbers.insert(number, at: 0)
      path = path[..<colon]
    }
    guard let line = numbers.first.flatMap({ UInt32(exactly: $0) }), !path.isEmpty else { return nil }
    return (path, line)
  }

  /// The hexadecimal number at the start, with or without "0x".
  var leadingHexadecimal: UInt64? {
    let digits = has(prefix: "0x") ? dropFirst(2) : self
    return digits.prefix { $0.isDigit || (0x61...0x66).contains($0 | 0x20) }.hexadecimal
  }
}
