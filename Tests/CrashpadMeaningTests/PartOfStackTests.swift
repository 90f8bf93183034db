// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadMeaning

/// Explanations of stacks of which the report has a part, and of functions that say why a check failed.
struct PartOfStackTests {
  private func crash(_ names: [String], _ change: (inout CrashEvidence.Thread) -> Void = { _ in }) -> CrashEvidence {
    var thread = SampleCrash.thread(0, names)
    change(&thread)
    return SampleCrash.crash(SampleCrash.mach(1, [1, 0x1_0000_0010], signal: 11), [thread])
  }

  private func involved(_ crash: CrashEvidence) -> String? {
    Explanation(crash).notKnown.first { $0.hasPrefix("Which code of the application") }
  }

  // MARK: Parts

  @Test func `A part of a stack is not said to be all of it`() {
    let names = ["read", "work"]
    #expect(involved(crash(names))?.contains("none of it in its stack") == true)
    var cut = crash(names)
    cut.isCut = true
    #expect(involved(cut)?.contains("a part of the stack of thread 0") == true)
    let gap = crash(names) { $0.elided = [ElidedFrames(index: 1, frames: 8, levels: nil)] }
    #expect(involved(gap)?.contains("a part of the stack of thread 0") == true)
    // Frames of a recursion that a report leaves out are the same function's.
    let recursion = crash(names) { $0.elided = [ElidedFrames(index: 1, frames: 8, levels: 9)] }
    #expect(involved(recursion)?.contains("none of it in its stack") == true)
    // The end of the input is in another thread.
    cut.threads.append(SampleCrash.thread(1, ["wait"]))
    #expect(involved(cut)?.contains("none of it in its stack") == true)
  }

