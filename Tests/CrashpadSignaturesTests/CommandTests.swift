// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// One crash has one signature, whichever command prints it.
@Suite("Signatures of the commands")
struct CommandTests {
  private static let report = """
    {"app_name":"Demo","timestamp":"2026-03-14 15:09:26.00 +0100","app_version":"2.7","bug_type":"309","os_version":"iPhone OS 18.4","incident_id":"5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A90"}
    {"procName":"Demo","procPath":"/private/var/containers/Bundle/Application/0F2C1B6E-3D0B-4C57-9E53-6A1D2C3B4E5F/Demo.app/Demo","cpuType":"ARM-64","captureTime":"2026-03-14 15:09:26.0000 +0100","exception":{"type":"EXC_BREAKPOINT","signal":"SIGTRAP","codes":"0x0000000000000001, 0x0000000100004a10","rawCodes":[1,4295117328]},"faultingThread":0,"threads":[{"triggered":true,"id":1,"frames":[{"imageOffset":100,"symbol":"swift_release","symbolLocation":4,"imageIndex":1},{"imageOffset":18960,"symbol":"closure #1 in CartView.refresh()","symbolLocation":16,"imageIndex":0},{"imageOffset":19960,"symbol":"main","symbolLocation":16,"imageIndex":0}]}],"usedImages":[{"base":4295098368,"size":65536,"uuid":"7a3c5e10-1111-2222-3333-444455556666","path":"/private/var/containers/Bundle/Application/0F2C1B6E-3D0B-4C57-9E53-6A1D2C3B4E5F/Demo.app/Demo","name":"Demo"},{"base":6442450944,"size":65536,"uuid":"8a3c5e10-1111-2222-3333-444455556666","path":"/usr/lib/swift/libswiftCore.dylib","name":"libswiftCore.dylib"}]}
    """

  private func signature(_ command: String, _ folder: TemporaryFolder) throws -> [String?] {
    let result = try Tool.shell("exec crashpadctl \(command)", in: folder)
    let signature = try JSONDocument(result.output)["signature"]
    return [signature["id"].string, signature["text"].string, signature["raw"].string]
  }

