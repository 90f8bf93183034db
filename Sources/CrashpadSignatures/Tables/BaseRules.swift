// SPDX-License-Identifier: Apache-2.0
extension SignatureRule {
  /// Functions with which threads begin.
  static let baseRules: [SignatureRule] = [
    SignatureRule(
      .base, "process-start",
      [
        "_start", "start_sim", "__libc_start_main*", "__libc_start_call_main", "_start_c", "__libc_csu_*",
        "_dyld_start", "__dyld_start", "dyld_process_info*", "dyld4::*", "dyld3::*", "dyld::_main*",
        "dyldbootstrap::*", "_dl_start*", "call_init*", "_dl_init", "generic_start_main*", "mainCRTStartup",
        "__scrt_*", "BaseThreadInitThunk", "RtlUserThreadStart", "_init", "_rt0_*", "main_trampoline",
      ],
      in: .c,
      anywhere: [
        "_start", "start_sim", "__libc_start_call_main", "_start_c", "_dyld_start", "__dyld_start", "_dl_init",
        "mainCRTStartup", "BaseThreadInitThunk", "RtlUserThreadStart", "_init", "main_trampoline",
        "__libc_start_main", "__libc_start_main_impl", "__libc_csu_init", "__scrt_common_main",
        "__scrt_common_main_seh", "_dl_start_user",
      ],
      "a process begins here"),
    SignatureRule(
      .base, "dyld-start",
      ["start"],
      in: ["dyld", "dyld_sim", "libdyld*"],
      "dyld begins a process here"),
    SignatureRule(
      .base, "thread-start",
      [
        "thread_start", "_pthread_start", "_pthread_body", "start_wqthread", "_pthread_wqthread*", "_pthread_root*",
        "clone", "clone3", "__clone*", "__GI___clone*", "start_thread", "pthread_create*", "__pthread_start",
        "__start_thread", "__NSThread__start__*", "-[NSThread main]", "execute_native_thread_routine*",
        "std::thread::_Invoker*", "std::thread::_State_impl*", "std::__invoke*", "std::__1::__thread_proxy*",
        "std::__thread_proxy*", "crosscall*", "threadentry",
      ],
      in: .c + .cxx + .objectiveC,
      anywhere: [
        "_pthread_start", "start_wqthread", "clone3", "__clone3", "__clone", "start_thread",
        "execute_native_thread_routine", "thread_start", "std::thread::_Invoker*", "std::thread::_State_impl*",
        "std::__invoke*", "std::__1::__thread_proxy*", "std::__1::__thread_execute*", "std::__1::__invoke*",
        "std::__thread_proxy*",
      ],
      of: [.c, .cxx],
      "a thread begins here"),
    SignatureRule(
      .base, "go-start",
      [
        "runtime.main", "runtime.rt0_go*", "_rt0_*", "runtime.goexit*", "runtime.mstart*", "runtime.systemstack*",
        "runtime.asmcgocall*", "runtime.cgocall*", "runtime.morestack*", "runtime.schedule", "runtime.park_m",
        "runtime.findRunnable*", "runtime.mcall", "runtime.mstart*", "crosscall*", "threadentry", "gogo",
      ],
      of: .go,
      "Go begins a program or a goroutine here"),
    SignatureRule(
      .base, "rust-start",
      [
        "std::rt::*", "std::sys::*::__rust_begin_short_backtrace",
        "std::sys::backtrace::__rust_begin_short_backtrace",
        "std::sys_common::backtrace::__rust_begin_short_backtrace", "std::sys::*::Thread::new::*",
        "std::thread::Builder::*", "std::thread::lifecycle::*", "core::ops::function::FnOnce::call_once*",
        "core::ops::function::Fn*", "<alloc::boxed::Box as core::ops::function::*", "std::sys::*::thread_start",
        "std::sys::thread::*::thread_start", "<std::sys::*thread*",
      ],
      anywhere: [
        "std::rt::*", "std::sys::*::__rust_begin_short_backtrace",
        "std::sys::backtrace::__rust_begin_short_backtrace",
        "std::sys_common::backtrace::__rust_begin_short_backtrace", "std::sys::*::Thread::new::*",
        "std::thread::Builder::*", "std::thread::lifecycle::*", "core::ops::function::FnOnce::call_once",
        "core::ops::function::Fn*", "<alloc::boxed::Box as core::ops::function::*",
      ],
      of: .rust,
      "Rust calls a program or a thread here"),
    SignatureRule(
      .entry, "main",
      [],
      anywhere: [
        "main", "App.main", "static App.main", "*.$main", "$main", "wmain", "WinMain", "wWinMain",
        "__swift_async_main", "main.main", "async_Main", "async_MainTQ*_",
      ],
      of: .any,
      "the program's first function, taken if no other of the program is in the stack"),
  ]
}
