// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import CrashpadSnapshot
import Testing

struct ExplanationTests {
  private let main = SampleCrash.thread(
    0, queue: "com.apple.main-thread",
    ["mach_msg2_trap", "__CFRunLoopServiceMachPort", "__CFRunLoopRun"] + SampleCrash.end)
  private let crashing = SampleCrash.thread(
    0, ["swift_release", "app:Cart.total()", "app:Cart.show()"] + SampleCrash.end)

  // MARK: Terminations

  @Test func `0xdead10cc looks at the threads that are in code of a lock`() {
    let writer = SampleCrash.thread(
      5, queue: "com.example.store", ["guarded_pwrite_np", "sqlite3_step", "app:Store.save()"])
    let crash = SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [main, writer]) {
      $0.termination = SampleCrash.termination("RUNNINGBOARD", 0xdead_10cc)
    }
    let explanation = Explanation(crash)
    #expect(explanation.summary.contains("suspended while it held a lock"))
    #expect(explanation.evidence.contains { $0.place == "thread 5 (com.example.store), frame 0" })
    #expect(explanation.evidence.contains { $0.text.contains("Store.save()") })
    #expect(!explanation.evidence.contains { $0.place?.hasPrefix("thread 0") == true })
    #expect(explanation.cautions.contains { $0.contains("Thread 0") && $0.contains("no culprit") })
    let none = Explanation(
      SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [main]) {
        $0.termination = SampleCrash.termination("RUNNINGBOARD", 0xdead_10cc)
      })
    #expect(none.notKnown.contains { $0.contains("Who holds the lock") })
  }

  @Test func `A code that is unknown is called so, with who ended the process`() {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [main]) {
        $0.termination = SampleCrash.termination("RUNNINGBOARD", 0x1234, ["words of the system"])
      })
    #expect(
      explanation.summary == "The process was ended with code 0x1234 of namespace RUNNINGBOARD, which is unknown.")
    #expect(explanation.endedBy.first?.contains("RunningBoard") == true)
    #expect(explanation.evidence.contains { $0.text.contains("words of the system") })
    #expect(explanation.notKnown.contains { $0.contains("no public list") })
  }

  @Test func `The word of a guard is exact above two to the power of 53`() {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(12, [0x13313, 0], signal: 9), [crashing]) {
        $0.termination = SampleCrash.termination("GUARD", 2_305_845_208_237_028_115)
      })
    #expect(explanation.summary.hasPrefix("EXC_GUARD / MACH_PORT INVALID_NAME: "))
    #expect(explanation.evidence.contains { $0.text.contains("0x2000020000013313: port 0x13313") })
    #expect(explanation.evidence.contains { $0.text.contains("Cart.total()") && $0.place == "thread 0, frame 1" })
  }

  @Test func `The loader's stacks are not blamed`() {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 6), [crashing]) {
        var termination = SampleCrash.termination(
          "DYLD", 1, flags: 0x206,
          ["Library not loaded: @rpath/Extra.framework/Extra", "Reason: tried: '/a' (no such file)"])
        termination.details = ["(terminated at launch; ignore backtrace)"]
        $0.termination = termination
      })
    #expect(explanation.summary == "The dynamic loader did not find the library @rpath/Extra.framework/Extra.")
    #expect(explanation.cautions.contains { $0.contains("ignore the stacks") })
    #expect(!explanation.evidence.contains { $0.text.contains("Cart") })
  }

  @Test(
    arguments: [
      (1, ["Reason: tried: '/a/F' (no such file), '/b/F' (no such file, not in dyld cache)"], nil),
      (
        1,
        ["Reason: tried: '/a/F' (no such file), '/b/F' (code signature invalid in '/b/F' (errno=1) sliceOffset=0x0)"],
        "code signature invalid"
      ),
      (
        1,
        [
          "Reason: tried: '/b/F' (mach-o file, but is an incompatible architecture (have 'x86_64', need 'arm64')), '/c/F' (no such file)"
        ],
        "mach-o file, but is an incompatible architecture"
      ),
      (5, ["Reason: no suitable image found.  Did find:", "/b/F: code signature invalid"], "code signature invalid"),
      (5, ["Reason: image not found"], "code signature"), (3, [], "wrong version"), (77, [], "another reason"),
      (1, ["Reason: image not found"], nil),
    ] as [(UInt64, [String], String?)])
  func `A library that was found and refused is not called missing`(_ code: UInt64, _ reasons: [String], _ why: String?)
  {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 6), [crashing]) {
        $0.termination = SampleCrash.termination("DYLD", code, ["Library not loaded: @rpath/F"] + reasons)
      })
    #expect(
      explanation.summary
        == (why.map { "The dynamic loader found the library @rpath/F, and did not load it: \($0)." }
          ?? "The dynamic loader did not find the library @rpath/F."))
  }

  @Test func `Flags say that no thread is a culprit, and that it will happen again`() {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [main]) {
        $0.termination = SampleCrash.termination("CODESIGNING", 2, flags: 0x140)
      })
    #expect(explanation.cautions.contains { $0.contains("NO_CRASHED_TID") })
    #expect(explanation.evidence.contains { $0.text.contains("CONSISTENT_FAILURE") })
  }

  @Test func `Another process that sent a signal is named`() {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [main]) {
        $0.termination = SampleCrash.termination("SIGNAL", 9, by: "killall")
      })
    #expect(explanation.summary == "Another process, killall, ended it with SIGKILL.")
  }

  @Test func `A sender is no other process where the report does not name its own`() {
    var crash = SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 6), [main]) {
      $0.termination = SampleCrash.termination("SIGNAL", 6, by: "Demo")
    }
    crash.processName = nil
    let explanation = Explanation(crash)
    #expect(!explanation.summary.contains("Another process"))
    #expect(explanation.endedBy == ["The process Demo sent SIGABRT; whether to itself, the report does not say."])
  }

  @Test(arguments: [
    "Fatal error: Range requires lowerBound <= upperBound",
    "Fatal error: Can't form Range with upperBound < lowerBound",
  ])
  func `Reversed bounds of a range are named`(message: String) {
    let explanation = Explanation(SampleCrash.crash(nil, [main], messages: [message]))
    #expect(explanation.summary.hasPrefix("A range was made whose upper bound is below its lower bound"))
  }

  // MARK: Disagreement

  @Test func `An exception that disagrees with the termination is said to, and the termination counts`() {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(1, [50, 0x1_0000_4000], signal: 9), [crashing]) {
        $0.termination = SampleCrash.termination("CODESIGNING", 2)
      })
    #expect(explanation.summary.contains("did not match its signature"))
    #expect(
      explanation.endedBy.contains(
        "The exception says EXC_BAD_ACCESS / KERN_CODESIGN_ERROR at 0x100004000, the termination CODESIGNING 0x2: the"
          + " termination ended the process."))
  }

  @Test func `A signal of the termination that is not that of the exception is said to be another`() {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(1, [1, 0x10], signal: 11), [crashing]) {
        $0.termination = SampleCrash.termination("SIGNAL", 6, by: "Demo")
      })
    #expect(explanation.endedBy.contains { $0.contains("became SIGSEGV") && $0.contains("termination says SIGABRT") })
    let agreeing = Explanation(
      SampleCrash.crash(SampleCrash.mach(1, [1, 0x10], signal: 11), [crashing]) {
        $0.termination = SampleCrash.termination("SIGNAL", 11, by: "exc handler")
      })
    #expect(!agreeing.endedBy.contains { $0.contains("became") })
  }

  // MARK: Exceptions

  @Test func `A null pointer, the access and the first frame of the app are evidence`() {
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(1, [1, 0x18], signal: 11), [crashing]) {
        $0.syndrome = 0x9200_0046
        $0.kernelTriage = [
          "VM - (arg = 0x0) cluster_pagein past EOF",
          "VM - (arg = 0x3) mach_vm_allocate_kernel failed within call to vm_map_enter",
        ]
      })
    #expect(
      explanation.summary == "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x18: an access to memory that is not mapped.")
    #expect(explanation.evidence.contains { $0.text.contains("0x18") && $0.text.contains("null pointer") })
    #expect(explanation.evidence.contains { $0.text == "The access was a write (esr 0x92000046)." })
    #expect(explanation.evidence.contains { $0.text.contains("Cart.total()") && $0.place == "thread 0, frame 1" })
    #expect(explanation.evidence.contains { $0.text.contains("cluster_pagein past EOF") })
    #expect(explanation.cautions.contains { $0.contains("no cause of a crash") })
  }

  @Test func `A pointer that failed its authentication is named in the sentence`() {
    let crash = SampleCrash.crash(SampleCrash.mach(1, [1, 0x2000_0001_0201_ddf8], signal: 11), [crashing])
    #expect(Explanation(crash).summary.hasSuffix("high bits set, as after a failed pointer authentication."))
  }

  @Test func `A function of a runtime says why a process ended itself`() {
    let abort = ["__pthread_kill", "pthread_kill", "abort"]
    let end = ["app:Cart.total()", "start"]
    let stacks: [(names: [String], words: String)] = [
      (abort + ["malloc_vreport", "malloc_report", "free"], "The allocator found"),
      (abort + ["abort_message", "demangling_terminate_handler()", "_objc_terminate()"], "A C++ or Objective-C"),
      (
        abort + ["abort_message", "_objc_terminate()", "__cxa_throw", "objc_exception_throw"],
        "An Objective-C exception"
      ),
      (abort + ["abort_message", "demangling_terminate_handler()", "std::__terminate(void (*)())"], "A C++ or"),
      (["__pthread_kill_implementation", "raise", "abort", "__assert_fail_base", "__assert_fail"], "A C assertion"),
      (abort + ["__stack_chk_fail"], "A buffer on the stack"),
      (abort, "EXC_CRASH (SIGABRT): abort()"),
    ]
    for (names, words) in stacks {
      let exception = SampleCrash.mach(10, [0, 0], signal: 6)
      let explanation = Explanation(SampleCrash.crash(exception, [SampleCrash.thread(0, names + end)]))
      #expect(explanation.summary.hasPrefix(words), "\(names): \(explanation.summary)")
    }
    // A function that frees is no cause of an access to memory.
    let access = SampleCrash.crash(
      SampleCrash.mach(1, [1, 0x18], signal: 11), [SampleCrash.thread(0, ["malloc_report"] + end)])
    #expect(Explanation(access).summary.hasPrefix("EXC_BAD_ACCESS"))
  }

  @Test func `The backtrace of the last exception counts before the stack that aborts`() {
    var crash = SampleCrash.crash(
      SampleCrash.mach(10, [0, 0], signal: 6), [SampleCrash.thread(0, ["abort", "demangling_terminate_handler()"])])
    crash.lastException = SampleCrash.frames([
      "__exceptionPreprocess", "objc_exception_throw", "-[NSObject(NSObject) doesNotRecognizeSelector:]",
      "app:Cart.total()",
    ])
    let explanation = Explanation(crash)
    #expect(explanation.summary.hasPrefix("A message was sent to an object that does not have the method"))
    #expect(explanation.evidence.contains { $0.place == "last exception backtrace, frame 2" })
    crash.lastException = SampleCrash.frames(["app:0x1000", "app:Cart.total()"])
    crash.threads[0].frames = SampleCrash.frames(["abort"])
    #expect(Explanation(crash).summary.hasPrefix("An exception was not caught"))
  }

  @Test func `A message of the runtime says more than the trap`() {
    let crash = SampleCrash.crash(
      SampleCrash.mach(6, [1, 0x1_0000_4000], signal: 5), [crashing],
      messages: ["dyld4 mode\nCart.swift:12: Fatal error: Index out of range"]
    ) { $0.codeAt = [0x20, 0x00, 0x20, 0xd4] }
    let explanation = Explanation(crash)
    #expect(explanation.summary == "An index is outside of a collection (EXC_BREAKPOINT / EXC_ARM_BREAKPOINT).")
    #expect(explanation.evidence.contains { $0.text.contains("brk 0x1") })
    #expect(explanation.evidence.contains { $0.text.contains("Cart.swift:12") })
  }

  @Test func `A function that fills the stack is recursion`() {
    let deep = SampleCrash.thread(0, Array(repeating: "app:Tree.walk(_:)", count: 400))
    let explanation = Explanation(
      SampleCrash.crash(SampleCrash.mach(1, [2, 0x16b0_0000], signal: 11), [deep]) {
        $0.vmRegionInfo = "0x16b00000 is in 0x16b00000-0x16b04000\n--->  STACK GUARD  16b00000-16b04000 [16K] ---/rwx"
      })
    #expect(explanation.evidence.contains { $0.text.contains("Tree.walk(_:) is 400 times in the stack") })
    #expect(explanation.evidence.contains { $0.text.contains("stack overflow") })
  }

  @Test func `A count of a recursion says which frames were counted, and a placeholder is no function`() {
    func texts(_ frames: [String]) -> [String] {
      Explanation(
        SampleCrash.crash(SampleCrash.mach(1, [2, 0x16b0_0000], signal: 11), [SampleCrash.thread(0, frames)])
      )
      .evidence.map(\.text)
    }
    let deep = texts(Array(repeating: "app:Tree.walk(_:)", count: 3000))
    #expect(deep.contains { $0.contains("Tree.walk(_:) is 1000 times in the innermost 1000 frames") })
    let sorting = Array(repeating: "merge", count: 9) + ["app:compare"]
    #expect(
      texts(Array(repeating: sorting, count: 100).flatMap { $0 }).contains { $0.hasPrefix("compare is 100 times") })
    for name in ["<redacted>", "???", "<deduplicated_symbol>"] {
      #expect(!texts(Array(repeating: "app:" + name, count: 60)).contains { $0.contains("recursion") })
    }
  }

  @Test func `A fault at the program counter is a jump, and one elsewhere is none`() {
    for isJump in [true, false] {
      var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 11)
      exception.info = 2
      exception.address = 0x5555_0000_4040
      var context = X86_64Context()
      context.rip = isJump ? 0x5555_0000_4040 : 0x5555_0000_1000
      exception.context = .x86_64(context)
      let crash = CrashEvidence(
        exception: exception, system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux), report: nil,
        processName: "shop", threads: [SampleCrash.thread(0, ["app:Shop.buy()"])], crashed: 0, messages: [])
      #expect(Explanation(crash).evidence.contains { $0.text.contains("a jump through a wrong pointer") } == isJump)
    }
  }

  @Test func `A program counter near 0 is a jump, and no field was accessed there`() {
    for (counter, address) in [(0, 0), (2, 2), (0x1000_0000, 2)] as [(UInt64, UInt64)] {
      var thread = SampleCrash.thread(0, ["app:Shop.buy()"])
      var top = CrashEvidence.Frame(function: nil, module: nil, offset: nil, location: nil, isOfApp: false)
      top.address = counter
      thread.frames.insert(top, at: 0)
      let result = Explanation(SampleCrash.crash(SampleCrash.mach(1, [1, address], signal: 11), [thread]))
      let isJump = counter == address
      #expect(result.evidence.contains { $0.text.contains("where no code is") } == isJump)
      #expect(result.summary.contains("a call, a jump or a return through a pointer") == isJump, "\(result.summary)")
      #expect(result.advice.contains { $0.contains("offset of the field") } != isJump, "\(result.advice)")
      #expect(result.advice.contains { $0.contains("pointer to the function") } == isJump)
    }
  }

  @Test func `A program counter in no module is a jump only where the access was to it`() {
    func evidence(counter: UInt64?, at address: UInt64, isTranslated: Bool = false) -> String {
      var thread = SampleCrash.thread(0, ["app:Shop.buy()"])
      var top = CrashEvidence.Frame(function: nil, module: nil, offset: nil, location: nil, isOfApp: false)
      top.address = counter
      thread.frames.insert(top, at: 0)
      let crash = SampleCrash.crash(SampleCrash.mach(1, [1, address], signal: 11), [thread]) {
        $0.isTranslated = isTranslated
      }
      return Explanation(crash).evidence.map(\.text).first { $0.contains("in no module") } ?? ""
    }
    let jump = "a jump through a wrong pointer"
    #expect(evidence(counter: 0x1_0402_0000, at: 0x1_0402_0000).contains(jump))
    #expect(evidence(counter: 0x1_0402_0000, at: 0x2000_0001_0402_0000).contains(jump), "without the upper bits")
    for counter in [0x1_0402_0000 as UInt64?, nil] {
      let text = evidence(counter: counter, at: 0x1_0000_0000)
      #expect(!text.contains(jump) && text.contains("made while the program ran"), "\(text)")
    }
    #expect(evidence(counter: 0x1_0402_0000, at: 0x1_0000_0000, isTranslated: true).contains("Rosetta"))
  }

  @Test func `The registers say how a thread crashed where the report has no exception`() {
    func explanation(_ syndrome: UInt64, at address: UInt64?) -> Explanation {
      Explanation(
        SampleCrash.crash(nil, [crashing]) {
          $0.statesCrash = true
          $0.syndrome = syndrome
          $0.faultAddress = address
        })
    }
    let trap = explanation(0xf200_0001, at: 0)
    #expect(trap.summary.hasPrefix("A thread crashed at a trap;") && trap.certainty == .stated)
    #expect(trap.evidence.contains { $0.text.contains("brk 0x1") })
    let access = explanation(0x9200_0046, at: 0x18)
    #expect(access.summary.hasPrefix("A thread crashed at an access to 0x18;"))
    #expect(access.evidence.contains { $0.text.contains("a write failed, at 0x18") })
    #expect(!explanation(0x5600_0080, at: 0).summary.contains("crashed at"), "a system call is no fault")
  }

  @Test func `A signal of Linux is explained without a report`() {
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 7)
    exception.info = 2
    exception.address = 0x7f00_0000_2000
    let crash = CrashEvidence(
      exception: exception, system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux), report: nil,
      processName: "server", threads: [crashing], crashed: 0, messages: [])
    let explanation = Explanation(crash)
    #expect(explanation.summary.hasPrefix("SIGBUS / BUS_ADRERR at 0x7f0000002000: "))
    #expect(explanation.endedBy == ["The kernel, because of what the thread did."])
  }

  // MARK: No crash

  @Test func `Reports of what went on are no crashes`() {
    let simulated = Explanation(
      SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [main]) { $0.isSimulated = true })
    #expect(!simulated.isCrash)
    let limit: UInt64 = 1 << 61 | 1 << 58 | 180 << 7 | 50
    let warning = Explanation(
      SampleCrash.crash(SampleCrash.mach(11, [limit, 60], signal: nil), [main]) {
        $0.isNonFatal = true
        $0.kind = .resource
      })
    #expect(!warning.isCrash)
    #expect(warning.summary.contains("limit 50 % of a CPU over 180 s, observed 60 %"))
    let none = CrashEvidence(
      exception: nil, system: SystemSnapshot(architecture: .arm64, operatingSystem: .ios), report: nil,
      processName: nil,
      threads: [], crashed: nil, messages: [])
    #expect(!Explanation(none).isCrash)
  }

  @Test func `The largest process of a jetsam is not the one that was killed`() {
    var jetsam = ReportSnapshot.Jetsam()
    jetsam.pageSize = 16384
    jetsam.largestProcess = "Photos"
    var killed = ReportSnapshot.JetsamProcess(name: "Demo")
    killed.reason = "per-process-limit"
    killed.residentPages = 90112
    jetsam.processes = [ReportSnapshot.JetsamProcess(name: "Photos"), killed]
    let explanation = Explanation(
      SampleCrash.crash(nil, []) {
        $0.kind = .jetsam
        $0.jetsam = jetsam
      })
    #expect(explanation.summary == "The system was short of memory and killed Demo (per-process-limit).")
    #expect(explanation.evidence.contains { $0.text.contains("1408 MiB") })
    #expect(explanation.cautions == ["Photos is the largest process, and was not killed."])
  }

  @Test func `Each part is there in every explanation of a crash`() {
    for code in [0x8bad_f00d, 0xdead_10cc, 0xc000_10ff, 0xbaad_ca11, 0xbada_5e47] as [UInt64] {
      let explanation = Explanation(
        SampleCrash.crash(SampleCrash.mach(10, [0, 0], signal: 9), [main]) {
          $0.termination = SampleCrash.termination("RUNNINGBOARD", code)
        })
      #expect(!explanation.summary.isEmpty && !explanation.endedBy.isEmpty && !explanation.advice.isEmpty)
      #expect(!explanation.sources.isEmpty)
    }
  }
}
