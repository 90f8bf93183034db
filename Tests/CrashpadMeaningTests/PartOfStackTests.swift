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
}
