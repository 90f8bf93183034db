// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning

/// Chooses the frames of a signature from one stack, by version 2 of the rules.
struct SignatureChoice {
  private var kind: CrashKind
  private(set) var stack: SignatureStack

  private var entries: [StackEntry] { stack.entries }

  init(_ kind: CrashKind, _ entries: [StackEntry]) {
    self.kind = kind
    stack = SignatureStack(entries, raw: kind)
    // A module that was given up had code there.
    if kind.isJumpOutOfCode, let top = entries.first, top.module?.isUnloaded == false, !top.isNamed {
      stack.skip(0..<1, Self.noCode, "where the thread went on is no code")
    }
    let start = startBehindCapture()
    nameKind(from: start)
    skipCallees(from: start)
    choose(from: start)
    if let earlier = kind.earlier, !earlier.isRepaired { takeEarlier(earlier.text, depth: earlier.depth, from: start) }
  }

  private static let noCode = "no-code"

  // MARK: Where to start

  /// The depth to which a handler's frames are searched, with inlined calls.
  private static let captureDepth = 64

  /// Behind the last frame of a crash handler that leads to what raised: between it and the top, nothing is the program's.
  ///
  /// A function of the program that the kernel called for a signal belongs to the handler, unless the fault is there, or the
  /// signal came while a system call waited: then what it interrupted has no part in it.
  private mutating func startBehindCapture() -> Int {
    if kind.handlerDepth > 0 {
      let start = entries.firstIndex { $0.frame >= kind.handlerDepth } ?? entries.count
      stack.skip(0..<start, "handler", "called by the program's own handler of the fault, which ended the process")
      return start
    }
    var start = 0
    for index in entries.indices.prefix(Self.captureDepth) {
      guard let rule = entries[index].rule, rule.frameClass == .capture else { continue }
      let isBehindOwn = entries[start..<index].contains { $0.isOwn }
      let isSignal = rule.id == "signal-frame" || rule.id == "go-signal-frame"
      // A handler that failed a check aborted itself.
      if isSignal, kind.earlier != nil, !kind.isFault { break }
      if isBehindOwn, !isSignal || interruptsWait(index) || kind.isFault && !handlesCrash(start..<index, index) {
        break
      }
      start = index + 1
    }
    guard start > 0, start < entries.count else { return 0 }
    stack.skip(0..<start, "capture", "called by a crash handler")
    return start
  }

  /// Whether a handler that the kernel called was about to tell of a crash: it took down its stack, or the thread that it
  /// interrupted had just raised. A fault in it is another one.
  private func handlesCrash(_ handler: Range<Int>, _ signal: Int) -> Bool {
    entries[handler].contains { entry in
      guard let name = entry.name else { return false }
      // Chromium's has the types of its parameters behind it.
      return Self.stackTakers.contains(name) || name.hasPrefix("base::debug::CollectStackTrace(")
    }
      || entries[(signal + 1)...].prefix(4).contains { $0.rule?.id == "abort" }
  }

  /// Functions by which handlers take down the stack of their thread.
  private static let stackTakers: Set<String> = [
    "+[NSThread callStackSymbols]", "+[NSThread callStackReturnAddresses]", "objc_exception_throw", "backtrace",
    "backtrace_symbols", "backtrace_symbols_fd", "-[NSException raise]", "+[NSException raise:format:]",
  ]

  /// Whether a signal came while a system call waited. A program sends itself a signal by a call, too.
  private func interruptsWait(_ index: Int) -> Bool {
    guard entries[index].interruptsSystemCall, index + 1 < entries.count else { return false }
    let interrupted = entries[index + 1]
    return interrupted.isNamed && interrupted.rule?.frameClass != .raise
      && !(interrupted.name.map { Self.senders.contains($0) } ?? false)
  }

  /// The functions that may send their own program a signal, beside those that end it: writing without a reader does.
  private static let senders: Set<String> = [
    "kill", "killpg", "sigqueue", "__sigqueue", "pthread_sigqueue", "syscall", "write", "__write", "writev", "__writev",
    "send", "__send", "__libc_send", "sendto", "__libc_sendto", "sendmsg", "__libc_sendmsg",
  ]

