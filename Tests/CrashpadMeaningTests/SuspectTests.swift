// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import CrashpadSnapshot
import Testing

@Suite("Suspects, and what is said where a report lacks the exception")
struct SuspectTests {
  private func explanation(
    _ exception: ExceptionSnapshot?, _ frames: [String], messages: [String] = [],
    report change: (inout ReportSnapshot) -> Void = { _ in }
  ) -> Explanation {
    Explanation(SampleCrash.crash(exception, [SampleCrash.thread(0, frames)], messages: messages, report: change))
  }

  private let access = SampleCrash.mach(1, [1, 0x8], signal: 11)

  @Test(
    "A name that stands for many functions is no suspect if a real one follows",
    arguments: [
      "<deduplicated_symbol>", "<redacted>", "<compiler-generated>", "func_1d388", "___lldb_unnamed_symbol42",
      "(Missing)", "(Missing UUID 00112233)",
    ])
  func made(_ name: String) {
    let texts = explanation(access, ["app:\(name)", "app:Wheel.turn()"] + SampleCrash.end).evidence.map(\.text)
    #expect(texts.contains { $0.contains("was in Wheel.turn()") } && !texts.contains { $0.contains(name) })
    let alone = explanation(access, ["app:\(name)"] + SampleCrash.end).evidence.map(\.text)
    #expect(alone.contains { $0.contains(name) })
  }

  private func usesObject(_ function: String, at address: UInt64) -> Explanation {
    let crash = SampleCrash.crash(
      SampleCrash.mach(1, [1, address], signal: 11), [SampleCrash.thread(0, [function] + SampleCrash.end)])
    return Explanation(crash)
  }

