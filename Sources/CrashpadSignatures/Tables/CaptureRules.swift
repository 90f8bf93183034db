// SPDX-License-Identifier: Apache-2.0
extension SignatureRule {
  /// Frames of crash handlers, and the one through which the kernel called a signal's handler.
  static let captureRules: [SignatureRule] = [
    SignatureRule(
      .capture, "signal-frame",
      [
        "<signal handler called>", "__restore_rt", "__kernel_rt_sigreturn", "_sigtramp", "__sigtramp",
        "_platform_sigtramp",
      ],
      in: .c,
      anywhere: [
        "<signal handler called>", "__restore_rt", "__kernel_rt_sigreturn", "_sigtramp", "__sigtramp",
        "_platform_sigtramp",
      ],
      "the kernel called a signal's handler here; the fault is in the frames below"),
    SignatureRule(
      .capture, "go-signal-frame",
      ["runtime.sigreturn*", "runtime.sigtramp*", "runtime.sighandler", "runtime.sigfwd*"],
      of: .go,
      "the kernel called a signal's handler here; the fault is in the frames below"),
    SignatureRule(
      .capture, "crashpad",
      ["crashpad::*", "google_breakpad::*", "breakpad::*"],
      anywhere: ["crashpad::*", "google_breakpad::*"],
      of: .cxx,
      "a handler of Crashpad or Breakpad"),
    SignatureRule(
      .capture, "crash-sdk",
      ["*"],
      in: .crashReporters,
      anywhere: [
        "sentry_handle_exception", "sentry__*", "sentrycrash_*", "sentrycrashcm_*", "sentrycrashbic_*",
        "-[SentryCrash *", "-[SentryCrashReporter *", "-[SentryCrashIntegration *", "-[SentryCrashWrapper *",
        "-[SentryCrashReportSink *", "-[SentryClient *", "-[SentryHub *", "+[SentrySDK *",
        "-[SentryUncaughtNSExceptions *", "+[SentryUncaughtNSExceptions *", "kscm_handleException",
        "kscm_notifyFatalExceptionCaptured", "kscm_handleSignal", "kscrash_*", "kscrashreport_*", "ksmachine_*",
        "ksmc_*", "kscrashmonitor_*", "-[KSCrash *",
        // With the prefix that another reporter gave them.
        "wpk_kscrash*", "wpk_kscm_*", "wpk_ksobjc_*", "wpk_ksmc_*", "wpk_ksmachine_*", "bsg_kscrash*",
        "bsg_recordException", "BSG_KSCrash*",
        "bugsnag_*", "plcrash_*", "plcrash::*", "plcr_*", "-[PLCrashReporter *", "plframe_*",
        "FIRCLS*", "CLSProcessRecordAllThreads", "CLSSignalHandler", "CLSTerminateHandler",
        "CrashlyticsNSExceptionKtReporter.*",
        "swift_backtrace_*", "_swift_backtrace_*",
        "swift::runtime::backtrace::*", "backtrace_signal_handler",
      ],
      of: [.c, .objectiveC, .cxx, .swift],
      "a crash reporting library"),
    SignatureRule(
      .capture, "kotlin-crash-sdk",
      ["com.rickclephas.kmp.nsexceptionkt.*", "co.touchlab.crashkios.*"],
      of: .kotlin,
      "a crash reporting library"),
  ]
}
