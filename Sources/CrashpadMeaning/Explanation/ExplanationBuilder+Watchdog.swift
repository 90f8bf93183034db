// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The numbers in the text of a watchdog, in either layout.
package struct WatchdogText {
  /// Such as "scene-create".
  var event: String?
  /// The allowance in seconds.
  var allowance: Double?
  var allowanceText: String?
  /// Whether the allowance is of CPU time, and not of time on the clock.
  var isOfCPUTime: Bool
  /// The CPU time in seconds of the whole system, and of all threads of the application.
  var systemCPU: Double?
  var systemPercent: Int?
  var applicationCPU: Double?
  var visibility: String?
  var state: String?
  var thermalState: String?
  /// Whether the process held background assertions for too long.
  var hasOverdueAssertions: Bool

  init(_ text: String) {
    // A message may break a line within a sentence.
    let flat = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    func value(after marker: String) -> Substring? {
      guard let start = flat.firstRange(of: marker)?.upperBound else { return nil }
      return flat[start...].drop { $0 == " " }.prefix { !" ,\n|\"".contains($0) }
    }
    // A damaged report may have any number here.
    func seconds(_ text: some StringProtocol) -> Double? {
      Double(text).flatMap { (0..<1_000_000_000).contains($0) ? $0 : nil }
    }
    func number(after marker: String) -> Double? { value(after: marker).flatMap { seconds($0) } }
    if let mark = text.firstRange(of: " watchdog transgression") ?? text.firstRange(of: " watchdog") {
      let line = text[..<mark.lowerBound].split(whereSeparator: \.isNewline).last ?? ""
      let name = Self.event(line)
      event = name.isEmpty ? nil : name
    } else if let mark = flat.firstRange(of: " watchdog transgression") {
      let name = Self.event(flat[..<mark.lowerBound])
      event = name.isEmpty ? nil : name
    }
    event = value(after: "WatchdogEvent:").map(String.init) ?? event
    allowanceText = value(after: "time allowance of").map(String.init)
    isOfCPUTime = flat.containsBytes("exhausted CPU time allowance of")
    if allowanceText == nil, let range = flat.firstRange(of: "ailed to terminate gracefully after ") {
      allowanceText = String(flat[range.upperBound...].prefix { $0.isNumber || $0 == "." })
    }
    allowance = allowanceText.flatMap { seconds($0) }
    systemCPU = number(after: "Elapsed total CPU time (seconds):")
    applicationCPU = number(after: "Elapsed application CPU time (seconds):")
    if let start = flat.firstRange(of: "Elapsed total CPU time (seconds):")?.upperBound,
      let percent = flat[start...].firstRange(of: "% CPU")?.lowerBound
    {
      systemPercent = Int(String(flat[..<percent].reversed().prefix { $0.isNumber }.reversed()))
    }
    visibility = value(after: "ProcessVisibility:").map(String.init)
    state = value(after: "ProcessState:").map(String.init)
    thermalState = value(after: "Thermal State:").map(String.init)
    hasOverdueAssertions = flat.contains("active assertions beyond permitted time")
  }

  /// The name of what the process had to do, in the words before "watchdog transgression": "scene-create" in
  /// "explanation:scene-create", "Background App Refresh" in "CAROUSEL, Background App Refresh". Names have few words.
  package static func event(_ head: Substring) -> String {
    let name = head[(head.lastIndex { ":,|\"".contains($0) }.map { head.index(after: $0) } ?? head.startIndex)...]
    let words = name.split(separator: " ")
    return words.count > mostWords ? words.last.map(String.init) ?? "" : words.joined(separator: " ")
  }

  private static let mostWords = 4

  /// The task that the process had to finish, with the system's name for it.
  var task: String? {
    guard let event else { return nil }
    let words = [
      "process-launch": "its launch", "scene-create": "its launch", "scene-update": "an update of its scene",
      "process-exit": "its exit",
    ]
    return "\(words[event] ?? "what the system asked for") (\(event))"
  }

  enum Verdict { case busy, starved, blocked, unknown }

  /// The likely cause. It is evidence, not proof: the backtrace shows the end, but the time was spent before.
  var verdict: Verdict {
    // It was used up, whatever else the text says.
    if isOfCPUTime { return .busy }
    guard let allowance, allowance > 0, let applicationCPU else { return .unknown }
    if applicationCPU / allowance >= 0.7 { return .busy }
    let isHot = thermalState.map { $0 != "nominal" } ?? false
    if isHot || (systemPercent ?? 0) >= 70 { return .starved }
    return .blocked
  }
}