  @Test(
    "A runtime's function that uses an object faults on one that is gone",
    arguments: ["objc_msgSend", "objc_release", "swift_retain", "_objc_rootRelease"],
    [0x9176_107d, 0x5_0000_1234])
  func object(_ function: String, _ address: UInt64) {
    let result = usesObject(function, at: address)
    #expect(
      result.summary.contains("the object was probably freed before its use") && result.certainty == .inferred)
    #expect(result.evidence.contains { $0.text.contains(function) })
    #expect(
      !(result.advice + result.evidence.map(\.text)).contains {
        $0.contains("null") || $0.contains("offset of the field")
      })
  }

  @Test("A small address in the function that sends messages is of the object's class, as that returns at once for nil")
  func smallAddressOfMessage() {
    for address in [0x10, 0x7d8] as [UInt64] {
      let result = usesObject("objc_msgSend", at: address)
      #expect(result.summary.contains("the object was probably freed before its use"))
      #expect(!(result.advice + result.evidence.map(\.text)).contains { $0.contains("null pointer") })
    }
  }

  @Test(
    "A pattern of the address comes first, and the function beside it", arguments: ["objc_release", "swift_release"],
    [0x1, 0x138])
  func nearNull(_ function: String, _ address: UInt64) {
    let result = usesObject(function, at: address)
    #expect(!result.summary.contains("freed"))
    #expect(result.evidence.contains { $0.text.contains("null pointer") })
    #expect(result.evidence.contains { $0.text.contains("in \(function)") })
    #expect(result.advice.contains { $0.contains("an object that is freed") })
  }

  @Test(
    "A crashed thread in such a function is enough", arguments: ["objc_msgSend", "objc_release", "swift_retain"],
    [true, false])
  func objectAlone(_ function: String, _ isCrash: Bool) {
    let crash = SampleCrash.crash(nil, [SampleCrash.thread(0, [function] + SampleCrash.end)]) {
      $0.statesCrash = isCrash
    }
    let result = Explanation(crash)
    #expect(result.summary.contains("probably freed before its use") == isCrash)
    #expect(result.notKnown.contains { $0.contains("Why the process ended") } == isCrash)
  }

  @Test("A last exception backtrace is of an exception, whatever part of it is left", arguments: [true, false])
  func part(_ hasBacktrace: Bool) {
    var crash = SampleCrash.crash(
      nil, [SampleCrash.thread(0, ["__pthread_kill", "abort", "__cxa_bad_cast"])], report: { $0.statesCrash = true })
    if hasBacktrace { crash.lastException = SampleCrash.frames(["CFRunLoopRunSpecific", "UIApplicationMain"]) }
    let result = Explanation(crash)
    #expect(result.summary.contains("exception was not caught") == hasBacktrace)
    #expect(result.certainty == (hasBacktrace ? .inferred : .shown))
  }

  @Test("dyld's mode is no message of the program", arguments: ["dyld2 mode", "dyld3 mode", "dyld4 mode"])
  func dyldMode(_ line: String) {
    func texts(_ messages: [String]) -> [String] {
      Explanation(
        SampleCrash.crash(
          SampleCrash.mach(10, [10, 6], signal: 6), [SampleCrash.thread(0, ["abort"] + SampleCrash.end)],
          messages: messages)
      ).evidence.map(\.text)
    }
    #expect(texts([line]) == texts([]))
    #expect(texts([line + "\nno wheel"]).contains { $0.contains("\"no wheel\"") })
  }

  @Test("A function that does not take nil faults on nil")
  func collection() {
    #expect(usesObject("CFRelease", at: 0x8).evidence.contains { $0.text.contains("null pointer") })
  }

  @Test(
    "Advice about an address is given if the report has none",
    arguments: [[1], [1, 0x10], [1, 0x9176_107d]] as [[UInt64]])
  func advice(_ codes: [UInt64]) {
    let result = explanation(SampleCrash.mach(1, codes, signal: 11), ["app:Wheel.turn()"] + SampleCrash.end)
    #expect(result.advice.contains { $0.contains("near 0 it is nil") } == (codes.count == 1))
  }

  @Test(
    "A selector that is not recognized is known by the function that forwards it, if nothing stands between it and the throw",
    arguments: [
      (["__exceptionPreprocess", "objc_exception_throw", "__CFExceptionProem", "___forwarding___"], true),
      (
        [
          "__exceptionPreprocess", "objc_exception_throw", "+[NSObject(NSObject) _copyDescription]", "___forwarding___",
        ], true
      ),
      (["__exceptionPreprocess", "objc_exception_throw", "-[Proxy forwardInvocation:]", "___forwarding___"], false),
    ])
  func forwarding(_ frames: [String], _ isSelector: Bool) {
    var crash = SampleCrash.crash(
      nil, [], messages: ["*** Terminating app due to uncaught exception 'NSInvalidArgumentException'"])
    crash.lastException = SampleCrash.frames(frames + ["_CF_forwarding_prep_0", "-[UIView actionForLayer:forKey:]"])
    #expect(Explanation(crash).summary.contains("does not have the method") == isSelector)
  }

  private static let handled = [
    "plcrash_signal_handler", "_sigtramp", "pthread_kill", "abort", "std::__terminate(void (*)())", "__cxa_rethrow",
    "objc_exception_rethrow", "CFRunLoopRunSpecific",
  ]

  @Test("A jump out of a crash reporter's handler is explained by the crash that it handled")
  func handler() {
    var thread = SampleCrash.thread(0, Self.handled + SampleCrash.end)
    thread.frames.insert(
      CrashEvidence.Frame(function: nil, module: nil, offset: nil, location: nil, isOfApp: false), at: 0)
    let wild = Explanation(SampleCrash.crash(SampleCrash.mach(1, [1, 0xbeb8_3637_ee80], signal: 11), [thread]))
    #expect(wild.summary.contains("A crash reporter crashed") && wild.summary.contains("exception was not caught"))
    // A report that was made in the handler has it on the stack of the first crash.
    let made = explanation(access, Self.handled + SampleCrash.end)
    #expect(!made.summary.contains("A crash reporter crashed"))
  }

  @Test("The kernel's messages name the file whose signature is not valid")
  func signature() {
    let line =
      "-4 sec CODE SIGNING: process 1[Demo]: rejecting invalid page at address 0x11212c000 in file \"/A/b.node\" (x)"
    for code in [50, 1] as [UInt64] {
      let result = explanation(SampleCrash.mach(1, [code, 0x1_1212_c000], signal: 9), SampleCrash.end) {
        $0.notes = [line]
      }
      #expect(result.evidence.contains { $0.text.contains("file /A/b.node") } == (code == 50))
    }
  }

  @Test(
    "A guard whose numbers a report lacks is known by its names",
    arguments: [
      ("GUARD_TYPE_MACH_PORT", "INVALID_RIGHT on mach port", "MACH_PORT INVALID_RIGHT"), ("GUARD_TYPE_VN", "", "VN"),
      ("GUARD_TYPE_FD", "CLOSE on file descriptor", "FD CLOSE"),
    ])
  func guardNames(_ type: String, _ violation: String, _ name: String) {
    let result = explanation(SampleCrash.mach(12, [], signal: 9), SampleCrash.end) {
      $0.exceptionCodes = type
      $0.fields = [.init(name: "Violation", value: violation)]
    }
    #expect(result.summary.hasPrefix("EXC_GUARD / \(name): "))
    #expect(result.notKnown.contains { $0.contains("no numbers of the guard") })
  }

  @Test("Functions whose names only begin so are suspects", arguments: ["func_turn", "(wheel) turn", "sub_zero"])
  func real(_ name: String) {
    let texts = explanation(access, ["app:\(name)", "app:Wheel.turn()"] + SampleCrash.end).evidence.map(\.text)
    #expect(texts.contains { $0.contains(name) })
  }

  @Test(
    "A library's template or inlined function is no suspect if one of the program follows",
    arguments: [
      "std::__1::vector<int>::at(unsigned long)", "void std::__1::sort<int*>(int*, int*)",
      "kfun:kotlin.Throwable#<init>(kotlin.String?){}", "core::option::unwrap_failed",
      "ThrowIllegalStateExceptionWithMessage", "(anonymous namespace)::terminateWithUnhandledException(ObjHeader*)",
    ])
  func language(_ name: String) {
    let texts = explanation(access, ["app:\(name)", "app:Wheel.turn()"] + SampleCrash.end).evidence.map(\.text)
    #expect(texts.contains { $0.contains("was in Wheel.turn()") })
  }

  @Test("A crash reporter's frame by which a crash is grouped is no suspect")
  func reporter() {
    var thread = SampleCrash.thread(0, ["app:FIRCLSHandler", "app:Wheel.turn()"] + SampleCrash.end)
    thread.fault = 0
    let texts = Explanation(SampleCrash.crash(access, [thread])).evidence.map(\.text)
    #expect(texts.contains { $0.contains("was in Wheel.turn()") } && !texts.contains { $0.contains("FIRCLS") })
  }

  @Test("A check that was inlined into a crash reporter is the cause")
  func checkOfReporter() {
    let name = "Swift runtime failure: Unexpectedly found nil while unwrapping an Optional value"
    var thread = SampleCrash.thread(0, ["app:\(name)", "app:Replay.clear()"] + SampleCrash.end)
    for index in 0...1 { thread.frames[index].module = "NewRelic" }
    let crash = Explanation(SampleCrash.crash(nil, [thread]) { $0.statesCrash = true })
    #expect(crash.summary == "An optional that is nil was unwrapped with !.")
  }

  @Test("A signal without an address has none in its title")
  func noAddress() {
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 11)
    (exception.isInfoKnown, exception.isAddressKnown) = (false, false)
    let crash = explanation(exception, ["app:Wheel.turn()"] + SampleCrash.end)
    #expect(!crash.summary.contains("0x0") && !crash.evidence.contains { $0.text.contains("null pointer") })
  }

  @Test("A message that terminate was called says less than the function that called it")
  func terminate() {
    let message = ["terminate called without an active exception"]
    let frames = ["abort", "std::terminate()"]
    func summary(_ caller: String) -> String {
      explanation(SampleCrash.mach(10, [0, 0], signal: 6), frames + [caller, "app:main"], messages: message).summary
    }
    #expect(summary("std::thread::~thread()").hasPrefix("A std::thread was destroyed"))
    #expect(summary("__cxa_pure_virtual").hasPrefix("A virtual function was called"))
    #expect(summary("app:Wheel.turn()").hasPrefix("The program called std::terminate"))
  }

  @Test(
    "A panic of Rust is explained by the function that panicked, though the library is in the program's file",
    arguments: [
      ("core::option::unwrap_failed", "An Option that is None was unwrapped"),
      ("core::panicking::panic_bounds_check", "An index is outside of a slice"),
      ("core::panicking::panic_fmt", "A Rust program panicked"),
    ])
  func panic(_ function: String, _ event: String) {
    let raising = [
      "abort", "app:std::sys::pal::unix::abort_internal", "app:__rustc::__rust_start_panic",
      "app:std::panicking::panic_with_hook", "app:__rustc::rust_begin_unwind", "app:core::panicking::panic_fmt",
    ]
    let crash = explanation(
      SampleCrash.mach(10, [0, 0], signal: 6), raising + ["app:" + function, "app:shop::Cart::total", "app:main"])
    #expect(crash.summary.hasPrefix(event) && crash.certainty == .shown)
  }

  @Test(
    "Exceptions of the C++ library are known by name in each of its namespaces",
    arguments: ["std::", "std::__1::", "std::__cxx11::"])
  func thrown(_ namespace: String) {
    let text = "terminating due to uncaught exception of type \(namespace)regex_error: no"
    #expect(explanation(nil, [], messages: [text]).summary.hasPrefix("A regular expression is not valid"))
  }

  @Test("The main function is a suspect if the crash is grouped by it")
  func mainFunction() {
    var thread = SampleCrash.thread(0, ["app:main", "__libc_start_main", "app:_start"])
    let without = Explanation(SampleCrash.crash(access, [thread]))
    #expect(without.notKnown.contains { $0.contains("only its main function") })
    thread.fault = 0
    #expect(Explanation(SampleCrash.crash(access, [thread])).evidence.contains { $0.text.contains("was in main") })
  }

  @Test(
    "An access below the stack pointer is probably an overflow",
    arguments: [(0x7fff_0000_0000, true), (0x5000_0000, false)])
  func stack(_ address: UInt64, _ isOverflow: Bool) {
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 11)
    (exception.info, exception.address) = (1, address)
    var registers = X86_64Context()
    registers.rsp = 0x7fff_0000_0008
    exception.context = .x86_64(registers)
    let crash = explanation(exception, ["app:Wheel.turn()"])
    #expect(crash.summary.contains("probably had no stack left") == isOverflow)
    #expect(crash.certainty == (isOverflow ? .inferred : .stated))
  }

  @Test("An object of C++ that holds a Kotlin exception is one of Kotlin")
  func kotlin() {
    let text = "terminating due to uncaught exception of type (anonymous namespace)::ExceptionObjHolderImpl"
    #expect(explanation(nil, [], messages: [text]).summary.hasPrefix("A Kotlin exception was not caught"))
  }

  @Test("The entry point of a debug build is its main function")
  func debugBuild() {
    let frames = ["swift_release", "app:__debug_main_executable_dylib_entry_point", "start"]
    let explanation = explanation(access, frames)
    #expect(explanation.notKnown.contains { $0.contains("only its main function") })
  }

  @Test("AppKit's end of an app is that of an Objective-C exception, by a trap")
  func appKit() {
    let frames = ["-[NSApplication _crashOnException:]", "-[NSApplication reportException:]", "-[NSApplication run]"]
    let explanation = explanation(nil, frames) { $0.statesCrash = true }
    #expect(explanation.summary.hasPrefix("An Objective-C exception was not caught: AppKit"))
    #expect(explanation.endedBy == ["AppKit, by a trap: SIGTRAP or SIGILL."])
  }

  @Test("A signal alone is no access")
  func signalAlone() {
    let explanation = explanation(SampleCrash.mach(10, [0, 0], signal: 11), ["mach_msg2_trap"] + SampleCrash.end)
    #expect(explanation.summary == "EXC_CRASH (SIGSEGV): SIGSEGV ended the process; the report does not say why.")
  }

  @Test("abort() as the kernel's exception is the process's own end")
  func softwareAbort() {
    let explanation = explanation(SampleCrash.mach(5, [0x1_0002, 0], signal: 6), ["__abort"] + SampleCrash.end)
    #expect(explanation.endedBy == ["The process itself."])
  }

  @Test("A step that the evidence has taken is no advice")
  func decodedTrap() {
    let explanation = explanation(SampleCrash.mach(6, [1, 0x1000], signal: 5), ["app:turn"]) {
      $0.syndrome = 0xf200_0001
    }
    #expect(explanation.evidence.contains { $0.text.contains("brk 0x1") })
    #expect(!explanation.advice.contains { $0.contains("explain brk") })
  }

  @Test("A message that has an exception's name alone is not to be read")
  func nameAlone() {
    let words = "*** Terminating app due to uncaught exception 'NSInternalInconsistencyException'"
    let alone = explanation(nil, ["objc_exception_throw", "app:turn"], messages: [words]) { $0.statesCrash = true }
    #expect(!alone.advice.contains { $0.contains("Read the message") })
    #expect(alone.endedBy.first?.contains("Objective-C exception that was not caught") == true)
    #expect(!alone.notKnown.contains { $0.contains("Why the process ended") })
    let whole = explanation(nil, ["app:turn"], messages: [words + ", reason: 'no wheel'"]) { $0.statesCrash = true }
    #expect(whole.advice.contains { $0.contains("Read the message") })
  }

  // MARK: Crash reporters

  private func field(_ name: String, _ value: String) -> ReportSnapshot.Field {
    ReportSnapshot.Field(name: name, value: value)
  }

  @Test("An error that the program reported is no crash unless the report says so")
  func reported() {
    let explanation = explanation(nil, ["app:report()"], messages: ["no wheel"]) {
      $0.fields = [field("Crash Type", "user")]
    }
    #expect(!explanation.isCrash && explanation.summary == "The program reported an error of its own.")
    #expect(explanation.evidence.contains { $0.text.contains("no wheel") })
    #expect(explanation.notKnown == ["Whether the process ended: the report does not say it."])
  }

  @Test("A crash reporter's conclusion at the next start is said to be one")
  func conclusion() {
    let killed = SampleCrash.mach(10, [0, 0], signal: 9)
    let explanation = explanation(killed, []) { $0.fields = [field("Conclusion", "unexplained")] }
    #expect(explanation.evidence.contains { $0.text.contains("concluded: \"unexplained\"") })
  }
}
