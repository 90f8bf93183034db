// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadSignatures

/// Stacks of the languages and systems, top frame first, and what becomes of them.
struct ChoiceTests {
  /// "symbol|module"; "+0x12|module" is a frame without a name. Modules in capitals and "shop" are the program's.
  static func entries(_ frames: [String], base: UInt64 = 0x1_0000) -> [StackEntry] {
    frames.enumerated().map { index, frame in
      let parts = frame.split(separator: "|").map(String.init)
      let module = parts.count > 1 ? parts[1] : "Shop"
      let isUnnamed = parts[0].hasPrefix("+0x")
      let name = isUnnamed ? nil : FunctionName.normalized(parts[0], image: "Shop")
      let offset = isUnnamed ? UInt64(parts[0].dropFirst(3), radix: 16) ?? 0 : UInt64(0x100 * (index + 1))
      let info = SignatureModule(
        name: module, identity: module == "shop2" ? "bbbbbbbb" : "aaaaaaaa",
        isInApp: module.lowercased().hasPrefix("shop"))
      return StackEntry(
        name: name, module: info, offset: offset, address: base + offset, shownName: parts[0],
        rule: RuleIndex.shared.rule(name.map(FunctionName.withoutClosure), in: module))
    }
  }

  static func signature(_ kind: CrashKind, _ frames: [String]) -> Signature {
    Signature(SignatureChoice(kind, entries(frames)))
  }

  static func kind(_ text: String, hang: Bool = false, abort: Bool = false, fault: Bool = false, overflow: Bool = false)
    -> CrashKind
  {
    var kind = CrashKind(text)
    (kind.isHang, kind.isAbort, kind.isFault, kind.isStackOverflow) = (hang, abort, fault, overflow)
    return kind
  }

  static let bottom = [
    "__CFRunLoopRun|CoreFoundation", "CFRunLoopRunSpecific|CoreFoundation", "GSEventRunModal|GraphicsServices",
    "-[UIApplication _run]|UIKitCore",
    "UIApplicationMain|UIKitCore", "main|Shop", "start|dyld",
  ]

  @Test func `Two leafs of one hang are one group`() {
    let app = ["SettingsReset.deleteAllLocalData()|Shop", "closure #1 in SettingsView.body.getter|Shop"] + Self.bottom
    let a = Self.signature(
      Self.kind("killed:0x8badf00d", hang: true),
      ["swift::RefCounts<int>::doDecrementSlow<1>(int)|libswiftCore.dylib", "outlined destroy of Item|Shop"] + app)
    let b = Self.signature(
      Self.kind("killed:0x8badf00d", hang: true),
      ["swift_release|libswiftCore.dylib", "specialized Array._copyToContiguousArray()|Shop"] + app)
    #expect(a.text == "killed:0x8badf00d · SettingsReset.deleteAllLocalData")
    #expect(a.id == b.id)
  }

  @Test(arguments: [
    (["closure #1 (Swift.Int) -> () in App.VC.viewDidLoad() -> ()|Shop"], "trap · (closure) App.VC.viewDidLoad"),
    (
      [
        "_swift_runtime_on_report|libswiftCore.dylib", "_swift_stdlib_reportFatalErrorInFile|libswiftCore.dylib",
        "_assertionFailure(_:_:file:line:flags:)|libswiftCore.dylib", "Cart.total()|Shop",
      ], "trap · Cart.total"
    ),
    (["specialized Array._checkSubscript(_:wasNativeTypeChecked:)|Shop", "Cart.total()|Shop"], "trap · Cart.total"),
    (["Cart.total() [inlined]|Shop"], "trap · Cart.total"),
    (
      ["Cart::run()::{lambda()#1}::operator()() const|shop", "std::function<void ()>::operator()() const|shop"],
      "trap · Cart::run::λ"
    ),
    (["+0x42e74|shop"], "trap · shop+0x42e74"), (["qsort|libc.so.6", "sort_items|shop"], "trap · sort_items · qsort"),
    (["memcpy|libc.so.6", "main|shop", "__libc_start_main|libc.so.6", "_start|shop"], "trap · main"),
    (
      ["g_object_unref|libgobject-2.0.so.0", "g_main_loop_run|libglib-2.0.so.0", "_start|shop"],
      "trap · g_object_unref (system)"
    ),
    (["memcpy|libc.so.6", "start_thread|libc.so.6"], "trap · memcpy (runtime only)"),
    (
      [
        "google_breakpad::ExceptionHandler::HandleSignal(int)|shop", "<signal handler called>|libc.so.6",
        "Cart::total()|shop",
      ], "trap · Cart::total"
    ),
    ([], "trap · no-thread"),
  ])
  func `The anchor of a trap`(frames: [String], text: String) {
    #expect(Self.signature(Self.kind("trap", fault: true), frames).text == text)
  }

