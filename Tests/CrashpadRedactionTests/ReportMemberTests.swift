// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot
import Testing

@testable import CrashpadRedaction

/// Each member of a report has a decision: a new one fails here until it is in the sample and in the redactor.
@Suite("Members of redacted reports")
struct ReportMemberTests {
  /// Members that redaction leaves out, with the reason.
  static let dropped: [String: String] = [
    "report.reporterKey": "the id of a device", "report.fields": "this field is not in the list",
    "userTime": "reports have none", "systemTime": "reports have none", "clientID": "reports have none",
    "reportID": "reports have none", "exception.context": "that of the thread with the fault",
  ]
  /// Members that only dumps have.
  static let dumps: Set<String> = [
    "unloadedModules", "extraMemory", "intermediateDumpExtraMemory", "memoryMap", "madeFunctions", "modules.oldPDB",
    "annotations", "handles", "assertion",
    "crashInfo", "bootArguments", "softErrors", "linux", "arena",
    "system.cpuVendor", "system.processor", "system.cpuCount", "system.crashpadUptime", "system.timeZone",
    "modules.timestamp", "modules.dylibVersion", "modules.sourceVersion", "modules.fileVersion",
    "modules.simpleAnnotations", "modules.annotationObjects", "modules.messages",
    "threads.suspendCount", "threads.priority", "threads.dataAddress", "threads.stack", "threads.capture",
    "exception.sender",
  ]

  private static let secret = "token=k3yv4lu3"

