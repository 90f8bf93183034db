// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Testing
import ToolRunner

/// A path below a file names a part of it.
@Suite("Parts of archives, stackshots and payloads")
struct PartTests {
  private static let report = Array(SampleReports.phone.utf8)

  private static let stackshot = """
    {"bug_type":"288","timestamp":"2025-06-16 13:47:42.00 +0200","os_version":"iPhone OS 18.5 (22F76)"}
    {"build":"iPhone OS 18.5 (22F76)","product":"iPhone15,2","reason":"a \\"}{\\" text",
     "binaryImages":[["aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",4294967296,"P"]],
     "processByPid":{
      "0":{"pid":0,"procname":"kernel_task","threadById":{"1":{"id":1,"userFrames":[[0,16]]}}},
      "57":{"pid":57,"procname":"SpringBoard","threadById":{"11":{"userFrames":[[0,32]]},"12":{"userFrames":[[0,64]]}}},
      "99":{"pid":99,"procname":"My Notes","threadById":{"21":{"userFrames":[[0,80],[0,96]]}}}}}
    """

  private static func diagnostic(_ version: String) -> String {
    """
    {"diagnosticMetaData":{"appVersion":"\(version)","bundleIdentifier":"org.example.app","exceptionType":1,"signal":11},
     "callStackTree":{"callStackPerThread":true,"callStacks":[{"threadAttributed":true,"callStackRootFrames":[
      {"binaryUUID":"70B89F27-1634-3580-A695-57CDB41D7743","offsetIntoBinaryTextSegment":123,"binaryName":"App","address":74565}
     ]}]}}
    """
  }

