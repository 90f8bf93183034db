// SPDX-License-Identifier: Apache-2.0
import CrashKinds
import CrashpadClient
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// A receiver that is not there.
private struct Refusal: Error {}

/// A step that a test asks of the client.
final class Steps: Sendable {
  private let database: FilePath
  private let events = Mutex<[String]>([])
  private let event = DispatchSemaphore(value: 0)
  /// The dump of the last hang.
  private let hangDump = Mutex<String>("")
  private let tasks = Mutex<[String: MonitoredTask]>([:])

  private static let text = StringAnnotation("text-object", maximumLength: 16)
  private static let number = StringAnnotation("number-object")
  private static let bool = StringAnnotation("bool-object")
  private static let ring = RingBufferAnnotation("ring-object", userType: 7, capacity: 32)
  /// Extra memory, which nothing else points to.
  private static nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer = {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    for index in 0..<4096 { unsafe memory[index] = UInt8(truncatingIfNeeded: index * 7 + 3) }
    return unsafe memory
  }()

  init(database: String) { self.database = FilePath(database) }

  func perform(_ steps: ArraySlice<String>) {
    guard let step = steps.first else { exit(0) }
    let parts = step.split(separator: "=", maxSplits: 1).map(String.init)
    let value = parts.count > 1 ? parts[1] : ""
    let rest = steps.dropFirst()
    do {
      switch parts[0] {
      case "exec": return replace(by: Array(rest))
      case "until": return wait(for: value) { self.perform(rest) }
      case "hang-until": wait(for: value)
      default: try perform(parts[0], value)
      }
    } catch { tell("\(parts[0]): \(error)") }
    DispatchQueue.main.async { self.perform(rest) }
  }

  private func perform(_ step: String, _ value: String) throws {
    switch step {
    case "start":
      try CrashpadClient.startCrashpadInProcessHandler(
        database: database, url: serverURL, annotations: ["given": "at the start"],
        programID: value.isEmpty ? nil : value, options: options())
    case "previous":
      let previous = CrashpadClient.previousRun ?? .unknown
      tell("previous \(previous.end) start-crashes \(previous.startCrashes) hangs \(previous.hangs)")
    case "set": pair(value) { tell("set \(CrashpadClient.setAnnotation($0, to: $1))") }
    case "text": Self.text.set(value)
    case "number": Self.number.set(Int(value) ?? 0)
    case "bool": Self.bool.set(value == "true")
    case "ring": tell("ring \(Self.ring.push(value))")
    case "memory":
      let memory = unsafe UnsafeRawBufferPointer(Self.memory)
      let added = unsafe CrashpadClient.addExtraMemoryRange(memory)
      let address = UInt(bitPattern: memory.baseAddress)
      tell("memory \(added) \(address)")
    case "dump": tell(try CrashpadClient.dumpWithoutCrash())
    case "dumps": try dumpOften(Int(value) ?? 1)
    case "fork": tell("child \(kind_crash_in_child())")
    case "write": Writers.start(Int(value) ?? 1)
    case "stop-writing": Writers.stop()
    case "defer": tell("deferred \(try CrashpadClient.dumpWithoutCrashAndDeferProcessing())")
    case "at": try CrashpadClient.dumpWithoutCrashAndDeferProcessing(atPath: FilePath(value))
    case "process":
      tell(try CrashpadClient.processIntermediateDumps(annotations: value.isEmpty ? [:] : ["later": value]))
    case "events":
      let form = CrashpadClient.EventForm(rawValue: value) ?? .seed
      let count = try CrashpadClient.sendCrashEvents(form) { lines in
        for line in lines { tell(String(line.dropLast())) }
      }
      tell("events of \(count)")
    case "refuse-events":
      do { try CrashpadClient.sendCrashEvents { _ in throw Refusal() } } catch {
        guard case .send(is Refusal) = error else { throw error }
        tell("refused")
      }
    case "file": tell(try CrashpadClient.processIntermediateDump(FilePath(value), annotations: ["later": "by path"]))
    case "allow": try CrashpadClient.setUploadsEnabled(value != "no")
    case "allowed": tell("allowed \(try CrashpadClient.uploadsEnabled())")
    case "pending": try CrashpadClient.startProcessingPendingReports()
    case "monitor": try startMonitor(value)
    case "watch":
      guard let monitor = HangMonitor.shared, Watches.watch(value, by: monitor) else {
        return tell("no watch \(value)")
      }
    case "stop-watching": HangMonitor.shared?.stopWatching(value)
    case "stop-monitor":
      HangMonitor.shared?.stop()
      // Its thread discards the dump of a hang.
      let dump = hangDump.withLock { $0 }
      while unsafe access(dump, F_OK) == 0 { usleep(10_000) }
    case "block": Watches.block(value)
    case "release": Watches.release(value)
    case "begin": begin(value)
    case "end": _ = tasks.withLock { $0[value] }.map { HangMonitor.shared?.endTask($0) }
    case "tell": tell(value)
    case "kill": kill(getpid(), SIGKILL)
    case "crash": crash(value)
    case "sleep-seconds": sleep(UInt32(value) ?? 1)
    default: tell("what is \(step)?")
    }
  }

