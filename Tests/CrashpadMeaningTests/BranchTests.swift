// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import CrashpadSnapshot
import Testing

/// Calls, jumps and returns to addresses that the processor refused, and faults in allocators.
struct BranchTests {
  private static let wrong: UInt64 = 0x4141_4141_4141_4141

  private func registers(_ change: (inout X86_64Context) -> Void = { _ in }) -> X86_64Context {
    var registers = X86_64Context()
    (registers.rsp, registers.rax, registers.rbx) = (0x7000, Self.wrong, 0x6000)
    registers.r[4] = 0x5000
    change(&registers)
    return registers
  }

  @Test(
    arguments: [
      ([0xff, 0xd0], .call), ([0xff, 0xe0], .jump), ([0x3e, 0xff, 0xe0], .jump), ([0xc3], .return),
      ([0xf3, 0xc3], .return),
      ([0xc2, 0x08, 0x00], .return), ([0xff, 0x53, 0x10], .call), ([0xff, 0x53, 0xf0], .call),
      ([0xff, 0x93, 0x20, 0, 0, 0], .call), ([0x41, 0xff, 0x14, 0x24], .call), ([0xff, 0x24, 0xdb], .jump),
    ] as [([UInt8], FaultyBranch.Kind)])
  func `A branch has the address to which it leads`(code: [UInt8], kind: FaultyBranch.Kind) {
    // The word at each place to which one of the operands points.
    let places: Set<UInt64> = [0x7000, 0x6010, 0x5ff0, 0x6020, 0x5000, 0x36000]
    let branch = FaultyBranch(code, registers()) { places.contains($0) ? Self.wrong : nil }
    #expect(branch?.kind == kind)
    #expect(branch?.target == Self.wrong)
  }

  @Test func `A branch to an address of code is none that was refused, nor is another instruction`() {
    #expect(FaultyBranch([0xff, 0xd0], registers { $0.rax = 0x40_1000 }) { _ in nil } == nil)
    #expect(FaultyBranch([0xc3], registers()) { _ in 0x40_1000 } == nil)
    #expect(FaultyBranch([0xff, 0x53, 0x10], registers { $0.rbx = Self.wrong }) { _ in Self.wrong } == nil)
    // inc, push, mov, and code that ends early
    for code in [[0xff, 0xc0], [0xff, 0xf0], [0x48, 0x8b, 0x00], [0xff], [], [0xff, 0x93, 0x20]] as [[UInt8]] {
      #expect(FaultyBranch(code, registers()) { _ in Self.wrong } == nil, "\(code)")
    }
    #expect(FaultyBranch([0xc3], registers()) { _ in nil }?.target == .some(nil))
  }