  /// Adds the fault for which a handler was running that faulted itself.
  private mutating func takeEarlier(_ text: String, depth: Int, from start: Int) {
    guard let first = entries.firstIndex(where: { $0.frame >= depth }), start < first, kind.words.isEmpty else {
      return
    }
    stack.addEarlier(text, at: entries.indices[first...].first { isOwn($0) }, depth: depth)
  }

  // MARK: Position

  /// Skips what an allocator or a raise called: it is part of it, whatever its name. An allocator's own functions may lie in
  /// the program, as may a handler of uncaught exceptions.
  private mutating func skipCallees(from start: Int) {
    let last = lastCallingNothing(from: start)
    if let last, let rule = entries[last].rule { stack.skip(start..<last, rule.id, "called by \(rule.id)") }
  }

  /// The outermost frame that calls no function of the program: all that is called by it is part of it.
  private func lastCallingNothing(from start: Int) -> Int? {
    let frames = entries[start...].prefix(Self.raiseDepth).prefix { $0.rule?.frameClass != .capture }
    return frames.lastIndex { entry in
      guard let rule = entry.rule, rule.callsNothing else { return false }
      return rule.frameClass != .raise || !kind.isFault
    }
  }

  /// The depth to which raising frames are searched.
  private static let raiseDepth = 96

  // MARK: Kind

  private mutating func nameKind(from start: Int) {
    // The message has the class of Kotlin's exception, which no frame shows.
    if kind.isAbort, let raised = raisedKind(from: start),
      raised != "exception:Kotlin" || !kind.text.hasPrefix("exception:")
    {
      kind.text = raised
    }
    if kind.text == "trap", entries[start...].prefix(8).contains(where: { $0.name == CrashKind.appKitEnd }) {
      kind.text = "exception:NSException"
    }
    if kind.text == "bad-access[null]" || kind.text == "bad-access[wild]", let use = objectUse(from: start) {
      kind.text = use
    }
    // An allocator that faults was given a wrong pointer, or its heap was overwritten: the address says nothing more.
    if kind.text == "bad-access[null]" || kind.text == "bad-access[wild]", isInAllocator(from: start) {
      kind.text = "bad-access[heap]"
    }
    // Work with files waits for them at one moment, and not at the next.
    if kind.isHang, let wait = stack.wait(from: start), wait != "file" { kind.text += "[\(wait)]" }
  }

  /// The kind that the raising frames of an abort say. The outermost one counts: a runtime raises by means of others.
  ///
  /// Only what leads to the signal counts. A function of the program is part of it if something that raised called it.
  private func raisedKind(from start: Int) -> String? {
    var raised: String?
    var depth = entries.indices[start...].prefix(Self.raiseDepth)
    let last = depth.last { entries[$0].rule.map { $0.callsNothing && $0.meaning != nil } ?? false }
    // The function that raised says whose exception it is too.
    if let own = depth.first(where: { index in entries[index].isOwn && last.map { index > $0 } ?? true }) {
      depth = depth.prefix(through: own)
    }
    for index in depth {
      let entry = entries[index]
      // Nothing else in Apple's allocator calls abort().
      if raised == nil, !entry.isNamed, entry.module?.name == "libsystem_malloc.dylib" { return "abort[heap]" }
      guard let rule = entry.rule else { continue }
      if rule.frameClass == .raise, let meaning = rule.meaning { raised = meaning }
      // The runtime of Go panics for a fault near address 0, and ends the program for one elsewhere.
      if rule.id == "go-signal", raised == "abort[Go]" {
        // It does so for every fault in C code that it called.
        let isInC = entries[(index + 1)...].prefix(Self.raiseDepth).contains {
          $0.name?.hasPrefix("runtime.asmcgocall") == true
        }
        raised = isInC ? "bad-access" : "bad-access[wild]"
      }
      // The allocator aborts for memory that was corrupted before, and not for its caller's own reason.
      if raised == nil, Self.allocators.contains(rule.id) { return "abort[heap]" }
    }
    guard let raised else { return nil }
    let exception = exception(of: raised, entries[depth])
    return exception == "exception:C++"
      ? entries[depth].lazy.compactMap { CxxThrow.kind($0.name) }.last ?? exception : exception
  }

