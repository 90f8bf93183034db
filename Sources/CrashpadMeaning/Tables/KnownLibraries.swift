// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Libraries that report crashes. Programs link them statically, so that their code is in the program's own file; they
/// handle a crash, or wrap the function that crashed, and are not its cause.
package enum CrashReporters {
  /// The beginnings of names of functions, types and methods. Words that programs use for other things, such as Matrix of
  /// WeChat's reporter, are not among them.
  private static let functions = [
    "KSCrash", "kscrash", "kscm_", "ksmachine", "kssc_", "ksbt_", "SentryCrash", "SentryClient", "SentryHub",
    "SentrySDK",
    "SentryBreadcrumb", "SentryUncaughtNSExceptions", "sentry_", "sentrycrash", "FIRCLS",
    "FIRCrashlytics", "CLSTerminate", "CLSUncaught", "CLSException", "CLSSignal", "CLSMach", "PLCrash", "plcrash",
    "plcr_", "MSACCrash", "MSACWrapper", "MSCrashes", "BITCrash", "Bugsnag", "bugsnag", "bsg_", "BSG_KS", "BSGHandle",
    "NRMACrash", "NRMAUncaught", "ADEum", "IBGCrash", "EMBCrash", "DDCrash",
    "RaygunCrash", "BuglyCrash", "BLYCrash", "UMCrash", "RollbarCrash", "DTXCrash", "crashpad::", "breakpad::",
    "google_breakpad::", "uncaught_exception_handler", "uncaughtExceptionHandler", "UncaughtExceptionHandler",
    "handleUncaughtException", "CPPExceptionTerminate", "CrashlyticsNSExceptionKt",
    "kfun:com.rickclephas.kmp.nsexceptionkt", "Backtrace.Backtrace.", "Backtrace.(printBacktrace ",
    "closure #1 (Swift.Int32) -> () in static Backtrace.Backtrace.",
    "@objc closure #1 (Swift.Int32) -> () in static Backtrace.Backtrace.",
  ]

  /// Whether the code is a crash reporter's: by the words with which its names begin, or its framework.
  package static func contains(function: String, module: String?) -> Bool {
    if let module, modules.contains(module) || libraries.contains(where: { module.hasPrefix($0) }) { return true }
    // Swift's own function that Objective-C calls has the name of the method behind a word.
    let name = (function.hasPrefix("@objc ") ? function.dropFirst(6) : function[...]).drop { "+-[_(".contains($0) }
    return functions.contains { name.hasPrefix($0) } || isRenamed(String(name))
  }

  /// Whether it is a function of KSCrash with the prefix that another reporter gave it: "wpk_kscm_handleException".
  private static func isRenamed(_ name: String) -> Bool {
    guard let place = name.firstRange(of: "_ks") else { return false }
    let rest = name[place.upperBound...]
    return ["crash", "cm_", "objc_", "mc_", "machine", "sc_", "bt_", "cpu_", "symbolicator"].contains {
      rest.hasPrefix($0)
    }
  }

  /// Whole names: a program may be called SentryTower. So few that a set takes longer to make than to search.
  private static let modules = [
    "Sentry", "SentrySwift", "SentryObjC", "KSCrash", "KSCrashRecording", "CrashReporter", "FirebaseCrashlytics",
    "Bugsnag",
    "AppCenterCrashes", "DatadogCrashReporting", "EmbraceIO", "NewRelic",
    // Writers of minidumps on Windows
    "dbgcore.dll", "dbghelp.dll",
  ]
  private static let libraries = ["libcrashpad", "libsentry", "libbugsnag"]
}

/// Libraries of which a row of the table knows functions. Programs link them statically too: their frames are searched as a
/// system's, although they are in the program's file.
enum KnownLibraries {
  private static let functions = [
    "FIRApp", "FirebaseApp", "FIROptions", "GAD", "RCT", "facebook::", "hermes::", "EXUpdates", "StartupProcedure",
    "ErrorRecovery", "il2cpp",
    "kotlin::", "konan::", "Kotlin_", "anonymous namespace)::terminateWithUnhandledException",
    "anonymous namespace)::processUnhandledException", "anonymous namespace)::TerminateHandler",
    "void (anonymous namespace)::$_0::operator()<(anonymous namespace)::terminateWithUnhandledException",
    "ReportBacktraceToIosCrashLog", "xamarin_", "mono_", "monoeg_", "rtc::", "logging::", "absl::", "google::",
    "base::debug::", "base::(anonymous namespace)::OnNoMemory", "base::internal::OnNoMemory",
    "base::TerminateBecauseOutOfMemory", "partition_alloc::",
    "v8::",
    "node::", "Realm", "realm::", "RLM", "core::", "alloc::", "panic_abort::", "panic_unwind::", "rustc::", "rust_",
    "<core::",
    "<alloc::", "<std::", "<usize as core::",
    // Go's runtime and library are linked into programs, too.
    "runtime.", "runtime/", "internal/", "sync.(*", "sync.throw", "sync.fatal",
    // The C++ library is inlined into programs, and that of Rust is linked into them.
    "std::", "void std::", "__gnu_cxx::",
  ]

  static func contains(function: String) -> Bool {
    let name = function.drop { "+-[_(".contains($0) }
    return functions.contains { name.hasPrefix($0) }
  }
}
