// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadSignatures

/// Single languages and inlined calls: their part in a choice.
extension ChoiceTests {
  @Test func `A call that was inlined from a header does not hide the callee`() {
    var entries = Self.entries(["step|libx.so", "walk|shop"])
    let walk = entries[1]
    entries.insert(
      StackEntry(
        frame: 1, isInlined: true, name: "max", module: walk.module, offset: walk.offset, address: walk.address,
        shownName: "max", rule: SignatureNames.header), at: 1)
    #expect(Signature(Self.kind("trap"), entries, .current).text == "trap · walk · step")
  }

  @Test func `An exception of Objective-C is one though the runtime of C++ throws it`() {
    let frames = [
      "__pthread_kill|libsystem_kernel.dylib", "abort|libsystem_c.dylib",
      "demangling_terminate_handler()|libc++abi.dylib",
      "std::__terminate(void (*)())|libc++abi.dylib", "__cxa_throw|libc++abi.dylib",
      "objc_exception_throw|libobjc.A.dylib",
      "-[NSException raise]|CoreFoundation", "-[Cart load]|Shop",
    ]
    #expect(Self.signature(Self.kind("abort", abort: true), frames).text == "exception:NSException · -[Cart load]")
  }

  @Test func `A dead object is one kind at any address`() {
    for top in ["objc_msgSend|libobjc.A.dylib", "objc_release|libobjc.A.dylib", "swift_release|libswiftCore.dylib"] {
      let texts = ["bad-access[null]", "bad-access[wild]"].map {
        Self.signature(Self.kind($0, fault: true), [top, "Cart.load()|Shop"]).text
      }
      #expect(Set(texts) == ["bad-access[object] · Cart.load"])
    }
    #expect(
      Self.signature(Self.kind("bad-access[null]", fault: true), ["memcpy|libc.so.6", "Cart.load()|Shop"]).text
        == "bad-access[null] · Cart.load")
    // Inlined calls of the runtime are part of it, and those of the program are not.
    let wild = Self.kind("bad-access[wild]", fault: true)
    let release = ["swift_release|libswiftCore.dylib", "Cart.load()|Shop"]
    #expect(
      Self.signature(wild, ["std::atomic<int>::load() [inlined]|libswiftCore.dylib"] + release).text
        == "bad-access[object] · Cart.load")
    #expect(
      Self.signature(wild, ["Cart.total() [inlined]|Shop", "swift_release|Shop", "Cart.load()|Shop"]).text
        == "bad-access[wild] · Cart.total")
  }

  @Test func `Inlined calls of the program count, and those of libraries do not`() {
    let kind = Self.kind("bad-access[null]", fault: true)
    let text = Self.signature(
      kind, ["std::vector<int>::at(unsigned long) [inlined]|shop", "Cart::find(int) [inlined]|shop", "main|shop"]
    ).text
    #expect(text == "bad-access[null] · Cart::find(int)")
  }

  @Test func `Go's panics have kinds of their own`() {
    let kind = Self.kind("abort", abort: true)
    let bottom = ["main.load|shop", "main.main|shop", "runtime.main|shop", "runtime.goexit|shop"]
    for (raise, text) in [
      ("runtime.panicmem", "bad-access[null]"), ("runtime.goPanicIndex", "trap[index]"),
      ("runtime.panicdivide", "arithmetic"),
      ("runtime.panicdottypeE", "trap[cast]"), ("runtime.sigpanic", "exception:Go panic"),
      ("strings.Repeat", "exception:Go panic"),
    ] {
      let frames = ["runtime.raise|shop", "runtime.fatalpanic|shop", "runtime.gopanic|shop", "\(raise)|shop"] + bottom
      #expect(Self.signature(kind, frames).text == text + " · main.load")
    }
    // The kernel's signal is below the panic that says its kind.
    let frames = ["runtime.raise|shop", "runtime.gopanic|shop", "runtime.panicmem|shop", "runtime.sigpanic|shop"]
    #expect(Self.signature(kind, frames + bottom).text == "bad-access[null] · main.load")
  }

  @Test func `The program's own function that repeats most often is the anchor of a recursion`() {
    let kind = Self.kind("bad-access[stack-overflow]", fault: true, overflow: true)
    func text(_ rounds: [[String]]) -> String { Self.signature(kind, rounds.flatMap { $0 }).text }
    let round = ["call|libx.so", "walk|shop"]
    #expect(
      text(Array(repeating: round, count: 5) + [["main|shop"]]) == "bad-access[stack-overflow] · walk")
    #expect(
      text(Array(repeating: ["count|shop"] + round, count: 3) + Array(repeating: round, count: 7))
        == "bad-access[stack-overflow] · walk")
    #expect(text([round, round]) == "bad-access[stack-overflow] · walk · call")
  }

  @Test func `Every frame is explained`() {
    let signature = Self.signature(
      Self.kind("trap"), ["memcpy|libc.so.6", "qsort|libc.so.6", "Cart::total()|shop", "main|shop"])
    #expect(signature.explanation.map(\.decision) == [.skipped, .next, .anchor, .unused])
    #expect(signature.explanation.map(\.rule) == ["memory-functions", "callee", "in-app", "caller"])
  }
}