  /// The exception that the raising frames show, in the words of `explain`: those of C++ are on the stacks of Objective-C's
  /// exceptions too.
  private func exception(of raised: String, _ frames: ArraySlice<StackEntry>) -> String {
    guard raised == "exception:C++" || raised == "exception:NSException" else { return raised }
    return switch RaisedException(frames.map(\.name), on: kind.system) {
    case .objectiveC: "exception:NSException"
    case .cxx, .rethrown: "exception:C++"
    case .objectiveCOrCxx: "exception"
    case .terminated: "terminate"
    case nil: raised
    }
  }

  /// One object that is dead is used at a null address or a wild one, by chance.
  private func objectUse(from start: Int) -> String? {
    guard let first = entries[start...].first(where: { !$0.isInlined || $0.isOwn }) else { return nil }
    return first.rule?.frameClass == .runtime ? first.rule?.meaning : nil
  }

  private static let allocators = ["allocator", "malloc-check", "apple-allocator"]

  /// Whether the fault is in an allocator, or in what it called: its own functions may lie in the program, and have any name.
  private func isInAllocator(from start: Int) -> Bool {
    lastCallingNothing(from: start).flatMap { entries[$0].rule }.map { Self.allocators.contains($0.id) } ?? false
  }

  // MARK: Anchor

  private mutating func choose(from start: Int) {
    stack.begin(kind)
    if !kind.words.isEmpty { return stack.takeWords(kind.words) }
    guard start < entries.count else { return stack.takeNothing(of: kind.program) }
    if kind.isStackOverflow, let anchor = stack.cycle(from: start) {
      return stack.take(anchor, "recursion", "the first by name of the functions that repeat")
    }
    if kind.mayBeIdle, stack.isIdle(from: start) { return stack.flag(.idle, "idle") }
    let last = entries.lastIndex { $0.rule?.id == "app-loop" } ?? entries.endIndex
    // The program's functions that started the loop of events are outside of all that happens in it.
    guard let own = entries.indices[start...].first(where: { isOwn($0) }), own < last else {
      return takeOther(from: start)
    }
    let path = entries[own].isNamed || !kind.isAbort ? nil : stack.path(from: own)
    stack.take(own, "in-app", "the first function of the program that no rule skips", mark: programMark(own))
    if let path { return stack.add(path, path) }
    if kind.isHang { return }
    if isWrapper(own, from: start) { takeCaller(of: own) } else { takeNext(above: own, from: start) }
  }

  /// Each program has its main function: the name alone would make one group of several programs.
  private func programMark(_ index: Int) -> String {
    guard entries[index].rule?.frameClass == .entry, entries[index].isNamed, let module = entries[index].module else {
      return ""
    }
    return " of " + module.name
  }

  private func isOwn(_ index: Int) -> Bool { entries[index].isInApp && stack.isTaken(index, mayBeEntry: true) }

  /// The callee of the anchor, if no row skips it: it tells two faults in one large function apart.
  private mutating func takeNext(above own: Int, from start: Int) {
    let callee = entries.indices[start..<own].last { entries[$0].rule?.id != SignatureNames.header.id }
    guard let callee else { return }
    // Frames that a scan found below the anchor may be left over from earlier calls.
    if start == 0, own > 0, kind.isJumpOutOfCode, entries[0].module == nil, !entries[0].isNamed,
      entries[1..<own].allSatisfy(\.isScanned)
    {
      return stack.takeNoCode(0, Self.noCode)
    }
    if stack.decisions[callee]?.rule == Self.noCode { return stack.takeData(callee, from: own, Self.noCode) }
    guard stack.isTaken(callee), entries[callee].key != entries[own].key else { return }
    stack.takeNext(callee, "callee", "called by the anchor")
  }

