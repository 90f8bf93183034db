// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// A crash that several programs report counts once.
@Suite("Twins")
struct TwinTests {
  /// The facts that reports have of a process.
  struct Process {
    var name = "Example"
    var pid = 4711
    var device = "iPhone14,2"
    /// Seconds since 1970.
    var time: Int64 = 1_790_000_000
    var version = "2.7"
    var build = "182"

    func at(_ seconds: Int64) -> String { Self.text(time + seconds) }

    static func text(_ seconds: Int64) -> String {
      Date(timeIntervalSince1970: Double(seconds)).ISO8601Format().replacing("T", with: " ").replacing(
        "Z", with: " +0000")
    }
  }

  private static let images = """
    "usedImages":[{"base":4295098368,"size":65536,"uuid":"7a3c5e10-1111-2222-3333-444455556666","path":"/private/var/containers/Bundle/Application/0F2C1B6E-3D0B-4C57-9E53-6A1D2C3B4E5F/Example.app/Example","name":"Example"}]
    """

  /// An `.ips`, of a crash or of what a watchdog killed.
  static func ips(_ process: Process, at seconds: Int64 = 0, isKill: Bool = false) -> String {
    let reason =
      isKill
      ? #""exception":{"type":"EXC_CRASH","signal":"SIGKILL","codes":"0x0, 0x0","rawCodes":[0,0]},"termination":{"namespace":"FRONTBOARD","code":2343432205,"reasons":["scene-update watchdog transgression: exhausted real (wall clock) time allowance of 10.00 seconds"]}"#
      : #""exception":{"type":"EXC_BREAKPOINT","signal":"SIGTRAP","codes":"0x1, 0x100004a10","rawCodes":[1,4295117328]}"#
    let bundle =
      #"{"CFBundleShortVersionString":"\#(process.version)","CFBundleVersion":"\#(process.build)","CFBundleIdentifier":"com.example.shop"}"#
    return """
      {"app_name":"\(process.name)","timestamp":"\(process.at(seconds))","bug_type":"309","os_version":"iPhone OS 18.4 (22E240)"}
      {"procName":"\(process.name)","pid":\(process.pid),"modelCode":"\(process.device)","cpuType":"ARM-64","bundleInfo":\(bundle),"captureTime":"\(process.at(seconds))",\(reason),"faultingThread":0,"threads":[{"triggered":true,"id":1,"frames":[{"imageOffset":18960,"symbol":"Cart.total()","symbolLocation":16,"imageIndex":0},{"imageOffset":19960,"symbol":"main","symbolLocation":16,"imageIndex":0}]}],\(images)}
      """
  }

  /// A payload of MetricKit for the day until `seconds` after the crash.
  static func metricKit(_ process: Process, until seconds: Int64 = 40_000, list: String = "crashDiagnostics") -> String
  {
    """
    {"timeStampBegin":"\(process.at(seconds - 86_400))","timeStampEnd":"\(process.at(seconds))","\(list)":[{"version":"1.0.0","callStackTree":{"callStackPerThread":true,"callStacks":[{"threadAttributed":true,"callStackRootFrames":[{"binaryName":"Example","binaryUUID":"7A3C5E10-1111-2222-3333-444455556666","offsetIntoBinaryTextSegment":18960,"address":4295117328,"sampleCount":1}]}]},"diagnosticMetaData":{"pid":\(process.pid),"deviceType":"\(process.device)","osVersion":"iPhone OS 18.4 (22E240)","appBuildVersion":"\(process.build)","exceptionType":6,"signal":5,"exceptionCode":1}}]}
    """
  }

  struct Pair: Sendable, CustomTestStringConvertible {
    let name: String
    let files: [String]
    let crashes: Int
    /// The start of the text of the group that has the twins.
    var text = ""
    var testDescription: String { name }
  }

  private static func changed(_ change: (inout Process) -> Void) -> Process {
    var process = Process()
    change(&process)
    return process
  }

  static let pairs: [Pair] = {
    let one = Process()
    let day: Int64 = 86_400
    return [
      Pair(name: "crash and watchdog", files: [ips(one), ips(one, at: 25, isKill: true)], crashes: 1, text: "trap · "),
      Pair(name: "crash and MetricKit", files: [ips(one), metricKit(one)], crashes: 1, text: "trap · Cart.total"),
      Pair(
        name: "watchdog and MetricKit's hang",
        files: [ips(one, isKill: true), metricKit(one, list: "hangDiagnostics")],
        crashes: 1, text: "killed:0x8badf00d/scene-update"),
      Pair(
        name: "all three", files: [metricKit(one), ips(one, at: 5, isKill: true), ips(one)], crashes: 1, text: "trap · "
      ),
      Pair(name: "a hang is no crash", files: [ips(one), metricKit(one, list: "hangDiagnostics")], crashes: 2),
      Pair(name: "two of one program", files: [ips(one), ips(one, at: 1)], crashes: 2),
      Pair(name: "another time", files: [ips(one), ips(one, at: 61, isKill: true)], crashes: 2),
      Pair(name: "another day", files: [ips(one), metricKit(one, until: day + 61)], crashes: 2),
      Pair(name: "the day before", files: [ips(one), metricKit(one, until: -61)], crashes: 2),
      Pair(name: "another process", files: [ips(one), metricKit(changed { $0.pid = 812 })], crashes: 2),
      Pair(name: "another program", files: [ips(one), ips(changed { $0.name = "Till" }, isKill: true)], crashes: 2),
      Pair(name: "another device", files: [ips(one), metricKit(changed { $0.device = "iPad8,1" })], crashes: 2),
      Pair(name: "another version", files: [ips(one), metricKit(changed { $0.build = "183" })], crashes: 2),
    ]
  }()

