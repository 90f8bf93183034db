// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
public import Dispatch
internal import CrashpadFiles
internal import Glibc
internal import Synchronization
public import SystemPackage

/// Checks that the main thread, queues, actors and loops respond.
///
/// If one does not respond within the first threshold, the whole process is dumped. The dump is discarded if it
/// responds again; it becomes a pending one if it does not respond within the second threshold, or if the process dies
/// meanwhile: see <doc:Hangs>. A thread of the monitor's own checks at each interval; in between there is no cost.
public final class HangMonitor: Sendable {
  /// An event of the monitor.
  public enum Event: Sendable, Equatable {
    /// The named watch did not respond within the first threshold; the dump is at the path, nil if it could not be
    /// written.
    case hangs(String, dump: FilePath?)
    /// The hang passed the second threshold; the dump is pending at the path, nil if there is none.
    case kept(String, dump: FilePath?)
    /// The named watch responds again, after about this time.
    case answers(String, after: Duration)
    /// The monitor itself did not run for this time: the process was stopped, or the machine was too busy.
    case suspended(Duration)
    /// The task was not ended in time; its handler is called.
    case expired(String)
  }

  /// The times without a response, in nanoseconds.
  private let thresholds: (first: UInt64, second: UInt64)
  private let interval: UInt64
  private let taskLimit: Int
  private let dumpLimit: Int
  private let onEvent: (@Sendable (Event) -> Void)?
  private let watches = Mutex<[HangWatch]>([])
  private let end = DispatchSemaphore(value: 0)
  /// The counted time in nanoseconds, at the last check.
  private let time = Atomic<UInt64>(0)

  private static let current = Mutex<HangMonitor?>(nil)
  private static let hang = StringAnnotation("hang", maximumLength: 1024)

  private init(
    interval: Duration, thresholds: (first: Duration, second: Duration),
    taskLimit: Int, dumpLimit: Int, onEvent: (@Sendable (Event) -> Void)?
  ) {
    self.interval = max(interval.nanoseconds, 1_000_000)
    self.thresholds = (thresholds.first.nanoseconds, thresholds.second.nanoseconds)
    self.taskLimit = taskLimit
    self.dumpLimit = dumpLimit
    self.onEvent = onEvent
  }

  /// The monitor that was started and not stopped.
  public static var shared: HangMonitor? { current.withLock { $0 } }

  /// Starts the monitor with its thread: one in a process at a time.
  ///
  /// - Parameters:
  ///   - interval: the time between checks.
  ///   - firstThreshold: the time without a response after which a dump is written.
  ///   - secondThreshold: the time without a response after which the dump is kept.
  ///   - taskLimit: the most unfinished tasks at once; at most 64.
  ///   - dumpLimit: the most dumps that are kept while the process lives; later hangs leave none.
  ///   - onEvent: called for each event, on the monitor's thread. Nothing is checked until it returns.
  @discardableResult
  public static func start(
    interval: Duration = .milliseconds(500), firstThreshold: Duration = .seconds(2),
    secondThreshold: Duration = .seconds(10), taskLimit: Int = 32, dumpLimit: Int = 8,
    onEvent: (@Sendable (Event) -> Void)? = nil
  ) throws(CrashpadClient.Failure) -> HangMonitor {
    try current.withLock { current throws(CrashpadClient.Failure) in
      if current != nil { throw .monitorAlreadyStarted }
      _ = try CrashpadClient.started()
      let monitor = HangMonitor(
        interval: interval, thresholds: (firstThreshold, secondThreshold),
        taskLimit: taskLimit, dumpLimit: dumpLimit, onEvent: onEvent)
      let failure = monitor.startThread()
      guard failure == 0 else { throw .monitor(Errno(rawValue: failure)) }
      current = monitor
      return monitor
    }
  }

  /// Stops the monitor. The dump of a current hang is discarded.
  public func stop() {
    HangMonitor.current.withLock { current in
      guard current === self else { return }
      current = nil
      end.signal()
    }
  }

