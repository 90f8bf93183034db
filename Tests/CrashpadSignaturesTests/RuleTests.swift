// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadSignatures

/// Every row of the table takes the frames that it is there for.
struct RuleTests {
  /// Real frames, with their modules where the row asks for one.
  static let frames: [String: [(symbol: String, module: String)]] = [
    "signal-frame": [
      ("<signal handler called>", "libc.so.6"), ("_sigtramp", "libsystem_platform.dylib"),
      ("__restore_rt", "libc.so.6"),
    ],
    "own-handler": [("terminate", "libcrashpad_handler.so")],
    "crashpad": [
      ("google_breakpad::ExceptionHandler::HandleSignal(int, siginfo_t*, void*)", "shop"),
      ("crashpad::CrashpadClient::DumpWithoutCrash(ucontext_t*)", "shop"),
    ],
    "crash-sdk": [
      ("sentry_handle_exception", "shop"), ("-[SentryCrashReporter report]", "Shop"), ("kscm_handleException", "Shop"),
    ],
    "abort": [
      ("raise", "libc.so.6"), ("abort", "libsystem_c.dylib"), ("__pthread_kill_implementation", "libc.so.6"),
      ("__pthread_kill", "libsystem_kernel.dylib"), ("gsignal", "libc.so.6"),
    ],
    "assert": [
      ("__assert_fail", "libc.so.6"), ("__assert_rtn", "libsystem_c.dylib"), ("__stack_chk_fail", "libc.so.6"),
      ("__fortify_fail", "libc.so.6"),
    ],
    "checked-copy": [("__memcpy_chk", "libc.so.6"), ("__strcpy_chk", "libc.so.6")],
    "malloc-check": [
      ("malloc_printerr", "libc.so.6"), ("_int_free", "libc.so.6"), ("malloc_error_break", "libsystem_malloc.dylib"),
    ],
    "c++-terminate": [
      ("std::terminate()", "libstdc++.so.6"), ("__cxa_throw", "libc++abi.dylib"),
      ("__gnu_cxx::__verbose_terminate_handler()", "libstdc++.so.6"),
      ("std::__throw_out_of_range(char const*)", "libstdc++.so.6"),
    ],
    "c++-abort": [("abort_message", "libc++abi.dylib"), ("__cxa_pure_virtual", "libstdc++.so.6")],
    "objc-throw": [
      ("__exceptionPreprocess", "CoreFoundation"), ("objc_exception_throw", "libobjc.A.dylib"),
      ("-[NSException raise]", "CoreFoundation"), ("-[NSObject(NSObject) doesNotRecognizeSelector:]", "CoreFoundation"),
      ("___forwarding___", "CoreFoundation"),
    ],
    "swift-trap": [
      ("_swift_runtime_on_report", "libswiftCore.dylib"),
      ("_assertionFailure(_:_:file:line:flags:)", "libswiftCore.so"),
      ("closure #1 in closure #1 in _assertionFailure(_:_:file:line:flags:)", "libswiftCore.dylib"),
      ("swift_unexpectedError", "libswiftCore.so"), ("Swift runtime failure: Index out of range", "Shop"),
    ],
    "rust-panic": [
      ("core::panicking::panic_fmt", "shop"), ("rust_begin_unwind", "shop"),
      ("std::panicking::begin_panic_handler::{{closure}}", "shop"), ("core::option::unwrap_failed", "shop"),
      ("_ZN4core9panicking18panic_bounds_check17h0123456789abcdefE", "shop"),
    ],
    "go-panic": [("runtime.gopanic", "shop"), ("runtime.panicIndex", "shop"), ("runtime.sigpanic", "shop")],
    "dispatch-sync": [
      ("_dispatch_sync_f_slow", "libdispatch.dylib"), ("__DISPATCH_WAIT_FOR_QUEUE__", "libdispatch.dylib"),
    ],
    "dispatch-wait": [
      ("semaphore_wait_trap", "libsystem_kernel.dylib"), ("_dispatch_semaphore_wait_slow", "libdispatch.dylib"),
      ("__new_sem_wait_slow64.constprop.0", "libc.so.6"),
    ],
    "lock": [
      ("__ulock_wait", "libsystem_kernel.dylib"), ("__psynch_mutexwait", "libsystem_kernel.dylib"),
      ("__lll_lock_wait", "libc.so.6"), ("_dlock_wait", "libdispatch.dylib"), ("sync.(*Mutex).Lock", "shop"),
    ],
    "condition": [
      ("__psynch_cvwait", "libsystem_kernel.dylib"), ("pthread_cond_wait@@GLIBC_2.3.2", "libc.so.6"),
      ("__futex_abstimed_wait_common", "libc.so.6"), ("runtime.gopark", "shop"), ("std::thread::park", "shop"),
    ],
    "mach-message": [
      ("mach_msg2_trap", "libsystem_kernel.dylib"), ("mach_msg_trap", "libsystem_kernel.dylib"),
      ("xpc_connection_send_message_with_reply_sync", "libxpc.dylib"),
    ],
    "poll": [
      ("poll", "libc.so.6"), ("__select", "libsystem_kernel.dylib"), ("epoll_wait", "libc.so.6"),
      ("kevent", "libsystem_kernel.dylib"),
    ],
    "sleep": [
      ("clock_nanosleep@@GLIBC_2.17", "libc.so.6"), ("__semwait_signal", "libsystem_kernel.dylib"),
      ("usleep", "libsystem_c.dylib"),
    ],
    "file": [("read", "libc.so.6"), ("__fcntl", "libsystem_kernel.dylib"), ("fsync", "libsystem_kernel.dylib")],
    "network": [("recvmsg", "libc.so.6"), ("__connect", "libsystem_kernel.dylib")],
    "child": [("__wait4", "libsystem_kernel.dylib"), ("__pthread_clockjoin_ex", "libc.so.6")],
    "run-loop": [
      ("CFRunLoopRunSpecific", "CoreFoundation"), ("__CFRunLoopServiceMachPort", "CoreFoundation"),
      ("__CFRUNLOOP_IS_CALLING_OUT_TO_A_SOURCE0_PERFORM_FUNCTION__", "CoreFoundation"),
      ("-[NSRunLoop runMode:beforeDate:]", "Foundation"),
    ],
    "app-loop": [
      ("GSEventRunModal", "GraphicsServices"), ("UIApplicationMain", "UIKitCore"), ("-[NSApplication run]", "AppKit"),
    ],
    "dispatch": [
      ("_dispatch_call_block_and_release", "libdispatch.dylib"), ("_dispatch_client_callout", "libdispatch.dylib"),
      ("_dispatch_lane_serial_drain", "libdispatch.dylib"), ("_dispatch_worker_thread2", "libdispatch.dylib"),
    ],
    "operation-queue": [("-[NSOperation start]", "Foundation"), ("__NSOQSchedule_f", "Foundation")],
    "swift-concurrency": [
      ("swift_job_runImpl(Job*, ExecutorRef)", "libswift_Concurrency.so"),
      ("swift::runJobInEstablishedExecutorContext(swift::Job*)", "libswift_Concurrency.dylib"),
    ],
    "event-library": [
      ("uv_run", "libuv.so.1"), ("g_main_loop_run", "libglib-2.0.so.0"),
      ("tokio::runtime::park::CachedParkThread::block_on::h0123456789abcdef", "shop"),
    ],
    "process-start": [("_start", "shop"), ("__libc_start_call_main", "libc.so.6"), ("runtime.main", "shop")],
    "dyld-start": [("start", "dyld"), ("start", "libdyld.dylib")],
    "thread-start": [
      ("_pthread_start", "libsystem_pthread.dylib"), ("start_wqthread", "libsystem_pthread.dylib"),
      ("clone3", "libc.so.6"), ("runtime.goexit.abi0", "shop"), ("execute_native_thread_routine", "libstdc++.so.6"),
    ],
    "rust-start": [
      ("std::rt::lang_start::{{closure}}", "shop"),
      ("core::ops::function::FnOnce::call_once::h0123456789abcdef", "shop"),
      ("std::sys::backtrace::__rust_begin_short_backtrace", "shop"),
    ],
    "main": [("main", "shop"), ("static App.main()", "Shop")],
    "objc-runtime": [
      ("objc_msgSend", "libobjc.A.dylib"), ("objc_release", "libobjc.A.dylib"), ("CFRelease", "CoreFoundation"),
    ],
    "collections": [
      ("-[__NSArrayM objectAtIndex:]", "CoreFoundation"), ("-[__NSCFString characterAtIndex:]", "CoreFoundation"),
    ],
    "swift-runtime": [
      ("swift_release", "libswiftCore.dylib"), ("_swift_release_dealloc", "libswiftCore.so"),
      (
        "swift::RefCounts<swift::RefCountBitsT<(swift::RefCountInlinedness)1>>::doDecrementSlow<(swift::PerformDeinit)1>(swift::RefCountBitsT<(swift::RefCountInlinedness)1>, unsigned int)",
        "libswiftCore.dylib"
      ), ("swift_dynamicCast", "libswiftCore.so"),
    ],
    "swift-library": [
      ("specialized Array._checkSubscript(_:wasNativeTypeChecked:)", "Shop"),
      ("Swift.Array.subscript.getter : A", "libswiftCore.so"), ("_ArrayBuffer._consumeAndCreateNew()", "Shop"),
      ("Dictionary._Variant.lookup(_:)", "libswiftCore.so"),
    ],
    "swift-thunk": [
      (
        "reabstraction thunk helper from @escaping @callee_guaranteed () -> () to @escaping @callee_unowned @convention(block) () -> ()",
        "Shop"
      ), ("thunk for @escaping @callee_guaranteed () -> ()", "Shop"), ("outlined destroy of Cart?", "Shop"),
    ],
    "memory-functions": [
      ("_platform_memmove", "libsystem_platform.dylib"), ("__memcpy_avx_unaligned_erms", "libc.so.6"),
      ("memcpy", "libc.so.6"),
    ],
    "string-functions": [
      ("__strlen_avx2", "libc.so.6"), ("strcmp", "libc.so.6"), ("_platform_strcmp", "libsystem_platform.dylib"),
      ("strlen", "libc.so.6"),
    ],
    "allocator": [
      ("malloc", "libc.so.6"), ("operator new(unsigned long)", "libstdc++.so.6"), ("__libc_calloc", "libc.so.6"),
      ("szone_malloc_should_clear", "libsystem_malloc.dylib"),
    ],
    "c++-library": [
      ("std::vector<int>::at(unsigned long)", "shop"),
      ("void std::__sort<int*, bool (*)(int, int)>(int*, int*)", "shop"), ("_Unwind_Backtrace", "libgcc_s.so.1"),
    ],
    "rust-library": [
      ("core::slice::<impl [T]>::copy_from_slice", "shop"),
      ("<alloc::vec::Vec<T> as core::ops::index::Index<I>>::index", "shop"), ("alloc::vec::Vec<T>::push", "shop"),
    ],
    "go-runtime": [("runtime.mallocgc", "shop"), ("reflect.Value.Call", "shop"), ("memeqbody", "shop")],
    "loader": [("_dl_runtime_resolve_xsavec", "ld-linux-x86-64.so.2"), ("__tls_get_addr", "ld-linux-x86-64.so.2")],
    "merged": [("<deduplicated_symbol>", "UIKitCore"), ("_OUTLINED_FUNCTION_3", "Shop")],
    "system-call": [("syscall", "libc.so.6"), ("siglongjmp", "libc.so.6")],
    "dispatch-internals": [("_dispatch_dispose", "libdispatch.dylib"), ("dispatch_release", "libdispatch.dylib")],
    "windows-system-call": [("NtWaitForSingleObject", "ntdll.dll")],
    "apple-allocator": [
      ("tiny_malloc_from_free_list", "libsystem_malloc.dylib"), ("free_tiny", "libsystem_malloc.dylib"),
    ],
    "objc-tables": [("weak_register_no_lock", "libobjc.A.dylib"), ("class_getInstanceMethod", "libobjc.A.dylib")],
    "unnamed-runtime": [("", "libc.so.6"), ("", "libobjc.A.dylib")],
  ]