  private func explanation(_ branch: FaultyBranch?) -> Explanation {
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 11)
    exception.info = 0x80
    exception.context = .x86_64(registers())
    var crash = CrashEvidence(
      exception: exception, system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux), report: nil,
      processName: "shop", threads: [SampleCrash.thread(0, ["app:Shop.buy()"])], crashed: 0, messages: [])
    crash.branch = branch
    return Explanation(crash)
  }

  @Test func `A refused branch is inferred, and its address is as certain as the processor's width`() throws {
    let call = explanation(FaultyBranch([0xff, 0xd0], registers()) { _ in nil })
    #expect(call.summary == "SIGSEGV / SI_KERNEL: probably a call through a wrong pointer.")
    #expect(call.certainty == .inferred)
    #expect(
      call.evidence.contains {
        $0.text == "The instruction calls 0x4141414141414141, which is no address of the processor."
      })
    // An address of 57 bits, which some processors use.
    let wide = explanation(FaultyBranch([0xff, 0xd0], registers { $0.rax = 0x41_4141_4141_4141 }) { _ in nil })
    #expect(wide.evidence.contains { $0.text.hasSuffix("which is no address where addresses have 48 bits.") })
    let back = explanation(FaultyBranch([0xc3], registers()) { _ in nil })
    #expect(back.summary.contains("probably a return through a stack that was overwritten, or a wrong stack pointer"))
    #expect(
      back.evidence.contains { $0.text == "The instruction returns to an address in memory that was not captured." })
    #expect(!explanation(nil).summary.contains("probably"))
  }

  @Test func `A fault in an allocator near address 0 is no field of the program's`() {
    func explanation(_ frames: [String], at address: UInt64 = 0x8) -> Explanation {
      var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 11)
      (exception.info, exception.address) = (1, address)
      exception.context = .x86_64(X86_64Context())
      return Explanation(
        CrashEvidence(
          exception: exception, system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux), report: nil,
          processName: "shop", threads: [SampleCrash.thread(0, frames)], crashed: 0, messages: []))
    }
    let free = explanation(["_int_free", "free", "app:Shop.drop()"])
    #expect(free.summary.contains("a pointer that is no block of its heap, or that is no longer one"))
    #expect(free.certainty == .inferred)
    #expect(!free.advice.contains { $0.contains("field") })
    // A function that only takes memory was given no pointer.
    let take = explanation(["_int_malloc", "malloc", "app:Shop.add()"])
    #expect(take.summary.hasSuffix("the allocator met memory of its own that was overwritten."))
    #expect(!explanation(["app:Shop.drop()"]).summary.contains("allocator"))
    #expect(!explanation(["free_list", "app:Shop.drop()"]).summary.contains("allocator"))
  }

  @Test func `The function of a recursion is the one by which the crash is grouped`() {
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 11)
    (exception.info, exception.address) = (1, 0x7ffe_0000_0ff8)
    var context = X86_64Context()
    context.rsp = 0x7ffe_0000_1000
    exception.context = .x86_64(context)
    var thread = SampleCrash.thread(0, Array(repeating: ["app:walk", "app:visit"], count: 100).flatMap { $0 })
    func text() -> String? {
      Explanation(
        CrashEvidence(
          exception: exception, system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux), report: nil,
          processName: "shop", threads: [thread], crashed: 0, messages: [])
      )
      .evidence.map(\.text).first { $0.contains(" is 100 times") }
    }
    #expect(text()?.hasPrefix("visit is 100 times") == true)
    thread.fault = 0
    #expect(text()?.hasPrefix("walk is 100 times") == true)
    thread.fault = 1
    #expect(text()?.hasPrefix("visit is 100 times") == true)
  }

  private func abort(_ frames: [String]) -> Explanation {
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 6)
    exception.info = UInt32(bitPattern: -6)
    return Explanation(
      CrashEvidence(
        exception: exception, system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux), report: nil,
        processName: "shop", threads: [SampleCrash.thread(0, frames)], crashed: 0, messages: []))
  }

  @Test func `A program's handler of uncaught exceptions does not hide the exception`() {
    let throwing = ["+", "std::terminate()", "__cxa_throw", "app:Shop::load()", "app:main"]
    for handler in [["app:on_terminate"], ["app:write_log(int)", "app:on_terminate"]] {
      let explanation = abort(["raise", "abort"] + handler + throwing)
      #expect(explanation.summary.contains("C++ exception was not caught"), "\(explanation.summary)")
    }
    // A function that aborts by itself has thrown nothing.
    #expect(!abort(["raise", "abort", "app:stop", "app:main"]).summary.contains("exception"))
  }

  @Test func `An assertion of the allocator is damage of its data`() {
    let explanation = abort(["raise", "abort", "__libc_message", "__malloc_assert", "sysmalloc", "malloc", "app:add"])
    #expect(explanation.summary.hasPrefix("The allocator found that its data are damaged"))
  }

  @Test func `A fatal error of Go says more than the signal by which the runtime ends`() {
    let end = ["app:runtime.raise", "app:runtime.dieFromSignal", "app:runtime.fatalthrow", "app:runtime.throw"]
    #expect(abort(end + ["app:runtime.sigpanic", "app:main.peek"]).summary.contains("error that can't be recovered"))
  }

  @Test func `A breakpoint of the kernel gives no advice on addresses`() {
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 5)
    exception.info = 0x80
    let explanation = Explanation(
      CrashEvidence(
        exception: exception, system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux), report: nil,
        processName: "shop", threads: [SampleCrash.thread(0, ["g_log", "app:open"])], crashed: 0, messages: []))
    #expect(!explanation.advice.contains { $0.contains("compute its address") })
  }
}
