// SPDX-License-Identifier: Apache-2.0
// Ends in functions of Swift's libraries, of Dispatch and of Foundation that rules of signatures take.
import Dispatch
import Foundation

nonisolated(unsafe) var waiting = pthread_self()
nonisolated(unsafe) var numbers: [Int] = [1, 2, 3]
nonisolated(unsafe) var names: [String: Int] = [:]

func interrupt() {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      usleep(500_000); pthread_kill(waiting, SIGTRAP); return nil
    }, nil)
}

final class Store: @unchecked Sendable {
  let queue = DispatchQueue(label: "store")
  let semaphore = DispatchSemaphore(value: 0)
  let lock = NSLock()
  let condition = NSCondition()
  @inline(never) func fail(_ index: Int) { print(numbers[index + CommandLine.arguments.count * 10]) }
  @inline(never) func background() { queue.async { self.fail(1) }; sleep(60) }
  @inline(never) func synchronous() { queue.sync { self.fail(2) } }
  @inline(never) func waitForQueue() { queue.async { sleep(60) }; usleep(100_000); queue.sync { self.fail(3) } }
  @inline(never) func waitForSemaphore() { semaphore.wait() }
  @inline(never) func waitForGroup() { let group = DispatchGroup(); group.enter(); group.wait() }
  @inline(never) func waitForLock() { lock.lock(); lock.lock() }
  @inline(never) func waitForCondition() { condition.lock(); condition.wait() }
  @inline(never) func pause() { Thread.sleep(forTimeInterval: 60) }
  @inline(never) func read() { let pipe = Pipe(); print(pipe.fileHandleForReading.readDataToEndOfFile()) }
  @inline(never) func child() {
    let process = Process(); process.executableURL = URL(fileURLWithPath: "/bin/sleep"); process.arguments = ["2"];
    try? process.run(); process.waitUntilExit()
  }
  @inline(never) func timer() {
    Timer.scheduledTimer(withTimeInterval: 0.1, repeats: false) { _ in self.fail(4) }; RunLoop.main.run()
  }
  @inline(never) func loop() { RunLoop.main.run(until: Date(timeIntervalSinceNow: 60)) }
  @inline(never) func operation() {
    let queue = OperationQueue(); queue.addOperation { self.fail(5) }; queue.waitUntilAllOperationsAreFinished()
  }
  @inline(never) func mapped() { print((0..<3).map { numbers[$0 + CommandLine.arguments.count * 10] }) }
  @inline(never) func cast() { let any: Any = numbers; print(any as! [String]) }
  @inline(never) func string() {
    let text = "abc"; print(text[text.index(text.startIndex, offsetBy: CommandLine.arguments.count * 10)])
  }
  @inline(never) func unwrap() { print(names["x"]!) }
  @inline(never) func overflow() { numbers[0] = Int.max; numbers[0] += CommandLine.arguments.count }
  @inline(never) func sorted() { print(numbers.sorted { _, _ in fatalError("order") }) }
  @inline(never) func released() {
    let object = Unmanaged.passRetained(NSObject()); object.release(); object.release(); object.release();
    print(object.takeUnretainedValue())
  }
  @inline(never) func copied() { memcpy(UnsafeMutableRawPointer(bitPattern: 16)!, numbers, 100_000) }
  @inline(never) func mainQueue() { DispatchQueue.main.async { self.fail(6) }; dispatchMain() }
  @inline(never) func workItems() { DispatchQueue.concurrentPerform(iterations: 4) { self.fail($0) } }
  @inline(never) func threads() { Thread { self.fail(7) }.start(); sleep(60) }
  @inline(never) func task() { Task { self.fail(8) }; sleep(60) }
}

actor Shelf {
  func fail() async { await Task.yield(); print(numbers[CommandLine.arguments.count * 10]) }
}

struct Fault {
  let name: String; let waits: Bool; let run: @Sendable (Store) -> Void
  init(_ name: String, _ waits: Bool, _ run: @escaping @Sendable (Store) -> Void) {
    self.name = name; self.waits = waits; self.run = run
  }
}

let faults = [
  Fault("queue-async", false) { $0.background() }, Fault("queue-sync", false) { $0.synchronous() },
  Fault("wait-queue", true) { $0.waitForQueue() }, Fault("wait-semaphore", true) { $0.waitForSemaphore() },
  Fault("wait-group", true) { $0.waitForGroup() }, Fault("wait-lock", true) { $0.waitForLock() },
  Fault("wait-condition", true) { $0.waitForCondition() }, Fault("wait-sleep", true) { $0.pause() },
  Fault("wait-read", true) { $0.read() }, Fault("wait-child", true) { $0.child() },
  Fault("loop-timer", false) { $0.timer() }, Fault("wait-loop", true) { $0.loop() },
  Fault("operation-queue", false) { $0.operation() }, Fault("map-index", false) { $0.mapped() },
  Fault("cast-array", false) { $0.cast() }, Fault("string-index", false) { $0.string() },
  Fault("unwrap-none", false) { $0.unwrap() }, Fault("int-overflow", false) { $0.overflow() },
  Fault("sort-fatal", false) { $0.sorted() }, Fault("released-twice", false) { $0.released() },
  Fault("copy-bad", false) { $0.copied() }, Fault("main-queue", false) { $0.mainQueue() },
  Fault("queue-perform", false) { $0.workItems() }, Fault("thread-block", false) { $0.threads() },
  Fault("task-async", false) { $0.task() },
  Fault("actor-call", false) { _ in
    Task { await Shelf().fail() }; sleep(60)
  },
]

@main struct Queues {
  static func main() {
    let name = CommandLine.arguments.dropFirst().first ?? ""
    waiting = pthread_self()
    for fault in faults where fault.name == name {
      if fault.waits { interrupt() }
      fault.run(Store())
    }
    if name == "main-itself" { print(numbers[CommandLine.arguments.count * 10]) }
  }
}
