internal import CLinux
public import Dispatch
internal import FileSystem
internal import Glibc
internal import Synchronization
public import SystemPackage

/// Watches that the main thread, queues, actors and loops answer.
///
/// What does not answer within the first threshold gets a dump of the whole process, which is thrown away if it answers again
/// and becomes a pending one if it does not within the second threshold, or if the process dies meanwhile: see <doc:Hangs>.
/// A thread of its own asks at each interval; in between nothing costs anything.
public final class HangMonitor: Sendable {
  public struct Options: Sendable {
    /// How often is asked.
    public var interval: Duration = .milliseconds(500)
    /// Without an answer for so long, a dump is written.
    public var firstThreshold: Duration = .seconds(2)
    /// Without an answer for so long, the dump is kept.
    public var secondThreshold: Duration = .seconds(10)
    /// So many tasks may be unfinished at once; at most 64.
    public var taskLimit = 32
    /// So many dumps are kept while the process lives; later hangs leave none.
    public var dumpLimit = 8
    /// Told of what happens, on the monitor's thread. While it does not return nothing is watched.
    public var onEvent: (@Sendable (Event) -> Void)?

    public init() {}
  }

  /// What the monitor saw or did.
  public enum Event: Sendable, Equatable {
    /// The name did not answer within the first threshold; the dump is at the path, nil if it could not be written.
    case hangs(String, dump: FilePath?)
    /// The hang passed the second threshold; the dump is pending at the path, nil if there is none.
    case kept(String, dump: FilePath?)
    /// The name answers again, after about so long.
    case answers(String, after: Duration)
    /// The monitor itself did not run for so long: the process was stopped, or the machine had no time for it.
    case suspended(Duration)
    /// The task was not ended in time; its handler is called.
    case expired(String)
  }

  public enum StartFailure: Error, Sendable, Equatable {
    /// The handler has to be started before.
    case clientNotStarted
    case alreadyStarted
    case noThread(Errno)
  }

  private struct Watched {
    let watch: Watch
    let countsFromStart: Bool
  }

  private let options: Options
  private let running: CrashpadClient.Running
  private let watches = Mutex<[Watched]>([])
  private let end = DispatchSemaphore(value: 0)
  /// Nanoseconds of the time that counts, as of the last look.
  private let time = Atomic<UInt64>(0)

  private static let current = Mutex<HangMonitor?>(nil)
  private static let hang = StringAnnotation("hang", maximumLength: 1024)

  private init(_ options: Options, _ running: CrashpadClient.Running) {
    self.options = options
    self.running = running
  }

  /// The monitor that was started and not stopped.
  public static var shared: HangMonitor? { current.withLock { $0 } }

  /// Starts the monitor with its thread: one in a process at a time.
  ///
  /// - Throws: `StartFailure`.
  @discardableResult
  public static func start(_ options: Options = Options()) throws(StartFailure) -> HangMonitor {
    try current.withLock { current throws(StartFailure) in
      if current != nil { throw .alreadyStarted }
      let running: CrashpadClient.Running
      do { running = try CrashpadClient.running() } catch { throw .clientNotStarted }
      let monitor = HangMonitor(options, running)
      let failure = monitor.startThread()
      guard failure == 0 else { throw .noThread(Errno(rawValue: failure)) }
      current = monitor
      return monitor
    }
  }

  /// Stops the monitor. The dump of a hang that goes on is thrown away.
  public func stop() {
    HangMonitor.current.withLock { current in
      guard current === self else { return }
      current = nil
      end.signal()
    }
  }

  // MARK: What is watched

  /// Watches the main thread by the main queue, which it has to serve: with dispatchMain(), a run loop or Swift's
  /// `@MainActor`. Counts from its first answer on, so that a main thread which never serves the queue is not taken for hung.
  public func watchMainThread() { watch(.main, name: "main thread") }

  /// Watches a queue.
  ///
  /// - Parameters:
  ///   - queue: asked with high frequency, so not one whose items take longer than the first threshold in good times.
  ///   - name: what events and dumps call it; nil for its label.
  public func watch(_ queue: DispatchQueue, name: String? = nil) {
    watch(name ?? queue.label) { answer in queue.async { answer() } }
  }

  /// Watches an actor: whether it comes to new work.
  public func watch(_ actor: some Actor, name: String) {
    watch(name) { [weak actor] answer in
      guard let actor else { return answer() }
      Task.detached {
        await Self.visit(actor)
        answer()
      }
    }
  }

  private static func visit(_ actor: isolated some Actor) {}

  /// Watches a task executor.
  public func watch(_ executor: any TaskExecutor, name: String) {
    watch(name) { answer in Task.detached(executorPreference: executor) { answer() } }
  }

  /// Watches whatever can be asked.
  ///
  /// - Parameters:
  ///   - name: what events and dumps call it.
  ///   - countsFromStart: whether a hang before the first answer is one too.
  ///   - ping: has to see to it that the closure that it gets is called from what is watched, and return at once. It is not
  ///     called again before that.
  public func watch(
    _ name: String, countsFromStart: Bool = false, ping: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    add(Watch(name: name, ping: ping), countsFromStart)
  }

