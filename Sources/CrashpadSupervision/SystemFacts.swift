// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import Glibc
package import SystemPackage

/// The abilities of this system, and the limits of this process, as far as the handler needs them. Changes nothing.
package struct SystemFacts: Sendable {
  /// The soft limit of setrlimit(2); nil for no limit.
  package typealias ResourceLimit = UInt64?

  /// The output of uname -r and -m.
  package let kernelRelease: String
  package let machine: String
  /// "glibc 2.36"; nil if the C library does not report it.
  package let libc: String?
  /// Whether /proc/self has the files that the handler reads.
  package let isProcMounted: Bool
  /// The failure of process_vm_readv(2), tried on this process; nil if it works.
  package let memoryReading: Errno?
  /// The reason why no process may trace another at all: a seccomp filter; nil if there is none.
  package let ptraceRefusal: Errno?
  /// The scope of the Yama security module; nil without it.
  package let ptraceScope: Int?
  /// Whether this process has the capability to trace any other.
  package let mayTraceAll: Bool
  /// 0 none, 1 strict, 2 a filter; nil if it is not known.
  package let seccompMode: Int?
  package let hasNoNewPrivileges: Bool
  /// Whether this process's memory and /proc files belong to its user.
  package let isDumpable: Bool
  /// The bytes of an alternate stack that the kernel itself writes (AT_MINSIGSTKSZ); nil if the kernel does not report
  /// it.
  package let signalFrameSize: UInt?
  /// Signals of the handler that were ignored, and blocked, when this process was started.
  package let ignoredSignals: [Int32]
  package let blockedSignals: [Int32]
  package let corePattern: String?
  package let coreLimit: ResourceLimit
  package let processLimit: ResourceLimit
  package let fileLimit: ResourceLimit
  /// The highest that a process may set: the handler does.
  package let fileSizeLimit: ResourceLimit
  /// The limit of the control group and its use, in bytes. Nil without a limit.
  package let memoryLimit: UInt64?
  package let memoryUse: UInt64?
  package let isProcessOne: Bool
  /// Whether this process is in a user namespace that maps user ids.
  package let isInUserNamespace: Bool
  package let isRootReadOnly: Bool

  /// The signals that the handler handles, and the one by which it stops threads.
  package static let handlerSignals = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS, stopSignal]
  /// The signal by which the handler stops the other threads.
  package static let stopSignal = SIGPROF

  /// - Parameters:
  ///   - changed: signals whose action this tool changed.
  ///   - ignored: the changed signals that were ignored before.
  ///   - filter: calls that it does not allow are not tried.
  package init(changed: [Int32], ignored: [Int32], filter: CallFilter? = nil) {
    var name = utsname()
    unsafe uname(&name)
    kernelRelease = unsafe withUnsafeBytes(of: name.release) { unsafe Self.text($0) }
    machine = unsafe withUnsafeBytes(of: name.machine) { unsafe Self.text($0) }
    libc = Self.libcVersion
    isProcMounted = ["maps", "status", "stat", "task", "auxv"].allSatisfy {
      unsafe access("/proc/self/\($0)", R_OK) == 0
    }
    memoryReading = filter?.memoryReading == nil ? Self.readOwnMemory() : .notPermitted
    let refusal = filter?.ptrace == nil ? linux_ptrace_refusal() : EPERM
    ptraceRefusal = refusal == 0 ? nil : Errno(rawValue: refusal)
    ptraceScope = ProcFile.text("/proc/sys/kernel/yama/ptrace_scope").flatMap { Int($0) }
    let status = ProcFile.members("/proc/self/status")
    mayTraceAll = (status["CapEff"].flatMap { UInt64($0, radix: 16) } ?? 0) >> 19 & 1 == 1
    seccompMode = filter == nil ? status["Seccomp"].flatMap { Int($0) } : 2
    hasNoNewPrivileges = linux_prctl(LINUX_PR_GET_NO_NEW_PRIVS, 0) == 1
    isDumpable = linux_prctl(LINUX_PR_GET_DUMPABLE, 0) == 1
    let frame = getauxval(LINUX_AT_MINSIGSTKSZ)
    signalFrameSize = frame == 0 ? nil : frame
    ignoredSignals = Self.handlerSignals.filter { signal in
      changed.contains(signal) ? ignored.contains(signal) : Supervisor.ignores(signal)
    }
    var mask = sigset_t()
    unsafe sigprocmask(SIG_BLOCK, nil, &mask)
    blockedSignals = Self.handlerSignals.filter { unsafe sigismember(&mask, $0) == 1 }
    corePattern = ProcFile.text("/proc/sys/kernel/core_pattern")
    coreLimit = Self.limit(4)
    processLimit = Self.limit(6)
    fileLimit = Self.limit(7)
    fileSizeLimit = Self.limit(1, \.rlim_max)
    (memoryLimit, memoryUse) = Self.groupMemory()
    isProcessOne = getpid() == 1
    isInUserNamespace =
      ProcFile.text("/proc/self/uid_map").map { $0.split(separator: " ") != ["0", "0", "4294967295"] } ?? false
    isRootReadOnly = FolderFacts.fileSystem("/")?.isReadOnly ?? false
  }

  /// "glibc 2.36"; nil if the C library does not report it.
  package static var libcVersion: String? {
    var version = [UInt8](repeating: 0, count: 64)
    // _CS_GNU_LIBC_VERSION
    let count = unsafe version.withUnsafeMutableBytes { unsafe confstr(Int32(2), $0.baseAddress, $0.count) }
    return count > 1 ? String(decoding: version.prefix { $0 != 0 }, as: UTF8.self) : nil
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func readOwnMemory() -> Errno? {
    var source: UInt64 = 0x1234_5678_9abc_def0
    var target: UInt64 = 0
    let got = unsafe withUnsafeMutableBytes(of: &source) { source in
      unsafe withUnsafeMutableBytes(of: &target) { target in
        var from = unsafe iovec(iov_base: source.baseAddress, iov_len: 8)
        var to = unsafe iovec(iov_base: target.baseAddress, iov_len: 8)
        return unsafe process_vm_readv(getpid(), &to, 1, &from, 1, 0)
      }
    }
    return got == 8 && source == target ? nil : Errno(rawValue: errno)
  }

  private static func limit(_ resource: UInt32, _ part: KeyPath<rlimit, rlim_t> = \.rlim_cur) -> ResourceLimit {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(resource), &limit) == 0 else { return nil }
    return limit[keyPath: part] == UInt.max ? nil : UInt64(limit[keyPath: part])
  }

  private static func groupMemory() -> (limit: UInt64?, use: UInt64?) {
    let line = (ProcFile.text("/proc/self/cgroup") ?? "").split(separator: "\n").first { $0.hasPrefix("0::") }
    let own = line.map { String($0.dropFirst(3)) } ?? "/"
    for (folder, limit, use) in [
      ("/sys/fs/cgroup\(own)", "memory.max", "memory.current"), ("/sys/fs/cgroup", "memory.max", "memory.current"),
      ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ] {
      guard let text = ProcFile.text("\(folder)/\(limit)") else { continue }
      // In control groups of version 1, a number close to 2^63 means no limit.
      guard let number = UInt64(text), number < 1 << 60 else { return (nil, nil) }
      return (number, ProcFile.text("\(folder)/\(use)").flatMap { UInt64($0) })
    }
    return (nil, nil)
  }
}