  /// A report whose every member is set, and whose every text has a secret.
  private static var full: ProcessSnapshot {
    var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .arm64, operatingSystem: .ios))
    snapshot.processID = 1
    snapshot.parentProcessID = 2
    snapshot.startTime = Timestamp(seconds: 3)
    snapshot.snapshotTime = Timestamp(seconds: 4)
    snapshot.userTime = Timestamp(seconds: 5)
    snapshot.systemTime = Timestamp(seconds: 6)
    snapshot.reportID = UUIDBytes(high: 1, low: 1)
    snapshot.clientID = UUIDBytes(high: 1, low: 1)
    snapshot.system.platform = Platform(.iOS, isSimulator: true, isInferred: true)
    snapshot.system.platform?.simulatedVersion = secret
    snapshot.system.osMajor = 1
    snapshot.system.osMinor = 2
    snapshot.system.osBugfix = 3
    snapshot.system.osBuild = snapshot.store(secret)
    snapshot.system.machine = snapshot.store(secret)
    snapshot.system.pageSize = 1
    snapshot.system.addressMask = 1
    snapshot.system.memory = SystemMemory(active: 1, inactive: 1, wired: 1, free: 1)
    snapshot.exception = ExceptionSnapshot(kind: .mach, threadID: 1, code: 1)
    snapshot.exception?.codes = [1, 2]
    snapshot.exception?.signal = 11
    var context = ARM64Context()
    context.pc = 0x1000
    snapshot.exception?.context = .arm64(context)
    snapshot.modules = [module(&snapshot)]
    snapshot.threads = [thread(&snapshot, .arm64(context))]
    snapshot.report = report
    return snapshot
  }

  private static func module(_ snapshot: inout ProcessSnapshot) -> ModuleSnapshot {
    var module = ModuleSnapshot()
    module.name = snapshot.store(secret)
    module.debugName = snapshot.store(secret)
    module.address = 0x1000
    module.size = 0x1000
    module.fileType = .executable
    module.identity = .uuid(UUIDBytes(high: 1, low: 1), age: 1)
    module.bundleID = secret
    module.bundleVersion = secret
    module.architecture = secret
    return module
  }

  private static var frame: RecordedFrame {
    var frame = RecordedFrame(address: 0x1010)
    frame.module = 0
    frame.moduleOffset = 0x10
    frame.function = secret
    frame.functionOffset = 1
    frame.file = secret
    frame.line = 1
    return frame
  }

  private static func thread(_ snapshot: inout ProcessSnapshot, _ context: CPUContext) -> ThreadSnapshot {
    var thread = ThreadSnapshot()
    thread.id = 1
    thread.name = snapshot.store(secret)
    thread.queue = snapshot.store(secret)
    thread.number = 1
    thread.elided = [ElidedFrames(index: 0, frames: 1, levels: 1)]
    thread.context = context
    thread.frames = [frame]
    return thread
  }

  private static var report: ReportSnapshot {
    var report = ReportSnapshot(kind: .crash)
    for path in unsafe texts { report[keyPath: path] = secret }
    report.periodStart = Timestamp(seconds: 1)
    report.exceptionNotes = [secret]
    var termination = ReportSnapshot.Termination()
    (termination.namespace, termination.indicator, termination.byProcess) = (secret, secret, secret)
    (termination.code, termination.flags, termination.byProcessID) = (1, 1, 1)
    (termination.reasons, termination.details) = ([secret], [secret])
    report.termination = termination
    report.faultingThread = 0
    report.faultingNumber = 3
    report.messages = [ReportSnapshot.Message(image: secret, text: secret, exception: secret)]
    report.lastException = [frame]
    report.kernelTriage = [secret]
    report.notes = [secret]
    (report.faultAddress, report.syndrome) = (1, 1)
    (report.codeBefore, report.codeAt) = ([1], [1])
    var process = ReportSnapshot.JetsamProcess(name: secret)
    (process.processID, process.priority, process.residentPages, process.lifetimeMaximumPages) = (1, 1, 1, 1)
    (process.uuid, process.states, process.reason) = (UUIDBytes(high: 1, low: 1), [secret], secret)
    report.intendedAddress = 1
    (report.diagnosis, report.deallocatedObjects) = (secret, [secret])
    var memory = ReportMemory()
    (memory.footprint, memory.limit, memory.remaining, memory.level, memory.pressure) = (1, 1, 1, secret, secret)
    report.memory = memory
    var blocker = ReportBlocker(thread: 0, text: secret)
    (blocker.holder, blocker.process) = (0, secret)
    report.blockers = [blocker]
    var panic = ReportPanic(text: secret)
    (panic.headline, panic.task, panic.taskID) = (secret, secret, 1)
    (panic.trap, panic.trapName, panic.extensions, panic.isCut) = (14, secret, [secret], true)
    report.panic = panic
    var jetsam = ReportSnapshot.Jetsam()
    (jetsam.pageSize, jetsam.freePages, jetsam.largestProcess, jetsam.processes) = (1, 1, secret, [process])
    report.jetsam = jetsam
    report.fields = [ReportSnapshot.Field(name: "Secret", value: secret)]
    return report
  }

  nonisolated(unsafe) private static let texts: [WritableKeyPath<ReportSnapshot, String?>] = [
    \.bugType, \.processName, \.processPath, \.bundleID, \.version, \.build, \.incident, \.reporterKey, \.role,
    \.codeType, \.parentName, \.responsibleName, \.coalition, \.osText, \.captureTime, \.launchTime, \.exceptionType,
    \.exceptionSignal, \.exceptionSubtype, \.exceptionMessage, \.exceptionCodes, \.vmRegionInfo, \.syndromeText,
  ]

  /// The places of all values and their texts, and those that are nil or empty.
  private struct Leaves {
    private(set) var texts: [String: String] = [:]
    private(set) var empty: Set<String> = []

    init(_ snapshot: ProcessSnapshot) { add(snapshot, "", snapshot) }

    private mutating func add(_ value: Any, _ path: String, _ snapshot: ProcessSnapshot) {
      if let content = value as? SnapshotBytes {
        texts[path] = withBytes([]) { snapshot.text(content, in: $0) }
        return
      }
      let mirror = Mirror(reflecting: value)
      if mirror.displayStyle == .optional || mirror.displayStyle == .collection {
        if mirror.children.isEmpty { empty.insert(path) }
        for child in mirror.children { add(child.value, path, snapshot) }
        return
      }
      if mirror.children.isEmpty || value is UUIDBytes || value is Timestamp || value is CPUContext {
        texts[path] = "\(value)"
        return
      }
      for child in mirror.children {
        guard let label = child.label else { continue }
        add(child.value, path.isEmpty ? label : "\(path).\(label)", snapshot)
      }
    }
  }

  private func isOfDumps(_ path: String) -> Bool {
    Self.dumps.contains { path == $0 || path.hasPrefix($0 + ".") }
  }

  @Test("The sample has every member")
  func complete() {
    let empty = Leaves(Self.full).empty.filter { !isOfDumps($0) }
    #expect(empty.isEmpty, "set in the sample, and decide in ReportRedactor: \(empty.sorted())")
  }

  @Test("Every member stays without its secret, or is left out for a reason")
  func decided() {
    let before = Leaves(Self.full)
    let redactor = withBytes([]) { ReportRedactor(Self.full, $0, RedactionPolicy(), UserNameCollector()) }
    let after = Leaves(redactor.result)
    for (path, text) in before.texts where !isOfDumps(path) {
      let isDropped = Self.dropped.keys.contains { path == $0 || path.hasPrefix($0 + ".") }
      guard let rest = after.texts[path] else {
        #expect(isDropped, "\(path) is lost: decide in ReportRedactor")
        continue
      }
      #expect(!rest.contains("k3yv4lu3"), "\(path)")
      let expected = path == "report.incident" ? UUIDBytes.zero.text : text.replacing("k3yv4lu3", with: "********")
      if !isDropped { #expect(rest == expected, "\(path)") }
    }
  }
}
