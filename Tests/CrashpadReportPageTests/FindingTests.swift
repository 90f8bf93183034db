// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The findings of a page are those of `validate`.
struct FindingTests {
  private static func validated(_ name: String, in folder: TemporaryFolder) throws -> [String] {
    let result = try Tool.run(["validate", "--arch", "guess", "--format", "json", name], in: folder)
    return try JSONDocument(result.output)["findings"].array.map {
      "\($0["severity"].string ?? "?") \($0["code"].string ?? "?")"
    }
  }

  /// Nil of an input without meaning, which has no page.
  private static func shown(_ name: String, in folder: TemporaryFolder) throws -> [String]? {
    let result = try Tool.run(["report", "--no-system", name, "-o", "a.html"], in: folder)
    if result.status == 65 { return nil }
    #expect([0, 1].contains(result.status), "\(result.errorText)")
    let page = String(decoding: try folder.bytes(of: "a.html"), as: UTF8.self)
    guard let section = page.components(separatedBy: "<section id=\"findings\"").dropFirst().first else { return [] }
    let rows = section.components(separatedBy: "</section>")[0].matches(
      of: /<tr><td>(?:<b class="error">)?([a-z]+)(?:<\/b>)?<\/td>.*<code>([a-z0-9-]+)<\/code><\/td><\/tr>/)
    return rows.map { "\($0.1) \($0.2)" }
  }

  private static func dumps() -> [(name: String, bytes: [UInt8])] {
    let whole = Samples.crash(threads: 3)
    var minidump = SynthMinidumpParameters()
    minidump.damage = [.strings]
    let report = """
      {"app_name":"Shop","bug_type":"309"}
      {"procName":"Shop","pid":1,"threads":[{"id":7,"frames":[]},{"id":7,"frames":[]}],
      "usedImages":[{"base":4096,"size":4096,"path":""}]}
      """
    var random = SplitMix64(seed: 5, area: 96)
    let mutated = (0..<12).map { number in
      ("\(number).idump", Mutation.several(2, on: whole, using: &random).bytes)
    }
    return [
      ("whole.idump", whole), ("cut.idump", Array(whole[..<(whole.count * 2 / 3)])),
      ("damaged.dmp", SynthMinidump(minidump).bytes), ("crash.ips", Array(report.utf8)),
    ] + mutated
  }

  @Test func `A page has the findings of validate, errors first`() throws {
    let folder = try TemporaryFolder()
    var all: Set<String> = []
    var pages = 0
    for (name, bytes) in Self.dumps() {
      try folder.write(bytes, to: name)
      guard let shown = try Self.shown(name, in: folder) else { continue }
      pages += 1
      let validated = try Self.validated(name, in: folder)
      #expect(shown.sorted() == validated.sorted(), "\(name)")
      #expect(shown.drop { $0.hasPrefix("error") }.allSatisfy { !$0.hasPrefix("error") }, "\(name)")
      all.formUnion(shown)
    }
    #expect(pages > 6)
    // Rules of reading, of the format, and of the state of the process.
    #expect(
      all.isSuperset(of: ["error truncated-value", "note missing-expected", "warning duplicate-thread"]), "\(all)")
  }

  @Test func `Findings of the JSON form have no offsets`() throws {
    let folder = try TemporaryFolder()
    var parameters = SynthParameters()
    parameters.threadCount = 0
    try folder.write(SynthDump(parameters).bytes, to: "a.idump")
    _ = try Tool.run(["convert", "--to", "json", "a.idump", "-o", "a.json"], in: folder)
    let shown = try #require(try Self.shown("a.json", in: folder))
    #expect(shown.contains("warning no-threads"))
    #expect(shown.sorted() == (try Self.validated("a.json", in: folder)).sorted())
  }
}