extension ExplanationBuilder {
  mutating func explainWatchdog(_ row: CodeMeaning) {
    // Some forms have all of the text on the line of the code.
    let text = WatchdogText([termination?.indicator, crash.terminationText].compactMap { $0 }.joined(separator: "\n"))
    result.endedBy.append(sentence(ender(row)))
    add(row)
    let event = text.task.map { " " + $0 } ?? ""
    let allowance =
      text.allowanceText.map { text.isOfCPUTime ? " with \($0) s of CPU time" : " within \($0) s" } ?? " in time"
    // assertiond has no other limit of time than that of background tasks.
    let isOfTasks = text.hasOverdueAssertions || termination?.namespace == "ASSERTIOND" && text.task == nil
    if isOfTasks, !text.hasOverdueAssertions { result.certainty = .inferred }
    result.summary =
      isOfTasks
      ? "The watchdog ended the app: its background tasks went on beyond their time."
      : "The watchdog ended the app: it did not finish\(event)\(allowance)."
    addTimes(text)
    let main = crash.mainThread
    switch text.verdict {
    case .busy: explainBusy(main, text)
    case .starved:
      note("The application got little CPU time, and the system was busy or hot: others may have starved it.")
      result.advice.append(
        "Look at other reports of that time before blaming the app; less work at that point helps all the same.")
      if let main { explainMainThread(main) }
    case .blocked, .unknown: if let main { explainMainThread(main) }
    }
    if main.flatMap({ MainThreadWait($0) })?.rule.isIdle == true { explainIdle(text) }
    if isOfTasks { addAssertionAdvice() }
    if main == nil { result.notKnown.append("What the main thread did: the report has no stack of it.") }
    result.notKnown.append("Where the time was spent: the stacks show the moment of the end, and not what came before.")
    result.advice.append("Test without a debugger: with one attached the watchdog is off.")
  }

  private mutating func addTimes(_ text: WatchdogText) {
    if let application = text.applicationCPU {
      let allowance =
        text.allowance.map { text.isOfCPUTime ? ", of \(decimal($0)) s that it was allowed" : " in \(decimal($0)) s" }
        ?? ""
      note("The application used \(decimal(application)) s of CPU time\(allowance), on all its threads together.")
    } else {
      result.notKnown.append("How much CPU time the application used: the termination's text does not have it.")
    }
    if let system = text.systemCPU {
      note(
        "The whole system used \(decimal(system)) s of CPU time"
          + (text.systemPercent.map { ", \($0) % of what it has." } ?? "."))
    }
    if let state = text.thermalState, state != "nominal" { note("The thermal state was \(state).") }
    let state = [text.state.map { "in the state \"\($0)\"" }, text.visibility.map { "with the visibility \"\($0)\"" }]
      .compactMap { $0 }.joined(separator: ", ")
    if !state.isEmpty { note("The process was \(state).") }
  }

