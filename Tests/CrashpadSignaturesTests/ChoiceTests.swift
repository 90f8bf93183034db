// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadSignatures

/// Stacks of the languages and systems, top frame first, and what becomes of them.
struct ChoiceTests {
  /// "symbol|module"; "+0x12|module" is a frame without a name. Modules in capitals and "shop" are the program's.
  ///
  /// " [inlined]" behind a symbol is a call that was inlined into the next frame.
  static func entries(_ frames: [String], base: UInt64 = 0x1_0000, _ version: RuleVersion = .current) -> [StackEntry] {
    let isGo = frames.contains { GoName.isRuntime(String($0.prefix { $0 != "|" })) }
    return frames.enumerated().map { index, frame in
      let parts = frame.split(separator: "|").map(String.init)
      let module = parts.count > 1 ? parts[1] : "Shop"
      let isUnnamed = parts[0].hasPrefix("+0x")
      let name = isUnnamed ? nil : FunctionName.normalized(parts[0], image: "Shop", version)
      let offset = isUnnamed ? UInt64(parts[0].dropFirst(3), radix: 16) ?? 0 : UInt64(0x100 * (index + 1))
      let info = SignatureModule(
        name: module, identity: module == "shop2" ? "bbbbbbbb" : "aaaaaaaa",
        isInApp: module.lowercased().hasPrefix("shop"))
      let isInlined = parts[0].hasSuffix(" [inlined]") && version != .first
      return StackEntry(
        frame: index, isInlined: isInlined, name: name, module: info, offset: offset, address: base + offset,
        shownName: parts[0],
        rule: rule(isUnnamed ? nil : parts[0], name, in: info, version, isGo: isGo, isInlined: isInlined))
    }
  }

  static func rule(
    _ symbol: String?, _ name: String?, in module: SignatureModule, _ version: RuleVersion = .current,
    isGo: Bool = false, isInlined: Bool = false
  ) -> FrameRule? {
    if version == .first {
      return FirstRuleIndex.shared.rule(name.map(FunctionName.withoutClosure), in: module.name)
    }
    if let symbol, FunctionName.isMessage(symbol) { return SignatureNames.message }
    let name = symbol.map { FunctionName.compared($0, image: "Shop") }
    let origin = symbol.map { SymbolOrigin($0, isGo: isGo, isInlined: isInlined, isInApp: module.isInApp) }
    return RuleIndex.rule(name, in: module.name, origin ?? .unknown) ?? SignatureNames.linked(name, in: module)
  }