  @Test func `The first frame of a stack without its innermost ones is a caller`() {
    let names = ["app:Wheel.turn()", "app:main"]
    let whole = Explanation(crash(names)).evidence.map(\.text)
    #expect(whole.contains { $0.hasPrefix("The crashed thread was in Wheel.turn()") })
    let outer = Explanation(crash(names) { $0.elided = [ElidedFrames(index: 0, frames: 39, levels: nil)] })
    #expect(outer.evidence.contains { $0.text.hasPrefix("The crashed thread was below Wheel.turn()") })
    #expect(
      outer.evidence.contains { $0.text == "The report lacks the innermost 39 frames, above Wheel.turn() in Demo" })
    let inner = Explanation(crash(names) { $0.elided = [ElidedFrames(index: 1, frames: 8, levels: nil)] })
    #expect(inner.evidence.contains { $0.text == "The report lacks 8 frames, below Wheel.turn() in Demo" })
  }

  // MARK: Functions

  private func summary(_ names: [String], _ codes: [UInt64] = [1, 0], _ type: UInt32 = 6) -> String {
    Explanation(
      SampleCrash.crash(
        SampleCrash.mach(type, codes, signal: 5), [SampleCrash.thread(0, names + ["app:Cart.add()"] + SampleCrash.end)])
    ).summary
  }

  @Test func `The caller of a failed check of Swift says why it failed`() {
    let check = "_assertionFailure(_:file:line:flags:)"
    for name in ["CheckedContinuation.resume(throwing:)", "CheckedContinuation.resume(returning:)"] {
      #expect(summary([check, name]).hasPrefix("A continuation was resumed twice"))
    }
    #expect(summary([check, "Array._checkSubscript(_:wasNativeTypeChecked:)"]).hasPrefix("An index is outside"))
    #expect(summary([check, "Dictionary.init<A>(uniqueKeysWithValues:)"]).hasPrefix("Two keys of a dictionary"))
    // Others than the check itself crash while they resume one.
    #expect(!summary(["objc_release", "CheckedContinuation.resume(returning:)"]).contains("continuation"))
    #expect(!summary([check, "Wheel.turn()", "CheckedContinuation.resume(returning:)"]).contains("continuation"))
  }

  @Test func `Libraries that end the process for a wrong use are named`() {
    let assertion = [
      "__pthread_kill", "pthread_kill", "abort", "__assert_rtn", "MTLReportFailure.cold.1", "MTLReportFailure",
    ]
    #expect(summary(assertion, [0, 0], 10).hasPrefix("Metal was used in a way"))
    #expect(summary(["__chk_fail_overflow", "__strcpy_chk"]).contains("beyond its buffer"))
    let row = EvidenceSearch.all.function("__chk_fail_overflow")
    #expect(row?.source.text.contains("glibc") == false && row?.endedBy.contains("trap") == true)
    #expect(EvidenceSearch.all.function("__chk_fail")?.source.text.contains("glibc") == true)
  }

  @Test func `Frames of Go's runtime are no suspects`() {
    let names = ["app:runtime.raiseproc", "app:runtime.dieFromSignal", "app:runtime.crash", "app:main.turnWheel"]
    let explanation = Explanation(
      SampleCrash.crash(nil, [SampleCrash.thread(0, names)]) {
        $0.statesCrash = true
        $0.faultingThread = 0
      })
    #expect(explanation.summary.hasPrefix("The Go runtime ended the process by a signal"))
    #expect(explanation.evidence.contains { $0.text.contains("main.turnWheel") })
  }

  @Test func `A crash in a crash reporter is said to be one`() {
    var frames = SampleCrash.frames(["sentrycrashmc_getThreadAtIndex", "writeAllThreads"])
    for index in frames.indices { frames[index].module = "Sentry" }
    var thread = SampleCrash.thread(0, [])
    thread.frames = frames
    let explanation = Explanation(SampleCrash.crash(SampleCrash.mach(1, [1, 0x10], signal: 11), [thread]))
    #expect(explanation.evidence.contains { $0.text.hasPrefix("The crash was in a crash reporter") })
  }

  @Test func `Checks of libraries of C++ are theirs, and not Swift's`() {
    for (text, name) in [
      ("include/c++/v1/vector:1459: assertion __n < size() failed: vector[] index out of bounds[2]", "libc++ index"),
      ("/c++/v1/optional:806: assertion has_value() failed: operator* called on a disengaged value", "libc++ check"),
      ("/c++/13/bits/stl_vector.h:1125: operator[]: Assertion '__n < this->size()' failed.", "libstdc++ check"),
      ("validateDraw:3476: failed assertion `Vertex Function(v): index out of bounds'", "Metal validation failed"),
      ("Demo/Cart.swift:12: Fatal error: Index out of bounds", "Index out of range"),
    ] {
      #expect(EvidenceSearch.all.message(text)?.name == name, "\(text)")
    }
  }

  // MARK: Frames without a module, and no frames

  @Test func `Frames of no module are not said to be of others than the application`() {
    var frame = SampleCrash.frames(["work"])[0]
    (frame.function, frame.module, frame.offset, frame.address) = (nil, nil, nil, 0x1_0000_4000)
    let crash = crash(["raise", "throw"]) { $0.frames += [frame, frame] }
    #expect(involved(crash)?.contains("thread 0 has 2 frames of no known module") == true)
    // The innermost one may be a wrong address, and an address of 0 is no code.
    let jump = self.crash([]) { $0.frames = [frame] + SampleCrash.frames(["read"]) }
    #expect(involved(jump)?.contains("none of it in its stack") == true)
    frame.address = 0
    #expect(involved(self.crash(["read"]) { $0.frames += [frame] })?.contains("none of it in its stack") == true)
  }

  @Test func `A resource report without a stack does not say what the stack lacks`() {
    var crash = SampleCrash.crash(nil, [SampleCrash.thread(0, [])]) { report in
      report.kind = .resource
      report.exceptionType = "EXC_RESOURCE"
      report.exceptionSubtype = "(RESOURCE_TYPE_MEMORY: high watermark memory limit exceeded) (limit=14 MB)"
    }
    crash.exception = nil
    let texts = Explanation(crash).notKnown
    #expect(!texts.contains { $0.contains("in its stack") }, "\(texts)")
    #expect(texts.contains { $0.contains("thread 0 has no stack") }, "\(texts)")
  }

  @Test func `A part of the main thread's stack is not said to be all of it`() {
    let main = SampleCrash.thread(0, queue: "com.apple.main-thread", ["turnWheel"])
    var crash = SampleCrash.crash(nil, [main]) { report in
      report.kind = .hang
      report.fields.append(.init(name: "Note", value: "Unresponsive for 5 seconds before sampling"))
    }
    #expect(Explanation(crash).notKnown.contains { $0.contains("its stack has no code") })
    crash.isCut = true
    #expect(Explanation(crash).notKnown.contains { $0.contains("the report has a part of its stack") })
  }

  @Test func `A stack that ends with a gap has no evidence about it`() {
    let names = ["read", "work"]
    let end = crash(names) { $0.elided = [ElidedFrames(index: 2, frames: nil, levels: nil)] }
    #expect(!Explanation(end).evidence.contains { $0.text.contains("lacks") })
    #expect(involved(end)?.contains("a part of the stack of thread 0") == true)
  }

  @Test func `A code that one processor has is that processor's where the report names none`() {
    var crash = SampleCrash.crash(SampleCrash.mach(1, [0x101, 0x41], signal: nil), [SampleCrash.thread(0, ["read"])])
    crash.system = SystemSnapshot(architecture: .unknown, operatingSystem: .ios)
    #expect(Explanation(crash).summary.contains("EXC_ARM_DA_ALIGN"))
    crash.system = SystemSnapshot(architecture: .x86_64, operatingSystem: .macos)
    #expect(!Explanation(crash).summary.contains("EXC_ARM_DA_ALIGN"))
  }

  @Test func `An abort in a handler of a signal is told from one of the program`() {
    let names = ["__pthread_kill", "abort", "app:report", "_sigtramp", "app:Wheel.turn()", "app:main"]
    let crash = SampleCrash.crash(nil, [SampleCrash.thread(0, names)]) { $0.statesCrash = true }
    let explanation = Explanation(crash)
    #expect(explanation.summary.hasPrefix("A handler of a signal called abort()"))
    #expect(explanation.evidence.contains { $0.text.contains("_sigtramp") && $0.place == "thread 0, frame 3" })
    let plain = SampleCrash.crash(nil, [SampleCrash.thread(0, names.filter { $0 != "_sigtramp" })]) {
      $0.statesCrash = true
    }
    #expect(Explanation(plain).summary == "The thread called abort(), which ends the process.")
  }

  @Test func `The loader's words about a signature are not cut at a path in them`() {
    let reason =
      "Reason: tried: '/a/libgear.dylib' (no such file), '/b/libgear.dylib' (code signature in "
      + "<BBF2DEAC-95F6-3558-BF2A-19C26A4828F2> '/b/libgear.dylib' not valid for use in process: mapping process and "
      + "mapped file (non-platform) have different Team IDs), '/c/libgear.dylib' (no such file)"
    let crash = SampleCrash.crash(nil, []) { report in
      report.termination = SampleCrash.termination("DYLD", 1, ["Library not loaded: @rpath/libgear.dylib", reason])
    }
    #expect(
      Explanation(crash).summary.hasSuffix(
        "did not load it: code signature not valid for use in process: mapping process and mapped file (non-platform) "
          + "have different Team IDs."))
  }

  @Test func `A load command that the loader does not know is named`() {
    let crash = SampleCrash.crash(nil, []) { report in
      var termination = ReportSnapshot.Termination()
      termination.namespace = "DYLD"
      termination.reasons = ["cannot load 'wheel' (load command 0x80000034 is unknown)"]
      report.termination = termination
    }
    #expect(Explanation(crash).summary.hasSuffix("does not know a part of it: load command 0x80000034."))
  }

  @Test func `The end of a long message is kept where it is the place`() {
    let path = String(repeating: "wheelworks/", count: 30)
    let place =
      "Fatal error: Unexpectedly found nil while unwrapping an Optional value: file \(path)Gear.swift, line 223"
    let crash = SampleCrash.crash(
      SampleCrash.mach(6, [1, 0], signal: 5), [SampleCrash.thread(0, ["stop"])], messages: [place])
    let texts = Explanation(crash).evidence.map(\.text)
    #expect(texts.contains { $0.contains("Gear.swift, line 223\"") && $0.contains("…") })
  }
}
