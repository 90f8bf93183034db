// SPDX-License-Identifier: Apache-2.0
extension FirstRule {
  /// Functions that raise the signal. The function that called them is at fault.
  static let raiseRules: [FirstRule] = [
    FirstRule(
      .raise, "own-handler",
      ["*"], in: ["libcrashpad_handler.so*"], "part of this tool's handler that calls a function of the runtime"),
    FirstRule(
      .raise, "abort",
      [
        "raise", "__GI_raise", "gsignal", "abort", "abort_report_np", "abort_with_*", "__abort", "_abort",
        "pthread_kill", "__pthread_kill",
        "__pthread_kill_implementation", "__pthread_kill_internal", "tgkill", "tkill", "__kill",
        "__abort_with_payload", "terminate_with_reason", "terminate_with_payload", "__abort_report*", "_Exit",
        "exit_group",
      ],
      "ends the process on its caller's behalf"),
    FirstRule(
      .raise, "assert",
      [
        "__assert", "__assert_fail", "__assert_fail_base", "__assert_perror_fail", "__assert_rtn", "__assert2",
        "__assert_c99", "__fortify_fail*", "__chk_fail*", "*_chk_fail*", "__chk_overlap", "__stack_chk_fail*",
        "__stack_smash*", "__libc_fatal", "__libc_message*", "__ubsan_*", "__sanitizer_*", "os_crash_*",
        "_os_assumes_log*", "_os_crash*", "__os_crash*",
      ],
      "an assertion or a check of the C library failed in its caller"),
    FirstRule(
      .raise, "checked-copy",
      ["__*_chk", "mem*_chk", "str*_chk"], "a checked form of a function of the C library"),
    FirstRule(
      .raise, "malloc-check",
      [
        "malloc_printerr", "malloc_consolidate", "_int_free*", "_int_malloc", "_int_realloc", "unlink_chunk",
        "malloc_error_break", "malloc_vreport", "malloc_report", "malloc_zone_error", "_malloc_zone_*",
        "___BUG_IN_CLIENT_OF_LIBMALLOC*", "free_list_checksum_botch", "free_tiny_botch", "free_small_botch",
        "szone_error", "nanov2_guard_corruption*", "_xzm_*",
      ],
      "the allocator noticed that its memory was corrupted"),
    FirstRule(
      .raise, "c++-terminate",
      [
        "std::terminate", "std::__terminate", "std::unexpected", "__cxa_throw", "__cxa_rethrow", "__cxa_call_terminate",
        "__cxa_call_unexpected", "__cxxabiv1::*", "__gnu_cxx::__verbose_terminate_handler",
        "demangling_terminate_handler*",
        "__clang_call_terminate", "__terminate", "std::rethrow_exception", "std::__throw_*", "std::__1::__throw_*",
        "_Unwind_RaiseException*", "_Unwind_Resume*", "_Unwind_ForcedUnwind*", "failed_throw", "__gxx_personality_v0",
        "_CxxThrowException", "RaiseException", "KERNELBASE!RaiseException",
      ],
      meaning: "exception:C++", "an exception of C++ was thrown and not caught"),
    FirstRule(
      .raise, "c++-abort",
      [
        "abort_message", "__cxa_pure_virtual", "__cxa_deleted_virtual", "__cxa_bad_cast", "__cxa_bad_typeid",
        "__cxa_throw_bad_array_new_length", "std::__libcpp_verbose_abort", "std::__1::__libcpp_verbose_abort",
        "std::__glibcxx_assert_fail", "std::__replacement_assert",
      ],
      "the runtime of C++ ends the process on its caller's behalf"),
    FirstRule(
      .raise, "objc-throw",
      [
        "objc_exception_throw", "objc_exception_rethrow", "__exceptionPreprocess", "_objc_terminate*",
        "objc_terminate", "__raiseError", "-[NSException raise*", "+[NSException raise*", "+[NSException exception*",
        "_CFThrowFormattedException", "__CFRaise*", "-[NSAssertionHandler handleFailure*", "_NSAssert*",
        "*throw_NSException*",
        "-[NSObject doesNotRecognizeSelector:]", "___forwarding___", "_CF_forwarding_prep_0", "__forwarding_prep_*",
        "_objc_fault_and_log", "_objc_fatal*", "__CFThrow*", "_NSThrow*", "CFThrow*",
      ],
      meaning: "exception:NSException", "raises an exception of Objective-C for its caller"),
    FirstRule(
      .raise, "swift-trap",
      [
        "_swift_runtime_on_report", "_assertionFailure*", "_fatalErrorMessage*", "_fatalError*", "fatalError",
        "fatalError(*",
        "preconditionFailure", "preconditionFailure(*", "assertionFailure", "assertionFailure(*",
        "_swift_stdlib_reportFatalError*", "_swift_stdlib_reportUnimplemented*",
        "swift_unexpectedError", "swift_errorInMain", "swift::fatalError*", "swift::warning*", "swift::swift_abort*",
        "swift_abort*", "_swift_reportToDebugger*", "_swift_willThrow*", "swift_dynamicCastFailure*",
        "swift::swift_dynamicCastFailure*", "swift_deletedMethodError*", "swift_deletedAsyncMethodError*",
        "swift_reportError*", "_diagnoseUnexpectedEnumCase*", "_diagnoseUnexpectedNilOptional*",
        "Swift runtime failure: *",
        "_unexpectedError*", "swift_task_reportUnexpectedExecutor", "_checkExpectedExecutor*",
        "_swift_task_checkIsolatedSwift*", "dispatch_assert_queue*", "_dispatch_assert_queue_fail*",
        "_unimplementedInitializer*",
      ],
      "a check of Swift's runtime failed in its caller"),
    FirstRule(
      .raise, "rust-panic",
      [
        "core::panicking::*", "std::panicking::*", "rust_begin_unwind", "rust_panic*", "__rust_start_panic",
        "__rustc::rust_begin_unwind", "__rustc::rust_panic*", "__rustc::__rust_start_panic", "__rust_abort",
        "__rustc::__rust_abort", "panic_abort::*", "panic_unwind::*", "core::option::unwrap_failed",
        "core::option::expect_failed", "core::result::unwrap_failed", "core::slice::index::slice_*_fail*",
        "core::str::slice_error_fail*", "core::cell::panic_*", "std::process::abort", "std::sys::*::abort_internal",
        "std::sys::*::__rust_end_short_backtrace", "std::sys::backtrace::__rust_end_short_backtrace",
        "std::sys_common::backtrace::__rust_end_short_backtrace", "std::alloc::handle_alloc_error",
        "alloc::alloc::handle_alloc_error*", "alloc::raw_vec::handle_error", "alloc::raw_vec::capacity_overflow",
      ],
      meaning: "exception:Rust panic", "a panic of Rust that its caller began"),
    FirstRule(
      .raise, "go-panic",
      [
        "runtime.gopanic", "runtime.fatalpanic*", "runtime.fatalthrow*", "runtime.throw*", "runtime.fatal*",
        "runtime.dopanic*", "runtime.crash", "runtime.raise*", "runtime.dieFromSignal", "runtime.panic*",
        "runtime.goPanic*", "runtime.sigpanic*", "runtime.exit*", "runtime.badsignal*", "runtime.startpanic*",
        "runtime.preprintpanics*",
      ],
      meaning: "exception:Go panic", "a panic of Go that its caller began"),
  ]
}