  /// Goes on with the other steps in a new image of this process (exec).
  private func replace(by steps: [String]) {
    let words = [CommandLine.arguments[0], database.string] + steps
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    unsafe _ = execv("/proc/self/exe", &arguments)
    tell("exec: \(Errno(rawValue: errno))")
  }

  /// Dumps one after the other, and tells what they leave in the process.
  private func dumpOften(_ count: Int) throws {
    try CrashpadClient.dumpWithoutCrash()
    let before = resources()
    for _ in 1..<count { try CrashpadClient.dumpWithoutCrash() }
    let after = resources()
    tell("files \(after.files - before.files) mappings \(after.mappings - before.mappings < 16)")
  }

  private func resources() -> (files: Int, mappings: Int) {
    (unsafe count_entries("/proc/self/fd"), unsafe count_lines("/proc/self/maps"))
  }

  /// An address without a server, unless the test has one.
  private var serverURL: String {
    unsafe getenv("CLIENT_PROGRAM_URL").map { unsafe String(cString: $0) } ?? "http://127.0.0.1:1/"
  }

  private func options() -> CrashpadClient.Options {
    var options = CrashpadClient.Options()
    options.onReportsProcessed = { self.saw("processed") }
    return options
  }

  private func crash(_ kind: String) {
    switch kind {
    case "null": kind_null()
    case "abort": kind_abort()
    case "overflow-on-thread": run_on_other_thread { kind_stack_overflow() }
    case "cxx-exception": kind_cxx_exception()
    default: fatalError("the text of the fatal error")
    }
  }

  // MARK: Hangs

  /// "interval,first,second" in milliseconds. Nothing is watched yet: on a busy machine a queue that a test does not
  /// mean hangs as well.
  private func startMonitor(_ value: String) throws {
    let numbers = value.split(separator: ",").compactMap { Int($0) }
    try HangMonitor.start(
      interval: .milliseconds(numbers[0]), firstThreshold: .milliseconds(numbers[1]),
      secondThreshold: .milliseconds(numbers[2]), taskLimit: 3
    ) { event in
      switch event {
      case .hangs(let name, let dump):
        self.hangDump.withLock { $0 = dump?.string ?? "" }
        self.tell("hangs \(name) \(dump?.string ?? "no dump")")
        self.saw("hangs")
      case .kept(let name, let dump):
        self.tell("kept \(name) \(dump?.string ?? "no dump")")
        self.saw("kept")
      case .answers(let name, _):
        self.tell("answers \(name)")
        self.saw("answers")
      case .suspended: self.saw("suspended")
      case .expired(let name):
        self.tell("expired \(name)")
        self.saw("expired")
        self.saw("expired \(name)")
      }
    }
  }

  private func begin(_ value: String) {
    let parts = value.split(separator: ",").map(String.init)
    let expiry = parts.count > 1 ? Duration.milliseconds(Int(parts[1]) ?? 0) : nil
    let task = HangMonitor.shared?.beginTask(parts[0], expiry: expiry) {
      self.tell("handler of \(parts[0])")
      self.saw("handler")
      self.saw("handler of \(parts[0])")
    }
    guard let task else { return tell("no task \(parts[0])") }
    tasks.withLock { $0[parts[0]] = task }
  }

  private func saw(_ name: String) {
    events.withLock { $0.append(name) }
    event.signal()
  }

  /// Blocks the main queue until the event was there.
  private func wait(for name: String) {
    while !events.withLock({ $0.contains(name) }) { event.wait() }
  }

  /// Goes on after the event, and leaves the main queue alone meanwhile.
  private func wait(for name: String, then next: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "waits").async {
      self.wait(for: name)
      DispatchQueue.main.async { next() }
    }
  }

  // MARK: Output

  private func pair(_ text: String, _ body: (String, String?) -> Void) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    body(parts[0], parts.count > 1 ? parts[1] : nil)
  }

  private func tell(_ summary: CrashpadClient.ProcessingSummary) {
    tell("reports \(summary.reports) rejected \(summary.rejected.count) remaining \(summary.remaining.count)")
  }

  private func tell(_ text: String) { unsafe say(1, text + "\n") }
}