  private func decimal(_ value: Double) -> String {
    if value > 0, value < 0.0005 { return "less than 0.001" }
    if value > 0, value < 0.1 {
      let digits = String(Int((value * 1000).rounded()))
      return "0." + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
    let hundredths = Int((value * 100).rounded())
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }

  private mutating func explainBusy(_ main: CrashEvidence.Thread?, _ text: WatchdogText) {
    note(
      text.isOfCPUTime
        ? "The allowance is of CPU time: the application used it up by computing, not by waiting."
        : "The application computed for most of its time: it was busy rather than blocked.")
    result.advice.append("Move the work off the main thread, or do less of it at this point.")
    guard let main else { return }
    if let index = main.firstOfApp {
      note("The main thread was in \(main.frames[index].text): the first suspect", main, frame: index)
    } else {
      let words =
        crash.hasPart(of: main)
        ? "the report has a part of the main thread's stack, without any of it."
        : "the main thread has none of it in its stack."
      result.notKnown.append("Which code of the application was busy: " + words)
    }
  }

  /// Explains an idle main thread by what the watchdog's event leaves of its causes.
  private mutating func explainIdle(_ text: WatchdogText) {
    if ["scene-create", "process-launch"].contains(text.event) {
      result.advice.append("Slow work may have ended just before: measure what the launch does.")
    } else if !text.hasOverdueAssertions {
      note("A background task that was begun and not ended is the first suspect.")
      addAssertionAdvice()
    }
  }

  private mutating func addAssertionAdvice() {
    result.advice.insert(
      "Look for calls of beginBackgroundTask without endBackgroundTask, also in expiration handlers.", at: 0)
  }

  // MARK: The main thread

  /// Explains what the main thread waits for, judging by its stack.
  mutating func explainMainThread(_ main: CrashEvidence.Thread) {
    addBlocker(of: main)
    guard let wait = MainThreadWait(main) else {
      if let index = main.firstOfApp {
        note("The main thread was in \(main.frames[index].text)", main, frame: index)
      } else {
        let words =
          crash.hasPart(of: main)
          ? "the report has a part of its stack, with no code of the application and no known wait."
          : "its stack has no code of the application, and no known wait."
        result.notKnown.append("What the main thread did: " + words)
      }
      return
    }
    note(
      wait.rule.verdict + (wait.rule.showsFunction ? ": \(main.frames[wait.frame].text)" : "."), main, frame: wait.frame
    )
    if wait.rule.isOfApp, let index = main.firstOfApp {
      note("The application called it from \(main.frames[index].text)", main, frame: index)
    }
    result.advice = wait.rule.advice + result.advice
    if wait.rule.isLock { findHolder(main, wait.frame) }
  }

  /// Finds other threads that have the same function of the app in their stack, or that wait for the main queue.
  private mutating func findHolder(_ main: CrashEvidence.Thread, _ frame: Int) {
    let own = Set(main.frames.filter { $0.isOfApp && $0.function != "main" }.compactMap(\.function))
    var found = false
    for thread in crash.threads where thread.index != main.index {
      if let index = thread.first(["_dispatch_sync_f_slow", "__DISPATCH_WAIT_FOR_QUEUE__", "_dispatch_barrier_sync"]),
        thread.queue != "com.apple.main-thread"
      {
        found = true
        note(
          "Another thread waits in dispatch_sync too: if it is for the main queue, the two wait for each other", thread,
          frame: index)
      } else if let index = thread.frames.firstIndex(where: { $0.isOfApp && $0.function.map(own.contains) == true }) {
        found = true
        let waits = thread.has(MainThreadWait.waits)
        note(
          "Another thread is in the same function of the application and \(waits ? "waits too" : "does not wait: it may hold the lock"): \(thread.frames[index].text)",
          thread, frame: index)
      }
    }
    let queues = Dictionary(
      grouping: crash.threads.filter { $0.queue != nil && $0.queue != main.queue }, by: { $0.queue ?? "" })
    for (queue, threads) in queues.sorted(by: { $0.key < $1.key })
    where threads.count == 1 && threads[0].firstOfApp != nil {
      guard !found || own.isEmpty, let index = threads[0].firstOfApp else { continue }
      found = true
      note(
        "A thread runs the queue \(queue), in \(threads[0].frames[index].text): the main thread may wait for it",
        threads[0], frame: index)
    }
    if !found, report?.blockers.contains(where: { $0.thread == main.index }) != true {
      result.notKnown.append("Who holds the lock: no other thread shows it.")
    }
  }

  /// Adds what the report says the thread waits for, and where the holder stands.
  private mutating func addBlocker(of main: CrashEvidence.Thread) {
    for blocker in report?.blockers ?? [] where blocker.thread == main.index {
      note("The report says what the main thread waits for: \(shortened(blocker.text)).", main, frame: 0)
      guard let holder = crash.threads.first(where: { $0.index == blocker.holder }), !holder.frames.isEmpty else {
        continue
      }
      let frame = holder.firstOfApp ?? 0
      note("The thread that it waits for is in \(holder.frames[0].text)", holder, frame: 0)
      if frame > 0 { note("Its code of the application: \(holder.frames[frame].text)", holder, frame: frame) }
    }
  }
}
