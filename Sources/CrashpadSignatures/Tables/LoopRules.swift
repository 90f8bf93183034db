// SPDX-License-Identifier: Apache-2.0
extension SignatureRule {
  /// Functions that take events and call handlers: they are below every handler.
  static let loopRules: [SignatureRule] = [
    SignatureRule(
      .loop, "run-loop",
      [
        "CFRunLoop*", "__CFRunLoop*", "_CFRunLoop*", "__CFRUNLOOP_IS_*", "-[NSRunLoop*", "-[NSRunLoop(NSRunLoop)*",
        "+[NSRunLoop*", "__CFMachPortPerform", "__CFMessagePortPerform", "__NSFireTimer", "__NSThreadPerformPerform",
      ],
      in: .apple + .objectiveC,
      "the run loop of Core Foundation"),
    SignatureRule(
      .loop, "app-loop",
      [
        "GSEventRun*", "UIApplicationMain", "-[UIApplication _run]", "NSApplicationMain", "-[NSApplication run]",
        "-[NSApplication _nextEvent*", "-[NSApplication nextEvent*", "_DPSNextEvent", "_BlockUntilNextEvent*",
        "ReceiveNextEvent*", "RunCurrentEventLoopInMode", "_NSApplicationMain*", "-[NSApplication(NSEvent*",
        "WKExtensionMain", "-[FBSSerialQueue *", "_UIApplicationMain*", "-[UIApplication sendEvent:]",
        "-[UIWindow sendEvent:]",
      ],
      in: .apple + .objectiveC,
      anywhere: ["UIApplicationMain", "NSApplicationMain", "WKExtensionMain"],
      "the event loop of an application"),
    SignatureRule(
      .loop, "dispatch",
      [
        "_dispatch_*callout*", "_dispatch_client_callout*", "_dispatch_call_block_and_release", "_dispatch_*drain*",
        "_dispatch_*invoke*", "_dispatch_*worker*", "_dispatch_root_queue*", "_dispatch_main_queue_callback*",
        "_dispatch_continuation_pop*", "_dispatch_queue_override*", "_dispatch_*dequeue*",
        "_dispatch_runloop_root_queue*", "_dispatch_mgr_*", "_dispatch_source_latch_and_call", "_dispatch_source_*",
        "_dispatch_block_*", "_dispatch_kq_*", "_dispatch_event_loop_*", "dispatch_main", "_dispatch_sig_thread",
        "_dispatch_queue_*", "_dispatch_lane_*", "_dispatch_workloop_*", "dispatch_apply*", "_dispatch_apply*",
        "dispatch_once*", "_dispatch_once*", "_dispatch_once_callout",
      ],
      in: .dispatch + .objectiveC,
      "libdispatch calls a block"),
    SignatureRule(
      .loop, "operation-queue",
      [
        "__NSOPERATION*", "__NSBLOCKOPERATION*", "-[NSOperation start]", "-[NSBlockOperation main]",
        "__NSOQSchedule*", "-[NSOperation*_start]",
      ],
      in: .objectiveC + ["libFoundation*"],
      "an operation queue calls an operation"),
    SignatureRule(
      .loop, "swift-concurrency",
      [
        "swift_job_run*", "swift::runJobInEstablishedExecutorContext*", "swift_task_*", "swift::AsyncTask::*",
        "completeTask*", "swift_asyncLet*", "swift::*Executor*", "swift_continuation_*", "(anonymous)::*TaskLocal*",
        "runJobInEstablishedExecutorContext*",
      ],
      in: .swift,
      anywhere: [
        "swift_job_run", "swift_task_switch", "swift_task_create", "swift_task_future_wait",
        "swift::runJobInEstablishedExecutorContext", "swift::AsyncTask::*", "completeTask", "completeTaskAndRelease",
        "completeTaskWithClosure",
      ],
      of: [.c, .cxx],
      "Swift's concurrency calls a job"),
    SignatureRule(
      .loop, "event-library",
      [
        "uv_run*", "uv__*", "event_base_loop*", "event_base_dispatch", "event_process_active*", "ev_run",
        "ev_invoke_pending", "g_main_*", "g_source_*", "gtk_main*", "QEventDispatcher*",
      ],
      in: ["libuv*", "libev*", "libglib*", "libgio*", "libgobject*", "libgtk*", "libgdk*", "libQt*", "Qt*", "node*"],
      anywhere: [
        "uv_run", "uv__run_timers", "uv__run_idle", "uv__run_pending", "uv__run_check", "uv__run_prepare",
        "uv__io_poll", "uv__work_done", "uv__async_io", "uv__async_event", "uv__timer_run", "uv__stream_io",
        "uv__read", "uv__server_io", "event_base_loop", "event_base_dispatch", "event_process_active",
        "event_process_active_single_queue", "ev_run", "ev_invoke_pending", "g_main_loop_run",
        "g_main_context_dispatch", "g_main_context_iteration",
      ],
      "an event loop calls a handler"),
    SignatureRule(
      .loop, "event-classes",
      [
        "QEventLoop::*", "QCoreApplication::*", "QApplication::*", "QEventDispatcher*", "QMetaObject::activate*",
        "QObject::event*", "boost::asio::detail::*", "boost::asio::io_context::*", "boost::asio::io_service::*",
        "boost::asio::execution_context::*", "asio::detail::*", "asio::io_context::*", "asio::execution_context::*",
        "node::SpinEventLoop*",
      ],
      anywhere: [
        "QEventLoop::exec", "QEventLoop::processEvents", "QCoreApplication::exec",
        "QCoreApplication::notifyInternal2", "QApplication::exec", "QApplication::notify", "boost::asio::detail::*",
        "asio::detail::*",
      ],
      of: .cxx,
      "an event loop calls a handler"),
    SignatureRule(
      .loop, "rust-runtime",
      [
        "tokio::runtime::*", "<tokio::runtime::*", "tokio::task::*", "mio::poll::*", "mio::sys::*", "rayon_core::*",
        "<rayon_core::*", "futures_executor::*", "async_executor::*", "actix_rt::*",
      ],
      anywhere: ["tokio::runtime::*", "rayon_core::*"],
      of: .rust,
      "an executor of Rust calls a task"),
    SignatureRule(
      .loop, "swizzler",
      ["*wizzl*"],
      in: .crashReporters,
      anywhere: [
        "-[SentrySwizzleWrapper *", "+[SentrySwizzleWrapper *", "+[SentrySwizzle *", "-[SentrySwizzle *",
        "-[DDSwizzler *", "DDSwizzler.*", "MethodSwizzler.*", "-[NRMASwizzle*", "NRMA__*",
        "-[FPRClassInstrumentor *", "-[GULSwizzler *", "+[GULSwizzler *", "-[GULAppDelegateSwizzler *",
        "+[GULAppDelegateSwizzler *",
      ],
      of: [.c, .objectiveC, .swift, .cxx],
      "stands between a method and its caller for a library"),
  ]
}
