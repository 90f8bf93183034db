// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// The facts about a crash that an explanation needs: text instead of bytes, and symbolicated stacks.
package struct CrashEvidence: Sendable {
  package struct Frame: Sendable, Hashable {
    /// The demangled name; nil if there is none.
    package var function: String?
    package var module: String?
    /// The offset in the module in bytes.
    package var offset: UInt64?
    /// The address of the code, if it is known.
    package var address: UInt64?
    /// Such as "Scene.swift:12".
    package var location: String?
    /// Whether the code belongs to the application rather than the system.
    package var isOfApp: Bool
    /// Whether the module had been unloaded.
    package var isUnloaded: Bool
    /// The number of bytes behind the start of the function; nil unless the report alone has its name.
    package var distance: UInt64?

    package init(
      function: String?, module: String?, offset: UInt64?, location: String?, isOfApp: Bool, isUnloaded: Bool = false
    ) {
      self.isUnloaded = isUnloaded
      self.function = function
      self.module = module
      self.offset = offset
      self.location = location
      self.isOfApp = isOfApp
    }

    /// Whether the code is the application's and may be a cause. The main function is on every stack; checks of libc++ are
    /// inlined into the code that failed them; and a crash reporter only handles the crash.
    package var isCause: Bool {
      guard isOfApp, !CrashReporters.contains(function: function ?? "", module: module) else { return false }
      guard let function else { return true }
      return !isMain && !function.hasPrefix("_checkExpectedExecutor") && !Self.isInlinedCheck(function)
    }

    /// Whether its name is of no function that the program's authors wrote.
    var isForeign: Bool { isPlaceholder || function.map { PlaceholderNames.isOfLanguage($0) } ?? false }

    /// Whether its name stands for many functions.
    var isPlaceholder: Bool { function.map { PlaceholderNames.isMade($0) } ?? false }

    /// Whether a function is a check of a library that was inlined, with its message for a name.
    static func isInlinedCheck(_ function: String) -> Bool {
      function.hasPrefix("Swift runtime failure: ") || function.containsBytes("/include/c++/v1/")
    }

    /// Whether it is the main function, which is on every stack.
    package var isMain: Bool {
      guard let function else { return false }
      return Self.mainFunctions.contains(function) || function.hasSuffix(".$main()") || function.hasSuffix(".main()")
    }

    private static let mainFunctions = [
      "main", "$main()", "main()", "_main", "__main_argc_argv", "start", "_start",
      "__debug_main_executable_dylib_entry_point",
      "__debug_blank_executor_main",
    ]

    /// Such as "Scene.load() in Orrery (Scene.swift:12)".
    package var text: String {
      let place = module ?? "no module"
      guard let function else { return offset.map { "\(place) + \(hex($0))" } ?? place }
      // A tool that prints the file of a function says nothing of its module.
      if let location { return module == nil ? "\(function) (\(location))" : "\(function) in \(place) (\(location))" }
      guard let distance, distance >= Self.longFunction else { return "\(function) in \(place)" }
      return "\(function) in \(place) (\(grouped(distance)) bytes behind its start: perhaps another function)"
    }

    /// Few functions have as many bytes. A reporter names the nearest function of a file without symbols.
    private static let longFunction: UInt64 = 16 << 10
  }

  package struct Thread: Sendable {
    /// The index in the report.
    package var index: Int
    /// The number by which the report names it.
    package var number: Int
    package var name: String?
    /// The label of the dispatch queue.
    package var queue: String?
    /// The frames, the innermost first.
    package var frames: [Frame]
    /// Frames that the report left out.
    package var elided: [ElidedFrames]
    /// The frame by which the crash is grouped, if it is in this stack.
    package var fault: Int?
    /// The number of frames inside of the first of `frames`: those of a handler that ended the process for a fault there.
    package var handlerDepth = 0

    package init(
      index: Int, number: Int? = nil, name: String?, queue: String?, frames: [Frame], elided: [ElidedFrames] = []
    ) {
      self.elided = elided
      self.index = index
      self.number = number ?? index
      self.name = name
      self.queue = queue
      self.frames = frames
    }

    package func has(_ words: [String]) -> Bool { first(words) != nil }

    /// The index of the innermost frame whose function contains one of these words.
    package func first(_ words: [String]) -> Int? {
      frames.firstIndex { frame in
        guard let function = frame.function else { return false }
        return words.contains { function.contains($0) }
      }
    }

    /// The index of the innermost frame of the application that may be a cause.
    package var firstOfApp: Int? {
      CrashEvidence.firstCause(in: frames[handlerEnd...])
    }

    /// The frame of the application to name: that by which the crash is grouped, or else the first that may be a cause.
    var suspect: Int? {
      CrashEvidence.suspect(fault, in: frames) ?? firstOfApp
    }

    /// The number of frames of no known module: those with a name, and those with an address behind the innermost one, which may
    /// be a wrong address; and those of a module without a name.
    var framesWithoutModule: Int {
      let places = frames.dropFirst().count {
        $0.module == nil && $0.function == nil && $0.address ?? 0 != 0 && !$0.isUnloaded
      }
      return places + frames.count { $0.module == nil && $0.function != nil && !$0.isUnloaded }
        + frames.count { $0.module.map { PlaceholderNames.isMissingModule($0) } ?? false }
    }

    /// The number of innermost frames that belong to a handler of signals or of exceptions that nothing caught: the program's
    /// own frames among them only handle the crash.
    private var handlerEnd: Int {
      let last = frames.prefix(48).lastIndex { frame in
        frame.function.map { function in Self.handlerCalls.contains { function.containsBytes($0) } } ?? false
      }
      return last.map { $0 + 1 } ?? 0
    }

    private static let handlerCalls = [
      "_sigtramp", "<signal handler called>", "__restore_rt", "std::__terminate", "std::terminate",
    ]

    /// Such as "thread 3 (com.example.store)".
    package var title: String { "thread \(number)" + ((queue ?? name).map { " (\($0))" } ?? "") }
  }

  package struct EarlierFault: Sendable {
    package let exception: ExceptionSnapshot
    /// The index of the frame that has it.
    package let frame: Int
    /// Whether the memory permits the access by now.
    package let isRepaired: Bool

    package init(exception: ExceptionSnapshot, frame: Int, isRepaired: Bool) {
      (self.exception, self.frame, self.isRepaired) = (exception, frame, isRepaired)
    }
  }

  package var exception: ExceptionSnapshot?
  /// Whether the input may have had an exception that can't be read.
  package var hasLostException = false
  /// Whether no module says where it lies: no address is known to be outside of all.
  package var lacksModulePlaces = false
  /// Whether there are modules, with or without their places.
  package var listsModules = true
  /// Whether the kernel found no room on the stack for a handler of the program.
  package var lacksStackForHandler = false
  /// The signal by which a handler of the program ended the process for the exception, which then is the fault.
  package var handlerSignal: UInt32?
  /// The faults of the crashed thread whose handlers faulted themselves, or failed a check; the last one first.
  package var earlierFaults: [EarlierFault] = []
  package var system: SystemSnapshot
  package var report: ReportSnapshot?
  package var processName: String?
  package var processID: Int64?
  package var threads: [Thread]
  /// The index in `threads` of the thread that crashed, or that the report names.
  package var crashed: Int?
  /// The stack of the uncaught exception; empty if there is none.
  package var lastException: [Frame]
  /// The frame of it by which the crash is grouped.
  package var lastFault: Int?
  /// The messages that programs and libraries left.
  package var messages: [String]
  /// The branch of the crashed thread that the processor refused; nil if it refused something else, or nothing.
  package var branch: FaultyBranch?
  /// The address that no pointer can have and that the instruction used, where the processor did not report it.
  package var hiddenAddress: UInt64?
  /// Whether the instruction is known to use the address that was reported.
  package var usesReportedAddress = false
  /// The accesses that the memory at the program counter permits, where no module is; nil if no memory is known to be there.
  package var counterProtection: MemoryProtection?
  /// Whether the input ends early, so that the last of the threads may lack frames.
  package var isCut: Bool

  package init(
    exception: ExceptionSnapshot?, system: SystemSnapshot, report: ReportSnapshot?, processName: String?,
    processID: Int64? = nil, threads: [Thread], crashed: Int?, lastException: [Frame] = [],
    lastFault: Int? = nil, messages: [String], isCut: Bool = false
  ) {
    self.isCut = isCut
    self.exception = exception
    self.system = system
    self.report = report
    self.processName = processName
    self.processID = processID
    self.threads = threads
    self.crashed = crashed
    self.lastException = lastException
    self.lastFault = lastFault
    self.messages = messages
  }

  /// The answer to whether the process crashed, which groups and events ask for too.
  var outcome: ProcessSnapshot.Outcome { ProcessSnapshot.Outcome(report, exception) }

  var crashedThread: Thread? { crashed.flatMap { threads.indices.contains($0) ? threads[$0] : nil } }

  /// Whether the input has only a part of the thread's stack.
  func hasPart(of thread: Thread) -> Bool {
    thread.elided.contains { $0.levels == nil } || isCut && thread.index == threads.last?.index
  }

  /// The main thread: the thread of the main queue, or else the first.
  var mainThread: Thread? {
    threads.first { $0.queue == "com.apple.main-thread" || $0.name?.containsBytes("com.apple.main-thread") == true }
      ?? threads.first { $0.index == 0 }
  }

  /// The frame of the application to name in the stack of the uncaught exception.
  var lastSuspect: Int? {
    Self.suspect(lastFault, in: lastException) ?? Self.firstCause(in: lastException[...])
  }

  /// The index of the innermost frame of the application that may be a cause.
  private static func firstCause(in frames: ArraySlice<Frame>) -> Int? {
    guard let first = frames.firstIndex(where: \.isCause) else { return nil }
    // A name that stands for many functions, or for a library's, says less than that of the next one.
    guard frames[first].isForeign else { return first }
    return frames[first...].firstIndex { $0.isCause && $0.function != nil && !$0.isForeign } ?? first
  }

  /// The frame by which the crash is grouped, if it may be a cause; a group needs one whatever is on the stack. The main
  /// function may be one too.
  private static func suspect(_ fault: Int?, in frames: [Frame]) -> Int? {
    guard let fault, frames.indices.contains(fault) else { return nil }
    let frame = frames[fault]
    // The rules of groups know the language of a name: "alloc::Pool::take" of C++ is the program's.
    guard frame.isCause || frame.isMain, frame.isOfApp, !frame.isPlaceholder else { return nil }
    return fault
  }

  /// All lines about the termination as one text.
  var terminationText: String {
    ((report?.termination?.reasons ?? []) + (report?.termination?.details ?? [])).joined(separator: "\n")
  }
}
