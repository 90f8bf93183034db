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

  /// The names of the signals by which processes crash.
  static let names = Set(all.map(\.name))

  /// The name of such a signal by its number, if all systems share that number.
  static func name(ofNumber number: UInt64) -> String? {
    guard let number = UInt32(exactly: number), case let name = darwinSignalName(number), names.contains(name),
      linuxSignalName(Int32(bitPattern: number)) == name
    else { return nil }
    return name
  }

  /// The name of the signal that a text begins with the words of.
  static func name(_ text: TextBytes) -> String? { all.first { text.has(prefix: $0.words) }?.name }

  /// A signal with what psiginfo(3) says of it.
  struct End {
    let name: String
    var code: String?
    var address: UInt64?
  }

  /// "Segmentation fault (Address not mapped to object [0x6448])", "Aborted (Signal sent by tkill() 7 1000)".
  static func end(_ line: TextBytes) -> End? {
    guard let name = name(line), let details = line.after(" (") else { return nil }
    let code = codes.first { $0.signal == name && details.has(prefix: $0.words) }?.code
    let address = details.between("[", "]").flatMap { $0.equals("(nil)") ? 0 : $0.address }
    return End(name: name, code: code, address: code == nil ? nil : address)
  }

  /// The words of glibc for codes of signals.
  ///
  /// Source: glibc, stdio-common/psiginfo-data.h
  private static let codes: [(signal: String, words: String, code: String)] = [
    ("SIGSEGV", "Address not mapped to object", "SEGV_MAPERR"),
    ("SIGSEGV", "Invalid permissions for mapped object", "SEGV_ACCERR"),
    ("SIGBUS", "Invalid address alignment", "BUS_ADRALN"), ("SIGBUS", "Nonexisting physical address", "BUS_ADRERR"),
    ("SIGBUS", "Object-specific hardware error", "BUS_OBJERR"), ("SIGILL", "Illegal opcode", "ILL_ILLOPC"),
    ("SIGILL", "Illegal operand", "ILL_ILLOPN"), ("SIGILL", "Illegal trap", "ILL_ILLTRP"),
    ("SIGILL", "Privileged opcode", "ILL_PRVOPC"), ("SIGFPE", "Integer divide by zero", "FPE_INTDIV"),
    ("SIGFPE", "Integer overflow", "FPE_INTOVF"), ("SIGFPE", "Floating-point divide by zero", "FPE_FLTDIV"),
    ("SIGFPE", "Floating-point overflow", "FPE_FLTOVF"), ("SIGFPE", "Floating-point underflow", "FPE_FLTUND"),
    ("SIGFPE", "Invalid floating-point operation", "FPE_FLTINV"),
    ("SIGTRAP", "Process breakpoint", "TRAP_BRKPT"), ("SIGTRAP", "Process trace trap", "TRAP_TRACE"),
  ]
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

  /// Forgets the stacks so far, as a better one follows.
  mutating func removeThreads() {
    builder.snapshot.threads = []
    builder.report.faultingThread = nil
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
  mutating func leaveOutHandler(_ count: Int, of thread: Int) { builder.leaveOutHandler(count, of: thread) }

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

  /// Sets where a module of frames lies, if it is one.
  mutating func setRange(of name: TextBytes, _ address: UInt64, size: UInt64) {
    guard let index = modules[name] else { return }
    builder.snapshot.modules[index].address = address
    builder.snapshot.modules[index].size = size
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

  /// The pointer at the start as printf(3) writes one, or without "0x".
  var leadingPointer: UInt64? { has(prefix: "(nil)") ? 0 : leadingHexadecimal }

  /// The hexadecimal number at the start, with or without "0x".
  var leadingHexadecimal: UInt64? {
    let digits = has(prefix: "0x") ? dropFirst(2) : self
    return digits.prefix { $0.isDigit || (0x61...0x66).contains($0 | 0x20) }.hexadecimal
  }
}