  /// Watches a loop that tells when it works.
  public func watchLoop(_ name: String) -> WatchedLoop {
    let watch = Watch(name: name, ping: nil)
    add(watch, true)
    return WatchedLoop(watch: watch)
  }

  private func add(_ watch: Watch, _ countsFromStart: Bool) {
    watches.withLock { $0.append(Watched(watch: watch, countsFromStart: countsFromStart)) }
  }

  /// Ends watching all that was registered under the name.
  public func stopWatching(_ name: String) { watches.withLock { $0.removeAll { $0.watch.name == name } } }

  // MARK: Tasks

  /// Begins a task that has to be ended: every dump until then has its name.
  ///
  /// - Parameters:
  ///   - name: at most 96 bytes of it are used.
  ///   - expiry: within this time the task has to be ended; nil for no such time. Looked at once in an interval.
  ///   - onExpiry: called once if it is not, on a queue of its own.
  /// - Returns: what ``endTask(_:)`` takes; nil if there are too many tasks.
  public func beginTask(
    _ name: String, expiry: Duration? = nil, onExpiry: @escaping @Sendable () -> Void = {}
  ) -> MonitoredTask? {
    let tasks = UnfinishedTasks.shared
    guard let task = tasks.begin(name, limit: options.taskLimit) else { return nil }
    if let expiry {
      let deadline = time.load(ordering: .relaxed) + expiry.nanoseconds
      tasks.setExpiry(of: task, name: name, deadline: deadline, onExpiry)
    }
    return task
  }

  /// Ends a task. One that was ended already is left alone.
  public func endTask(_ task: MonitoredTask) { UnfinishedTasks.shared.end(task) }

  /// The names of the tasks that were begun and not ended.
  public var unfinishedTasks: [String] { UnfinishedTasks.shared.current }

  // MARK: The thread

  private func startThread() -> Int32 {
    // No application's signal shall be handled by this thread; those of crashes, and the one that stops threads, are.
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

  /// What is known of a watch that was looked at.
  private struct Case {
    var state = HangState()
    var dump: HangDump?
  }

  private func run() {
    _ = CrashpadClient.prepareThread()
    let interval = max(options.interval.nanoseconds, 1_000_000)
    var clock = HangClock(interval: interval)
    _ = clock.tick(Self.monotonicTime())
    var cases: [ObjectIdentifier: Case] = [:]
    var kept = 0
    /// Names of what hangs now.
    var hanging: [String] = []
    while end.wait(timeout: .now() + .nanoseconds(Int(interval))) == .timedOut {
      let (counted, lost) = clock.tick(Self.monotonicTime())
      let now = time.add(counted, ordering: .relaxed).newValue
      if lost > 0 { tell(.suspended(.nanoseconds(lost))) }
      let watches = watches.withLock { $0 }
      for watched in watches {
        let id = ObjectIdentifier(watched.watch)
        var known = cases[id] ?? Case()
        let mayHang = watched.countsFromStart || watched.watch.hasAnswered
        let answered = watched.watch.look() || !mayHang
        let step = known.state.look(
          answered: answered, counted: counted, first: options.firstThreshold.nanoseconds,
          second: options.secondThreshold.nanoseconds)
        if let step { perform(step, watched.watch.name, &known, &hanging, &kept) }
        cases[id] = known
      }
      if cases.count > watches.count { forget(&cases, but: watches) }
      for name in UnfinishedTasks.shared.expire(now) { tell(.expired(name)) }
    }
    forget(&cases, but: [])
    Self.hang.clear()
  }

  private func perform(
    _ step: HangState.Step, _ name: String, _ known: inout Case, _ hanging: inout [String], _ kept: inout Int
  ) {
    switch step {
    case .dump:
      hanging.append(name)
      Self.hang.set(hanging.joined(separator: ", "))
      if kept < options.dumpLimit { known.dump = try? HangDump.write(running) }
      tell(.hangs(name, dump: known.dump?.path))
    case .keep:
      let path = try? known.dump?.keep()
      known.dump = nil
      if path != nil { kept += 1 }
      tell(.kept(name, dump: path))
    case .end(let time, let wasKept):
      if !wasKept { known.dump?.discard() }
      known.dump = nil
      if let index = hanging.firstIndex(of: name) { hanging.remove(at: index) }
      if hanging.isEmpty { Self.hang.clear() } else { Self.hang.set(hanging.joined(separator: ", ")) }
      tell(.answers(name, after: .nanoseconds(time)))
    }
  }

  /// Of what is not watched any more, the dumps go.
  private func forget(_ cases: inout [ObjectIdentifier: Case], but watches: [Watched]) {
    let ids = Set(watches.map { ObjectIdentifier($0.watch) })
    for (id, known) in cases where !ids.contains(id) {
      known.dump?.discard()
      cases[id] = nil
    }
  }

  private func tell(_ event: Event) { options.onEvent?(event) }

  private static func monotonicTime() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension Duration {
  fileprivate static func nanoseconds(_ count: UInt64) -> Duration { .nanoseconds(Int64(clamping: count)) }

  /// Of no less than nothing.
  fileprivate var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? UInt64(Int64.max) : min(whole + UInt64(attoseconds / 1_000_000_000), UInt64(Int64.max))
  }
}
