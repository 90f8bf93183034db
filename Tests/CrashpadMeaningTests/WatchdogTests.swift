// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import CrashpadSnapshot
import Testing

/// The main thread's innermost frame decides what a watchdog's report shows.
struct WatchdogTests {
  struct Leaf: Sendable, CustomTestStringConvertible {
    let name: String
    let frames: [String]
    /// Words of the verdict.
    let verdict: String
    var testDescription: String { name }
  }

  private static let loop = [
    "mach_msg2_trap", "mach_msg2_internal", "mach_msg_overwrite", "mach_msg", "__CFRunLoopServiceMachPort",
    "__CFRunLoopRun", "CFRunLoopRunSpecific",
  ]

  static let leaves = [
    Leaf(
      name: "a sleep", frames: ["__semwait_signal", "nanosleep", "sleep", "app:Sky.wait()"] + SampleCrash.end,
      verdict: "The main thread sleeps"),
    Leaf(name: "idle", frames: loop + SampleCrash.end, verdict: "idle in its run loop"),
    Leaf(
      name: "synchronous XPC",
      frames: [
        "mach_msg2_trap", "mach_msg_overwrite", "_xpc_send_serializer", "xpc_connection_send_message_with_reply_sync",
        "app:Store.ask()",
      ] + SampleCrash.end, verdict: "another process (synchronous XPC)"),
    Leaf(
      name: "synchronous networking",
      frames: [
        "semaphore_wait_trap", "_dispatch_semaphore_wait_slow", "CFURLConnectionSendSynchronousRequest",
        "+[NSURLConnection sendSynchronousRequest:returningResponse:error:]", "app:Feed.load()",
      ] + SampleCrash.end, verdict: "loads a URL synchronously"),
    Leaf(
      name: "a URLSession that was made synchronous",
      frames: ["semaphore_wait_trap", "_dispatch_semaphore_wait_slow", "app:URLSession.synchronousData(with:)"]
        + SampleCrash.end, verdict: "URLSession task that it made synchronous"),
    Leaf(
      name: "reachability",
      frames: ["__ulock_wait", "SCNetworkReachabilityGetFlags", "app:Reachability.isOnline.getter"] + SampleCrash.end,
      verdict: "look-up of a name or of reachability"),
    Leaf(
      name: "dispatch_sync",
      frames: [
        "__ulock_wait", "_dlock_wait", "__DISPATCH_WAIT_FOR_QUEUE__", "_dispatch_sync_f_slow", "app:Cache.read()",
      ]
        + SampleCrash.end, verdict: "waits for a dispatch queue"),
    Leaf(
      name: "a semaphore",
      frames: ["semaphore_wait_trap", "_dispatch_sema4_wait", "app:Image.wait()"] + SampleCrash.end,
      verdict: "semaphore or group"),
    Leaf(
      name: "a mutex",
      frames: ["__psynch_mutexwait", "_pthread_mutex_firstfit_lock_wait", "app:Log.write()"] + SampleCrash.end,
      verdict: "waits for a lock"),
    Leaf(
      name: "a condition", frames: ["__psynch_cvwait", "_pthread_cond_wait", "app:Pool.take()"] + SampleCrash.end,
      verdict: "(a condition)"),
    Leaf(
      name: "a file", frames: ["__open_nocancel", "fopen", "app:Disk.load()"] + SampleCrash.end,
      verdict: "waits for a file"),
    Leaf(
      name: "a migration",
      frames: [
        "pread", "unixRead",
        "-[NSPersistentStoreCoordinator addPersistentStoreWithType:configuration:URL:options:error:]",
        "app:Model.open()",
      ] + SampleCrash.end, verdict: "Core Data store"),
    Leaf(
      name: "loading", frames: ["dyld4::Loader::applyFixups", "dyld4::prepare", "start"], verdict: "still being loaded"),
    Leaf(
      name: "no main thread", frames: ["__workq_kernreturn", "_pthread_wqthread", "start_wqthread"],
      verdict: "lacks the main thread"),
  ]