  @Test func `An abort is what raised it`() {
    let abort = ["__pthread_kill_implementation|libc.so.6", "raise|libc.so.6", "abort|libc.so.6"]
    let kind = Self.kind("abort", abort: true)
    #expect(Self.signature(kind, abort + ["Cart::total()|shop"]).text == "abort · Cart::total")
    #expect(
      Self.signature(
        kind,
        abort + [
          "+0x9d919|libstdc++.so.6", "std::terminate()|libstdc++.so.6", "__cxa_throw|libstdc++.so.6",
          "Cart::total()|shop",
        ]
      ).text == "exception:C++ · Cart::total")
    #expect(
      Self.signature(
        kind,
        abort + ["rust_begin_unwind|shop", "core::panicking::panic_fmt|shop", "prog::run::h0123456789abcdef|shop"]
      ).text == "exception:Rust panic · prog::run")
    #expect(
      Self.signature(
        kind,
        abort + [
          "_objc_terminate()|libobjc.A.dylib", "objc_exception_throw|libobjc.A.dylib",
          "-[__NSArrayM objectAtIndex:]|CoreFoundation", "-[VC tap:]|Shop",
        ]
      ).text
        == "exception:NSException · -[VC tap:]")
    #expect(
      Self.signature(
        kind,
        [
          "runtime.raise.abi0|shop", "runtime.gopanic|shop", "runtime.panicIndex|shop", "main.(*Cart).Total|shop",
          "main.main|shop", "runtime.main|shop",
        ]
      ).text == "exception:Go panic · main.(*Cart).Total")
    #expect(
      Self.signature(kind, abort + ["malloc_printerr|libc.so.6", "free|libc.so.6", "Cart::total()|shop"]).text
        == "abort[heap] · Cart::total")
    // The allocator's own functions may have no names.
    #expect(
      Self.signature(kind, abort + ["+0x99|libc.so.6", "free|libc.so.6", "Cart::total()|shop"]).text
        == "abort[heap] · Cart::total")
    // An abort below a function of the program that an exception called has nothing to do with the exception.
    #expect(
      Self.signature(kind, abort + ["cleanup|shop", "std::terminate()|libstdc++.so.6"]).text == "abort · cleanup")
  }

  @Test func `A hang says what it waits for, and an idle thread that it is idle`() {
    let kind = Self.kind("hang", hang: true)
    let sync = [
      "__ulock_wait|libsystem_kernel.dylib", "_dlock_wait|libdispatch.dylib",
      "_dispatch_thread_event_wait_slow|libdispatch.dylib", "__DISPATCH_WAIT_FOR_QUEUE__|libdispatch.dylib",
      "_dispatch_sync_f_slow|libdispatch.dylib", "VC.load()|Shop",
    ]
    #expect(Self.signature(kind, sync + Self.bottom).text == "hang[dispatch_sync] · VC.load")
    #expect(
      Self.signature(kind, ["semaphore_wait_trap|libsystem_kernel.dylib", "Uploader.sendNow()|Shop"] + Self.bottom).text
        == "hang[semaphore] · Uploader.sendNow")
    let idle = Self.signature(
      kind,
      [
        "mach_msg2_trap|libsystem_kernel.dylib", "mach_msg|libsystem_kernel.dylib",
        "__CFRunLoopServiceMachPort|CoreFoundation",
      ] + Self.bottom)
    #expect(idle.text == "hang[message] · idle")
    #expect(idle.flags == [.idle])
  }

  @Test func `An unnamed frame counts for its build alone`() {
    let kind = Self.kind("trap", fault: true)
    let one = Self.signature(kind, ["+0x42e74|shop"])
    #expect(one.id != Self.signature(kind, ["+0x99999|shop"]).id)
    #expect(one.id != Self.signature(kind, ["+0x42e74|shop2"]).id)
    #expect(!one.isNamed)
    #expect(one.raw == "trap · shop@aaaaaaaa+0x42e74")
  }

  @Test func `A recursion has one signature wherever the stack ended`() {
    let kind = Self.kind("bad-access[stack-overflow]", fault: true, overflow: true)
    let cycle = ["parse_b|shop", "parse_a|shop", "parse_c|shop"]
    let stack = Array(repeating: cycle, count: 40).flatMap(\.self) + ["main|shop"]
    let texts = Set((0..<9).map { Self.signature(kind, ["memset|libc.so.6"] + stack.dropFirst($0)).text })
    #expect(texts == ["bad-access[stack-overflow] · parse_a"])
  }

  @Test func `A fault in a handler of signals stays there, and an abort in it belongs to what was interrupted`() {
    let frames = ["on_usr1|shop", "<signal handler called>|libc.so.6", "work|shop", "main|shop"]
    #expect(Self.signature(Self.kind("bad-access[null]", fault: true), frames).text == "bad-access[null] · on_usr1")
    #expect(
      Self.signature(Self.kind("abort", abort: true), ["raise|libc.so.6", "abort|libc.so.6"] + frames).text
        == "abort · work")
  }

  @Test func `A frame of the C library on top changes nothing`() {
    let kind = Self.kind("bad-access[wild]", fault: true)
    let frames = ["Cart::total()|shop", "main|shop"]
    for top in [
      "memcpy|libc.so.6", "__strlen_avx2|libc.so.6", "objc_msgSend|libobjc.A.dylib", "swift_retain|libswiftCore.so",
      "free|libc.so.6", "+0x1234|libc.so.6",
    ] {
      #expect(Self.signature(kind, [top] + frames).id == Self.signature(kind, frames).id, "\(top)")
    }
  }

  @Test func `Ten frames are enough`() {
    let kind = Self.kind("bad-access[wild]", fault: true)
    let frames = ["memcpy|libc.so.6", "Cart::total()|shop"] + (0..<60).map { "caller\($0)|shop" }
    #expect(Set([10, 20, 62].map { Self.signature(kind, Array(frames.prefix($0))).id }).count == 1)
  }

  @Test func `No text is longer than 200 bytes, and none has a control character`() {
    let long = String(repeating: "Ω\u{1b}[31m\u{202e}", count: 90)
    for frames in [
      ["\(long)|shop"], ["\(long)|libx.so", "\(long)b|shop"], ["\(long)|libx.so", "f|shop"], ["+0x1|\(long)"],
    ] {
      let signature = Self.signature(Self.kind("trap"), frames)
      for text in [signature.text, signature.raw] {
        #expect(text.utf8.count <= 200)
        #expect(!text.unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) })
      }
      #expect(signature.id.utf8.count == 16)
    }
  }

  @Test func `Every frame is explained`() {
    let signature = Self.signature(
      Self.kind("trap"), ["memcpy|libc.so.6", "qsort|libc.so.6", "Cart::total()|shop", "main|shop"])
    #expect(signature.explanation.map(\.decision) == [.skipped, .next, .anchor, .unused])
    #expect(signature.explanation.map(\.rule) == ["memory-functions", "callee", "in-app", "caller"])
  }
}
