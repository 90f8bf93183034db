// SPDX-License-Identifier: Apache-2.0
extension FirstRule {
  /// Functions in which a thread waits. In a hang they name what is waited for; they are never at fault.
  static let waitRules: [FirstRule] = [
    FirstRule(
      .wait, "dispatch-sync",
      [
        "__DISPATCH_WAIT_FOR_QUEUE__", "_dispatch_sync_f_slow", "_dispatch_barrier_sync*", "_dispatch_sync_*",
        "dispatch_sync*", "dispatch_barrier_sync*", "dispatch_async_and_wait*", "_dispatch_async_and_wait*",
      ],
      meaning: "dispatch_sync", "waits for a dispatch queue"),
    FirstRule(
      .wait, "dispatch-wait",
      [
        "_dispatch_semaphore_wait*", "dispatch_semaphore_wait", "_dispatch_sema*", "_dispatch_group_wait*",
        "dispatch_group_wait", "semaphore_wait*", "semaphore_timedwait*", "_dispatch_once_wait*",
        "_dispatch_event_loop_wait*",
        "_dispatch_thread_event_wait*", "sem_wait*", "__new_sem_wait*", "do_futex_wait*", "sem_timedwait",
        "__sem_wait*", "DispatchSemaphore.wait*", "OS_dispatch_semaphore.wait*",
      ],
      meaning: "semaphore", "waits for a semaphore or a group"),
    FirstRule(
      .wait, "lock",
      [
        "__ulock_wait*", "_dlock_wait", "__psynch_mutex*", "__psynch_rw*", "_pthread_mutex_*lock*",
        "pthread_mutex_lock*",
        "_pthread_mutex_firstfit*", "_os_unfair_lock_lock_slow*", "os_unfair_lock_lock*", "__lll_lock_wait*",
        "lll_mutex_lock*",
        "__GI___pthread_mutex_lock", "___pthread_mutex_lock", "__pthread_mutex_lock*", "pthread_rwlock_*lock",
        "_pthread_rwlock*", "__pthread_rwlock_*", "-[NSLock lock]", "-[NSRecursiveLock lock]", "objc_sync_enter",
        "std::mutex::lock", "std::__1::mutex::lock", "std::sys::*::Mutex::lock*",
        "std::sys::*::futex::Mutex::lock_contended",
        "sync.(*Mutex).*", "sync.runtime_Semacquire*", "sync.(*RWMutex).*", "__gthread_mutex_lock*",
        "_dispatch_lane_barrier_sync*",
      ],
      meaning: "lock", "waits for a lock"),
    FirstRule(
      .wait, "condition",
      [
        "__psynch_cvwait", "_pthread_cond_wait*", "pthread_cond_*wait*", "___pthread_cond_*wait*",
        "__pthread_cond_*wait*",
        "-[NSCondition*wait*", "-[NSConditionLock lock*", "std::condition_variable::wait*",
        "std::__1::condition_variable::*wait*",
        "__futex_abstimed_wait*", "__GI___futex_abstimed_wait*", "futex_wait*", "futex_abstimed_wait*",
        "syscall_futex*",
        "std::sys::*::futex_wait*", "std::thread::park*", "runtime.gopark", "runtime.futex*", "runtime.notesleep*",
        "runtime.semacquire*", "runtime.mcall", "runtime.stopm", "swift_task_wait*", "*_waitForTaskToComplete*",
      ],
      meaning: "condition", "waits for a condition"),
    FirstRule(
      .wait, "mach-message",
      [
        "mach_msg*_trap", "mach_msg", "mach_msg_*", "mach_msg2_*", "_xpc_connection_send_message_with_reply_sync*",
        "xpc_connection_send_message_with_reply_sync", "xpc_connection_send_message_with_reply_sync_*",
        "dispatch_mach_send_with_result_and_wait*",
        "_dispatch_mach_send_and_wait_for_reply", "_xpc_send_serializer", "__xpc_*", "-[_NSXPC*Connection*sync*",
      ],
      meaning: "message", "waits for another process's answer"),
    FirstRule(
      .wait, "poll",
      [
        "poll", "__poll*", "__GI___poll", "ppoll", "__ppoll*", "select", "__select*", "__GI___select", "pselect*",
        "epoll_wait*", "epoll_pwait*",
        "__epoll_wait*", "kevent*", "__kevent*", "kqueue*", "io_uring_*wait*", "io_getevents*", "runtime.netpoll*",
        "runtime.epollwait*",
      ],
      in: cLibraries, meaning: "poll", "waits for events of files"),
    FirstRule(
      .wait, "sleep",
      [
        "nanosleep", "__nanosleep*", "__GI___nanosleep", "clock_nanosleep*", "__clock_nanosleep*",
        "__GI___clock_nanosleep",
        "__semwait_signal*", "usleep", "__usleep*", "sleep", "__sleep*", "__GI___sleep", "sleep_until",
        "+[NSThread sleep*",
        "std::thread::sleep*", "std::sys::*::sleep*", "std::this_thread::sleep*", "pause", "__pause*", "__libc_pause",
        "sigsuspend*", "__sigsuspend*",
        "sigwait*", "__sigwait*", "runtime.usleep*", "time.Sleep", "thread_switch", "swtch_pri", "sched_yield",
        "__sched_yield",
      ],
      in: cLibraries, meaning: "sleep", "sleeps"),
    FirstRule(
      .wait, "file",
      [
        "read", "__read*", "__GI___read", "__libc_read", "write", "__write*", "__GI___write", "__libc_write", "pread*",
        "__pread*", "pwrite*", "__pwrite*", "readv",
        "writev", "__readv*", "__writev*", "open", "__open*", "openat*", "__openat*", "close", "__close*", "fsync",
        "__fsync*", "fcntl", "__fcntl*", "flock",
        "__flock", "stat", "stat64*", "__stat*", "fstat*", "__fstat*", "lstat*", "__lstat*", "getattrlist*",
        "__getattrlist*", "guarded_pwrite_np", "guarded_write_np",
        "rename", "__rename*", "unlink", "__unlink*", "ioctl", "__ioctl*", "mmap", "__mmap*",
      ],
      in: cLibraries, meaning: "file", "waits for a file system or a device"),
    FirstRule(
      .wait, "network",
      [
        "recv", "__recv*", "recvfrom*", "__recvfrom*", "recvmsg*", "__recvmsg*", "send", "__send*", "sendto*",
        "__sendto*", "sendmsg*", "__sendmsg*",
        "connect", "__connect*", "accept", "accept4", "__accept*", "getaddrinfo*", "gethostby*", "__res_*send*",
      ],
      in: cLibraries, meaning: "network", "waits for the network"),
    FirstRule(
      .wait, "child",
      [
        "wait4", "__wait4*", "waitpid", "__waitpid*", "__GI___waitpid", "waitid", "__waitid*", "wait3", "system",
        "do_system", "__libc_system",
        "pthread_join*", "__pthread_join*", "__pthread_clockjoin*", "_pthread_join*", "std::thread::join",
        "std::thread::JoinHandle*::join*",
      ],
      in: cLibraries, meaning: "join", "waits for a thread or a process to end"),
  ]
}