  static func signature(_ kind: CrashKind, _ frames: [String], _ version: RuleVersion = .current) -> Signature {
    Signature(kind, entries(frames, version), version)
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

  @Test func `Each missing library is a group of its own, but not in version 1`() {
    var termination = ReportSnapshot.Termination()
    (termination.namespace, termination.code) = ("DYLD", 1)
    termination.reasons = ["Library not loaded: @rpath/Gears.framework/Gears", "Referenced from: /a/Orrery"]
    var report = ReportSnapshot(kind: .crash)
    report.termination = termination
    var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .arm64, operatingSystem: .ios))
    snapshot.report = report
    #expect(CrashKind(snapshot).text == "dyld:library-missing/Gears")
    #expect(CrashKind(snapshot, .first).text == "dyld:unknown")
    snapshot.report?.termination?.reasons = ["Library not loaded: a name of a library"]
    #expect(CrashKind(snapshot).text == "dyld:library-missing")
  }

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
    (["closure #1 (Swift.Int) -> () in App.VC.viewDidLoad() -> ()|Shop"], "trap · App.VC.viewDidLoad.λ1"),
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
      "trap · Cart::run::λ1"
    ),
    (["+0x42e74|shop"], "trap · shop+0x42e74"), (["qsort|libc.so.6", "sort_items|shop"], "trap · sort_items · qsort"),
    (["memcpy|libc.so.6", "main|shop", "__libc_start_main|libc.so.6", "_start|shop"], "trap · main of shop"),
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
      ).text == "trap[index] · main.(*Cart).Total")
    #expect(
      Self.signature(kind, abort + ["malloc_printerr|libc.so.6", "free|libc.so.6", "Cart::total()|shop"]).text
        == "abort[heap] · Cart::total")
    // The allocator's own functions may have no names.
    #expect(
      Self.signature(kind, abort + ["+0x99|libc.so.6", "free|libc.so.6", "Cart::total()|shop"]).text
        == "abort[heap] · Cart::total")
    // A handler of uncaught exceptions is part of the raise.
    #expect(
      Self.signature(
        kind,
        abort + ["on_terminate|shop", "std::terminate()|libstdc++.so.6", "__cxa_throw|libstdc++.so.6", "load|shop"]
      ).text == "exception:C++ · load")
    #expect(
      Self.signature(kind, abort + ["cleanup|shop", "std::terminate()|libstdc++.so.6"], .first).text
        == "abort · cleanup")
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
    // A thread that works with files waits for them now and then.
    #expect(
      Self.signature(kind, ["pread|libsystem_kernel.dylib", "Store.load()|Shop"] + Self.bottom).text
        == "hang · Store.load")
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
      "memcpy|libc.so.6", "__strlen_avx2|libc.so.6", "+0x1234|libc.so.6",
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

  @Test func `A callee of the same name as its caller does not enter the signature`() {
    let kind = Self.kind("trap")
    for version in RuleVersion.allCases {
      #expect(Self.signature(kind, ["walk|libx.so", "walk|shop", "main|shop"], version).text == "trap · walk")
      #expect(Self.signature(kind, ["step|libx.so", "walk|shop", "main|shop"], version).text == "trap · walk · step")
    }
  }

  @Test func `A function that raises for its caller has the caller beside it`() {
    let abort = ["raise|libc.so.6", "abort|libc.so.6"]
    let kind = Self.kind("abort", abort: true)
    #expect(Self.signature(kind, abort + ["stop|shop", "load|shop", "main|shop"]).text == "abort · stop · load")
    #expect(Self.signature(kind, abort + ["stop|shop", "stop|shop", "load|shop"]).text == "abort · stop · load")
    // An assertion names its own function.
    #expect(
      Self.signature(kind, abort + ["__assert_fail|libc.so.6", "save|shop", "load|shop"]).text == "abort · save")
    let trap = Self.kind("trap", fault: true)
    let fatal = ["_assertionFailure(_:_:file:line:flags:)|libswiftCore.dylib"]
    #expect(
      Self.signature(trap, fatal + ["unreachable(_:file:line:)|Shop", "Cart.load()|Shop"]).text
        == "trap · unreachable(_:file:line:) · Cart.load")
    #expect(Self.signature(trap, fatal + ["Cart.save()|Shop", "Cart.load()|Shop"]).text == "trap · Cart.save")
    #expect(
      Self.signature(trap, ["GameAssertFailed(int)|shop", "load|shop"]).text == "trap · GameAssertFailed(int) · load")
    #expect(Self.signature(kind, abort + ["stop|shop", "load|shop"], .first).text == "abort · stop")
  }

  @Test func `An allocator's functions in the program are the allocator's`() {
    let kind = Self.kind("bad-access[wild]", fault: true)
    let text = Self.signature(
      kind, ["arena_dalloc_bin|shop", "je_arena_small|shop", "free|shop", "Mesh::release()|shop"]
    ).text
    #expect(text == "bad-access[heap] · Mesh::release")
    // The function with which it clears memory is a part of it, too.
    let clearing = ["_platform_memset|libsystem_platform.dylib", "free|libsystem_malloc.dylib", "Mesh::release()|shop"]
    #expect(Self.signature(kind, clearing).text == "bad-access[heap] · Mesh::release")
    #expect(
      Self.signature(kind, ["_platform_memset|libsystem_platform.dylib", "Mesh::release()|shop"]).text
        == "bad-access[wild] · Mesh::release")
    // A fault in a handler of signals that interrupted the allocator stays in the handler.
    let interrupted = ["on_alarm|shop", "<signal handler called>|libc.so.6", "free|libc.so.6", "work|shop"]
    #expect(Self.signature(kind, interrupted).text == "bad-access[wild] · on_alarm")
  }

  @Test func `A crash handler counts only where it leads to what raised`() {
    let handler = [
      "sentrycrash_report|shop", "__handleUncaughtException|CoreFoundation", "_objc_terminate()|libobjc.A.dylib",
    ]
    let throwing = ["objc_exception_throw|libobjc.A.dylib", "-[Cart load]|Shop", "-[VC tap]|Shop"]
    #expect(
      Self.signature(Self.kind("abort", abort: true), handler + throwing).text == "exception:NSException · -[Cart load]"
    )
    // A program's class that is named as an SDK's, and a swizzler between a method and its caller.
    for between in ["-[SentryTower fire]|Shop", "__44-[SentrySwizzleWrapper swizzle]_block_invoke_2|Shop"] {
      for kind in [Self.kind("abort", abort: true), Self.kind("bad-access[null]", fault: true)] {
        let signature = Self.signature(kind, ["-[Barrel load]|Shop", between, "-[Level tick]|Shop"])
        #expect(signature.text.contains("-[Barrel load]"), "\(signature.text)")
      }
    }
  }

  @Test func `Frames below a crash handler are looked at as if they were on top`() {
    let handler = ["google_breakpad::Handle(int)|shop", "<signal handler called>|libc.so.6"]
    let wild = Self.kind("bad-access[wild]", fault: true)
    #expect(
      Self.signature(wild, handler + ["arena_own|shop", "je_arena_small|shop", "free|shop", "Mesh::release()|shop"])
        .text
        == "bad-access[heap] · Mesh::release")
    #expect(
      Self.signature(Self.kind("trap", fault: true), handler + ["GameAssertFailed(int)|shop", "load|shop"]).text
        == "trap · GameAssertFailed(int) · load")
    // A handler in a library of its own.
    #expect(
      Self.signature(
        wild,
        ["dump|libreport.so", "<signal handler called>|libc.so.6", "g_object_unref|libgobject-2.0.so.0", "_start|shop"]
      ).text == "bad-access[wild] · g_object_unref (system)")
    let go = ["on_abort|shop", "runtime.sigtramp|shop", "main.load|shop", "runtime.goexit|shop"]
    #expect(
      Self.signature(Self.kind("abort", abort: true), ["raise|libc.so.6", "abort|libc.so.6"] + go).text
        == "abort · main.load")
    // A client of an SDK that called the program.
    let client = ["raise|libc.so.6", "abort|libc.so.6", "-[Barrel load]|Shop", "-[SentryClient send]|Shop"]
    #expect(
      Self.signature(Self.kind("abort", abort: true), client + ["-[Level tick]|Shop"]).text
        == "abort · -[Barrel load] · -[Level tick]")
  }

  @Test func `A fault in a handler of uncaught exceptions stays there`() {
    let frames = ["on_terminate|shop", "std::terminate()|libstdc++.so.6", "__cxa_throw|libstdc++.so.6", "load|shop"]
    #expect(
      Self.signature(Self.kind("bad-access[null]", fault: true), frames).text.hasPrefix(
        "bad-access[null] · on_terminate"))
  }

  @Test func `Only what leads to an abort says its kind`() {
    let kind = Self.kind("abort", abort: true)
    let abort = ["__pthread_kill|libsystem_kernel.dylib", "abort|libsystem_c.dylib"]
    func text(_ frames: [String]) -> String { Self.signature(kind, abort + frames).text }
    // The program aborts in what an allocator or a runtime called.
    #expect(
      text([
        "-[Cart dealloc]|Shop", "free|libsystem_malloc.dylib", "objc_release|libobjc.A.dylib", "-[VC tap:]|Shop",
      ]) == "abort · -[VC tap:]")
    #expect(
      text(["-[Cart dealloc]|Shop", "objc_release|libobjc.A.dylib", "-[VC tap:]|Shop"]).hasPrefix("abort · -[Cart"))
    #expect(text(["objc_release|libobjc.A.dylib", "-[VC tap:]|Shop"]) == "abort · -[VC tap:]")
    #expect(
      text([
        "std::terminate()|libc++abi.dylib", "__cxa_throw|libc++abi.dylib",
        "operator new(unsigned long)|libc++abi.dylib", "load|Shop",
      ])
        == "exception:C++ · load")
    #expect(text(["malloc_printerr|libc.so.6", "load|shop"]) == "abort[heap] · load")
    #expect(text(["tiny_malloc_from_free_list|libsystem_malloc.dylib", "load|shop"]) == "abort[heap] · load")
    // The handlers of both languages' exceptions, without a throw.
    let terminate = "std::__terminate(void (*)())|libc++abi.dylib"
    #expect(text(["demangling_terminate_handler()|libc++abi.dylib", terminate, "load|Shop"]) == "exception · load")
    #expect(text([terminate, "_objc_terminate()|libobjc.A.dylib", "load|Shop"]) == "exception · load")
    // A handler of the program's does not say whose exception it is.
    #expect(text(["on_terminate|Shop", terminate, "load|Shop"]) == "exception · load")
    // The caller of the program's function did not raise.
    #expect(
      text([
        terminate, "__cxa_throw|libc++abi.dylib", "load|Shop", "objc_exception_rethrow|libobjc.A.dylib", "tap|Shop",
      ])
      .hasPrefix("exception:C++ · "))
  }

  @Test func `Only a hang has the object that its thread waits for, and only a thread that may be idle is`() {
    let lock = ["__psynch_mutexwait|libsystem_kernel.dylib", "VC.load()|Shop"] + Self.bottom
    #expect(Self.signature(Self.kind("trap", fault: true), lock).text == "trap · VC.load")
    let idle = ["mach_msg2_trap|libsystem_kernel.dylib", "__CFRunLoopServiceMachPort|CoreFoundation"] + Self.bottom
    #expect(
      Self.signature(Self.kind("trap", fault: true), idle).text == "trap · mach_msg2_trap (runtime only)")
  }

  @Test func `An error of another language has its words in place of frames`() {
    var kind = Self.kind("exception:RCTFatalException", abort: true)
    kind.words = ["TypeError", "onPress"]
    #expect(
      Self.signature(kind, ["abort|libsystem_c.dylib", "RCTFatal|Shop", "main|Shop"]).text
        == "exception:RCTFatalException · TypeError · onPress")
  }

  @Test func `A wrapper's caller is the program's next function`() {
    let frames = ["raise|libc.so.6", "abort|libc.so.6", "stop|shop", "qsort|libc.so.6", "load|shop"]
    let kind = Self.kind("abort", abort: true)
    #expect(Self.signature(kind, frames).text == "abort · stop · load")
    #expect(
      Self.signature(kind, ["__assert_fail|libc.so.6", "report_fatal|shop", "load|shop"]).text
        == "abort · report_fatal · load")
    // By the name alone, whatever its parameters are: Swift's checks hand on where they were called.
    for wrapper in ["check(_:_:file:line:)", "die(int)", "must(int)", "Shop::unreachable(Panic const&)"] {
      let text = Self.signature(Self.kind("trap", fault: true), ["\(wrapper)|Shop", "load|Shop"]).text
      #expect(text.hasSuffix(" · load"), "\(text)")
    }
    #expect(
      Self.signature(Self.kind("trap", fault: true), ["Shop::add(Panic const&)|Shop", "load|Shop"]).text
        == "trap · Shop::add(Panic const&)")
    // A function that hands its arguments on to printf faults for a caller.
    for list in ["__vsnprintf_internal", "vfprintf", "__vsprintf_chk", "_IO_vfscanf", "vsyslog"] {
      let frames = ["strlen|libc.so.6", "\(list)|libc.so.6", "note|shop", "load|shop", "main|shop"]
      #expect(
        Self.signature(Self.kind("bad-access[wild]", fault: true), frames).text == "bad-access[wild] · note · load")
    }
    for callee in ["snprintf", "vmprintf", "__vfprintf_internals"] {
      let frames = ["strlen|libc.so.6", "\(callee)|libc.so.6", "note|shop", "load|shop"]
      #expect(!Self.signature(Self.kind("bad-access[wild]", fault: true), frames).text.hasSuffix(" · load"))
    }
    // Neither a fault in such a function nor a trap in abort(3) is raised for a caller.
    #expect(
      Self.signature(Self.kind("bad-access[null]", fault: true), ["panic_now|shop", "load|shop"]).text
        == "bad-access[null] · panic_now")
    #expect(
      Self.signature(Self.kind("trap", fault: true), ["abort|libc.so.6", "stop|shop", "load|shop"]).text
        == "trap · stop")
  }

  @Test func `The callee of a hang's anchor, and the path to an unnamed one that did not abort, do not count`() {
    let hang = Self.kind("killed:0x8badf00d", hang: true)
    #expect(Self.signature(hang, ["step|libx.so", "Store.load()|Shop"]).text == "killed:0x8badf00d · Store.load")
    let unnamed = ["memcpy|libc.so.6"] + (0..<16).map { "+0x\($0 + 100)|shop" }
    #expect(
      Self.signature(Self.kind("bad-access[wild]", fault: true), unnamed).text == "bad-access[wild] · shop+0x100")
    #expect(Self.signature(Self.kind("abort", abort: true), unnamed).text.contains("~"))
    // Only the C library aborts for a runtime that is linked into the program.
    let called = ["notify|libx.so"] + unnamed.dropFirst()
    #expect(!Self.signature(Self.kind("abort", abort: true), called).text.contains("~"))
  }

  @Test func `Without the program the first function that is no runtime's is taken, or the first with a name`() {
    let kind = Self.kind("bad-access[wild]", fault: true)
    let runtime = ["memcpy|libc.so.6", "start_thread|libc.so.6"]
    func text(_ frames: [String]) -> String { Self.signature(kind, frames).text }
    #expect(
      text(["std::vector<int>::at(unsigned long)|libwidgets.so", "widget_draw|libwidgets.so"])
        == "bad-access[wild] · widget_draw (system)")
    #expect(
      text(["internal_step|libc.so.6", "g_object_unref|libgobject-2.0.so.0"])
        == "bad-access[wild] · g_object_unref (system)")
    for top in [["+0x12|libc.so.6"], ["internal_step|libc.so.6"]] {
      #expect(text(top + runtime) == "bad-access[wild] · memcpy (runtime only)")
    }
    #expect(
      text(["+0x12|libc.so.6", "start_thread|libc.so.6"]) == "bad-access[wild] · start_thread (runtime only)")
    #expect(
      Self.signature(Self.kind("abort", abort: true), ["raise|libc.so.6", "start_thread|libc.so.6"]).text
        == "abort · start_thread (runtime only)")
    // A function with the name of a wrapper that did not raise.
    #expect(
      Self.signature(Self.kind("trap", fault: true), ["memcpy|libc.so.6", "report_fatal|shop", "load|shop"]).text
        == "trap · report_fatal")
  }
}
