// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import Foundation
import CrashpadSnapshot
import Testing
import ToolRunner

@Suite("Reports of MetricKit, KSCrash and swift-backtrace")
struct DiagnosticTests {
  @Test("A payload's first crash is read; the others are counted")
  func payload() throws {
    let reading = Reading(SampleReports.metricKit)
    let (snapshot, report) = (try #require(reading.snapshot), try #require(reading.report))
    #expect(reading.form == .metricKit)
    #expect(report.kind == .crash)
    #expect(report.bundleID == "com.example.orrery")
    #expect([report.version, report.build] == ["1.2", "12"])
    #expect(snapshot.processID == 4711)
    #expect(snapshot.system.osMajor == 16)
    #expect(reading.text(snapshot.system.machine) == "iPhone15,3")
    #expect(snapshot.system.architecture == .arm64)
    #expect(snapshot.exception?.codes == [1, 1, 0x10])
    #expect(report.exceptionType == "EXC_BAD_ACCESS")
    #expect(report.exceptionSignal == "SIGSEGV")
    #expect(report.termination?.namespace == "SIGNAL")
    #expect(report.termination?.code == 11)
    #expect(report.termination?.indicator == "Segmentation fault: 11")
    #expect(report.termination?.byProcess == "exc handler")
    #expect(report.messages.first?.text == "Late: too late")
    #expect(reading.field("Diagnostics") == "1 hang, 2 crash")
    #expect(reading.codes == ["report-more-diagnostics"])
  }

  @Test("An offset that is the image's address is none")
  func offsets() throws {
    let reading = Reading(SampleReports.metricKit)
    #expect(reading.report?.faultingThread == 1)
    let frames = reading.frames(1)
    #expect(frames.map { reading.image($0) } == ["Orrery", "UIKitCore"])
    #expect(frames.map(\.moduleOffset) == [16400, 4096])
    #expect(reading.snapshot?.modules.compactMap(\.address) == [6_979_321_856, 4_294_967_296, 7_448_174_592])
  }

  @Test("A tree of samples gives its heaviest path, the innermost frame first")
  func samples() throws {
    let reading = Reading(SampleReports.hang)
    #expect(reading.report?.kind == .hang)
    #expect(reading.field("Hang Duration") == "7 sec")
    #expect(reading.frames(0).map(\.moduleOffset) == [64, 16])
    #expect(reading.report?.faultingThread == 0)
    #expect(reading.codes == [])
  }

  @Test("A diagnostic with its environment apart")
  func environment() throws {
    let reading = Reading(SampleReports.diagnostic)
    #expect(reading.report?.kind == .resource)
    #expect(reading.snapshot?.system.osMajor == 27)
    #expect(reading.snapshot?.processID == 12)
    #expect(reading.report?.version == "9.9")
    #expect(reading.frames(0).map { reading.image($0) } == ["Orrery"])
    #expect(reading.codes == [])
  }

  @Test("The context of a termination by the system")
  func context() throws {
    let reason = "<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:scene-update watchdog transgression>"
    let reading = Reading(
      SampleReports.hang.replacing(
        "\"hangDuration\": \"7 sec\"",
        with: "\"exceptionType\": 10, \"signal\": 9, \"terminationReason\": \"\(reason)\""))
    #expect(reading.report?.kind == .crash)
    #expect(reading.report?.termination?.namespace == "FRONTBOARD")
    #expect(reading.report?.termination?.code == 0x8bad_f00d)
    #expect(reading.report?.termination?.reasons == [reason])
    #expect(reading.report?.exceptionSignal == "SIGKILL")
  }

  @Test("A report of KSCrash")
  func ksCrash() throws {
    let reading = Reading(SampleReports.ksCrash)
    let (snapshot, report) = (try #require(reading.snapshot), try #require(reading.report))
    #expect(reading.form == .ksCrash)
    #expect(report.processName == "Orrery")
    #expect(snapshot.processID == 4711)
    #expect(snapshot.system.osMinor == 5)
    #expect(snapshot.snapshotTime == Timestamp(seconds: 1_358_178_684))
    #expect(report.exceptionType == "EXC_CRASH")
    #expect(report.exceptionSignal == "SIGABRT")
    #expect(report.messages.map(\.image) == ["libsystem_kernel.dylib", nil])
    #expect(report.messages.last?.text == "Late: too late")
    #expect(report.faultingThread == 1)
    #expect(reading.register("fp") == 7)
    #expect(reading.register("lr") == 4_294_983_940)
    #expect(report.syndrome == 2_449_473_542)
    #expect(reading.text(snapshot.threads[0].queue) == "com.apple.main-thread")
    #expect(reading.frames(1).map(\.function) == ["-[Sky turn]", nil])
    #expect(reading.frames(1).map(\.functionOffset) == [16, nil])
    #expect(reading.frames(1).map { reading.image($0) } == ["Orrery", "Orrery"])
    #expect(reading.codes == [])
  }

  @Test(
    "Times of KSCrash are numbers of seconds, milliseconds or microseconds, or text",
    arguments: [
      ("1358178684", "2013-01-14T15:51:24Z", 0), ("1358178684250", "2013-01-14T15:51:24.250000Z", 250_000),
      ("1358178684250001", "2013-01-14T15:51:24.250001Z", 250_001),
    ])
  func ksCrashTimes(_ number: String, _ text: String, _ microseconds: Int32) {
    let reading = Reading(SampleReports.ksCrash.replacing("\"2013-01-14T15:51:24Z\"", with: number))
    #expect(reading.snapshot?.snapshotTime == Timestamp(seconds: 1_358_178_684, microseconds: microseconds))
    // Written as text, so that the other formats of reports take it.
    #expect(reading.report?.captureTime == text)
  }

  @Test("swift-backtrace's JSON")
  func swiftJSON() throws {
    let reading = Reading(SampleReports.swiftJSON)
    let (snapshot, report) = (try #require(reading.snapshot), try #require(reading.report))
    #expect(reading.form == .swiftBacktrace)
    #expect(snapshot.exception?.kind == .linuxSignal)
    #expect(snapshot.exception?.code == 4)
    #expect(snapshot.exception?.address == 0x7fab_27f6_df7f)
    #expect(report.exceptionType == "SIGILL")
    #expect(snapshot.system.operatingSystem == .linux)
    #expect(report.osText == "Debian GNU/Linux 12 (bookworm)")
    #expect(reading.register("r8") == 8)
    #expect(reading.frames(0).map(\.function) == ["$s6orrery4turnyyF", nil])
    #expect(reading.frames(0).map(\.line) == [2, nil])
    #expect(reading.frames(0).map(\.isInlined) == [true, false])
    #expect(reading.frames(0).map(\.moduleOffset) == [0x6df7f, 0x6e000])
    #expect(snapshot.extraMemory.map(\.address) == [0x7ffc_910b_7650])
    var count: Int?
    if case .buildID(let id) = snapshot.modules[0].identity { count = id.count }
    #expect(count == 20)
    #expect(reading.codes == [])
  }

  @Test("swift-backtrace's text, with colors")
  func swiftText() throws {
    let reading = Reading(SampleReports.swiftText)
    let (snapshot, report) = (try #require(reading.snapshot), try #require(reading.report))
    #expect(reading.form == .swiftBacktrace)
    #expect(snapshot.exception?.code == 4)
    #expect(snapshot.exception?.address == 0x7fab_27f6_df7f)
    #expect(report.messages.map(\.text) == ["Orrery/main.swift:2: Fatal error: Index out of range"])
    #expect(reading.text(snapshot.threads.first?.name) == "orrery")
    let frames = reading.frames(0)
    #expect(frames.map(\.function) == ["turn()", "closure #1 in main", "static App.$main()", nil])
    #expect(frames.map(\.line) == [2, 4, nil, nil])
    #expect(frames.map(\.isInlined) == [true, false, false, false])
    #expect(frames.map(\.moduleOffset) == [0x6df7f, 0x6df7f, 0x6e000, 0x6e100])
    #expect(reading.register("r8") == 8)
    #expect(reading.register("rflags") == 0x10206)
    #expect(reading.register("cs") == 0x33)
    #expect(reading.text(snapshot.modules.first?.name) == "/src/orrery")
    #expect(reading.codes == [])
  }

  @Test("An .ips of an Intel Mac has segment registers")
  func segments() throws {
    let state =
      #"{"flavor": "x86_THREAD_STATE", "rip": {"value": 4112}, "rflags": {"value": 582}, "cs": {"value": 43}, "gs": {"value": 5}}"#
    let text = SampleReports.ips.replacing(
      #/{"flavor": "ARM_THREAD_STATE64", "x": \[{"value": 1}\].*?}}, "frames"/#.dotMatchesNewlines(),
      with: "\(state), \"frames\"")
    let reading = Reading(text.replacing("ARM-64", with: "X86-64"))
    #expect(reading.register("rip") == 4112 && reading.register("rflags") == 582)
    #expect(reading.register("cs") == 43 && reading.register("fs") == 0 && reading.register("gs") == 5)
  }

  @Test("Registers of other threads leave the crashed one's alone")
  func states() throws {
    let reading = Reading(SampleReports.ips)
    #expect(reading.report?.faultAddress == 16)
    #expect(reading.report?.syndromeText == "(Data Abort) byte read Translation fault")
    #expect(reading.snapshot?.threads[1].context != nil)
  }

  @Test("A JSON of another kind is refused")
  func others() {
    for text in ["{\"crashDiagnostics\": []}", "{\"callStackTreeX\": 1, \"hangDiagnostics\": 2}"] {
      let reading = Reading(text)
      #expect(reading.form == .metricKit)
      #expect(reading.snapshot == nil)
      #expect(reading.codes == ["report-without-body"])
    }
  }
}

/// The installed toolchain's.
private enum Backtracer {
  static let path: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/swift") {
      let swift = URL(fileURLWithPath: "\(folder)/swift").resolvingSymlinksInPath()
      let path = swift.appendingPathComponent("../../libexec/swift/linux/swift-backtrace").standardizedFileURL.path
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    return nil
  }()
}

/// The output of the installed toolchain's backtracer.
@Suite("swift-backtrace: real crashes", .enabled(if: Backtracer.path != nil, "no swift-backtrace"))
struct RealBacktraces {
  private func crash(_ settings: String, in folder: TemporaryFolder) throws -> Reading {
    let program = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appending(path: "crashing-program").path
    let backtracer = try #require(Backtracer.path)
    _ = try Tool.shell(
      """
      ulimit -c 0
      export SWIFT_BACKTRACE=enable=yes,interactive=no,\(settings),output-to=$PWD/report,swift-backtrace=\(backtracer)
      '\(program)' null >/dev/null 2>&1
      """, in: folder)
    return Reading(try folder.bytes(of: "report"))
  }

  @Test("Text and JSON of the same crash have the same facts")
  func same() throws {
    let folder = try TemporaryFolder()
    let text = try crash("format=text,color=no,threads=all,images=all", in: folder)
    try FileManager.default.removeItem(at: folder.url("report"))
    let json = try crash("format=json,threads=all,images=all", in: folder)
    #expect(text.form == .swiftBacktrace)
    #expect(json.form == .swiftBacktrace)
    #expect(text.codes == [])
    #expect(json.codes == [])
    #expect(text.snapshot?.exception?.code == 11)
    #expect(json.snapshot?.exception?.code == 11)
    #expect(text.report?.faultingThread == json.report?.faultingThread)
    #expect(text.snapshot?.threads.count == json.snapshot?.threads.count)
    #expect(text.snapshot?.modules.count == json.snapshot?.modules.count)
    let (mine, other) = (text.frames(text.report?.faultingThread), json.frames(json.report?.faultingThread))
    #expect(!mine.isEmpty)
    #expect(mine.map(\.functionOffset) == other.map(\.functionOffset))
    #expect(mine.map(\.moduleOffset) == other.map(\.moduleOffset))
    #expect(mine.map { text.image($0) } == other.map { json.image($0) })
  }

  @Test("The JSON's addresses and images are those that another reader finds in it")
  func json() throws {
    let folder = try TemporaryFolder()
    let reading = try crash("format=json,images=all", in: folder)
    let object = try JSONSerialization.jsonObject(with: Data(reading.bytes)) as? [String: Any]
    let threads = try #require(object?["threads"] as? [[String: Any]])
    let frames = try #require(threads.first { $0["crashed"] as? Bool == true }?["frames"] as? [[String: Any]])
    let addresses = frames.compactMap { ($0["address"] as? String).flatMap { UInt64($0.dropFirst(2), radix: 16) } }
    #expect(reading.frames(reading.report?.faultingThread).map(\.address) == addresses)
    #expect(reading.snapshot?.modules.count == (object?["images"] as? [Any])?.count)
  }
}
