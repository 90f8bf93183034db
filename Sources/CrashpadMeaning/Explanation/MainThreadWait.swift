// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
/// The reason why a main thread waits, judging by its stack.
struct MainThreadWait {
  struct Rule: Sendable {
    /// Words of which one of the innermost frames must contain one; empty for no condition.
    /// A word after = is a whole name.
    let leaf: [String]
    /// Words of which any frame must contain one; empty for no condition.
    let stack: [String]
    let verdict: String
    let advice: [String]
    var isLock = false
    /// Whether a frame of the application called the wait.
    var isOfApp = true
    var showsFunction = true
    var isIdle = false
  }

  let rule: Rule
  let frame: Int

  /// The number of innermost frames that may belong to a wait.
  private static let depth = 6

  init?(_ thread: CrashEvidence.Thread) {
    guard !thread.frames.isEmpty else { return nil }
    let names = thread.frames.map { $0.function ?? "" }
    if names.allSatisfy({ name in Self.idleWorkers.contains { name.contains($0) } }) {
      rule = Self.noMainThread
      frame = 0
      return
    }
    if Self.isIdle(thread) {
      rule = Self.idle
      frame = 0
      return
    }
    for rule in Self.rules {
      let inside = names.prefix(Self.depth).firstIndex { name in rule.leaf.contains { Self.matches(name, $0) } }
      let outside = names.firstIndex { name in rule.stack.contains { name.containsBytes($0) } }
      guard rule.leaf.isEmpty || inside != nil, rule.stack.isEmpty || outside != nil else { continue }
      self.rule = rule
      frame = (rule.stack.isEmpty ? inside : outside) ?? 0
      return
    }
    return nil
  }

  /// Names of system calls may have leading underscores and suffixes: __open_nocancel.
  private static func matches(_ name: String, _ word: String) -> Bool {
    guard word.hasPrefix("=") else { return name.containsBytes(word) }
    let base = name.drop { $0 == "_" }
    return base == word.dropFirst() || base == word.dropFirst() + "_nocancel"
  }

  /// Whether the thread waits in the run loop, with no frame of the app above it.
  static func isIdle(_ thread: CrashEvidence.Thread) -> Bool {
    guard let leaf = thread.frames[0].function, leaf.hasPrefix("mach_msg") else { return false }
    guard let loop = thread.first(["__CFRunLoopServiceMachPort", "__CFRunLoopRun"]), loop < depth else { return false }
    return !thread.frames.prefix(loop).contains { $0.isOfApp }
  }

  private static let idleWorkers = ["__workq_kernreturn", "_pthread_wqthread", "start_wqthread"]

  /// Functions in which threads wait.
  static let waits = [
    "__psynch_", "__ulock_wait", "semaphore_wait_trap", "mach_msg", "_dispatch_sync_f_slow",
    "__DISPATCH_WAIT_FOR_QUEUE__",
    "__workq_kernreturn", "kevent", "select", "poll",
  ]

  private static let noMainThread = Rule(
    leaf: [], stack: [], verdict: "The thread is an idle worker: the report lacks the main thread",
    advice: ["Collect another report: this one does not show the main thread."], isOfApp: false, showsFunction: false)

  private static let idle = Rule(
    leaf: [], stack: [],
    verdict: "The main thread is idle in its run loop", advice: [], isOfApp: false, showsFunction: false, isIdle: true)