  // MARK: Watches

  /// Watches the main thread through the main queue, which it has to serve: with dispatchMain(), a run loop or Swift's
  /// `@MainActor`. Counts from its first response on, so that a main thread that never serves the queue is not
  /// reported.
  public func watchMainThread() { watch(.main, name: "main thread") }

  /// Watches a queue.
  ///
  /// - Parameters:
  ///   - queue: checked often, so its items should normally take less than the first threshold.
  ///   - name: its name in events and dumps; nil for its label.
  public func watch(_ queue: DispatchQueue, name: String? = nil) {
    watch(name ?? queue.label) { answer in queue.async { answer() } }
  }

  /// Watches an actor: whether it executes new work.
  public func watch(_ actor: some Actor, name: String) {
    watch(name) { [weak actor] answer in
      guard let actor else { return answer() }
      Task.detached { await Self.call(answer, on: actor) }
    }
  }

  /// Does its work in the actor: the compiler removes a call of an empty function, and with it the wait for the actor.
  private static func call(_ answer: @Sendable () -> Void, on actor: isolated some Actor) { answer() }

  /// Watches a task executor.
  public func watch(_ executor: any TaskExecutor, name: String) {
    watch(name) { answer in Task.detached(executorPreference: executor) { answer() } }
  }

  /// Watches anything that can execute a closure.
  ///
  /// - Parameters:
  ///   - name: its name in events and dumps.
  ///   - countsFromStart: whether the time before the first response counts as a hang too.
  ///   - ping: arranges for its closure to be called by the watched object, and returns at once. It is not called again
  ///     before that call.
  public func watch(
    _ name: String, countsFromStart: Bool = false, ping: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    add(HangWatch(name: name, countsFromStart: countsFromStart, ping: ping))
  }

  /// Watches a loop that reports when it works.
  public func watchLoop(_ name: String) -> WatchedLoop {
    let watch = HangWatch(name: name, countsFromStart: true, ping: nil)
    add(watch)
    return WatchedLoop(watch: watch)
  }

  private func add(_ watch: HangWatch) { watches.withLock { $0.append(watch) } }

  /// Ends all watches with this name. A current hang of one ends without an event, and its dump is discarded unless it
  /// was kept.
  public func stopWatching(_ name: String) { watches.withLock { $0.removeAll { $0.name == name } } }

  // MARK: Tasks

  /// Begins a task that has to be ended: every dump until then contains its name.
  ///
  /// - Parameters:
  ///   - name: only its first 96 bytes are used.
  ///   - expiry: the time within which the task has to be ended; nil for no limit. Checked once per interval.
  ///   - onExpiry: called once if the task expires, on a separate queue.
  /// - Returns: the argument for ``endTask(_:)``; nil if there are too many tasks.
  public func beginTask(
    _ name: String, expiry: Duration? = nil, onExpiry: @escaping @Sendable () -> Void = {}
  ) -> MonitoredTask? {
    let tasks = UnfinishedTasks.shared
    guard let task = tasks.begin(name, limit: taskLimit) else { return nil }
    if let expiry {
      let deadline = time.load(ordering: .relaxed) + expiry.nanoseconds
      tasks.setExpiry(of: task, name: name, deadline: deadline, onExpiry)
    }
    return task
  }

  /// Ends a task. A task that was ended already is left alone.
  public func endTask(_ task: MonitoredTask) { UnfinishedTasks.shared.end(task) }

  /// The names of the tasks that were begun and not ended.
  public var unfinishedTasks: [String] { UnfinishedTasks.shared.current }

  // MARK: The thread

