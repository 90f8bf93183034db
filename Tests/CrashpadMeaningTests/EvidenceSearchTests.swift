// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import DumpSynth
import Testing
import ToolRunner

@testable import CrashpadMeaning

/// Crashes for each row of messages and functions.
private enum RowCrash {
  static let abort = ["__pthread_kill", "pthread_kill", "abort"]
  static let throwing = ["__exceptionPreprocess", "objc_exception_throw"]
  static let checking = ["_assertionFailure(_:file:line:flags:)"]

  static func message(_ text: String) -> CrashEvidence {
    SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 6), [thread([])], messages: [text])
  }

  static func thread(_ names: [String]) -> CrashEvidence.Thread {
    SampleCrash.thread(0, abort + names + ["app:Cart.total()"] + SampleCrash.end)
  }

  /// The function below what the row needs.
  static func function(_ name: String, of row: CodeMeaning) -> CrashEvidence {
    let above =
      switch row.grounds.need {
      case .objectiveCThrow: throwing
      case .swiftCheck: checking
      default: [] as [String]
      }
    let isCxx = row.grounds.need == .raised(.cxx)
    let below = isCxx && name != "__cxa_throw" ? ["__cxa_throw"] : []
    var crash = SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 6), [thread(above + [name] + below)])
    // Elsewhere than on Apple's systems the handlers are those of C++ alone.
    if isCxx || [.raised(.terminated), .raised(.rethrown)].contains(row.grounds.need) {
      crash.system = SystemSnapshot(architecture: .x86_64, operatingSystem: .linux)
    }
    return crash
  }

  /// A crash for each text and each function of the table, with its row.
  static let all: [(row: CodeMeaning, crash: CrashEvidence, text: String)] =
    MeaningTable.all.filter { $0.kind == .message }.flatMap { row in
      row.aliases.map { (row, message("Demo[812:7] \($0) 0x600 of Thing"), $0) }
    }
    + MeaningTable.all.filter { $0.kind == .function }.flatMap { row in
      ([row.name] + row.aliases).map { (row, function($0, of: row), $0) }
    }
}

/// Which row explains a crash.
struct EvidenceSearchTests {
  private static let messages = MeaningTable.all.filter { $0.kind == .message }
  private static let functions = MeaningTable.all.filter { $0.kind == .function }

  // MARK: The table

  @Test func `Each text and each function of a row leads to that row`() {
    for (row, crash, text) in RowCrash.all {
      let found = EvidenceSearch.all.verdict(crash)?.row
      #expect(found == row, "\(row.name), \(text): \(found?.name ?? "none")")
    }
    #expect(RowCrash.all.count > 250)
  }

  @Test func `Each row of a cause or kind wins within the frame of a general message of its runtime`() {
    let envelopes: [(Runtime, (String) -> String)] = [
      (
        .objectiveC,
        { "*** Terminating app due to uncaught exception 'NSException', reason: '*** -[Thing go]: \($0) 3'" }
      ),
      (.cxx, { "libc++abi: terminating due to uncaught exception of type demo::Error: \($0)" }),
      (.swift, { "Demo/Cart.swift:12: Fatal error: \($0)" }),
    ]
    var count = 0
    for row in Self.messages where row.grounds.level < .general {
      for (runtime, envelope) in envelopes where row.grounds.runtime == runtime {
        for text in row.aliases {
          count += 1
          #expect(EvidenceSearch.all.message(envelope(text)) == row, "\(envelope(text))")
        }
      }
    }
    #expect(count > 80)
  }

  @Test func `The order of the rows makes no difference`() {
    var crashes = RowCrash.all.map(\.crash)
    var generator = Soak.random()
    // Two and three things that a crash may have at once.
    for _ in 0..<300 {
      let parts = (0..<3).map { _ in RowCrash.all.randomElement(using: &generator)!.crash }
      var crash = parts[0]
      crash.messages = parts.flatMap(\.messages)
      crash.threads = [
        RowCrash.thread(parts.flatMap { $0.threads[0].frames.dropFirst(3).dropLast(4).compactMap(\.function) })
      ]
      crash.lastException = Bool.random(using: &generator) ? Array(parts[1].threads[0].frames.dropFirst(3)) : []
      crashes.append(crash)
    }
    let rows = crashes.map { EvidenceSearch.all.verdict($0)?.row }
    for shuffle in 0..<Soak.times(200, or: 30) {
      let search = EvidenceSearch(
        messages: Self.messages.shuffled(using: &generator), functions: Self.functions.shuffled(using: &generator))
      // Each shuffle sees a part, and all together see each crash several times.
      for index in stride(from: shuffle % 10, to: crashes.count, by: 10) {
        let found = search.verdict(crashes[index])?.row
        #expect(found == rows[index], "\(found?.name ?? "none"), \(rows[index]?.name ?? "none")")
      }
    }
  }

