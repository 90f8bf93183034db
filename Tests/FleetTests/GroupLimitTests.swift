// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// `group` with limits for one dump: it is left out, said and counted, and all others are as without it.
struct GroupLimitTests {
  private static let limits = "--no-system --jobs 2 --memory-limit 64MiB --dump-timeout"

  @Test(arguments: [
    ("crash", "with signal 11"), ("hang", "more than 300 ms, the limit of --dump-timeout"),
    ("memory", "the limit of --memory-limit"),
  ])
  func `One dump that exceeds a limit does not end the run`(kind: String, message: String) throws {
    let folder = try TemporaryFolder()
    try WorkerTests.writeDumps(7, to: folder)
    try folder.write(SynthDump(SynthParameters(seed: 99)).bytes, to: "POISON-\(kind).idump")
    // A busy machine may take longer for a dump that exceeds the other limit.
    let limits = Self.limits + (kind == "hang" ? " 300ms" : " 60s")
    let result = try Tool.shell(
      """
      read() { LD_PRELOAD='\(PreloadedLibrary.poison)' crashpadctl group \(limits) "$@"; }
      crashpadctl group --no-system --format json dumps/*.idump > whole.json 2> errors
      [ $? -le 1 ] || exit 9
      read --format json dumps/d[1-4].idump POISON-\(kind).idump dumps/d[5-7].idump > limited.json 2> errors
      [ $? -eq 2 ] || exit 8
      grep -q 'POISON-\(kind).idump: error: .*\(message)' errors || exit 7
      for index in 1 2; do
        read --format json --index i.sqlite dumps/*.idump POISON-\(kind).idump > index.json 2> errors
        [ $? -eq 2 ] || exit 6
        grep -q 'POISON-\(kind)' errors || exit 5
      done
      read --partial part.json dumps/*.idump POISON-\(kind).idump 2> errors; [ $? -eq 2 ]
      """, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
    func document(_ name: String) throws -> JSONDocument { try JSONDocument(Data(contentsOf: folder.url(name))) }
    let whole = try document("whole.json")
    let failed = whole["failed_count"].int ?? 0
    for name in ["limited.json", "index.json"] {
      let limited = try document(name)
      #expect(limited["groups"].array.map { $0["id"].string } == whole["groups"].array.map { $0["id"].string })
      #expect(limited["crash_count"].int == whole["crash_count"].int)
      #expect(limited["failed_count"].int == failed + 1, "\(name)")
    }
  }

  @Test func `Limits that no dump exceeds change nothing`() throws {
    let folder = try TemporaryFolder()
    try WorkerTests.writeDumps(5, to: folder)
    try folder.write(Array("MDMP, and nothing else".utf8), to: "dumps/cut.dmp")
    let result = try Tool.shell(
      """
      for options in "" "--format json" "--format csv" "--rules 1" "--compare 1" "--partial -" "--since 2020-01-01"; do
        crashpadctl group --no-system $options dumps > plain 2> plain-errors; plain=$?
        crashpadctl group --no-system --dump-timeout 1h $options dumps > limited 2> limited-errors
        [ $? -eq $plain ] && cmp plain limited && cmp plain-errors limited-errors || exit 9
      done
      crashpadctl group --dump-timeout 0 dumps 2> errors; [ $? -eq 64 ] || exit 8
      crashpadctl group --memory-limit 1GiB --html page.html dumps 2> errors; [ $? -eq 64 ]
      """, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }
}
