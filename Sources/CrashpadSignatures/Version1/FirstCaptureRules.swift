// SPDX-License-Identifier: Apache-2.0
extension FirstRule {
  /// Frames of crash handlers, and the one through which the kernel called a signal's handler.
  static let captureRules: [FirstRule] = [
    FirstRule(
      .capture, "signal-frame",
      [
        "<signal handler called>", "__restore_rt", "__kernel_rt_sigreturn", "_sigtramp", "__sigtramp",
        "_platform_sigtramp",
        "runtime.sigreturn*", "runtime.sigtramp*", "runtime.sighandler", "runtime.sigfwd*",
      ],
      "the kernel called a signal's handler here; the fault is in the frames below"),
    FirstRule(
      .capture, "crashpad", ["crashpad::*", "google_breakpad::*", "breakpad::*"], "a handler of Crashpad or Breakpad"),
    FirstRule(
      .capture, "crash-sdk",
      [
        "KSCrash*", "kscrash*", "kscm_*", "ksmachine*", "sentry_*", "sentry__*", "Sentry*", "-[Sentry*", "+[Sentry*",
        "sentrycrash*", "FIRCLS*", "CLS*Handler*", "PLCrash*", "plcrash*", "plcr*_async_*", "-[PLCrash*", "bugsnag*",
        "bsg_*", "BSG_KSCrash*", "backtrace_*_handler", "DD*Swizzler*", "-[DD*Swizzler*", "swift_backtrace_*",
        "swift::runtime::backtrace::*", "_swift_backtrace_*",
      ],
      "a crash reporting library"),
  ]
}
