// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

@testable import CrashpadSignatures

/// Faults in allocators, jumps to memory that is no code, and handlers of signals: their part in a choice.
extension ChoiceTests {
  @Test func `A fault in an allocator is one kind at any address`() {
    let free = ["unlink_chunk.isra.0|libc.so.6", "_int_free|libc.so.6", "free|libc.so.6", "Cart::drop()|shop"]
    for kind in ["bad-access[null]", "bad-access[wild]"] {
      let fault = Self.kind(kind, fault: true)
      #expect(Self.signature(fault, free).text == "bad-access[heap] · Cart::drop")
      #expect(Self.signature(fault, free, .first).text == kind + " · Cart::drop")
      // Memory that an allocator's caller copies is no heap's.
      #expect(Self.signature(fault, ["memcpy|libc.so.6", "Cart::drop()|shop"]).text == kind + " · Cart::drop")
      // An allocator that was interrupted has no fault.
      let interrupted = ["on_alarm|shop", "<signal handler called>|libc.so.6"] + free
      #expect(Self.signature(fault, interrupted).text == kind + " · on_alarm")
    }
  }

  @Test func `A jump to data is that of the function which made it`() {
    var kind = Self.kind("bad-access[wild]", fault: true)
    kind.isJumpOutOfCode = true
    let frames = ["+0x4040|shop", "call_hook|shop", "main|shop"]
    #expect(Self.signature(kind, frames).text == "bad-access[wild] · call_hook · data")
    #expect(
      Self.signature(kind, ["+0x40|libpen.so.2"] + frames.dropFirst()).text
        == "bad-access[wild] · call_hook · data of libpen.so.2")
    #expect(Self.signature(kind, frames).id == Self.signature(kind, ["+0x5050|shop"] + frames.dropFirst()).id)
    #expect(Self.signature(kind, frames, .first).text == "bad-access[wild] · shop+0x4040")
    let gone = SignatureModule(name: "libpen.so (unloaded)", identity: "", isInApp: false, isUnloaded: true)
    let place = StackEntry(
      name: nil, module: gone, offset: 0x40, address: 0x40, shownName: nil, rule: nil)
    #expect(
      Signature(kind, [place] + Self.entries(["+0x9|libc.so.6"]), .current).text
        == "bad-access[wild] · libpen.so (unloaded)+0x40 (system)")
    kind.isJumpOutOfCode = false
    #expect(Self.signature(kind, frames).text == "bad-access[wild] · shop+0x4040")
  }

  @Test func `A jump to no module is another fault of a function than its use of a bad pointer`() {
    var kind = Self.kind("bad-access[null]", fault: true)
    let nowhere = StackEntry(name: nil, module: nil, offset: nil, address: 0, shownName: nil, rule: nil)
    let below = Self.entries(["call_hook|shop", "main|shop"])
    #expect(Signature(kind, below, .current).text == "bad-access[null] · call_hook")
    kind.isJumpOutOfCode = true
    #expect(Signature(kind, [nowhere] + below, .current).text == "bad-access[null] · call_hook · no code")
    #expect(Signature(kind, [nowhere] + below, .first).text == "bad-access[null] · call_hook")
  }

  @Test func `An object that checks has the caller that made it`() {
    let kind = Self.kind("abort", abort: true)
    let top = ["raise|libc.so.6", "abort|libc.so.6"]
    func text(_ frames: [String]) -> String { Self.signature(kind, top + frames + ["main|shop"]).text }
    for object in ["tq::Checker::Checker(bool, const char*)", "tq::Checker::~Checker()"] {
      #expect(
        text(["tq::Checker::failed(const char*)|shop", "\(object)|shop", "push(int)|shop"])
          == "abort · tq::Checker::failed(const char*) · push(int)")
    }
    // An object of another class has its own reason to end the program, and one that is made for other things, too.
    #expect(text(["stop()|shop", "Checkout::~Checkout()|shop", "pay()|shop"]) == "abort · stop · Checkout::~Checkout")
    #expect(text(["Store::stop()|shop", "Store::Store()|shop", "pay()|shop"]) == "abort · Store::stop · Store::Store")
  }

  @Test func `Exceptions that C++'s library throws for its own checks have their class`() {
    let kind = Self.kind("abort", abort: true)
    let top = ["raise|libc.so.6", "abort|libc.so.6", "std::terminate()|libstdc++.so.6", "__cxa_throw|libstdc++.so.6"]
    for (thrown, text) in [
      ("std::__throw_out_of_range_fmt(char const*, ...)", "exception:std::out_of_range"),
      ("std::__throw_bad_function_call()", "exception:std::bad_function_call"),
      ("std::__throw_length_error(char const*)", "exception:std::length_error"),
      ("std::__throw_invalid_argument(char const*)", "exception:C++"),
      ("std::__throw_out_of_range(char const*)", "exception:C++"), ("std::rethrow()", "exception:C++"),
    ] {
      let text = text + " · load"
      #expect(Self.signature(kind, top + ["\(thrown)|libstdc++.so.6", "load|shop", "main|shop"]).text == text)
    }
  }

  @Test func `A coroutine that does not catch an exception is told apart from others of its kind`() {
    let kind = Self.kind("abort", abort: true)
    let top = ["raise|libc.so.6", "abort|libc.so.6", "std::terminate()|libstdc++.so.6"]
    let handler = "net::Task::promise_type::unhandled_exception()|shop"
    let text = Self.signature(kind, top + [handler, "replay|shop", "main|shop"]).text
    #expect(text.hasSuffix(" · net::Task::promise_type::unhandled_exception · replay"))
  }

  @Test func `A function with a generic type among its parameters is none`() {
    let kind = Self.kind("abort", abort: true)
    let top = ["raise|libc.so.6", "abort|libc.so.6", "__cxa_throw|libstdc++.so.6"]
    for (function, text) in [
      ("solve(List<int> const&)", "exception:C++ · solve(List<T> const&)"),
      ("List<int>::solve(int)", "exception:C++ · List<T>::solve · load"),
      ("List<int>::operator()(int)", "exception:C++ · List<T>::operator() · load"),
    ] {
      #expect(Self.signature(kind, top + ["\(function)|shop", "load|shop", "main|shop"]).text == text)
    }
  }

  @Test func `A fault is a jump where the address is the program counter's and the system refused the access`() {
    func isJump(_ change: (inout ExceptionSnapshot) -> Void) -> Bool {
      var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux))
      var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 11)
      (exception.info, exception.address) = (2, 0x5555_4040)
      var context = X86_64Context()
      context.rip = 0x5555_4040
      exception.context = .x86_64(context)
      change(&exception)
      snapshot.exception = exception
      return CrashKind(snapshot).isJumpOutOfCode
    }
    #expect(isJump { _ in })
    #expect(!isJump { $0.address = 0x5555_4048 })
    // The file of the code ends before the address, or another process sent the signal.
    #expect(!isJump { $0.code = 7 })
    #expect(!isJump { $0.info = 0 })
  }

  @Test func `An abort in a handler of a signal that interrupted a system call is the handler's`() {
    let abort = ["raise|libc.so.6", "abort|libc.so.6"]
    func text(_ frames: [String], _ version: RuleVersion = .current) -> String {
      var entries = Self.entries(frames, version)
      for index in entries.indices where entries[index].shownName == "<signal handler called>" {
        entries[index].interruptsSystemCall = true
      }
      return Signature(Self.kind("abort", abort: true), entries, version).text
    }
    let handler = abort + ["on_term|shop", "<signal handler called>|libc.so.6"]
    let waiting = ["clock_nanosleep|libc.so.6", "nanosleep|libc.so.6", "serve|shop", "main|shop"]
    #expect(text(handler + waiting) == "abort · on_term")
    #expect(text(handler + waiting, .first) == "abort · serve")
    #expect(Self.signature(Self.kind("abort", abort: true), handler + waiting).text == "abort · serve")
    // A function that raises for the handler has it as its caller.
    #expect(
      text(abort + ["fail|shop", "on_term|shop", "<signal handler called>|libc.so.6"] + waiting)
        == "abort · fail · on_term")
    // A program that sends itself the signal waits for nothing.
    for sender in ["raise|libc.so.6", "abort|libc.so.6", "kill|libc.so.6", "write|libc.so.6"] {
      let text = text(handler + [sender, "serve|shop", "main|shop"])
      #expect(text.hasPrefix("abort · serve"), "\(sender)")
    }
  }

  @Test func `A main function that called what raised has its program's name`() {
    let frames = ["raise|libc.so.6", "abort|libc.so.6", "fail|shop", "main|shop"]
    #expect(Self.signature(Self.kind("abort", abort: true), frames).text == "abort · fail · main of shop")
  }

  @Test func `A function that a header declares is skipped whether or not it was inlined`() {
    func isHeader(_ declared: String?, _ place: String = "/srv/src/turn.c", isInlined: Bool) -> Bool {
      let location = SourceLocation(file: place, line: 12)
      let frame = SymbolizedAddress.Frame(function: "gear_ref", location: location, declaredFile: declared)
      return SignatureNames.isHeader(frame, isInlined: isInlined)
    }
    for isInlined in [true, false] {
      #expect(isHeader("/usr/include/gear/gear.h", isInlined: isInlined))
      #expect(!isHeader("/srv/src/gear.h", isInlined: isInlined))
      // Lines of a header's call, of which nothing says that it was inlined.
      #expect(!isHeader("/srv/src/turn.c", "/usr/include/gear/gear.h", isInlined: isInlined))
      // Without what declares it, the place of a call that was inlined is all that there is.
      #expect(isHeader(nil, "/usr/include/gear/gear.h", isInlined: isInlined) == isInlined)
    }
    // Sources of a library that a system has.
    #expect(!isHeader("/usr/lib/gear/src/gear.c", isInlined: false))
  }

  @Test func `A fault away from address 0 in Go is one, though the runtime ends the program`() {
    let kind = Self.kind("abort", abort: true)
    let bottom = ["main.peek|shop", "main.main|shop", "runtime.main|shop", "runtime.goexit|shop"]
    let fatal = ["runtime.raise|shop", "runtime.dieFromSignal|shop", "runtime.fatalthrow|shop", "runtime.throw|shop"]
    #expect(Self.signature(kind, fatal + ["runtime.sigpanic|shop"] + bottom).text == "bad-access[wild] · main.peek")
    #expect(Self.signature(kind, fatal + bottom).text == "abort[Go] · main.peek")
  }

  @Test func `A generic function of Swift's library is no callee, as an optimized program has its own copy`() {
    let trap = ["_assertionFailure(_:_:file:line:flags:)|libswiftCore.so"]
    for symbol in [
      "Swift.RangeReplaceableCollection<>.removeLast() -> A.Element",
      "Swift.RangeReplaceableCollection.removeFirst() -> A.Element",
      "Swift.Collection<>.first.getter : A.Element?",
    ] {
      #expect(
        Self.signature(Self.kind("trap", fault: true), trap + ["\(symbol)|libswiftCore.so", "Inbox.next()|Shop"]).text
          == "trap · Inbox.next", "\(symbol)")
    }
  }
}
