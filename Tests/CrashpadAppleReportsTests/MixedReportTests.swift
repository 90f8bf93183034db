// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import DumpSynth
import Testing
import ToolRunner

@testable import CrashpadAppleReports

/// People put what they have into one file: no report may be lost because another one is of another form.
@Suite("Reports of different forms in one file")
struct MixedReportTests {
  private static let header =
    #"{"app_name":"Orrery","timestamp":"2019-05-06 07:08:09.00 +0200","bug_type":"109","os_version":"iPhone OS 12.3 (16F156)"}"#

  private static let jetsam =
    #"{"bug_type":"298","timestamp":"2020-10-15 17:29:58.79 +0100","os_version":"iPhone OS 14.2 (18B5061e)"}"# + "\n"
    + CutReportTests.jetsam

  static let reports: [(name: String, text: String)] = [
    ("text", SampleReports.phone), ("text of a Mac", SampleReports.mac),
    ("header and text", header + "\n" + SampleReports.phone),
    ("JSON", SynthReport().text), ("stackshot", SampleReports.stackshot), ("panic", SampleReports.panic),
    ("text of a panic", SampleReports.panicText + "Mac OS version:\n20A1\n"), ("jetsam", jetsam),
    ("simulator", SampleReports.simulator), ("translation", translation),
  ]

  /// Console's export: a text, and the same report as JSON.
  private static let translation =
    "-------------------------------------\nTranslated Report (Full Report Below)\n-------------------------------------\n\n"
    + SampleReports.mac + "\n-----------\nFull Report\n-----------\n\n" + SynthReport().text

  private static func facts(_ reading: Reading) -> String {
    let report = reading.report
    let frames = reading.snapshot?.threads.map { $0.frames?.map(\.address) ?? [] } ?? []
    return "\(report?.kind ?? .crash) \(report?.processName ?? "-") \(reading.snapshot?.processID ?? -1) \(frames)"
      + " \(report?.exceptionType ?? "-") \(report?.panic?.headline ?? "-") \(report?.jetsam?.processes.map(\.name) ?? [])"
  }

  private static func parts(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    return switch unsafe Unwrapper.unwrap(bytes.span.bytes) {
    case .several(let all): all.map { facts(Reading($0.bytes)) }
    case .unwrapped(let one): [facts(Reading(one.bytes))]
    case .plain: [facts(Reading(bytes))]
    case .refused(let words): [words]
    }
  }

  @Test("Each report alone is one")
  func alone() {
    for (name, text) in Self.reports { #expect(Self.parts(text).count == 1, "\(name)") }
  }

  @Test(
    "Each pair of reports is two parts, with all facts, behind one another and in fences", arguments: reports.indices)
  func pairs(_ index: Int) {
    let (first, text) = Self.reports[index]
    for (second, other) in Self.reports {
      let expected = Self.parts(text) + Self.parts(other)
      #expect(Self.parts(text + "\n" + other) == expected, "\(first), \(second)")
      let fenced =
        "This is what I got:\n\n```\n\(text)\n```\n\nand from another phone:\n\n```\n\(other)\n```\n\nThanks!\n"
      #expect(Self.parts(fenced) == expected, "\(first), \(second), in fences")
    }
  }

  @Test("Three reports are three parts")
  func three() {
    let (text, json, panic) = (Self.reports[0].text, Self.reports[3].text, Self.reports[6].text)
    for order in [[text, json, panic], [panic, text, json], [json, panic, text]] {
      #expect(Self.parts(order.joined(separator: "\n")) == order.flatMap(Self.parts))
    }
  }

  @Test("Texts with many braces at the starts of lines take time in proportion to their bytes")
  func braces() {
    for line in ["{\n", "{\"a\":1\n", "{\"bug_type\":\"109\"}\n", "panic(cpu 1 caller 0x1): x\n"] {
      let text = SampleReports.phone + String(repeating: line, count: 20_000)
      #expect(!Self.parts(text).isEmpty)
    }
  }
}