  // MARK: Nearness

  private func row(_ names: [String], lastException: [String] = [], messages: [String] = []) -> String? {
    var crash = SampleCrash.crash(
      SampleCrash.mach(10, [0, 0], signal: 6), [SampleCrash.thread(0, RowCrash.abort + names + SampleCrash.end)],
      messages: messages)
    crash.lastException = SampleCrash.frames(lastException)
    return EvidenceSearch.all.verdict(crash)?.row.name
  }

  private static let uncaught = [
    "abort_message", "demangling_terminate_handler()", "_objc_terminate()", "std::__terminate(void (*)())",
  ]

  @Test func `A collection on the stack is a cause only where it raised`() {
    let collection = "-[__NSDictionaryM setObject:forKey:]"
    #expect(row(RowCrash.throwing + [collection, "app:Cart.add()"]) == "initWithObjects:forKeys:count:")
    #expect(
      row(["malloc_vreport", "malloc_zone_error", "szone_malloc", collection, "app:Cart.add()"]) == "malloc_report")
    #expect(row(["__assert_rtn", "app:-[Key hash]", collection, "app:Cart.add()"]) == "__assert_rtn")
    #expect(row(RowCrash.throwing + ["-[NSException raise]", "app:-[Key hash]", collection]) == "objc_exception_throw")
    #expect(row(["-[Key hash]", collection, "app:Cart.add()"]) == nil)
  }

  @Test func `The language of an exception is said where the stack shows it`() {
    let thrown = ["__cxxabiv1::failed_throw(__cxxabiv1::__cxa_exception*)", "__cxa_throw"]
    #expect(row(Self.uncaught + thrown + ["app:Cart.load()"]) == "__cxa_throw")
    #expect(row(Self.uncaught + thrown + ["objc_exception_throw", "app:Cart.load()"]) == "objc_exception_throw")
    // The caller of the throw is not known.
    #expect(row(Self.uncaught + thrown + ["", "app:Cart.load()"]) == "_objc_terminate")
    #expect(row(Self.uncaught + ["app:Cart.load()"]) == "_objc_terminate")
    #expect(
      row(Self.uncaught, lastException: RowCrash.throwing + ["app:Cart.load()"]) == "objc_exception_throw")
    let functions = (Self.uncaught + thrown).map(Optional.some)
    #expect(RaisedException(functions + ["Cart::load()"], on: .ios) == .cxx)
    #expect(RaisedException(functions + ["objc_exception_throw", "Cart"], on: .ios) == .objectiveC)
    #expect(RaisedException(functions + [nil, "Cart"], on: .ios) == .objectiveCOrCxx)
    #expect(RaisedException(functions + [nil, "Cart"], on: .linux) == .cxx)
    #expect(RaisedException(Self.uncaught.map(Optional.some), on: .macos) == .objectiveCOrCxx)
    #expect(RaisedException(["abort", "Cart::load()"], on: .ios) == nil)
    // Libraries of Linux have no names for their handlers.
    let called = ["abort", nil, "__cxxabiv1::__terminate(void (*)())", nil, "std::terminate()"]
    for caller in ["std::thread::~thread()", "__cxa_pure_virtual", "Cart::load()"] {
      #expect(RaisedException(called + [caller], on: .linux) == .terminated)
      // There functions of the system catch exceptions, and call the handler.
      #expect(RaisedException(called + [caller], on: .ios) == .objectiveCOrCxx)
    }
    // That of throw; may have had an exception, or none.
    #expect(RaisedException(called + ["__cxa_rethrow", "Cart::load()"], on: .linux) == .rethrown)
    #expect(RaisedException(called + ["__cxa_rethrow", "__cxa_throw", "Cart::load()"], on: .linux) == .cxx)
    #expect(RaisedException(called + ["__cxa_rethrow", "Cart::load()"], on: .macos) == .objectiveCOrCxx)
    let throwers = [
      "__cxa_throw", "_Unwind_RaiseException", "__gxx_personality_v0", "__clang_call_terminate",
    ]
    for thrower in throwers { #expect(RaisedException(called + [thrower, "Cart::load()"], on: .linux) == .cxx) }
    #expect(RaisedException(called + [nil, "Cart::load()"], on: .linux) == .cxx)
  }

  @Test func `Functions of the C++ library that are inlined into the program end it as those of the library's file do`()
  {
    var crash = RowCrash.function("std::thread::~thread()", of: CodeMeaning.functions[0])
    crash.system = SystemSnapshot(architecture: .x86_64, operatingSystem: .linux)
    for (caller, name) in [
      ("app:std::thread::~thread()", "std::thread::~thread"), ("app:Cart::load()", "std::terminate"),
    ] {
      crash.threads = [
        SampleCrash.thread(0, RowCrash.abort + ["", "std::terminate()", "app:std::__terminate()", caller, "app:run()"])
      ]
      #expect(EvidenceSearch.all.verdict(crash)?.row.name == name)
    }
  }

  @Test func `Handlers of crash reporters are looked through, and are no suspects`() {
    let handler = "app:CLSTerminateHandler()"
    #expect(row(["abort_message", handler, "std::__terminate()", "__cxa_throw", "app:Cart.load()"]) == "__cxa_throw")
    let thread = SampleCrash.thread(0, ["abort", handler, "app:-[SentryCrashMonitor raise]", "app:Cart.load()"])
    #expect(thread.firstOfApp == 3)
  }

  @Test func `A function behind the program's own is no cause`() {
    // The stack continues below the program's function, which only a system's function called.
    #expect(row(["app:Cart.total()", "malloc_report"]) == nil)
    #expect(row(["__stack_chk_fail", "app:Cart.total()", "dispatch_assert_queue"]) == "__stack_chk_fail")
  }

  // MARK: Messages

  @Test func `Words in the reason of an exception are not taken for another runtime's message`() {
    let text = "*** Terminating app due to uncaught exception 'DemoError', reason: 'Fatal error: index out of range'"
    #expect(row([], messages: [text]) == "Uncaught NSException")
    #expect(row([], messages: ["terminating due to uncaught exception of type NSException"]) == "Uncaught NSException")
    #expect(
      row([], messages: ["terminating due to uncaught exception of type std::out_of_range: vector"])
        == "std::out_of_range")
  }

  @Test func `An error of JavaScript is known within the words of Foundation`() {
    let text =
      "*** Terminating app due to uncaught exception 'RCTFatalException: Unhandled JS Exception: TypeError: x is not a function"
    #expect(row([], messages: [text]) == "JavaScript exception not handled")
    #expect(
      row([], messages: ["Uncaught Kotlin exception: kotlin.IllegalStateException: no cart"])
        == "Kotlin exception not caught")
  }

  @Test func `The name of an exception counts before its words in a text`() {
    let text = "due to uncaught exception 'NSGenericException', reason: 'after NSInternalInconsistencyException'"
    #expect(row([], messages: [text]) == "NSGenericException")
  }

  @Test func `The message that says most counts, wherever it stands`() {
    let general = "terminating due to uncaught exception of type NSException"
    let cause =
      "*** Terminating app due to uncaught exception 'E', reason: '-[A b]: unrecognized selector sent to instance'"
    #expect(row([], messages: [general, cause, "abort() called"]) == "Unrecognized selector")
    #expect(
      row(RowCrash.throwing + ["-[NSObject doesNotRecognizeSelector:]"], messages: [general])
        == "doesNotRecognizeSelector:")
  }

  @Test func `A message that the system writes about a fault is its cause`() {
    let crash = SampleCrash.crash(
      SampleCrash.mach(1, [2, 0x16b0_0000], signal: 11), [RowCrash.thread([])],
      messages: ["dyld4 mode", "Thread stack size exceeded due to excessive recursion"])
    #expect(Explanation(crash).summary.hasPrefix("The stack is full"))
  }

  @Test func `An instruction that is text is said to be data`() {
    let crash = SampleCrash.crash(SampleCrash.mach(2, [1, 0x6570_7974], signal: 4), [RowCrash.thread([])])
    #expect(Explanation(crash).evidence.contains { $0.text.contains("\"type\"") })
    let other = SampleCrash.crash(SampleCrash.mach(2, [1, 0xd420_0020], signal: 4), [RowCrash.thread([])])
    #expect(!Explanation(other).evidence.contains { $0.text.contains("are text") })
  }

  @Test func `The address that a report means counts before the one that is made of its bits`() {
    let crash = SampleCrash.crash(SampleCrash.mach(1, [1, 0x0a31_323a_523f_ae3e], signal: 11), [RowCrash.thread([])])
    #expect(Explanation(crash).evidence.contains { $0.text.contains("(without them 0x3a523fae3e)") })
  }

  @Test func `The neighbor of the region of a fault is not taken for it`() {
    func region(_ text: String) -> Bool {
      Explanation(
        SampleCrash.crash(SampleCrash.mach(1, [1, 0x1314_eb4b8], signal: 11), [RowCrash.thread([])]) {
          $0.vmRegionInfo = text
        }
      ).evidence.contains { $0.text.contains("guard page") }
    }
    #expect(
      !region("0x1314eb4b8 is not in any region.\n---> GAP OF 0x639bc000 BYTES\n     Stack Guard  16cdbc000-16cdc0000"))
    #expect(region("VM Regions Near 0x1314eb4b8:\n--> STACK GUARD  1314e8000-1314ec000 [16K] ---/rwx"))
    #expect(!region("VM Regions Near 0x1314eb4b8:\n-->\n    STACK GUARD  1315e8000-1315ec000 [16K] ---/rwx"))
    #expect(region("0x1314eb4b8 is in 0x1314e8000-0x1314ec000\n--->  Stack Guard  1314e8000-1314ec000 [16K] ---/rwx"))
  }

  @Test func `An address that was not recorded is no null pointer`() {
    let explanation = Explanation(SampleCrash.crash(SampleCrash.mach(1, [2], signal: 11), [RowCrash.thread([])]))
    #expect(explanation.summary.hasPrefix("EXC_BAD_ACCESS / KERN_PROTECTION_FAILURE: "))
    #expect(!explanation.evidence.contains { $0.text.contains("null pointer") })
  }

  @Test
  func
    `A main thread that waits for a file coordinator is not idle, and a name with main in it is not the main function`()
  {
    let loop = ["__CFRunLoopServiceMachPort", "__CFRunLoopRun", "CFRunLoopRunSpecific"]
    func explanation(_ names: [String]) -> Explanation {
      Explanation(
        SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [SampleCrash.thread(0, names)]) {
          $0.termination = SampleCrash.termination("RUNNINGBOARD", 0xdead_10cc)
        })
    }
    let waiting = explanation(
      [
        "mach_msg2_trap", "xpc_connection_send_message_with_reply_sync", "-[NSFileCoordinator _blockOnAccessClaim:]",
        "app:Store.save()", "a", "b", "c",
      ] + loop + SampleCrash.end)
    #expect(waiting.evidence.contains { $0.text.contains("NSFileCoordinator") })
    #expect(
      !explanation(["mach_msg2_trap"] + loop + SampleCrash.end).evidence.contains { $0.text.contains("file code") })
    #expect(
      explanation(["fsync", "app:DomainStore.remainder()"]).evidence.contains { $0.text.contains("DomainStore") })
  }

  @Test func `Frames of a handler are no suspects, nor is the check of an executor`() {
    let thread = SampleCrash.thread(
      0, ["abort", "app:handle_signal", "_sigtramp", "app:_checkExpectedExecutor", "app:Cart.load()"])
    #expect(thread.firstOfApp == 4)
    let terminate = SampleCrash.thread(
      0, ["abort", "app:onTerminate()", "std::__terminate(void (*)())", "__cxa_throw"])
    #expect(terminate.firstOfApp == nil)
  }

  @Test func `A guard that is only watched ended nothing`() {
    let crash = SampleCrash.crash(
      SampleCrash.mach(12, [2 << 61 | 1 << 32 | 14, 0x08fd_4dbf_ade2_dead], signal: nil), [RowCrash.thread([])]
    ) { $0.isSimulated = true }
    let explanation = Explanation(crash)
    #expect(!explanation.isCrash && explanation.summary.contains("FD CLOSE"))
  }

  @Test func `A message is no cause of a fault`() {
    let crash = SampleCrash.crash(
      SampleCrash.mach(1, [1, 0x5000_0000], signal: 11), [RowCrash.thread(["malloc_report"])],
      messages: ["Fatal error: Index out of range"])
    let explanation = Explanation(crash)
    #expect(explanation.summary.hasPrefix("EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"))
    #expect(explanation.evidence.contains { $0.text.contains("Index out of range") })
  }

  @Test(arguments: [
    (
      "*** Terminating app due to uncaught exception 'NSRangeException', reason: '*** -[__NSArrayI objectAtIndex:]: "
        + "index 3 beyond bounds [0 .. 2]'\nterminating due to uncaught exception of type NSException\nabort() called",
      Runtime.objectiveC, "NSRangeException", "*** -[__NSArrayI objectAtIndex:]: index 3 beyond bounds [0 .. 2]"
    ),
    (
      "due to uncaught exception 'E', reason: 'a 'quoted' word\nand a line'\n*** First throw call stack:\n(0x1)",
      .objectiveC, "E",
      "a 'quoted' word\nand a line"
    ),
    (
      "libc++abi: terminating due to uncaught exception of type std::out_of_range: vector", .cxx, "std::out_of_range",
      "vector"
    ),
    (
      "terminate called after throwing an instance of 'demo::Error'\n  what():  no stock", .cxx, "demo::Error",
      "no stock"
    ),
    (
      "Demo/main.swift:3: Fatal error: Error raised at top level: Demo.Refusal.noStock", .swift, "Demo.Refusal.noStock",
      "Demo.Refusal.noStock"
    ),
  ])
  func `The exception and its reason are read to their ends`(
    text: String, runtime: Runtime, exception: String, reason: String
  ) {
    let message = RuntimeMessage(text)
    #expect(message.runtime == runtime)
    #expect(message.exception == exception)
    #expect(message.reason == reason)
  }

  // MARK: Advice

  @Test func `Advice that the report can't fulfil is left out, and each step is given once`() {
    for (row, crash, _) in RowCrash.all {
      let explanation = Explanation(crash)
      let text = explanation.advice.joined(separator: "\n")
      #expect(!text.contains("last exception backtrace"), "\(row.name)")
      if crash.messages.isEmpty { #expect(!text.contains("application specific information"), "\(row.name)") }
      #expect(!text.contains("esr") && !text.contains("brk"), "\(row.name)")
    }
    var crash = RowCrash.function(
      "doesNotRecognizeSelector:", of: EvidenceSearch.all.function("doesNotRecognizeSelector:")!)
    crash.lastException = SampleCrash.frames(RowCrash.throwing + ["app:Cart.load()"])
    #expect(Explanation(crash).advice.count { $0.contains("last exception backtrace") } == 1)
  }

  @Test func `Each explanation names the exception, the termination, and how sure it is`() {
    let crash = SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [RowCrash.thread([])]) {
      $0.termination = SampleCrash.termination("RUNNINGBOARD", 0xdead_10cc)
    }
    let explanation = Explanation(crash)
    #expect(explanation.evidence.contains { $0.text == "The exception: EXC_CRASH (SIGKILL)." })
    #expect(explanation.evidence.contains { $0.text == "The termination: RUNNINGBOARD 0xdead10cc." })
    #expect(explanation.certainty == .stated)
    #expect(Explanation(RowCrash.function("__stack_chk_fail", of: MeaningTable.all[0])).certainty == .shown)
    #expect(Explanation(RowCrash.function("std::terminate", of: MeaningTable.all[0])).certainty == .inferred)
    let none = SampleCrash.crash(nil, [RowCrash.thread([])])
    #expect(Explanation(none).certainty == .unknown)
  }

  @Test("An exception whose name no class of Objective-C can have is one of C++")
  func cxxNames() {
    for name in ["orrery::bad_wheel", "bad_wheel*", "char const*"] {
      let row = EvidenceSearch.all.message("*** Terminating app due to uncaught exception '\(name)', reason: 'teeth'")
      #expect(row?.grounds.runtime == .cxx, "\(name)")
    }
    let row = EvidenceSearch.all.message("*** Terminating app due to uncaught exception 'BadWheel', reason: 'teeth'")
    #expect(row?.grounds.runtime == .objectiveC)
  }

  @Test("An assertion in the words of musl is C's, and one in those of Swift is Swift's")
  func assertions() {
    let glibc = EvidenceSearch.all.message("orrery: cart.c:12: total: Assertion `count > 0' failed.")
    #expect(glibc != nil)
    #expect(EvidenceSearch.all.message("Assertion failed: count > 0 (cart.c: total: 12)")?.name == glibc?.name)
    for text in ["Assertion failed: no wheel: file Cart/Cart.swift, line 12", "Assertion failed: no wheel (yet)"] {
      let name = EvidenceSearch.all.message(text)?.name
      #expect(name != glibc?.name, "\(text)")
    }
  }
}
