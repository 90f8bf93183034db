// SPDX-License-Identifier: Apache-2.0
/// The groups of system calls that the services' filters name, as systemd 252 prints them (systemd-analyze syscall-filter),
/// without calls that neither x86_64 nor arm64 has.
enum SystemCallGroups {
  static let members: [String: [String]] = [
    "@aio": [
      "io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_pgetevents_time64", "io_setup",
      "io_submit", "io_uring_enter", "io_uring_register", "io_uring_setup",
    ],
    "@basic-io": [
      "close", "close_range", "dup", "dup2", "dup3", "lseek", "pread64", "preadv", "preadv2", "pwrite64",
      "pwritev", "pwritev2", "read", "readv", "write", "writev",
    ],
    "@chown": [
      "chown", "fchown", "fchownat", "lchown",
    ],
    "@clock": [
      "adjtimex", "clock_adjtime", "clock_adjtime64", "clock_settime", "clock_settime64", "settimeofday",
    ],
    "@default": [
      "arch_prctl", "brk", "clock_getres", "clock_getres_time64", "clock_gettime", "clock_gettime64",
      "clock_nanosleep", "clock_nanosleep_time64", "execve", "exit", "exit_group", "futex", "futex_time64",
      "futex_waitv", "get_robust_list", "get_thread_area", "getegid", "geteuid", "getgid", "getgroups",
      "getpgid", "getpgrp", "getpid", "getppid", "getrandom", "getresgid", "getresuid", "getrlimit", "getsid",
      "gettid", "gettimeofday", "getuid", "membarrier", "mmap", "mmap2", "mprotect", "munmap", "nanosleep",
      "pause", "prlimit64", "restart_syscall", "rseq", "rt_sigreturn", "sched_getaffinity", "sched_yield",
      "set_robust_list", "set_thread_area", "set_tid_address", "time",
    ],
    "@file-system": [
      "access", "chdir", "chmod", "close", "creat", "faccessat", "faccessat2", "fallocate", "fchdir", "fchmod",
      "fchmodat", "fcntl", "fcntl64", "fgetxattr", "flistxattr", "fremovexattr", "fsetxattr", "fstat", "fstat64",
      "fstatat64", "fstatfs", "fstatfs64", "ftruncate", "ftruncate64", "futimesat", "getcwd", "getdents",
      "getdents64", "getxattr", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch",
      "lgetxattr", "link", "linkat", "listxattr", "llistxattr", "lremovexattr", "lsetxattr", "lstat", "lstat64",
      "mkdir", "mkdirat", "mknod", "mknodat", "newfstatat", "open", "openat", "openat2", "readlink",
      "readlinkat", "removexattr", "rename", "renameat", "renameat2", "rmdir", "setxattr", "stat", "stat64",
      "statfs", "statfs64", "statx", "symlink", "symlinkat", "truncate", "truncate64", "unlink", "unlinkat",
      "utime", "utimensat", "utimensat_time64", "utimes",
    ],
    "@io-event": [
      "epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait", "epoll_pwait2", "epoll_wait",
      "epoll_wait_old", "eventfd", "eventfd2", "poll", "ppoll", "ppoll_time64", "pselect6", "pselect6_time64",
      "select",
    ],
    "@ipc": [
      "memfd_create", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedreceive_time64",
      "mq_timedsend", "mq_timedsend_time64", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "pipe",
      "pipe2", "process_madvise", "process_vm_readv", "process_vm_writev", "semctl", "semget", "semop",
      "semtimedop", "semtimedop_time64", "shmat", "shmctl", "shmdt", "shmget",
    ],
    "@keyring": [
      "add_key", "keyctl", "request_key",
    ],
    "@memlock": [
      "mlock", "mlock2", "mlockall", "munlock", "munlockall",
    ],
    "@module": [
      "delete_module", "finit_module", "init_module",
    ],
    "@network-io": [
      "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen", "recvfrom",
      "recvmmsg", "recvmmsg_time64", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
      "socket", "socketpair",
    ],
    "@privileged": [
      "@chown", "@clock", "@module", "@raw-io", "@reboot", "@swap", "_sysctl", "acct", "bpf", "capset", "chroot",
      "fanotify_init", "fanotify_mark", "nfsservctl", "open_by_handle_at", "pivot_root", "quotactl",
      "quotactl_fd", "setdomainname", "setfsuid", "setgroups", "sethostname", "setresuid", "setreuid", "setuid",
      "vhangup",
    ],
    "@process": [
      "capget", "clone", "clone3", "execveat", "fork", "getrusage", "kill", "pidfd_open", "pidfd_send_signal",
      "prctl", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "setns", "tgkill", "times", "tkill", "unshare", "vfork",
      "wait4", "waitid",
    ],
    "@raw-io": [
      "ioperm", "iopl",
    ],
    "@reboot": [
      "kexec_file_load", "kexec_load", "reboot",
    ],
    "@resources": [
      "ioprio_set", "mbind", "migrate_pages", "move_pages", "sched_setaffinity", "sched_setattr",
      "sched_setparam", "sched_setscheduler", "set_mempolicy", "set_mempolicy_home_node", "setpriority",
      "setrlimit",
    ],
    "@setuid": [
      "setgid", "setgroups", "setregid", "setresgid", "setresuid", "setreuid", "setuid",
    ],
    "@signal": [
      "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigsuspend", "rt_sigtimedwait",
      "rt_sigtimedwait_time64", "sigaltstack", "signalfd", "signalfd4",
    ],
    "@swap": [
      "swapoff", "swapon",
    ],
    "@sync": [
      "fdatasync", "fsync", "msync", "sync", "sync_file_range", "sync_file_range2", "syncfs",
    ],
    "@system-service": [
      "@aio", "@basic-io", "@chown", "@default", "@file-system", "@io-event", "@ipc", "@keyring", "@memlock",
      "@network-io", "@process", "@resources", "@setuid", "@signal", "@sync", "@timer", "capget", "capset",
      "copy_file_range", "fadvise64", "fadvise64_64", "flock", "get_mempolicy", "getcpu", "getpriority", "ioctl",
      "ioprio_get", "kcmp", "madvise", "mremap", "name_to_handle_at", "personality", "readahead",
      "remap_file_pages", "sched_get_priority_max", "sched_get_priority_min", "sched_getattr", "sched_getparam",
      "sched_getscheduler", "sched_rr_get_interval", "sched_rr_get_interval_time64", "sched_yield", "sendfile",
      "sendfile64", "setfsgid", "setfsuid", "setpgid", "setsid", "splice", "sysinfo", "tee", "umask", "uname",
      "userfaultfd", "vmsplice",
    ],
    "@timer": [
      "alarm", "getitimer", "setitimer", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
      "timer_gettime64", "timer_settime", "timer_settime64", "timerfd_create", "timerfd_gettime",
      "timerfd_gettime64", "timerfd_settime", "timerfd_settime64", "times",
    ],
  ]

  /// All calls of a group, or the one call of that name.
  static func calls(_ name: String) -> Set<String> {
    guard let members = members[name] else { return [name] }
    return members.reduce(into: []) { $0.formUnion(calls($1)) }
  }
}