  /// The rules; the first match counts.
  private static let rules: [Rule] = [
    Rule(
      leaf: ["=nanosleep", "=sleep", "=usleep", "=clock_nanosleep", "sleepForTimeInterval", "NSThread sleep"],
      stack: [],
      verdict: "The main thread sleeps",
      advice: ["Do not sleep on the main thread: let a timer or an asynchronous task call back."]),
    Rule(
      leaf: [],
      stack: [
        "CFURLConnectionSendSynchronousRequest", "sendSynchronousRequest", "initWithContentsOfURL",
        "dataWithContentsOfURL",
        "stringWithContentsOfURL", "Data.init(contentsOf:", "String.init(contentsOf:",
      ],
      verdict: "The main thread loads a URL synchronously: it waits for the network",
      advice: ["Load asynchronously (URLSession with async or a completion handler), never on the main thread."]),
    Rule(
      leaf: ["semaphore_wait_trap", "_dispatch_group_wait_slow", "__psynch_cvwait", "__ulock_wait"],
      stack: ["URLSession"],
      verdict: "The main thread waits for the network: a URLSession task that it made synchronous",
      advice: ["Use the completion handler or async; do not wait for a semaphore."]),
    Rule(
      leaf: [],
      stack: ["SCNetworkReachabilityGetFlags", "getaddrinfo", "gethostbyname", "mdns_", "DNSServiceGetAddrInfo"],
      verdict: "The main thread waits for a look-up of a name or of reachability",
      advice: ["Use NWPathMonitor and asynchronous connections; look names up off the main thread."]),
    Rule(
      leaf: ["mach_msg", "semaphore_wait_trap", "__ulock_wait"],
      stack: [
        "xpc_connection_send_message_with_reply_sync", "-[NSXPC", "NSXPCConnection", "CoreTelephony", "_CTServer",
        "TCCAccess", "CLLocationManager", "xpc_pipe_routine",
      ], verdict: "The main thread waits for another process (synchronous XPC)",
      advice: ["Make the call off the main thread; look at the other process, which may hang."]),
    Rule(
      leaf: [], stack: ["addPersistentStore", "NSMigrationManager", "migrateStore"],
      verdict: "The main thread opens or migrates a Core Data store",
      advice: ["Add the store asynchronously (shouldAddStoreAsynchronously) and migrate with a progress screen."]),
    Rule(
      leaf: [], stack: ["sqlite3_"], verdict: "The main thread waits for a database",
      advice: ["Move queries off the main thread; look for another thread or process that holds the database."],
      isLock: true),
    Rule(
      leaf: ["_dispatch_sync_f_slow", "__DISPATCH_WAIT_FOR_QUEUE__", "_dispatch_barrier_sync"], stack: [],
      verdict: "The main thread waits for a dispatch queue (dispatch_sync)",
      advice: ["Use dispatch_async, and make sure that nothing on the queue waits for the main thread."], isLock: true),
    Rule(
      leaf: [
        "_dispatch_group_wait_slow", "_dispatch_semaphore_wait_slow", "semaphore_wait_trap", "_dispatch_sema4_wait",
      ], stack: [],
      verdict: "The main thread waits for a semaphore or group that another thread has to signal",
      advice: ["Replace the wait by a completion handler or async; a semaphore can't lend priority."], isLock: true),
    Rule(
      leaf: [
        "__psynch_mutexwait", "os_unfair_lock_lock_slow", "_os_unfair_lock", "objc_sync_enter", "__psynch_rw_",
        "pthread_mutex_firstfit_lock",
      ],
      stack: [], verdict: "The main thread waits for a lock",
      advice: ["Find the thread that holds the lock; hold locks only for short work."], isLock: true),
    Rule(
      leaf: ["__psynch_cvwait", "task_wait", "swift_task_wait"], stack: [],
      verdict: "The main thread waits for another thread (a condition)",
      advice: ["Do not wait on the main thread: let the other thread call back."], isLock: true),
    Rule(
      leaf: ["__ulock_wait"], stack: [], verdict: "The main thread waits for a lock",
      advice: ["Find the thread that holds the lock; hold locks only for short work."], isLock: true),
    Rule(
      leaf: [
        "=pread", "=read", "=open", "=openat", "=stat", "=stat64", "=lstat", "=fstat", "=fstat64", "=fsync", "=write",
        "=pwrite", "=guarded_pwrite_np", "=fcntl", "=flock", "=getattrlist", "=getdirentries64", "=unlink", "=rename",
      ],
      stack: [], verdict: "The main thread waits for a file",
      advice: ["Read and write files off the main thread."]),
    Rule(
      leaf: [],
      stack: [
        "dyld4::", "dyld3::", "_dyld_", "ImageLoader", "load_images", "call_load_methods", "_GLOBAL__sub_I",
        "__cxx_global_var_init",
      ],
      verdict: "The program is still being loaded: libraries, +load methods or initializers",
      advice: ["Link fewer dynamic frameworks, and make no work of +load methods and static initializers."]),
  ]
}
