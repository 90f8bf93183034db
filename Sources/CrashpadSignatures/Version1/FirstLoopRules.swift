// SPDX-License-Identifier: Apache-2.0
extension FirstRule {
  /// Functions that take events and call handlers: they are below every handler.
  static let loopRules: [FirstRule] = [
    FirstRule(
      .loop, "run-loop",
      [
        "CFRunLoop*", "__CFRunLoop*", "_CFRunLoop*", "__CFRUNLOOP_IS_*", "-[NSRunLoop*", "-[NSRunLoop(NSRunLoop)*",
        "+[NSRunLoop*",
        "__CFMachPortPerform", "__CFMessagePortPerform", "__NSFireTimer", "__NSThreadPerformPerform",
      ],
      "the run loop of Core Foundation"),
    FirstRule(
      .loop, "app-loop",
      [
        "GSEventRun*", "UIApplicationMain", "-[UIApplication _run]", "NSApplicationMain", "-[NSApplication run]",
        "-[NSApplication _nextEvent*", "-[NSApplication nextEvent*", "_DPSNextEvent", "_BlockUntilNextEvent*",
        "ReceiveNextEvent*", "RunCurrentEventLoopInMode", "_NSApplicationMain*", "-[NSApplication(NSEvent*",
        "WKExtensionMain",
        "-[FBSSerialQueue *", "_UIApplicationMain*", "-[UIApplication sendEvent:]", "-[UIWindow sendEvent:]",
      ],
      "the event loop of an application"),
    FirstRule(
      .loop, "dispatch",
      [
        "_dispatch_*callout*", "_dispatch_client_callout*", "_dispatch_call_block_and_release", "_dispatch_*drain*",
        "_dispatch_*invoke*",
        "_dispatch_*worker*", "_dispatch_root_queue*", "_dispatch_main_queue_callback*", "_dispatch_continuation_pop*",
        "_dispatch_queue_override*",
        "_dispatch_*dequeue*", "_dispatch_runloop_root_queue*", "_dispatch_mgr_*", "_dispatch_source_latch_and_call",
        "_dispatch_source_*", "_dispatch_block_*",
        "_dispatch_kq_*", "_dispatch_event_loop_*", "dispatch_main", "_dispatch_sig_thread", "_dispatch_queue_*",
        "_dispatch_lane_*", "_dispatch_workloop_*", "dispatch_apply*",
        "_dispatch_apply*", "dispatch_once*", "_dispatch_once*", "_dispatch_once_callout",
      ],
      "libdispatch calls a block"),
    FirstRule(
      .loop, "operation-queue",
      [
        "__NSOPERATION*", "__NSBLOCKOPERATION*", "-[NSOperation start]", "-[NSBlockOperation main]", "__NSOQSchedule*",
        "-[NSOperation*_start]",
      ],
      "an operation queue calls an operation"),
    FirstRule(
      .loop, "swift-concurrency",
      [
        "swift_job_run*", "swift::runJobInEstablishedExecutorContext*", "swift_task_*", "swift::AsyncTask::*",
        "completeTask*", "swift_asyncLet*",
        "swift::*Executor*", "swift_continuation_*", "(anonymous)::*TaskLocal*", "runJobInEstablishedExecutorContext*",
      ],
      "Swift's concurrency calls a job"),
    FirstRule(
      .loop, "event-library",
      [
        "uv_run*", "uv__*", "event_base_loop*", "event_base_dispatch", "event_process_active*", "ev_run",
        "ev_invoke_pending", "g_main_*",
        "g_source_*", "gtk_main*", "QEventLoop::*", "QCoreApplication::exec", "QApplication::exec", "QEventDispatcher*",
        "boost::asio::*", "asio::*",
        "tokio::runtime::*", "mio::*", "std::sys::*::backtrace::__rust_begin_short_backtrace", "node::SpinEventLoop*",
      ],
      "an event loop calls a handler"),
  ]
}
