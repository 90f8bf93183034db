// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@Suite("symbolize --format crash")
struct CrashFormTests {
  /// The pair of a real `.ips` and the text that another program made of it. Lines that differ, with the reason.
  @Test(
    "The text of a real .ips is that of another program, but for these lines",
    .enabled(if: RealReports.names.contains("ips2crashlog-source.ips"), "the real reports are not beside the project"))
  func pair() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.run(
      ["symbolize", "--format", "crash", RealReports.folder.appendingPathComponent("ips2crashlog-source.ips").path],
      in: folder)
    #expect(result.status == 0)
    var ours = result.text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    let text = try String(
      contentsOf: RealReports.folder.appendingPathComponent("ips2crashlog-target.txt"), encoding: .utf8)
    // Console puts a title before the text, and the .ips behind it: neither is a part of the crash.
    let all = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(all.firstIndex { $0.hasPrefix("Incident Identifier") })
    let end = try #require(all.firstIndex(of: "EOF"))
    var theirs = all[start...end]
    var reasons: [String] = []
    while let line = theirs.popFirst() {
      let next = ours.popFirst()
      let own = try #require(next)
      if own == line { continue }
      if line.hasSuffix("vector[] index out of bounds"), theirs.first == " + 0 [inlined]" {
        // The name holds a line feed, which would end the line; ours is escaped.
        _ = theirs.popFirst()
        #expect(own.hasPrefix(line) && own.hasSuffix("\\n [inlined]"))
        reasons.append("line feed")
      } else if line.contains(" _ZZN10transitLib15TripPlanBuilder14executeRequest") {
        // The program leaves this name mangled.
        #expect(own.contains(" auto transitLib::TripPlanBuilder::executeRequest(") && own.prefix(50) == line.prefix(50))
        reasons.append("mangled")
      } else {
        Issue.record("\(line)\n\(own)")
      }
    }
    #expect(!ours.contains { !$0.isEmpty })
    #expect(reasons == ["line feed", "mangled"])
  }

  @Test("The output of convert --to json is read as the report itself", arguments: SampleReports.all.indices)
  func roundTrip(_ index: Int) throws {
    let folder = try TemporaryFolder()
    let sample = SampleReports.all[index]
    try folder.write(Array(sample.text.utf8), to: "a.crash")
    // A payload of several diagnostics is converted one by one.
    let name = try Tool.shell("crashpadctl inspect a.crash 2>&1 | grep -q '^a.crash/2' && echo a.crash/2", in: folder)
      .text
    let input = name.isEmpty ? "a.crash" : "a.crash/2"
    let result = try Tool.shell(
      """
      crashpadctl convert --to json \(input) -o a.json && crashpadctl convert --to json a.json -o b.json && cmp a.json b.json
      crashpadctl symbolize --format crash \(input) > a.txt; crashpadctl symbolize --format crash a.json > b.txt
      """, in: folder)
    #expect(result.status == 0, "\(sample.name): \(result.errorText)")
    #expect(try folder.bytes(of: "a.txt") == folder.bytes(of: "b.txt"))
  }

  @Test("A signal in place of an exception keeps its code when it is converted and redacted twice")
  func signals() throws {
    let folder = try TemporaryFolder()
    let text = SampleReports.phone.replacing("EXC_BAD_ACCESS (SIGSEGV)", with: "SIGBUS").replacing(
      "Exception Subtype: KERN_INVALID_ADDRESS at 0x0000000000000010",
      with: "Exception Codes: BUS_ADRALN at 0xcd0b1c")
    try folder.write(Array(text.utf8), to: "a.crash")
    let result = try Tool.shell(
      """
      crashpadctl convert --to json a.crash -o a.json && crashpadctl convert --to json a.json -o b.json && cmp a.json b.json
      crashpadctl redact -q a.crash -o 1.json && crashpadctl redact -q 1.json -o 2.json && cmp 1.json 2.json
      crashpadctl inspect a.json | grep ^Crash
      """, in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.text.hasSuffix("SIGBUS / BUS_ADRALN at 0xcd0b1c\n"), "\(result.text)")
  }
}