  private func startThread() -> Int32 {
    // This thread handles no signals of the application, only those of crashes and the one that stops threads.
    var all = sigset_t()
    var old = sigset_t()
    unsafe sigfillset(&all)
    for signal in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS, SIGPROF] {
      unsafe sigdelset(&all, signal)
    }
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self)
    let failure = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<HangMonitor>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard failure == 0 else {
      unsafe context.release()
      return failure
    }
    unsafe _ = pthread_setname_np(thread, "crashpad-hangs")
    pthread_detach(thread)
    return 0
  }

  /// The state of one watch.
  private struct Case {
    let name: String
    var state = HangState()
    var dump: HangDump?
    /// The number of the current or last hang, in the order of their beginnings.
    var hang = 0
  }

  /// The state of all watches; only the monitor's thread has it.
  private struct Hangs {
    /// By the ids of the watches.
    var cases: [UInt64: Case] = [:]
    /// The number of hangs that began.
    var begun = 0
    /// The number of dumps that were kept.
    var kept = 0

    /// The names of current hangs, the oldest first.
    var names: [String] {
      cases.values.filter { $0.state.stage != .answers }.sorted { $0.hang < $1.hang }.map(\.name)
    }
  }

  private func run() {
    CrashpadClient.prepareThread()
    var clock = HangClock(interval: interval)
    _ = clock.tick(DispatchTime.now().uptimeNanoseconds)
    var hangs = Hangs()
    while end.wait(timeout: .now() + .nanoseconds(Int(interval))) == .timedOut {
      let (counted, lost) = clock.tick(DispatchTime.now().uptimeNanoseconds)
      let now = time.add(counted, ordering: .relaxed).newValue
      if lost > 0 { onEvent?(.suspended(.nanoseconds(lost))) }
      let watches = watches.withLock { $0 }
      for watch in watches { check(watch, counted, &hangs) }
      if hangs.cases.count > watches.count { forget(&hangs, but: watches) }
      for name in UnfinishedTasks.shared.expire(now) { onEvent?(.expired(name)) }
    }
    forget(&hangs, but: [])
  }

  private func check(_ watch: HangWatch, _ counted: UInt64, _ hangs: inout Hangs) {
    var known = hangs.cases[watch.id] ?? Case(name: watch.name)
    let mayHang = watch.countsFromStart || watch.hasAnswered
    let answered = watch.look() || !mayHang
    let step = known.state.look(
      answered: answered, counted: counted, first: thresholds.first, second: thresholds.second)
    if step == .dump {
      hangs.begun += 1
      known.hang = hangs.begun
    }
    hangs.cases[watch.id] = known
    switch step {
    case nil: break
    case .dump:
      // Before the dump, which has it.
      Self.annotate(hangs.names)
      if hangs.kept < dumpLimit { known.dump = try? HangDump.write(CrashpadClient.running()) }
      onEvent?(.hangs(watch.name, dump: known.dump?.path))
    case .keep:
      let path = try? known.dump?.keep()
      known.dump = nil
      if path != nil { hangs.kept += 1 }
      onEvent?(.kept(watch.name, dump: path))
    case .end(let time, let wasKept):
      if !wasKept { known.dump?.discard() }
      known.dump = nil
      Self.annotate(hangs.names)
      onEvent?(.answers(watch.name, after: .nanoseconds(time)))
    }
    hangs.cases[watch.id] = known
  }

  /// Discards the dumps of ended watches, and their names in later dumps.
  private func forget(_ hangs: inout Hangs, but watches: [HangWatch]) {
    let ids = Set(watches.map(\.id))
    for (id, known) in hangs.cases where !ids.contains(id) {
      known.dump?.discard()
      hangs.cases[id] = nil
    }
    Self.annotate(hangs.names)
  }

  /// Sets the names of current hangs in later dumps.
  private static func annotate(_ names: [String]) {
    if names.isEmpty { hang.clear() } else { hang.set(names.joined(separator: ", ")) }
  }
}

extension Duration {
  fileprivate static func nanoseconds(_ count: UInt64) -> Duration { .nanoseconds(Int64(clamping: count)) }

  /// In nanoseconds; 0 for a negative duration.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? UInt64(Int64.max) : min(whole + UInt64(attoseconds / 1_000_000_000), UInt64(Int64.max))
  }
}
