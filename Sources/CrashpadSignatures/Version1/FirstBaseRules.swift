// SPDX-License-Identifier: Apache-2.0
extension FirstRule {
  /// Functions with which threads begin.
  static let baseRules: [FirstRule] = [
    FirstRule(
      .base, "process-start",
      [
        "_start", "start_sim", "__libc_start_main*", "__libc_start_call_main", "_start_c", "__libc_csu_*",
        "_dyld_start", "__dyld_start",
        "dyld_process_info*", "dyld4::*", "dyld3::*", "dyld::_main*", "dyldbootstrap::*", "_dl_start*", "call_init*",
        "_dl_init", "generic_start_main*",
        "mainCRTStartup", "__scrt_*", "BaseThreadInitThunk", "RtlUserThreadStart", "_init", "_rt0_*", "runtime.rt0_go*",
        "runtime.main", "main_trampoline",
      ],
      "a process begins here"),
    FirstRule(
      .base, "dyld-start", ["start"], in: ["dyld", "dyld_sim", "libdyld*", "???"], "dyld begins a process here"),
    FirstRule(
      .base, "thread-start",
      [
        "thread_start", "_pthread_start", "_pthread_body", "start_wqthread", "_pthread_wqthread*", "_pthread_root*",
        "clone", "clone3", "__clone*", "__GI___clone*",
        "start_thread", "pthread_create*", "__pthread_start", "__start_thread", "__NSThread__start__*",
        "-[NSThread main]", "execute_native_thread_routine*",
        "std::thread::_Invoker*", "std::thread::_State_impl*", "std::__invoke*", "std::__1::__thread_proxy*",
        "std::__thread_proxy*", "runtime.goexit*", "runtime.mstart*", "runtime.systemstack*",
        "runtime.asmcgocall*", "runtime.cgocall*", "runtime.morestack*", "runtime.schedule", "runtime.park_m",
        "runtime.findRunnable*", "crosscall*", "threadentry",
      ],
      "a thread begins here"),
    FirstRule(
      .base, "rust-start",
      [
        "std::rt::*", "std::sys::*::__rust_begin_short_backtrace", "std::sys::backtrace::__rust_begin_short_backtrace",
        "std::sys_common::backtrace::__rust_begin_short_backtrace",
        "std::sys::*::Thread::new::*", "std::thread::Builder::*", "std::thread::lifecycle::*",
        "core::ops::function::FnOnce::call_once*", "core::ops::function::Fn*",
        "<alloc::boxed::Box as core::ops::function::*",
      ],
      "Rust calls a program or a thread here"),
    FirstRule(
      .entry, "main",
      [
        "main", "App.main", "static App.main", "*.$main", "$main", "wmain", "WinMain", "wWinMain", "__swift_async_main",
        "main.main", "async_Main", "async_MainTQ*_",
      ],
      "the program's first function, taken if no other of the program is in the stack"),
  ]
}