  /// The row of a frame. "shop" and modules in capitals are the program's.
  static func rule(_ symbol: String, in module: String, _ version: RuleVersion, isGo: Bool? = nil) -> FrameRule? {
    let name = symbol.isEmpty ? nil : FunctionName.normalized(symbol, version)
    let info = SignatureModule(name: module, identity: "", isInApp: module.lowercased().hasPrefix("shop"))
    return ChoiceTests.rule(
      symbol.isEmpty ? nil : symbol, name, in: info, version, isGo: isGo ?? GoName.isGo(NameText(symbol)))
  }

  @Test func `Every row has frames here, and no other has`() {
    #expect(Set(Self.frames.keys) == Set(FirstRule.all.map(\.rule.id)))
    #expect(Set(FirstRule.all.map(\.rule.id)).count == FirstRule.all.count)
  }

  @Test(arguments: FirstRule.all.map(\.rule.id))
  func `A row takes its frames`(id: String) {
    for frame in Self.frames[id] ?? [] {
      #expect(Self.rule(frame.symbol, in: frame.module, .first)?.id == id, "\(frame.symbol), \(frame.module)")
    }
  }

  @Test(arguments: FirstRule.all.map(\.rule.id))
  func `An explanation names the row`(id: String) throws {
    // The first function of a program is not skipped, but taken last.
    if id == "main" { return }
    for frame in Self.frames[id] ?? [] {
      let top = frame.symbol.isEmpty ? "+0x10|\(frame.module)" : "\(frame.symbol)|\(frame.module)"
      let signature = ChoiceTests.signature(
        ChoiceTests.kind("trap"), [top, "Cart::total()|shop", "+0x99|libx.so"], .first)
      let first = try #require(signature.explanation.first)
      #expect(first.rule == id, "\(frame.symbol)")
      #expect(first.decision == .skipped, "\(frame.symbol)")
      #expect(signature.text == "trap · Cart::total", "\(frame.symbol)")
    }
  }

