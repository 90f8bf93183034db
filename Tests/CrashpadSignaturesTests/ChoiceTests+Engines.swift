// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadSignatures

/// Engines that are linked into programs, and stacks in which the program only started a loop.
extension ChoiceTests {
  private static let abort = [
    "__pthread_kill|libsystem_kernel.dylib", "pthread_kill|libsystem_pthread.dylib", "abort|libsystem_c.dylib",
  ]

  @Test func `An exception of Kotlin that ends the process belongs to what threw it, or to the job`() {
    let kind = Self.kind("abort", abort: true)
    let terminate = [
      "konan::abort()|Shop",
      "(anonymous namespace)::terminateWithUnhandledException(ObjHeader*)::$_1::operator()() const|Shop",
      "void (anonymous namespace)::$_0::operator()<(anonymous namespace)::$_1>((anonymous namespace)::$_1)|Shop",
      "(anonymous namespace)::terminateWithUnhandledException(ObjHeader*)|Shop",
      "(anonymous namespace)::processUnhandledException(ObjHeader*)|Shop",
    ]
    let job = ["kfun:example.todo.Store.dispatch#internal|Shop", "main|Shop"]
    for handler in [
      "kfun:kotlinx.coroutines#handleCoroutineExceptionImpl(kotlin.coroutines.CoroutineContext;kotlin.Throwable){}",
      "kfun:kotlinx.coroutines.StandaloneCoroutine.handleJobException#internal",
    ] {
      let text = Self.signature(kind, Self.abort + terminate + ["\(handler)|Shop"] + job).text
      #expect(text == "exception:Kotlin · example.todo.Store.dispatch.internal")
    }
    let made = ["Throwable", "Exception", "RuntimeException", "IllegalStateException"].map {
      "kfun:kotlin.\($0)#<init>(kotlin.String?){}|Shop"
    }
    let thrown = made + ["ThrowIllegalStateExceptionWithMessage|Shop"]
    for own in [[], ["kfun:example.todo.StoreException#<init>(kotlin.String?){}|Shop"]] {
      let text = Self.signature(Self.kind("exception:kotlin.IllegalStateException", abort: true), thrown + own + job)
        .text
      #expect(text == "exception:kotlin.IllegalStateException · example.todo.Store.dispatch.internal")
    }
    // Kotlin's runtime ends the process for its own checks, too.
    for own in ["konan::abort()|Shop", "KonanTerminateHandler()|Shop"] {
      #expect(Self.signature(kind, Self.abort + [own] + job).text == "abort · example.todo.Store.dispatch.internal")
    }
    // Functions of the program in C++ that are named alike.
    #expect(
      Self.signature(kind, Self.abort + ["kotlinx::Engine::stop()|Shop", "load|Shop"]).text
        == "abort · kotlinx::Engine::stop · load")
  }

  @Test func `A crash reporter that is linked into the program is not at fault`() {
    let frames = [
      "FIRCLSProcessRecordAllThreads|Shop", "FIRCLSHandler|Shop", "__FIRCLSExceptionRecord_block_invoke|Shop",
      "_dispatch_client_callout|libdispatch.dylib", "FIRCLSExceptionRecordNSException|Shop",
      "CrashlyticsNSExceptionKtReporter.reportException(_:)|Shop",
      "kfun:com.rickclephas.kmp.nsexceptionkt.core.addReporter$1.$<bridge-DNN>invoke(kotlin.Throwable){}#internal|Shop",
      "kfun:com.acme.shop.Cart#checkout(){}|Shop",
    ]
    #expect(Self.signature(Self.kind("none"), frames).text == "none · com.acme.shop.Cart.checkout")
  }

  @Test func `The program's functions that started the loop of events are not at fault`() {
    let fault = Self.kind("bad-access[wild]", fault: true)
    let top = ["objc_release|libobjc.A.dylib", "-[_NSThreadPerformInfo dealloc]|Foundation"]
    let bottom = Self.bottom.dropLast(2) + ["-[Game runWithArgc:argv:]|Shop", "main|Shop", "start|dyld"]
    #expect(
      Self.signature(fault, top + bottom).text
        == "bad-access[object] · -[_NSThreadPerformInfo dealloc] (runtime only)")
    let system = Self.signature(fault, ["objc_release|libobjc.A.dylib", "-[UIView layout]|UIKitCore"] + bottom)
    #expect(system.text == "bad-access[object] · -[UIView layout] (system)")
    #expect(system.explanation[1].reason == "the program's functions only started the loop of events")
    // A function that the loop called is inside of it.
    #expect(Self.signature(fault, top + ["-[VC tap:]|Shop"] + bottom).text == "bad-access[object] · -[VC tap:]")
    #expect(Self.signature(fault, top + ["main|Shop", "start|dyld"]).text.hasPrefix("bad-access[object] · main"))
  }

  @Test func `Without names the engine's frame is taken, and none of the system's kernel`() {
    let fault = Self.kind("bad-access[null]", fault: true)
    let observer = "__CFNOTIFICATIONCENTER_IS_CALLING_OUT_TO_AN_OBSERVER__|CoreFoundation"
    #expect(
      Self.signature(fault, ["+0x2878d4|UnityFramework", "+0x2878cc|UnityFramework", observer]).text
        == "bad-access[null] · UnityFramework+0x2878d4 (engine)")
    let kernel = ["+0x28414|libsystem_kernel.dylib", "+0x2b40|libsystem_pthread.dylib", "+0x76b74|libsystem_c.dylib"]
    let abort = Self.kind("abort", abort: true)
    #expect(
      Self.signature(abort, kernel + ["+0x39650|Flutter", "+0x45f104|Flutter"]).text
        == "abort · Flutter+0x39650 (engine)")
    #expect(
      Self.signature(abort, kernel + ["+0x1c|libobjc.A.dylib"]).text == "abort · libobjc.A.dylib+0x1c (runtime only)")
    // A function of the system that the engine called is nearer to the fault.
    #expect(
      Self.signature(fault, ["-[UIView layout]|UIKitCore", "+0x39650|Flutter"]).text
        == "bad-access[null] · -[UIView layout] (system)")
  }

  @Test func `A generic function that throws does so for its caller`() {
    let kind = Self.kind("abort", abort: true)
    let thrown = Self.abort + ["std::terminate()|libc++abi.dylib", "__cxa_throw|libc++abi.dylib"]
    #expect(
      Self.signature(kind, thrown + ["Box<Row>::open()|Shop", "load()|Shop"]).text
        == "exception:C++ · Box<T>::open · load")
    #expect(Self.signature(kind, thrown + ["parse(char)|Shop", "load()|Shop"]).text == "exception:C++ · parse(char)")
    let go = [
      "runtime.raise|shop", "runtime.gopanic|shop", "main.must[...]|shop", "main.load|shop", "runtime.goexit|shop",
    ]
    #expect(Self.signature(kind, go).text == "exception:Go panic · main.must[T] · main.load")
    // A fault in it is its own.
    #expect(
      Self.signature(Self.kind("bad-access[null]", fault: true), ["Box<Row>::open()|Shop", "load()|Shop"]).text
        == "bad-access[null] · Box<T>::open")
  }

  @Test(arguments: [
    ("/opt/homebrew/lib/libggml.dylib", true), ("/Applications/Shop.app/Frameworks/QtCore", true),
    ("/opt/shop/libdraw.so", true), ("/usr/lib/libz.so", false), ("/System/Library/Frameworks/UIKit", false),
    ("/Applications/Xcode.app/Contents/libA.dylib", false), ("libdraw.so", false), ("", false),
  ])
  func `A library that is at no place of the system is not called one of the system`(_ path: String, _ isLibrary: Bool)
  {
    #expect(OwnModules.isOutsideSystem(path) == isLibrary)
    let module = SignatureModule(name: "lib", identity: "", isInApp: false, isOutsideSystem: isLibrary)
    let entry = StackEntry(name: "draw", module: module, offset: 64, address: 64, shownName: "draw", rule: nil)
    let signature = Signature(Self.kind("bad-access[wild]", fault: true), [entry], .current)
    #expect(signature.text == "bad-access[wild] · draw (\(isLibrary ? "library" : "system"))")
    // The word is no part of the id.
    #expect(signature.id == Self.idOfLibrary)
  }

  private static let idOfLibrary = SignatureDigest.text("crashpadctl-sig/2\nbad-access[wild] · draw (system)")

  @Test func `Checks of C that are compiled into programs raise for their callers`() {
    for check in [
      "WTFCrash", "MOZ_Crash", "g_assertion_message_expr", "qFatal", "V8_Fatal", "ThrowException",
      "Kotlin_ObjCExport_abort",
      "KonanTerminateHandler", "il2cpp_raise_exception",
    ] {
      let text = Self.signature(Self.kind("abort", abort: true), Self.abort + ["\(check)|Shop", "load|Shop"]).text
      #expect(text == "abort · load", "\(check)")
    }
  }
}