  @Test(arguments: leaves, [false, true])
  func `A main thread that waits is told by its innermost frames, in either layout of the text`(leaf: Leaf, isOld: Bool)
  {
    let text = isOld ? SampleCrash.oldText(app: "0.120") : SampleCrash.newText(app: "0.120")
    let main = SampleCrash.thread(0, queue: "com.apple.main-thread", leaf.frames)
    let explanation = Explanation(SampleCrash.watchdog([main], text))
    #expect(
      explanation.summary
        == "The watchdog ended the app: it did not finish an update of its scene (scene-update) within 10.00 s.")
    let verdicts = explanation.evidence.filter { $0.text.contains(leaf.verdict) }
    #expect(verdicts.count == 1, "\(explanation.evidence.map(\.text))")
    #expect(verdicts.first?.place?.hasPrefix("thread 0 (com.apple.main-thread), frame ") == true)
    // No other verdict stands beside it.
    for other in Self.leaves where other.verdict != leaf.verdict && !leaf.verdict.contains(other.verdict) {
      #expect(!explanation.evidence.contains { $0.text.contains(other.verdict) }, "\(other.name)")
    }
    #expect(explanation.evidence.contains { $0.text.contains("0.12 s of CPU time in 10.00 s") })
    #expect(explanation.notKnown.contains { $0.contains("not what came before") })
    #expect(explanation.isCrash)
  }

  private static let busyMain = SampleCrash.thread(
    0, queue: "com.apple.main-thread",
    ["memmove", "swift_retain", "app:Feed.sort()", "app:Feed.show()"] + SampleCrash.end)

  @Test func `An app that used its allowance was busy, and its first frame is the suspect`() {
    let explanation = Explanation(SampleCrash.watchdog([Self.busyMain], SampleCrash.newText(app: "9.870")))
    #expect(explanation.evidence.contains { $0.text.contains("busy rather than blocked") })
    #expect(
      explanation.evidence.contains {
        $0.text.contains("Feed.sort()") && $0.place == "thread 0 (com.apple.main-thread), frame 2"
      })
  }

  @Test(arguments: [
    ("58.000 (user 40.0, system 18.0), 97% CPU", "nominal"), ("12.290 (user 8.6, system 3.7), 36% CPU", "serious"),
  ])
  func `An app that got no CPU time on a busy or hot system starved`(total: String, thermal: String) {
    let text = SampleCrash.newText(app: "0.310", total: total, thermal: thermal)
    let explanation = Explanation(SampleCrash.watchdog([Self.busyMain], text))
    #expect(explanation.evidence.contains { $0.text.contains("others may have starved it") })
    #expect(!explanation.evidence.contains { $0.text.contains("busy rather than blocked") })
  }

  @Test func `Assertions beyond their time are named, as is the advice to count them`() {
    let main = SampleCrash.thread(0, queue: "com.apple.main-thread", Self.loop + SampleCrash.end)
    let explanation = Explanation(
      SampleCrash.watchdog([main], ["Demo:24424 has active assertions beyond permitted time:"]))
    #expect(explanation.summary == "The watchdog ended the app: its background tasks went on beyond their time.")
    #expect(explanation.advice.first?.contains("endBackgroundTask") == true)
    #expect(explanation.notKnown.contains { $0.contains("How much CPU time") })
  }

  @Test func `Failing to end has its own time`() {
    let text = [
      "explanation:[app<com.example.demo>:812] Failed to terminate gracefully after 5.0s",
      "WatchdogEvent: process-exit",
    ]
    let explanation = Explanation(SampleCrash.watchdog([Self.busyMain], text))
    #expect(
      explanation.summary == "The watchdog ended the app: it did not finish its exit (process-exit) within 5.0 s.")
  }

  @Test func `A text in lower case, without an allowance, or on the line of the code has its numbers`() {
    let text = [
      "explanation:[app<com.example.demo>:812] failed to terminate gracefully after 5.0s",
      "ProcessVisibility: Foreground",
      "ProcessState: Running", "\"Elapsed application CPU time (seconds): 0.006, 0% CPU\"",
      "WatchdogEvent: process-exit",
    ]
    let lower = Explanation(SampleCrash.watchdog([Self.busyMain], text))
    #expect(lower.summary == "The watchdog ended the app: it did not finish its exit (process-exit) within 5.0 s.")
    let facts = lower.evidence.map(\.text)
    #expect(facts.contains { $0.contains("used 0.006 s of CPU time in 5.00 s") }, "\(facts)")
    #expect(facts.contains { $0.contains("in the state \"Running\", with the visibility \"Foreground\"") })
    let bare = Explanation(SampleCrash.watchdog([Self.busyMain], Array(text[1...])))
    #expect(bare.evidence.contains { $0.text.contains("used 0.006 s of CPU time, on all") })
    var crash = SampleCrash.watchdog([Self.busyMain], [])
    crash.report?.termination?.indicator =
      "<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:scene-create watchdog transgression: app exhausted real "
      + "(wall clock) time allowance of 10.00 seconds Elapsed application CPU time (seconds): 9.500, 95% CPU>"
    let line = Explanation(crash)
    #expect(line.summary == "The watchdog ended the app: it did not finish its launch (scene-create) within 10.00 s.")
    #expect(line.evidence.contains { $0.text.contains("it was busy rather than blocked") })
  }

  @Test func `An allowance of CPU time is none of time on the clock`() {
    let text = [
      "explanation:scene-create watchdog transgression: app<com.example.demo>:812 exhausted CPU time allowance of 3.50 seconds",
      "\"Elapsed application CPU time (seconds): 3.710, 40% CPU\"",
    ]
    let waiting = SampleCrash.thread(
      0, queue: "com.apple.main-thread", ["__psynch_mutexwait", "_pthread_mutex_firstfit_lock_wait"] + SampleCrash.end)
    let explanation = Explanation(SampleCrash.watchdog([waiting], text))
    #expect(
      explanation.summary
        == "The watchdog ended the app: it did not finish its launch (scene-create) with 3.50 s of CPU time.")
    let facts = explanation.evidence.map(\.text)
    #expect(facts.contains { $0.contains("used 3.71 s of CPU time, of 3.50 s that it was allowed") }, "\(facts)")
    #expect(facts.contains { $0.contains("used it up by computing") })
    #expect(!facts.contains { $0.contains("waits for a lock") })
  }

  @Test func `The words of a watchdog without its code are the watchdog's`() {
    let crash = SampleCrash.crash(nil, []) { report in
      var termination = ReportSnapshot.Termination()
      termination.namespace = "SPRINGBOARD"
      termination.reasons = [
        "scene-create watchdog transgression: a exhausted real (wall clock) time allowance of 18.50 seconds"
      ]
      report.termination = termination
    }
    #expect(Explanation(crash).summary.hasSuffix("it did not finish its launch (scene-create) within 18.50 s."))
  }

  @Test(arguments: ["1e300", "nan", "inf", "-5", "", "99999999999999999999", "0x1p1023"])
  func `A number that no time can be is no number`(number: String) {
    let text = [
      "scene-update watchdog transgression: app exhausted real (wall clock) time allowance of \(number) seconds",
      "Elapsed total CPU time (seconds): \(number) (user \(number)), \(number)% CPU",
      "Elapsed application CPU time (seconds): \(number), 1% CPU", "Failed to terminate gracefully after \(number)s",
    ]
    let explanation = Explanation(SampleCrash.watchdog([Self.busyMain], text))
    #expect(explanation.summary.hasPrefix("The watchdog ended the app: it did not finish"))
    #expect(explanation.notKnown.contains { $0.contains("How much CPU time") })
  }

  // MARK: Who holds it

  @Test func `Two threads that wait for each other's queues are shown side by side`() {
    let main = SampleCrash.thread(
      0, queue: "com.apple.main-thread",
      ["__ulock_wait", "_dispatch_sync_f_slow", "app:Cache.read()"] + SampleCrash.end)
    let other = SampleCrash.thread(
      4, queue: "com.example.cache", ["__ulock_wait", "_dispatch_sync_f_slow", "app:Cache.notify()"])
    let explanation = Explanation(SampleCrash.watchdog([main, other], SampleCrash.newText(app: "0.1")))
    let evidence = explanation.evidence.first { $0.text.contains("wait for each other") }
    #expect(evidence?.place == "thread 4 (com.example.cache), frame 1")
  }

  @Test func `A thread in the same function that does not wait may hold the lock`() {
    let main = SampleCrash.thread(
      0, queue: "com.apple.main-thread", ["__psynch_mutexwait", "app:Log.write()"] + SampleCrash.end)
    let other = SampleCrash.thread(7, ["memcpy", "app:Log.write()", "app:Worker.run()"])
    let explanation = Explanation(SampleCrash.watchdog([main, other], SampleCrash.newText(app: "0.1")))
    let evidence = explanation.evidence.first { $0.text.contains("may hold the lock") }
    #expect(evidence?.place == "thread 7, frame 1")
    let alone = Explanation(SampleCrash.watchdog([main], SampleCrash.newText(app: "0.1")))
    #expect(alone.notKnown.contains { $0.contains("Who holds the lock") })
  }

  @Test(arguments: ["new", "old"], 1...40)
  func `A line break within the sentences of a termination changes nothing`(form: String, width: Int) {
    let lines = form == "new" ? SampleCrash.newText(app: "0.315") : SampleCrash.oldText(app: "0.315")
    func broken(_ line: String) -> [String] {
      let words = line.split(separator: " ")
      return stride(from: 0, to: words.count, by: width).map {
        words[$0..<min($0 + width, words.count)].joined(separator: " ")
      }
    }
    let threads = [SampleCrash.thread(0, Self.leaves[0].frames)]
    let whole = Explanation(SampleCrash.watchdog(threads, lines))
    let other = Explanation(SampleCrash.watchdog(threads, lines.flatMap(broken)))
    // The lines themselves are quoted too.
    func texts(_ result: Explanation) -> [String] {
      result.evidence.map(\.text).filter { !$0.hasPrefix("The termination says:") }
    }
    #expect(other.summary == whole.summary && texts(other) == texts(whole))
  }

  @Test(arguments: ["scene-create", "process-exit"])
  func `An idle main thread is explained by what the event leaves of its causes`(event: String) {
    let text = SampleCrash.newText(app: "0.010").map { $0.replacing("scene-update", with: event) }
    let result = Explanation(SampleCrash.watchdog([SampleCrash.thread(0, Self.loop + SampleCrash.end)], text))
    #expect(result.advice.contains { $0.contains("beginBackgroundTask") } == (event == "process-exit"))
    #expect(result.advice.contains { $0.contains("what the launch does") } == (event == "scene-create"))
  }
}