  @Test(arguments: ["report.ips", "dump.idump"])
  func `inspect, symbolize, explain and group print one signature`(name: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.report.utf8), to: "report.ips")
    try folder.write(SynthDump(.tiny(seed: 3)).bytes, to: "dump.idump")
    let expected = try signature("symbolize --format json \(name)", folder)
    #expect(expected.allSatisfy { $0?.isEmpty == false })
    #expect(try signature("inspect --format json \(name)", folder) == expected)
    #expect(try signature("explain --format json ./\(name)", folder) == expected)
    let printed = try Tool.shell("exec crashpadctl group --format json \(name)", in: folder)
    let group = try JSONDocument(printed.output)["groups"]
    #expect(group.array.first?["id"].string == expected[0])
    #expect(group.array.first?["text"].string == expected[1])
    #expect(group.array.first?["raw"].array.map(\.string) == [expected[2]])
  }

  @Test(arguments: ["", "--format json", "--format csv", "--html page.html", "--index i.sqlite", "--join raw"])
  func `A group that the baseline does not have ends the run with status 1`(options: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.report.utf8), to: "report.ips")
    let other = Self.report.replacing("closure #1 in CartView.refresh()", with: "Cart.total()")
      .replacing("5C3E0C11", with: "5C3E0C12")
    try folder.write(Array(other.utf8), to: "other.ips")
    let run = "crashpadctl group --fail-on new:base.json \(options)"
    let result = try Tool.shell(
      """
      crashpadctl group --format json report.ips > base.json || exit 9
      \(run) report.ips > known 2>&1 || exit 8
      \(run) report.ips other.ips > new 2>&1; [ $? -eq 1 ] || exit 7
      grep -q 'new group' new || exit 6
      ! grep -q 'new group' known
      """, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test func `A baseline of other groups is refused by its name`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.report.utf8), to: "report.ips")
    let result = try Tool.shell(
      """
      crashpadctl group --format json --by raw report.ips > raw.json || exit 9
      crashpadctl group --format json --rules 1 report.ips > first.json || exit 8
      for base in raw first; do
        crashpadctl group --fail-on new:$base.json report.ips > out 2> errors; [ $? -eq 65 ] || exit 7
        grep -q "^$base.json: error: has groups by .* and can't be compared with groups by" errors || exit 6
        crashpadctl report --baseline $base.json report.ips -o page.html 2> errors; [ $? -eq 65 ] || exit 5
      done
      crashpadctl group --fail-on new:raw.json --by raw report.ips > out || exit 4
      crashpadctl group --fail-on new:first.json --rules 1 report.ips > out || exit 3
      """, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test func `A damaged index is said to be one, and is not counted`() throws {
    let folder = try TemporaryFolder()
    for number in 0..<40 {
      let report = Self.report.replacing("5C3E0C11", with: String(0x5C3E_0C11 + number, radix: 16, uppercase: true))
        .replacing("CartView", with: "View\(number % 7)")
      try folder.write(Array(report.utf8), to: "in/\(number).ips")
    }
    let command = "exec crashpadctl group --format csv --index i in"
    let expected = try Tool.shell(command, in: folder)
    #expect(expected.status == 0, "\(expected.errorText)")
    let whole = [UInt8](try folder.bytes(of: "i"))
    var random = SystemRandomNumberGenerator()
    var refused = 0
    for _ in 0..<Soak.times(30, or: 300) {
      var bytes = whole
      let start = Int.random(in: 100..<bytes.count, using: &random)
      for index in start..<min(start + Int.random(in: 1...64, using: &random), bytes.count) {
        bytes[index] = .random(in: 0...255)
      }
      try folder.write(bytes, to: "i")
      let result = try Tool.shell(command, in: folder)
      if result.status == 0 {
        #expect(result.text == expected.text, "bytes from \(start)")
      } else {
        refused += 1
        #expect(result.status >= 64 && result.text.isEmpty, "\(result.status): \(result.errorText)")
      }
    }
    #expect(refused > 0)
  }

  @Test func `The gate is refused where it has no groups, and leaves the status of inputs`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.report.utf8), to: "report.ips")
    let result = try Tool.shell(
      """
      crashpadctl group --format json report.ips > base.json || exit 9
      for options in "--fail-on old:base.json" "--fail-on new:" "--fail-on new:base.json --partial part.json" \
        "--fail-on new:base.json --compare 1"; do
        crashpadctl group $options report.ips 2> errors; [ $? -eq 64 ] || exit 8
      done
      for options in "" "--html page.html"; do
        crashpadctl group --fail-on new:base.json $options report.ips missing.ips 2> errors; [ $? -eq 2 ] || exit 7
      done
      """, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test func `The page of group has rates, as that of report`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.report.utf8), to: "report.ips")
    try folder.write(Array("version,sessions\n2.7,1000\n".utf8), to: "sessions.csv")
    let result = try Tool.shell(
      """
      crashpadctl group --html page.html --sessions sessions.csv report.ips > table || exit 9
      grep -q 'Crash-free sessions</dt><dd>99.9' page.html || exit 8
      crashpadctl group --sessions sessions.csv report.ips 2> errors; [ $? -eq 64 ] || exit 7
      crashpadctl group --html page.html --sessions none.csv report.ips 2> errors; [ $? -eq 66 ]
      """, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test func `Each version of the rules has its signatures, and a comparison counts what they share`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.report.utf8), to: "report.ips")
    func document(_ options: String) throws -> JSONDocument {
      try JSONDocument(Tool.shell("exec crashpadctl group --format json \(options) report.ips", in: folder).output)
    }
    let (first, second) = (try document("--rules 1"), try document(""))
    #expect(first["rules"].int == 1)
    #expect(second["rules"].int == 2)
    #expect(first["groups"].array.first?["text"].string == "trap · (closure) CartView.refresh")
    #expect(second["groups"].array.first?["text"].string == "trap · CartView.refresh.λ1")
    let move = try document("--rules 2 --compare 1")["moves"].array.first
    #expect(move?["before"]["id"].string == first["groups"].array.first?["id"].string)
    #expect(move?["after"]["id"].string == second["groups"].array.first?["id"].string)
    #expect(move?["change"].string == "same")
    #expect(move?["count"].int == 1)
  }

  @Test
  func `explain names the function that the signature names, though a library of another language has its prefix`()
    throws
  {
    let folder = try TemporaryFolder()
    let text = Self.report.replacing("swift_release", with: "helper").replacing(
      "\"imageIndex\":1", with: "\"imageIndex\":0"
    )
    .replacing("closure #1 in CartView.refresh()", with: "Sky::project()").replacing(
      "helper", with: "alloc::Pool::take()")
    try folder.write(Array(text.utf8), to: "report.ips")
    let result = try Tool.shell("crashpadctl group --no-system report.ips; crashpadctl explain report.ips", in: folder)
    #expect(result.text.contains("· alloc::Pool::take"), "\(result.text)")
    #expect(result.text.contains("The crashed thread was in alloc::Pool::take()"), "\(result.text)")
  }

  @Test func `Reports of different faults count each, though they have one id`() throws {
    let folder = try TemporaryFolder()
    let other = Self.report.replacing("CartView", with: "OrderView").replacing(
      "\"imageOffset\":", with: "\"imageOffset\":1")
    #expect(other != Self.report)
    for (name, text) in [("a.ips", Self.report), ("b.ips", other), ("c/a.ips", Self.report), ("c/b.ips", other + "\n")]
    {
      try folder.write(Array(text.utf8), to: name)
    }
    for options in ["", "--index i.sqlite", "--index i.sqlite"] {
      let result = try Tool.shell("exec crashpadctl group --no-system \(options) a.ips b.ips c", in: folder)
      #expect(result.text.contains("2 crashes in 2 groups; 2 copies left out"), "\(options): \(result.text)")
    }
  }

  @Test func `Copies of a report count once, and the last line has their number`() throws {
    let folder = try TemporaryFolder()
    for name in ["a.ips", "b.ips", "c/a.ips"] { try folder.write(Array(Self.report.utf8), to: name) }
    try folder.write(Array((Self.report + "\n").utf8), to: "c/d.ips")
    let result = try Tool.shell("exec crashpadctl group --no-system .", in: folder)
    #expect(result.text.contains("1 crash in 1 group; 3 copies left out"), "\(result.text)")
    let document = try JSONDocument(
      Tool.shell("exec crashpadctl group --no-system --format json --index i.sqlite .", in: folder).output)
    #expect(document["crash_count"].int == 1)
    #expect(document["copy_count"].int == 3)
  }

  @Test(arguments: [("a.ips", "z.ips"), ("z.ips", "a.ips")])
  func `A crash with several forms is in the group of the one that tells most, whatever their names`(
    whole: String, partial: String
  ) throws {
    let folder = try TemporaryFolder()
    let name = #""symbol":"closure #1 in CartView.refresh()","symbolLocation":16,"#
    try folder.write(Array(Self.report.utf8), to: whole)
    try folder.write(Array(Self.report.replacing(name, with: "").utf8), to: partial)
    let expected = try signature("symbolize --format json \(whole)", folder)
    #expect(try signature("symbolize --format json \(partial)", folder) != expected)
    for index in ["", "--index i.sqlite"] {
      let printed = try Tool.shell("exec crashpadctl group --no-system --format json \(index) .", in: folder)
      let document = try JSONDocument(printed.output)
      #expect(document["copy_count"].int == 1)
      #expect(document["groups"].array.map { $0["text"].string } == [expected[1]])
    }
  }

  @Test func `A dump and the minidump that convert makes of it are one crash, whatever the minidump's name`() throws {
    let folder = try TemporaryFolder()
    let id = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
    try folder.write(SynthDump(.tiny(seed: 3)).bytes, to: "com.example.app@\(id)")
    try folder.write(SynthDump(.tiny(seed: 4)).bytes, to: "other.idump")
    let result = try Tool.shell(
      """
      crashpadctl convert -q com.example.app@\(id) -o first.dmp
      crashpadctl convert -q other.idump -o second.dmp
      crashpadctl inspect --format json first.dmp > first.json; crashpadctl inspect --format json second.dmp > second.json
      exec crashpadctl group --no-system --format json com.example.app@\(id) first.dmp
      """, in: folder)
    let document = try JSONDocument(result.output)
    #expect(document["crash_count"].int == 1)
    #expect(document["copy_count"].int == 1)
    #expect(try JSONDocument(Data(folder.bytes(of: "first.json")))["process"]["report_id"].string == id)
    #expect(try JSONDocument(Data(folder.bytes(of: "second.json")))["process"]["report_id"].string == nil)
  }

  @Test(arguments: ["report.ips", "dump.idump"])
  func `Redaction keeps the signature`(name: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.report.utf8), to: "report.ips")
    try folder.write(SynthDump(.tiny(seed: 3)).bytes, to: "dump.idump")
    let redacted = try Tool.shell("crashpadctl redact -o redacted-\(name) \(name)", in: folder)
    #expect(redacted.status == 0, "\(redacted.errorText)")
    let after = try signature("symbolize --format json redacted-\(name)", folder)
    #expect(try signature("symbolize --format json \(name)", folder) == after)
  }

  @Test(.enabled(if: Machine.hasTerminals, "\(Machine.noTerminals)"))
  func `A narrow terminal still shows what a group is`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.report.utf8), to: "report.ips")
    let older = Self.report.replacing("2.7", with: "2.6")
      .replacing("closure #1 in CartView.refresh()", with: "Cart.total()").replacing("5C3E0C11", with: "5C3E0C12")
    try folder.write(Array(older.utf8), to: "older.ips")
    let result = try Tool.shell(
      "script -qec 'stty cols 40; crashpadctl group older.ips report.ips' /dev/null </dev/null", in: folder)
    let lines = result.text.split(whereSeparator: \.isNewline)
    #expect(lines.allSatisfy { $0.count <= 40 }, "\(result.text)")
    #expect(result.text.contains("new in 2.7"), "\(result.text)")
    #expect(result.text.contains("gone since 2.7"), "\(result.text)")
  }
}