  /// The caller of a function that only raises for it.
  private mutating func takeCaller(of own: Int) {
    // The main function is called by what starts programs, whatever it does.
    if entries[own].rule?.frameClass == .entry { return }
    // A handler is not called by what its signal interrupted.
    let callers = entries.indices[(own + 1)...].prefix { entries[$0].rule?.id != "signal-frame" }
    let last = callers.prefix(Self.checkFrames).filter { isOwn($0) }.prefix(Self.checkDepth).last { index in
      guard let name = entries[index].name, let raiser = entries[own].name else { return false }
      return WrapperName.isCheckObject(name, of: raiser)
    }
    let caller = callers.first { isOwn($0) && entries[$0].key != entries[own].key && $0 > last ?? own }
    guard let caller else { return }
    stack.takeNext(caller, "wrapper", "called the function that raised for it", mark: programMark(caller))
  }

  /// The number of functions of an object that is made to check something, between the one that raises and its user.
  private static let checkDepth = 6
  private static let checkFrames = 64

  // MARK: Wrappers

  /// Whether the anchor raises for its callers: it aborts itself, or its name says that it does.
  private func isWrapper(_ own: Int, from start: Int) -> Bool {
    if handsOnArguments(own, from: start) { return true }
    let callee = own > start ? entries[own - 1].rule : nil
    if kind.text == "abort", callee?.id == "abort" { return true }
    guard kind.isAbort || kind.text == "trap", callee.map({ $0.frameClass == .raise }) ?? true else { return false }
    guard let name = entries[own].name else { return false }
    if WrapperName.isWrapper(name) { return true }
    // A generic function has one name for all types, and raises for its caller, which chose one. A check of the language's
    // runtime, such as that of an index, found a fault of the function itself.
    return kind.isAbort && !kind.text.hasSuffix("]") && WrapperName.isGeneric(name)
  }

  /// Whether the anchor has its arguments from its callers and gives them to printf or the like: the fault is in what one of
  /// them passed.
  private func handsOnArguments(_ own: Int, from start: Int) -> Bool {
    guard kind.isFault, own > start, !entries[own - 1].isOwn, let callee = entries[own - 1].name else { return false }
    return WrapperName.takesArgumentList(callee)
      && entries.indices[(own + 1)...].contains { isOwn($0) && entries[$0].rule == nil && entries[$0].isNamed }
  }

  // MARK: Stacks without the program

  private mutating func takeOther(from start: Int) {
    let indices = entries.indices[start...]
    let isLibraryOnly = { (entry: StackEntry) in
      RuleIndex.rule(nil, in: entry.module?.name, .unknown) != nil
    }
    let isEngine = { (entry: StackEntry) in entry.rule?.id == "unnamed-engine" }
    // An engine that came with the program says more than what it called or what called it.
    let other = indices.first { index in
      !entries[index].isInApp && stack.isTaken(index) && !isLibraryOnly(entries[index])
        || stack.decisions[index] == nil && isEngine(entries[index])
    }
    if let other {
      stack.flags = [.system]
      let module = entries[other].module
      let reason =
        indices.contains { isOwn($0) }
        ? "the program's functions only started the loop of events"
        : module == nil
          ? "no function is known to be of the program" : "no function of the program is in the stack"
      let shown =
        isEngine(entries[other])
        ? " (engine)" : module == nil ? " (unknown module)" : module?.isOutsideSystem == true ? " (library)" : nil
      return stack.take(other, "system", reason, mark: " (system)", shown: shown)
    }
    stack.flags = [.runtimeOnly]
    guard let frame = runtimeFrame(indices) else { return stack.takeNothing(of: kind.program) }
    // A runtime that is linked into the program is the same in all programs.
    let program = entries[frame].isInApp ? entries[frame].module.map { " of " + $0.name } : nil
    stack.take(frame, "runtime-only", "every frame is skipped", mark: (program ?? "") + " (runtime only)")
  }

  /// The frame of runtimes that says most: what uses an object, raises or copies is the same for all faults.
  private func runtimeFrame(_ indices: Range<Int>) -> Int? {
    let named = indices.filter { entries[$0].isNamed && stack.decisions[$0] == nil }
    let caller = named.first { index in
      guard let rule = entries[index].rule else { return false }
      return rule.frameClass == .runtime && rule.meaning == nil && !rule.callsNothing
    }
    return caller ?? named.first { entries[$0].rule?.frameClass != .raise } ?? named.first
      ?? indices.first { entries[$0].module.map { !$0.isCLibrary } ?? false }
      ?? indices.first { entries[$0].module != nil }
  }
}

