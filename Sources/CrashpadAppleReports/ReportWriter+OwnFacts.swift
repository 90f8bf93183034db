// SPDX-License-Identifier: Apache-2.0
internal import CrashpadJSON
internal import CrashpadSnapshot

extension ReportWriter {
  /// Writes the facts that `readOwnFacts` reads; nothing if there are none.
  func writeOwnFacts(to json: inout JSONWriter) {
    let bytes = JSONWriter.bytes(.compact) { json in json.object { writeFacts(to: &$0) } }
    // An object without members and the line feed behind it.
    guard bytes.count > 3 else { return }
    json.object(OwnFacts.name) { writeFacts(to: &$0) }
  }

  private func flag(_ key: String, _ value: Bool, _ json: inout JSONWriter) { if value { json.member(key, true) } }

  private func writeFacts(to json: inout JSONWriter) {
    // The number that is written is that of the kind.
    flag("untyped", report.bugType == nil, &json)
    flag("unversioned", report.osText != nil && snapshot.system.osMajor == nil, &json)
    if snapshot.system.platform == nil, snapshot.system.operatingSystem != .unknown {
      json.member("system", snapshot.system.operatingSystem.rawValue)
    }
    writeSignal(to: &json)
    if report.kind != BugType.of(report.bugType ?? defaultBugType)?.kind { json.member("kind", report.kind.rawValue) }
    writePlatform(to: &json)
    flag("versionInferred", report.isVersionInferred, &json)
    if snapshot.system.architecture != statedArchitecture || report.isArchitectureInferred {
      json.member("architecture", snapshot.system.architecture.rawValue)
    }
    flag("architectureInferred", report.isArchitectureInferred, &json)
    member("periodStart", report.periodStart.map(ReportTime.text), &json)
    member("diagnosis", report.diagnosis, &json)
    writeStrings("deallocatedObjects", report.deallocatedObjects, to: &json)
    flag("crashed", report.statesCrash, &json)
    member("faultingNumber", report.faultingNumber, &json)
    flag("endedForMemory", report.endedForMemory, &json)
    flag("deadlock", report.isDeadlock, &json)
    flag("stackOverflow", report.hasStackOverflow, &json)
    if let memory = report.memory { json.object("memory") { write(memory, to: &$0) } }
    writeStrings("exceptionNotes", report.exceptionNotes.filter { !impliedNotes.contains($0) }, to: &json)
    member("cpuCount", snapshot.system.cpuCount, &json)
    if !snapshot.isComplete { json.member("complete", false) }
    writeFault(to: &json)
    flag("panicCut", report.panic?.isCut == true, &json)
    writeBlockers(to: &json)
    guard !areMessagesInOrder else { return }
    json.array("messages") { json in
      for message in report.messages {
        json.object { json in
          member("image", message.image, &json)
          json.member("text", message.text)
          member("exception", message.exception, &json)
        }
      }
    }
  }

  /// The notes that the reader makes of other members.
  private var impliedNotes: [String] {
    [IPSNotes.corpse] + (report.isNonFatal ? [IPSNotes.nonFatal] : [])
      + (report.isSimulated ? [IPSNotes.simulated] : [])
  }

  private var statedArchitecture: CPUArchitecture {
    report.codeType.map { ReportNames.architecture($0) } ?? .unknown
  }

  /// Writes a signal of Linux, which has other numbers than Apple's.
  private func writeSignal(to json: inout JSONWriter) {
    guard let exception = snapshot.exception, exception.kind == .linuxSignal else { return }
    json.object("linuxSignal") { json in
      json.member("code", exception.code)
      if exception.isAddressKnown { json.member("address", exception.address) }
      if exception.isInfoKnown { json.member("info", exception.info) }
      if exception.isRaisedAgain { json.member("raisedAgain", true) }
      guard let sender = exception.sender else { return }
      json.object("sender") { json in
        json.member("pid", sender.processID)
        json.member("uid", sender.userID)
        if let isItself = sender.isItself { json.member("isItself", isItself) }
      }
    }
  }

  /// The platform that the reader makes of the system's name.
  private var namedPlatform: Platform? {
    report.osText.flatMap { PlatformNames.platform(named: $0) }.map { Platform($0) }
  }

  private func writePlatform(to json: inout JSONWriter) {
    guard let platform = snapshot.system.platform, platform != namedPlatform else { return }
    json.object("platform") { json in
      member("name", platform.name?.rawValue, &json)
      flag("simulator", platform.isSimulator, &json)
      member("simulatedVersion", platform.simulatedVersion, &json)
      flag("inferred", platform.isInferred, &json)
      json.member("system", snapshot.system.operatingSystem.rawValue)
    }
  }

  private func write(_ memory: ReportMemory, to json: inout JSONWriter) {
    member("memory_footprint", memory.footprint, &json)
    member("memory_limit", memory.limit, &json)
    member("memory_remaining", memory.remaining, &json)
    member("memory_level", memory.level, &json)
    member("memory_pressure", memory.pressure, &json)
  }

  /// The processor's facts stand in the registers of the thread, if it has any.
  private func writeFault(to json: inout JSONWriter) {
    let context = report.faultingThread.flatMap { snapshot.threads[$0].context }
    switch context {
    case .arm64: return
    case .x86_64:
      // The state has no place for the words.
      return member("syndromeText", report.syndromeText, &json)
    case .named, nil: break
    }
    member("faultAddress", report.faultAddress, &json)
    member("syndrome", report.syndrome, &json)
    member("syndromeText", report.syndromeText, &json)
  }

  private func writeBlockers(to json: inout JSONWriter) {
    guard !report.blockers.isEmpty else { return }
    json.array("blockers") { json in
      for blocker in report.blockers {
        json.object { json in
          json.member("thread", blocker.thread)
          json.member("text", blocker.text)
          member("holder", blocker.holder, &json)
          member("process", blocker.process, &json)
        }
      }
    }
  }

  /// Whether the messages survive in `asi`, which has them by image, and no exceptions.
  private var areMessagesInOrder: Bool {
    if report.messages.contains(where: { $0.exception != nil }) { return false }
    var seen: [String?] = []
    for message in report.messages where seen.last != message.image {
      if message.image?.isEmpty == true || seen.contains(message.image) { return false }
      seen.append(message.image)
    }
    return true
  }
}
