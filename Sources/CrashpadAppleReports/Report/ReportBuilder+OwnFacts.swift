// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadJSON
internal import CrashpadSnapshot

extension ReportBuilder {
  /// Reads the facts that `ReportWriter` puts beside Apple's.
  mutating func readOwnFacts(_ facts: JSONValue?) {
    guard let facts, facts.kind == .object else { return }
    if let kind = facts["kind"]?.string.flatMap({ ReportSnapshot.Kind(rawValue: $0) }) { report.kind = kind }
    if facts["untyped"]?.bool == true { report.bugType = nil }
    if facts["unversioned"]?.bool == true {
      (snapshot.system.osMajor, snapshot.system.osMinor, snapshot.system.osBugfix) = (nil, nil, nil)
      snapshot.system.osBuild = nil
    }
    if let system = facts["system"]?.string.flatMap({ OperatingSystem(rawValue: $0) }) {
      snapshot.system.operatingSystem = system
    }
    readSignal(facts["linuxSignal"])
    readPlatform(facts["platform"])
    report.isVersionInferred = facts["versionInferred"]?.bool ?? false
    if let name = facts["architecture"]?.string.flatMap({ CPUArchitecture(rawValue: $0) }) {
      snapshot.system.architecture = name
      report.isArchitectureInferred = facts["architectureInferred"]?.bool ?? false
    }
    report.periodStart = ReportTime.timestamp(facts["periodStart"]?.string)
    report.diagnosis = facts["diagnosis"]?.string
    report.deallocatedObjects = facts["deallocatedObjects"]?.strings ?? []
    report.statesCrash = facts["crashed"]?.bool ?? false
    report.faultingNumber = facts["faultingNumber"]?.int64.flatMap { Int(exactly: $0) } ?? report.faultingNumber
    report.endedForMemory = facts["endedForMemory"]?.bool ?? false
    report.isDeadlock = facts["deadlock"]?.bool ?? false
    report.hasStackOverflow = facts["stackOverflow"]?.bool ?? false
    report.memory = facts["memory"].map(readMemory)
    report.exceptionNotes += facts["exceptionNotes"]?.strings ?? []
    snapshot.system.cpuCount = facts["cpuCount"]?.int32
    if let complete = facts["complete"]?.bool { snapshot.isComplete = complete }
    report.faultAddress = facts["faultAddress"]?.uint64 ?? report.faultAddress
    report.syndrome = facts["syndrome"]?.uint64 ?? report.syndrome
    report.syndromeText = facts["syndromeText"]?.string ?? report.syndromeText
    readBlockers(facts["blockers"])
    if facts["panicCut"]?.bool == true { report.panic?.isCut = true }
    guard let messages = facts["messages"] else { return }
    report.messages = messages.elements.compactMap { value in
      value["text"]?.string.map {
        ReportSnapshot.Message(image: value["image"]?.string, text: $0, exception: value["exception"]?.string)
      }
    }
  }

  private mutating func readSignal(_ value: JSONValue?) {
    guard let value, let code = value["code"]?.uint32 else { return }
    let thread = report.faultingThread.map { UInt64($0) } ?? .max
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: thread, code: code)
    exception.address = value["address"]?.uint64 ?? 0
    exception.isAddressKnown = value["address"] != nil
    exception.info = value["info"]?.uint32 ?? 0
    exception.isInfoKnown = value["info"] != nil
    exception.isRaisedAgain = value["raisedAgain"]?.bool ?? false
    if let sender = value["sender"], let process = sender["pid"]?.uint32, let user = sender["uid"]?.uint32 {
      exception.sender = SignalSender(processID: process, userID: user, isItself: sender["isItself"]?.bool)
    }
    snapshot.exception = exception
    setExceptionContext()
  }

  private mutating func readPlatform(_ value: JSONValue?) {
    guard let value, value.kind == .object else { return }
    var platform = Platform(value["name"]?.string.flatMap { Platform.Name(rawValue: $0) })
    platform.isSimulator = value["simulator"]?.bool ?? false
    platform.simulatedVersion = value["simulatedVersion"]?.string
    platform.isInferred = value["inferred"]?.bool ?? false
    snapshot.system.platform = platform
    if let system = value["system"]?.string.flatMap({ OperatingSystem(rawValue: $0) }) {
      snapshot.system.operatingSystem = system
    }
    isPlatformRead = true
  }

  /// Reads the memory of a process, under the names of KSCrash.
  func readMemory(_ value: JSONValue) -> ReportMemory {
    var memory = ReportMemory()
    memory.footprint = value["memory_footprint"]?.uint64
    memory.limit = value["memory_limit"]?.uint64
    memory.remaining = value["memory_remaining"]?.uint64
    memory.level = value["memory_level"]?.string
    memory.pressure = value["memory_pressure"]?.string
    return memory
  }

  private mutating func readBlockers(_ list: JSONValue?) {
    func index(_ value: JSONValue?) -> Int? {
      value?.int64.flatMap { Int(exactly: $0) }.flatMap { snapshot.threads.indices.contains($0) ? $0 : nil }
    }
    for value in list?.elements ?? [] {
      guard let thread = index(value["thread"]), let text = value["text"]?.string else { continue }
      var blocker = ReportBlocker(thread: thread, text: text)
      blocker.holder = index(value["holder"])
      blocker.process = value["process"]?.string
      report.blockers.append(blocker)
    }
  }
}
