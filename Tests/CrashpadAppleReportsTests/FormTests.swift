// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadJSON
import CrashpadSnapshot
import Foundation
import Testing

@Suite("Forms of reports that are rarer than crashes")
struct FormTests {
  private static let all = SampleReports.forms + SampleReports.formsInJSON + SampleReports.pastes

  @Test("Every sample is read, soundly, with no finding but those of what it lacks", arguments: all.map(\.name))
  func samples(_ name: String) throws {
    let reading = Reading(try #require(Self.all.first { $0.name == name }?.text))
    #expect(reading.form != nil && reading.snapshot != nil && reading.isSound)
    let lacks: Set = ["report-without-images", "report-without-threads", "report-missing-image"]
    #expect(Set(reading.codes).subtracting(lacks).isEmpty, "\(reading.codes)")
  }

  /// The outcome of each sample. A sample without an entry fails.
  private static let outcomes: [String: ProcessSnapshot.Outcome] = [
    "vision": .crashed, "recursion": .crashed, "loader": .crashed, "named": .crashed, "deadlock": .crashed,
    "sampled": .wentOn, "spindump": .wentOn, "crashlytics": .crashed, "cr4shed": .crashed, "panicText": .noProcess,
    "stackshot": .noProcess, "panic": .noProcess, "reset": .noProcess, "simulator": .crashed, "elided": .crashed,
    "warning": .wentOn, "cpu": .notSaid, "disk": .notSaid, "launch": .wentOn, "memory": .crashed, "zombie": .crashed,
    "outOfMemory": .crashed, "deadlockJSON": .crashed,
    "console": .crashed, "consoleAddresses": .crashed, "loaderConsole": .crashed, "loaderSymbol": .crashed,
    "debugger": .crashed, "debuggerStep": .notSaid, "servicePage": .crashed, "serviceException": .crashed,
    "serviceThreads": .notSaid, "xcodeLine": .crashed, "xcodeStack": .notSaid, "kotlinConsole": .crashed,
    "terminationAlone": .crashed, "terminationDescription": .crashed,
    "trapLine": .crashed, "lateCr4shed": .crashed, "wholeSpindump": .noProcess, "serviceReason": .crashed,
    "serviceTable": .crashed, "quotedRegisters": .crashed, "walkedLinux": .crashed, "walkedMac": .crashed,
    "receivedSignal": .crashed,
  ]

  @Test("The outcome of each sample is known", arguments: all.map(\.name))
  func outcome(_ name: String) throws {
    let reading = Reading(try #require(Self.all.first { $0.name == name }?.text))
    #expect(reading.snapshot?.outcome == Self.outcomes[name])
  }

  // MARK: Round trip

  @Test("A report that is written is read back equal", arguments: (all + SampleReports.all).map(\.name))
  func roundTrip(_ name: String) throws {
    let first = Reading(try #require((Self.all + SampleReports.all).first { $0.name == name }?.text))
    let snapshot = try #require(first.snapshot)
    let body = JSONWriter.bytes(.indented) { unsafe ReportWriter.write(snapshot, first.bytes.span.bytes, to: &$0) }
    let header = unsafe ReportWriter.header(snapshot, first.bytes.span.bytes)
    for bytes in [body, header + body] {
      let second = Reading(bytes)
      #expect(second.form == .ips)
      let (old, new) = (SnapshotTexts(first), SnapshotTexts(second))
      let lost = old.texts.subtracting(new.texts).sorted()
      let made = new.texts.subtracting(old.texts).sorted()
      #expect(lost.isEmpty && made.isEmpty, "lost \(lost.prefix(12)), made \(made.prefix(12))")
    }
  }

  @Test("The first line is one line of JSON with the type of the report")
  func header() throws {
    let reading = Reading(SampleReports.simulator)
    let bytes = unsafe ReportWriter.header(try #require(reading.snapshot), reading.bytes.span.bytes)
    #expect(bytes.filter { $0 == 0x0a }.count == 1 && bytes.last == 0x0a)
    let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    #expect(object?["bug_type"] as? String == "309")
    #expect(object?["platform"] as? Int == 7)
    #expect(object?["os_version"] as? String == "macOS 15.4 (24E248)")
  }

  // MARK: Platforms

  @Test(
    "The name of each system is its platform's",
    arguments: [
      ("iPhone OS 15.4 (19E5241a)", "iOS", "15.4.0"), ("iOS 8.3 (12F70)", "iOS", "8.3.0"),
      ("iPadOS 17.1 (21B74)", "iPadOS", "17.1.0"), ("macOS 15.2 (24C101)", "macOS", "15.2.0"),
      ("Mac OS X 10.13.5 (17F77)", "macOS", "10.13.5"), ("OS X 10.9.5 (13F34)", "macOS", "10.9.5"),
      ("Watch OS 8.0 (19R346)", "watchOS", "8.0.0"), ("watchOS 11.2 (22S99)", "watchOS", "11.2.0"),
      ("Apple TVOS 13.4 (17L256)", "tvOS", "13.4.0"), ("tvOS 17.0 (21J354)", "tvOS", "17.0.0"),
      ("xrOS 1.1.1 (21O224)", "visionOS", "1.1.1"), ("visionOS 2.1 (22N574)", "visionOS", "2.1.0"),
      ("Bridge OS 6.5 (19P5071)", "bridgeOS", "6.5.0"), ("audioOS 17.4 (21L580)", "audioOS", "17.4.0"),
    ])
  func platforms(_ text: String, _ name: String, _ version: String) throws {
    let reading = Reading(SampleReports.vision.replacing("xrOS 1.1.1 (21O224)", with: text))
    let system = try #require(reading.snapshot?.system)
    #expect(system.name == name)
    #expect(system.platform?.isInferred == false)
    let parts = [system.osMajor, system.osMinor, system.osBugfix].map { $0.map(String.init) ?? "?" }
    #expect(parts.joined(separator: ".") == version)
  }

  @Test("A system that is not known is none of them")
  func unknown() throws {
    for text in ["FooOS 1.0 (1)", "photos 3", "Darwin 20.1"] {
      let reading = Reading(
        SampleReports.vision.replacing("xrOS 1.1.1 (21O224)", with: text).replacing("RealityDevice14,1", with: "x1"))
      #expect(reading.snapshot?.system.platform == nil && reading.snapshot?.system.operatingSystem == .unknown)
    }
  }

  @Test("The model stands in for a system that the report does not name, and says so")
  func model() throws {
    for (model, name) in [
      ("iPhone14,5", Platform.Name.iOS), ("iPad13,4", .iPadOS), ("Watch6,2", .watchOS), ("AppleTV14,1", .tvOS),
      ("RealityDevice14,1", .visionOS), ("AudioAccessory5,1", .audioOS), ("Macmini9,1", .macOS), ("Mac14,2", .macOS),
    ] {
      let text = SampleReports.vision.replacing("    OS Version:          xrOS 1.1.1 (21O224)\n", with: "")
        .replacing("OS Version:          xrOS 1.1.1 (21O224)\n", with: "").replacing("RealityDevice14,1", with: model)
      let platform = try #require(Reading(text).snapshot?.system.platform)
      #expect(platform.name == name && platform.isInferred)
    }
  }

  @Test("The Simulator is known by its number, by paths and by its message")
  func simulator() throws {
    let whole = try #require(Reading(SampleReports.simulator).snapshot?.system)
    #expect(whole.name == "macOS" && whole.environment == "iOS 18.5 Simulator")
    let body = String(SampleReports.simulator.split(separator: "\n", maxSplits: 1)[1])
    #expect(Reading(body).snapshot?.system.environment == "iOS 18.5 Simulator")
    let noPath = SampleReports.simulator.replacing(".simruntime/", with: "/")
    #expect(Reading(noPath).snapshot?.system.environment == "iOS Simulator")
    let message = body.replacing(".simruntime/", with: "/").replacing(
      "\"faultingThread\"",
      with: "\"asi\": {\"CoreSimulator\": [\"CoreSimulator 1 - Runtime: tvOS 17.0 (21J35) - X\"]}, \"faultingThread\"")
    #expect(Reading(message).snapshot?.system.environment == "tvOS 17.0 Simulator")
    // The parent alone does not say which system is simulated.
    let parent = try #require(Reading(body.replacing(".simruntime/", with: "/")).snapshot?.system)
    #expect(parent.platform?.isSimulator == true && parent.platform?.name == nil && parent.environment == "Simulator")
    #expect(Reading(SampleReports.zombie).snapshot?.system.environment == "Simulator")
    #expect(Reading(SampleReports.zombie).snapshot?.system.name == "visionOS")
  }

  @Test("In the Simulator a version that macOS never had is that of the simulated system")
  func simulatedVersion() {
    let sdk = "/Developer/SDKs/iPhoneSimulator.sdk/System/Library/Frameworks/UIKit.framework/UIKit"
    let report = """
      Process:         Orrery [321]
      Path:            /Users/a/Library/Developer/CoreSimulator/Devices/D/Orrery.app/Orrery
      OS Version:      Mac OS X 9.0 (14F27)
      Exception Type:  SIGABRT

      Thread 0 Crashed:
      0   UIKit                               0x0000000104a05620 turn + 40

      Binary Images:
             0x104a00000 -        0x104afffff  UIKit x86_64  <11112222333344445555666677778888> \(sdk)

      """
    let system = Reading(report).snapshot?.system
    #expect(system?.environment == "iOS 9.0 Simulator" && system?.name == "macOS" && system?.osMajor == nil)
    let other = Reading(report.replacing("CoreSimulator", with: "Other")).snapshot?.system
    #expect(other?.osMajor == 9 && other?.environment == nil)
    let newer = Reading(report.replacing("X 9.0", with: "X 10.1")).snapshot?.system
    #expect(newer?.osMajor == 10 && newer?.environment == "iOS Simulator")
  }

  @Test("An iPad of today has iPadOS")
  func pad() {
    #expect(Reading(SampleReports.cpu).snapshot?.system.name == "iPadOS")
    #expect(Reading(SampleReports.cpu.replacing("17.5", with: "12.5")).snapshot?.system.name == "iOS")
  }

  // MARK: Version and build

  @Test(
    "Version and build keep their places in the texts of each system",
    arguments: [
      ("iPhone OS 14.8 (18H17)", "12 (1.2)", false), ("iPhone OS 15.0 (19A346)", "1.2 (12)", false),
      ("Watch OS 7.3 (18S801)", "12 (1.2)", false), ("Watch OS 10.4 (21T216)", "1.2 (12)", false),
      ("tvOS 14.0 (18J386)", "12 (1.2)", false), ("tvOS 17.0 (21J354)", "1.2 (12)", false),
      ("xrOS 1.1.1 (21O224)", "1.2 (12)", false), ("macOS 12.6 (21G115)", "1.2 (12)", false),
      ("Mac OS X 10.13.5 (17F77)", "1.2 (12)", false),
      // The forms say another order than the rule, or there is no rule.
      ("iPhone OS 13.3 (17C54)", "1.2 (12)", true), ("iPhone OS 17.0 (21A329)", "12 (1.2)", true),
      ("FooOS 1.0 (1)", "12 (1.2)", true), ("FooOS 1.0 (1)", "1.2 (12)", true),
    ])
  func versions(_ system: String, _ version: String, _ isInferred: Bool) {
    let reading = Reading(
      SampleReports.vision.replacing("xrOS 1.1.1 (21O224)", with: system).replacing("1.2 (12)", with: version)
        .replacing("RealityDevice14,1", with: "x1"))
    #expect([reading.report?.version, reading.report?.build] == ["1.2", "12"])
    #expect(reading.report?.isVersionInferred == isInferred)
  }

  @Test("Two numbers of one form keep the order of the system's rule")
  func sameForms() {
    func read(_ system: String) -> [String?] {
      let text = SampleReports.vision.replacing("xrOS 1.1.1 (21O224)", with: system).replacing(
        "1.2 (12)", with: "7 (3)")
      return [Reading(text).report?.version, Reading(text).report?.build]
    }
    #expect(read("iPhone OS 13.3 (17C54)") == ["3", "7"])
    #expect(read("iPhone OS 16.0 (20A362)") == ["7", "3"])
  }

  // MARK: Forms

  @Test("Threads keep the numbers of the report")
  func numbers() throws {
    let reading = Reading(SampleReports.vision)
    #expect(reading.snapshot?.threads.map(\.number) == [2])
    #expect(reading.snapshot?.crashedThread == 0 && reading.snapshot?.threadNumber(0) == 2)
    #expect(reading.snapshot?.threads[0].id == nil)
  }

  @Test("Frames of a recursion that were left out are counted")
  func elided() throws {
    let text = try #require(Reading(SampleReports.recursion).snapshot?.threads[0])
    #expect(text.frames?.count == 5)
    #expect(text.elided == [.init(index: 3, frames: 8994, levels: 9000)])
    let json = try #require(Reading(SampleReports.elided).snapshot?.threads[0])
    #expect(json.elided == [.init(index: 2, frames: 8995, levels: 8998)])
    #expect(Reading(SampleReports.recursion).report?.intendedAddress == 0x16f_00fa_e3e0)
  }

  @Test("The message of the old dynamic loader is a termination")
  func loader() {
    let termination = Reading(SampleReports.loader).report?.termination
    #expect(termination?.namespace == "DYLD" && termination?.code == 1)
    #expect(termination?.reasons.first == "Library not loaded: @rpath/libgears.dylib")
    #expect(termination?.reasons.count == 3)
  }

  @Test("Frames without addresses have image and function")
  func named() {
    let reading = Reading(SampleReports.named)
    let frames = reading.frames(0)
    #expect(frames.map(\.function) == ["___pthread_kill", "-[UIView layout]", "main"])
    #expect(frames.map { reading.image($0) } == ["libsystem_kernel.dylib", "UIKitCore", "Orrery"])
    #expect(frames.map(\.moduleOffset) == [nil, nil, nil])
  }

  @Test("A deadlock that KSCrash ended, and the crash of its handler")
  func deadlock() {
    for text in [SampleReports.deadlock, SampleReports.deadlockJSON] {
      #expect(Reading(text).report?.isDeadlock == true)
      #expect(Reading(text).report?.termination == nil)
    }
    let reading = Reading(SampleReports.deadlock)
    #expect(reading.frames(0).map(\.function) == ["__psynch_mutexwait", "-[Sky wait]"])
    #expect(reading.report?.notes.contains { $0.contains("crashed as well") } == true)
    #expect(reading.report?.faultingThread == 0)
  }

  @Test("KSCrash's own findings")
  func ksCrash() {
    let zombie = Reading(SampleReports.zombie).report
    #expect(zombie?.diagnosis == "Possible zombie in call: -[Sky turn]")
    #expect(zombie?.deallocatedObjects == ["Sky"] && zombie?.hasStackOverflow == true)
    #expect(zombie?.memory?.level == "urgent")
    let memory = Reading(SampleReports.outOfMemory).report
    #expect(memory?.endedForMemory == true && memory?.memory?.footprint == 2100 && memory?.memory?.limit == 2100)
  }

  @Test("The trees of sample(1) are threads of a hang")
  func sampled() throws {
    let reading = Reading(SampleReports.sampled)
    #expect(reading.report?.kind == .hang)
    #expect(reading.snapshot?.threads.map(\.id) == [51234, 51240])
    #expect(reading.snapshot?.threads.map { reading.text($0.queue) } == ["com.apple.main-thread", nil])
    #expect(reading.snapshot?.threads.map { reading.text($0.name) } == [nil, "turner"])
    #expect(reading.frames(0).map(\.function) == ["__psynch_mutexwait", "Sky.wait()", "main", "start"])
    #expect(reading.frames(0).map(\.line) == [nil, 88, 4, nil])
    #expect(reading.frames(0)[1].moduleOffset == 0x5a10)
    #expect(reading.frames(1).map(\.function) == ["fsync"])
    #expect(reading.snapshot?.processID == 4711)
  }

  @Test("The threads of a spindump, and what they wait for")
  func spindump() throws {
    let reading = Reading(SampleReports.spindump)
    #expect(reading.report?.kind == .hang)
    #expect(reading.snapshot?.threads.map(\.id) == [0xc822, 0xc828])
    #expect(reading.frames(0).map(\.function) == ["__psynch_mutexwait", "main", "start"])
    #expect(reading.frames(1).map(\.function) == ["fsync"])
    let blocker = try #require(reading.report?.blockers.first)
    #expect(blocker.thread == 0 && blocker.holder == 1 && blocker.process == "Orrery")
    #expect(reading.snapshot?.modules.count == 3)
  }

  @Test("Images that are named by their UUIDs are modules")
  func heaviest() throws {
    let text = SampleReports.spindump.split(separator: "\n\nProcess:")[0] + "\n"
    let reading = Reading(String(text))
    let frame = try #require(reading.frames(0).first)
    let module = try #require(frame.module.flatMap { reading.snapshot?.modules[$0] })
    #expect(module.identity == UUIDBytes(text: "00112233-4455-6677-8899-AABBCCDDEEFF").map { .uuid($0, age: 0) })
    #expect(frame.moduleOffset == 16912 && module.address == 0x104a0_0000)
  }

  @Test("Crashlytics' export")
  func crashlytics() {
    let reading = Reading(SampleReports.crashlytics)
    #expect(
      [reading.report?.processName, reading.report?.version, reading.report?.build] == ["Orrery", "1.2.0", "12"])
    #expect(reading.report?.faultingThread == 0)
    #expect(reading.frames(0).map(\.function) == ["turn()", "-[UIApplication handle:]", nil])
    #expect(reading.frames(0).map(\.moduleOffset) == [0x5a10, 0x3a1b80, nil])
    #expect(reading.frames(0).map(\.line) == [12, nil, nil])
    #expect(reading.snapshot?.threads.count == 2)
  }

  @Test("A log of Cr4shed")
  func cr4shed() {
    let reading = Reading(SampleReports.cr4shed)
    #expect(reading.report?.bundleID == "com.example.orrery")
    #expect(reading.snapshot?.system.name == "iOS" && reading.snapshot?.system.osMajor == 12)
    #expect(reading.report?.messages.first?.text.hasPrefix("NSRangeException: index 3") == true)
    #expect(reading.frames(0).map(\.function) == ["__exceptionPreprocess", "turn"])
    #expect(reading.snapshot?.modules.count == 2)
  }

  @Test("Panics and resets are summarised")
  func panics() {
    let panic = Reading(SampleReports.panic).report
    #expect(panic?.kind == .panic && panic?.panic?.headline == "\"no sign of the sky\" @sky.c:7")
    #expect(panic?.panic?.task == "orreryd" && panic?.panic?.taskID == 77)
    #expect(Reading(SampleReports.reset).report?.kind == .forceReset)
    let text = Reading(SampleReports.panicText).report
    #expect(text?.panic?.headline == "\"a gear is missing: wheel 7\" @sky.c:12" && text?.panic?.task == "kernel_task")
  }

  @Test("A process out of a stackshot")
  func stackshot() {
    let reading = Reading(SampleReports.stackshot)
    #expect(reading.snapshot?.threads.count == 1 && reading.snapshot?.modules.count == 2)
    #expect(reading.report?.isArchitectureInferred == true)
  }
}

/// Every value of a snapshot as text, with texts in place of their places in the input.
private struct SnapshotTexts {
  private(set) var texts: Set<String> = []

  /// The parts that an `.ips` has no place for, and why.
  private static let left = [
    ".arena": "places of bytes", ".extraMemory": "an .ips has no memory", ".debugName": "the name of the path",
    ".fileType": "concluded", ".fields": "compared without their order",
  ]

  init(_ reading: Reading) {
    guard let snapshot = reading.snapshot else { return }
    add(snapshot, "", reading)
    for field in snapshot.report?.fields ?? [] { texts.insert("field \(field.name)=\(field.value)") }
  }

  private mutating func add(_ value: Any, _ path: String, _ reading: Reading) {
    if Self.left.keys.contains(where: { path.hasSuffix($0) }) { return }
    if let content = value as? SnapshotBytes {
      texts.insert("\(path)=\(reading.text(content) ?? "")")
      return
    }
    let children = Mirror(reflecting: value).children
    if children.isEmpty {
      texts.insert("\(path)=\(value)")
      return
    }
    for (index, child) in children.enumerated() {
      add(child.value, "\(path).\(child.label ?? String(index))", reading)
    }
  }
}