  private func write(_ pair: Pair, to folder: TemporaryFolder) throws {
    for (number, text) in pair.files.enumerated() {
      try folder.write(Array(text.utf8), to: "in/\(number).\(text.contains("callStackTree") ? "json" : "ips")")
    }
  }

  @Test(arguments: pairs)
  func `Reports of one crash count once`(pair: Pair) throws {
    let folder = try TemporaryFolder()
    try write(pair, to: folder)
    let command = "crashpadctl group --no-system --format json"
    let result = try Tool.shell("exec \(command) in", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    let document = try JSONDocument(result.output)
    let twins = pair.files.count - pair.crashes
    #expect(document["crash_count"].int == pair.crashes)
    #expect(document["twin_count"].int == twins)
    let groups = document["groups"].array
    #expect(groups.reduce(0) { $0 + ($1["twins"].int ?? 0) } == twins)
    if twins > 0 {
      #expect(groups.count == 1)
      #expect(groups[0]["text"].string?.hasPrefix(pair.text) == true, "\(groups[0]["text"].string ?? "-")")
    }
    let text = try Tool.shell("crashpadctl group --no-system in | tail -n 1", in: folder).text
    #expect(text.contains("of the same crashes") == (twins > 0), "\(text)")
    let page = try Tool.shell("crashpadctl report --no-system -o page.html in && cat page.html", in: folder).text
    #expect(page.contains("of the same crashes</small>") == (twins > 0))
    // Each part has one of them.
    let parts = (1...pair.files.count).map {
      "crashpadctl group --no-system --shard \($0)/\(pair.files.count) --partial \($0).json in"
    }
    let merged = try Tool.shell(
      (parts + ["crashpadctl group --merge --format json [0-9].json"]).joined(separator: " && "), in: folder)
    #expect(merged.text == result.text, "\(merged.errorText)")
  }

  /// One run finds the one, the next one the other, in either order; then another program removes the first.
  @Test(arguments: pairs)
  func `An index has the groups of a run over the same files`(pair: Pair) throws {
    for order in [Array(pair.files.indices), pair.files.indices.reversed()] {
      let folder = try TemporaryFolder()
      try write(pair, to: folder)
      let command = "crashpadctl group --no-system --format json"
      _ = try Tool.shell("mkdir now && mv in all", in: folder)
      for number in order {
        let both = try Tool.shell(
          "cp -p all/\(number).* now && \(command) \"$PWD/now\" > plain && \(command) --index index \"$PWD/now\" > kept; "
            + "cmp plain kept", in: folder)
        #expect(both.status == 0, "\(order): \(both.text) \(both.errorText)")
      }
    }
  }

  @Test func `A dump of a handler has the system's report as its twin, and a hang only that of a kill`() throws {
    var parameters = SynthParameters(seed: 11)
    (parameters.threadCount, parameters.moduleCount, parameters.stackBytes) = (1, 3, 512)
    parameters.productVersion = "2.7"
    let dump = SynthDump(parameters)
    let process = Process(
      name: parameters.executableName, pid: Int(dump.process.pid), device: dump.system.machine,
      time: dump.process.snapshotSeconds)
    func counts(_ dump: SynthDump, _ reports: [String]) throws -> [Int?] {
      let folder = try TemporaryFolder()
      try folder.write(dump.bytes, to: "in/a.idump")
      for (number, report) in reports.enumerated() { try folder.write(Array(report.utf8), to: "in/\(number).ips") }
      let result = try Tool.shell("exec crashpadctl group --no-system --format json in", in: folder)
      let document = try JSONDocument(result.output)
      return [document["crash_count"].int, document["twin_count"].int]
    }
    let kill = Self.ips(process, at: 20, isKill: true)
    #expect(try counts(dump, [Self.ips(process, at: 2)]) == [1, 1])
    #expect(try counts(dump, [Self.ips(process, at: 2), kill]) == [1, 2])
    #expect(try counts(dump, [Self.ips(process, at: 90)]) == [2, 0])
    parameters.exception = .simulated
    let hang = SynthDump(parameters)
    #expect(try counts(hang, [kill]) == [1, 1])
    #expect(try counts(hang, [Self.ips(process, at: 2)]) == [2, 0])
  }

  @Test(
    "Any time in a partial result is merged, and never overflows",
    arguments: ["-9223372036854775808", "9223372036854775807"])
  func extremeTimes(_ time: String) throws {
    let folder = try TemporaryFolder()
    for (name, seconds) in [("a", Int64(0)), ("b", 3)] {
      try folder.write(Array(Self.ips(Process(), at: seconds, isKill: name == "b").utf8), to: "in/\(name).ips")
    }
    let result = try Tool.shell(
      """
      crashpadctl group --no-system --shard 1/1 --partial part.json in && grep -q '"time": [0-9]' part.json &&
        sed -E 's/"(time|since)": -?[0-9]+/"\\1": \(time)/' part.json > extreme.json &&
        crashpadctl group --format json --merge extreme.json
      """, in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try JSONDocument(result.output)["crash_count"].int != nil)
  }
}