  /// Rows that real frames of captures have to meet, by the language of the program.
  @Test func `Real frames of each language meet the rows that concern it`() {
    var met: [String: Set<String>] = [:]
    for (capture, signature) in zip(Capture.all, QualityTests.signatures) {
      for step in signature.explanation where step.decision != .unused {
        met[capture.language, default: []].insert(step.rule)
      }
    }
    for (language, rules) in Self.met {
      #expect(
        met[language]?.isSuperset(of: rules) == true,
        "\(language): \(rules.subtracting(met[language] ?? [])), not in \(met[language] ?? [])")
    }
  }

  private static let met: [String: Set<String>] = [
    "C": [
      "abort", "allocator", "assert", "callee", "in-app", "malloc-check", "memory-functions", "recursion",
      "string-functions",
    ],
    "C++": [
      "abort", "allocator", "c++-abort", "c++-library", "c++-terminate", "in-app", "own-handler", "recursion",
      "unnamed-runtime",
    ],
    "Swift": ["abort", "in-app", "recursion", "swift-library", "swift-object", "swift-trap"],
    "Rust": ["abort", "in-app", "rust-library", "rust-panic", "unnamed-runtime"],
    "Apple": [
      "app-loop", "checked-copy", "collections", "dispatch", "dispatch-sync", "dispatch-wait", "dyld-start", "file",
      "in-app", "lock", "mach-message", "malloc-check", "objc-object", "objc-throw", "poll", "run-loop",
      "swift-object", "swift-thunk", "swift-trap",
    ],
  ]

  @Test(arguments: [
    ("Cart::total()", "shop"), ("closure #1 in Uploader.run()", "Shop"), ("-[VC tap:]", "Shop"), ("prog::run", "prog"),
    ("main.(*Cart).Total", "prog"), ("read", "shop"),
    ("send", "shop"), ("open", "shop"), ("free_list", "shop"), ("strategy_run", "shop"), ("abort_transfer", "shop"),
    ("start", "shop"), ("system", "shop"), ("Store.load(_:from:)", "Shop"),
    ("memory_usage", "shop"), ("", "shop"), ("qsort", "libc.so.6"),
  ])
  func `Functions of programs are skipped by no row`(symbol: String, module: String) {
    for version in RuleVersion.allCases { #expect(Self.rule(symbol, in: module, version) == nil) }
  }

  @Test(arguments: [
    ("a*", "a", true), ("a*", "abc", true), ("a*c", "abcbc", true), ("a*c", "abcb", false), ("?b", "ab", true),
    ("?b", "b", false), ("*", "", true), ("", "", true), ("", "a", false),
    ("*a*b*", "xaybz", true), ("a.b", "axb", false), ("[x]", "[x]", true), ("*_chk", "memcpy_chk", true),
  ])
  func `A pattern matches whole texts`(pattern: String, text: String, matches: Bool) {
    #expect(Glob(pattern).matches(text) == matches)
  }
}