  private static let payloads = """
    [{"timeStampBegin":"2025-01-01","crashDiagnostics":[\(diagnostic("1.1")),\(diagnostic("1.2"))],"hangDiagnostics":[]},
     {"timeStampBegin":"2025-01-02","hangDiagnostics":[\(diagnostic("1.3"))],"crashDiagnostics":[\(diagnostic("1.4"))]}]
    """

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.stackshot.utf8), to: "stackshot.ips")
    try folder.write(Array(Self.payloads.utf8), to: "payloads.json")
    let members = [
      Packing.Member("notes/readme.txt", Array("hello".utf8)), .init("a/first.crash", Self.report),
      .init("second one.ips", Array(Self.stackshot.utf8), isDeflated: true),
      .init("../../outside.crash.gz", Packing.gzip(Self.report)),
    ]
    try folder.write(Packing.zip(members), to: "many.zip")
    try folder.write(Packing.zip([members[1]]), to: "one.zip")
    return folder
  }

  @Test(
    "Each process of a stackshot by its id and its name",
    arguments: [
      ("57", "SpringBoard, pid 57"), ("SpringBoard", "SpringBoard, pid 57"), ("My Notes", "My Notes, pid 99"),
    ])
  func processes(_ name: String, _ shown: String) throws {
    let folder = try folder()
    let result = try Tool.shell("crashpadctl inspect 'stackshot.ips/\(name)'", in: folder)
    #expect(result.status == 0)
    #expect(result.text.contains("Process   \(shown)\n"), "\(result.text)")
    #expect(!result.text.contains("kernel_task"))
    let threads = try Tool.shell(
      "crashpadctl inspect --format json 'stackshot.ips/\(name)' | grep -c userFrames", in: folder)
    #expect(threads.text == "0\n")
  }

  @Test("Each diagnostic of payloads by its number", arguments: 1...4)
  func diagnostics(_ number: Int) throws {
    let folder = try folder()
    // In the order of the file the hang comes before the crash of its payload.
    let result = try Tool.shell("crashpadctl inspect payloads.json/\(number)", in: folder)
    #expect(result.status == 0)
    #expect(result.text.contains("org.example.app, 1.\(number)\n"), "\(result.text)")
    #expect(!result.errorText.contains("report-more-diagnostics"))
    #expect(try Tool.shell("crashpadctl validate payloads.json/\(number)", in: folder).status == 0)
    let all = try Tool.shell("crashpadctl group payloads.json; crashpadctl inspect - < payloads.json", in: folder)
    #expect(all.text.contains("4 reports in ") || all.text.contains("4 crashes in "), "\(all.text)")
    #expect(all.errorText.contains("report-more-diagnostics"))
    let redacted = try Tool.shell(
      "crashpadctl redact -o r payloads.json/\(number) && crashpadctl inspect r", in: folder)
    #expect(redacted.text.contains("EXC_BAD_ACCESS"))
  }

  @Test("A payload of very many diagnostics is read by its first crash, in bounded time")
  func manyDiagnostics() throws {
    let folder = try TemporaryFolder()
    let hangs = Array(repeating: "{}", count: 30_000).joined(separator: ",")
    try folder.write(Array("{\"hangDiagnostics\":[\(hangs)],\"crashDiagnostics\":[{}]}".utf8), to: "many.json")
    let result = try Tool.shell(
      "crashpadctl inspect many.json | head -n 1; crashpadctl inspect many.json/2 | head -n 1", in: folder)
    #expect(result.text.hasPrefix("many.json: ") && result.text.contains("\nmany.json/2: "), "\(result.text)")
    #expect(result.errorText.contains("they are not read: 30000"), "\(result.errorText)")
  }

  @Test("An archive of many is read whole, and by its members")
  func members() throws {
    let folder = try folder()
    let all = try Tool.shell("crashpadctl inspect --format json many.zip | grep -c '^{'", in: folder)
    #expect(all.text == "3\n", "\(all.errorText)")
    let single = try Tool.shell(
      "crashpadctl inspect one.zip | tail -n +2 >a; crashpadctl inspect many.zip/a/first.crash | tail -n +2 | cmp - a",
      in: folder)
    #expect(single.status == 0)
    let process = try Tool.shell("crashpadctl inspect 'many.zip/second one.ips/57'", in: folder)
    #expect(process.text.contains("Process   SpringBoard, pid 57\n"))
    #expect(try Tool.shell("crashpadctl explain many.zip | grep -c 'many.zip/'", in: folder).text == "3\n")
    let found = try Tool.shell(
      "mkdir d; cp *.zip d; crashpadctl validate d | grep -c passed; crashpadctl group d | tail -n 1", in: folder)
    // Three of the four are one report, which counts once.
    #expect(found.text.hasSuffix("2 reports in 2 groups; 2 copies left out\n"), "\(found.text)")
  }

  @Test("The name of a member does not lead outside of the output directory")
  func hostileNames() throws {
    let folder = try folder()
    let result = try Tool.shell(
      "mkdir -p p/q; crashpadctl convert --to json -o p/q/out/ many.zip >/dev/null && find p -type f | sort", in: folder
    )
    #expect(
      result.text == """
        p/q/out/many.zip/a/first.crash.json
        p/q/out/many.zip/outside.crash.gz.json
        p/q/out/many.zip/second one.ips.json

        """, "\(result.errorText)")
  }

  @Test(
    "A part that is not there",
    arguments: [
      "stackshot.ips/58", "stackshot.ips/57/1", "payloads.json/0", "payloads.json/5",
      "payloads.json/x",
      "many.zip/b", "many.zip/a", "one.zip/b", "one.zip/a/first.crash/1", "many.zip/second one.ips/nothing",
    ])
  func missing(_ path: String) throws {
    let result = try Tool.shell("crashpadctl inspect '\(path)'", in: folder())
    #expect(result.status == 66)
    #expect(result.errorText.contains("error: the file has no part that is named"), "\(result.errorText)")
  }

  @Test("Cut anywhere, a part is read, refused or not there")
  func prefixes() throws {
    let folder = try folder()
    var script = ""
    for (name, part, text) in [("stackshot.ips", "57", Self.stackshot), ("payloads.json", "2", Self.payloads)] {
      for count in stride(from: 1, to: text.utf8.count, by: Soak.times(37, or: 149)) {
        script += "head -c \(count) \(name) >x; crashpadctl inspect x/\(part) >/dev/null 2>&1 || echo $?\n"
      }
    }
    let statuses = try Tool.shell(script, in: folder).text.split(separator: "\n")
    #expect(statuses.allSatisfy { ["1", "65", "66"].contains($0) }, "\(Set(statuses))")
  }
}