/// Functions of C++'s library that throw an exception of one class for the library's own checks.
enum CxxThrow {
  private static let prefix = "std::__throw_"

  /// "exception:std::out_of_range" of "std::__throw_out_of_range_fmt(const char*, ...)"; nil of another function.
  static func kind(_ name: String?) -> String? {
    guard let name, name.hasPrefix(prefix) else { return nil }
    var type = name.dropFirst(prefix.utf8.count).prefix { $0 != "(" }
    // Conversions of text throw either for bad text.
    if type == "invalid_argument" || type == "out_of_range" { return nil }
    if type.hasSuffix("_fmt") { type = type.dropLast(4) }
    guard !type.isEmpty, type.utf8.allSatisfy({ NameText.isWord($0) }) else { return nil }
    return "exception:std::" + type
  }
}

/// Names of functions that end the program for their callers.
enum WrapperName {
  static func isWrapper(_ name: String) -> Bool {
    // Swift's checks hand on where they were called.
    if name.containsBytes("file:line:") { return true }
    let base = String(name.prefix { $0 != "(" }).lowercased()
    let last = base.split { ":. ]".contains($0) }.last.map(String.init) ?? base
    return words.contains(last) || parts.contains { last.containsBytes($0) }
  }

  /// Whether it has a generic type or is in one. Types of parameters don't make a function generic, and a generic one has none.
  static func isGeneric(_ name: String) -> Bool {
    guard ["<T>", "[T]"].contains(where: { name.containsBytes($0) }) else { return false }
    return !name.hasSuffix(")") || name.hasSuffix("operator()")
  }

  /// Whether it makes or destroys an object that is there to check something: `Checker::Checker(bool)`.
  ///
  /// - Parameter raiser: the function that ends the program, which has to be the object's: `Checker::failed()`.
  static func isCheckObject(_ name: String, of raiser: String) -> Bool {
    guard let (owner, function) = parts(name), parts(raiser)?.owner == owner else { return false }
    let type = owner.split(separator: ":").last.map(String.init) ?? owner
    guard function == type || function == "~" + type else { return false }
    let word = type.lowercased()
    return ["check", "assert", "fatal", "panic", "ensure", "verif"].contains { word.containsBytes($0) }
  }

  /// `a::B` and `f` of `a::B::f(int)`; nil of a name without an owner.
  private static func parts(_ name: String) -> (owner: String, function: String)? {
    let base = String(name.prefix { $0 != "(" })
    guard let colon = base.lastIndex(of: ":"), let owner = base[..<colon].lastIndex(where: { $0 != ":" }) else {
      return nil
    }
    return (String(base[...owner]), String(base[base.index(after: colon)...]))
  }

  /// Whether a function of the C library takes the arguments of another one as a list (va_list): "__vsnprintf_internal".
  static func takesArgumentList(_ name: String) -> Bool {
    var name = name[...]
    for start in ["_IO_", "___", "__", "_"] where name.hasPrefix(start) {
      name = name.dropFirst(start.count)
      break
    }
    for end in ["_internal", "_chk", "_l"] where name.hasSuffix(end) { name = name.dropLast(end.count) }
    return lists.contains(String(name))
  }

  private static let lists = [
    "vprintf", "vfprintf", "vsprintf", "vsnprintf", "vdprintf", "vasprintf", "vwprintf", "vfwprintf", "vswprintf",
    "vscanf", "vfscanf", "vsscanf", "vwscanf", "vfwscanf", "vswscanf", "vsyslog", "verr", "verrx", "vwarn", "vwarnx",
  ]
  private static let words: Set<String> = [
    "die", "fail", "crash", "abort", "terminate", "bug", "fault", "raise", "must",
    // A coroutine of C++ calls it for an exception that it does not catch.
    "unhandled_exception",
  ]
  private static let parts = [
    "assert", "fatal", "panic", "unreachable", "notreached", "terminatehandler", "crashfail", "checkfail",
  ]
}
