// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import Foundation
import Testing

/// Each text that a report holds reaches the snapshot, whose parts `CrashpadViewTests` finds in the view of a crash.
struct ReportLeafTests {
  /// A leaf of a sample: a text of JSON with its key, or a line of a header with its label.
  private struct Leaf {
    let name: String
    /// The place behind its last character, where a mark is inserted.
    let end: String.Index
  }

  private static let mark = "zqx"

  /// The leaves whose texts are not in the snapshot, and why.
  private static let notRead: [String: String] = [
    // Behind a number, a text has no meaning.
    "mac Crashed Thread:": "a number", "arm Crashed Thread:": "a number", "phone Triggered by Thread:": "a number",
    "watchdog Triggered by Thread:": "a number", "dyld Triggered by Thread:": "a number",
    "old Highlighted Thread:": "a number", "old Unknown thread crashed with unknown flavor:": "a heading of registers",
    "mac Writable regions:": "a sum over the memory of the process",
    // The header in front of the body repeats what the body says.
    "writes app_name": "the body has it", "writes os_version": "the body has it", "writes timestamp": "the body has it",
    "wakeups app_name": "the body has it", "wakeups os_version": "the body has it", "wakeups name": "the body has it",
    "ips app_name": "the body has it",
    "vision Triggered by Thread:": "a number", "loader Crashed Thread:": "a number",
    "deadlock Crashed Thread:": "a number",
    "stackshot app_name": "the body has it", "stackshot timestamp": "the body has it",
    "stackshot os_version": "the body has it",
    "panic app_name": "the name of the report", "panic os_version": "the body has it",
    "panic timestamp": "the body has it", "reset app_name": "the name of the report",
    "reset os_version": "the body has it", "reset timestamp": "the body has it", "elided app_name": "the body has it",
    "simulator app_name": "the body has it", "simulator os_version": "the body has it",
    "warning app_name": "the body has it",
    // Texts that are zeros, or digits that end a number.
    "deadlock Exception Type:": "a deadlock has none", "deadlock Exception Codes:": "a deadlock has none",
    "simulator beforePC": "bytes, which end at their padding",
    "cpu timeStampBegin": "a time", "disk timeStampBegin": "a time", "memory timeStampBegin": "a time",
    "launch timeStampBegin": "a time", "spindump Process:": "the header names it",
    "spindump Command:": "a name and a number",
    "spindump Num samples:": "the trees have them", "spindump Architecture:": "its beginning counts",
    "stackshot procname": "of the other process", "outOfMemory type": "the kind of the end",
    "outOfMemory memory_level": "that at the end counts", "zombie type": "which part of the error holds",
    "zombie object_name": "the list of images has it", "deadlockJSON type": "the kind of the end",
    "servicePage Crashed:": "the line below says it again", "serviceException Fatal Exception:": "the same",
    "wholeSpindump Process:": "a stackshot is of none", "wholeSpindump Path:": "the same",
    "wholeSpindump UUID:": "the same", "wholeSpindump Num samples:": "the trees have them",
    "wholeSpindump Architecture:": "its beginning counts",
    // Facts about the form of the report.
    "hang version": "the version of the form", "metricKit version": "the version of the form",
    "ips flavor": "the kind of registers", "swiftJSON kind": "the kind of the report, and of frames",
    // Texts that stand twice.
    "hang binaryName": "the first frame of the image names it",
    "hang binaryUUID": "the first frame of the image has it",
    "swiftJSON image": "the list of images has it", "ksCrash object_name": "the list of images has it",
    "metricKit bundleIdentifier": "the first diagnostic has it",
    // Known losses.
    "metricKit timeStampBegin": "the start of the day that the payload is about",
    "metricKit hangDuration": "only the first diagnostic of a payload is read",
    "ips description": "the processor's state of threads that did not crash",
    "swiftJSON description": "the words of the signal", "ksCrash type": "which part of the error holds",
  ]

  private static let samples =
    SampleReports.all + SampleReports.forms + SampleReports.formsInJSON
    + SampleReports.pastes

  @Test(arguments: samples.map(\.name))
  func `Each text of a report is in its snapshot`(_ name: String) throws {
    let text = try #require(Self.samples.first { $0.name == name }?.text)
    let before = Facts(Reading(text)).texts
    var lost: Set<String> = []
    for leaf in text.contains("{\n") || text.hasPrefix("{") ? Self.jsonLeaves(text) : Self.lines(text) {
      var changed = text
      changed.insert(contentsOf: Self.mark, at: leaf.end)
      let after = Facts(Reading(changed)).texts
      // A value that is no text, such as a time or a UUID, is another one or is missing.
      if !after.contains(where: { $0.contains(Self.mark) }), after == before { lost.insert("\(name) \(leaf.name)") }
    }
    lost.subtract(Self.notRead.keys)
    #expect(lost.isEmpty, "\(lost.sorted())")
  }

  private static func jsonLeaves(_ text: String) -> [Leaf] {
    text.matches(of: /"([A-Za-z_ ]+)"\s*:\s*"((?:[^"\\]|\\.)*)"/).map { match in
      Leaf(name: String(match.1), end: match.2.endIndex)
    }
  }

  /// Lines such as "Process:  Sample [321]".
  private static func lines(_ text: String) -> [Leaf] {
    text.matches(of: /(?m)^([A-Z][A-Za-z\/ ]+:)[ \t]+(\S[^\n]*)$/).map { match in
      Leaf(name: String(match.1), end: match.2.endIndex)
    }
  }

  /// Every value of a reading as text, with texts in place of their places in the input.
  private struct Facts {
    private(set) var texts: [String] = []

    init(_ reading: Reading) {
      if let snapshot = reading.snapshot { add(snapshot, "", reading) }
      texts += reading.reading.findings.map { "\($0.rule.code) \($0.path)" }
    }

    private mutating func add(_ value: Any, _ path: String, _ reading: Reading) {
      // The bytes of texts are found by their places.
      if path.hasSuffix(".arena") { return }
      if let content = value as? SnapshotBytes { return texts.append("\(path)=\(reading.text(content) ?? "")") }
      let children = Mirror(reflecting: value).children
      if children.isEmpty { return texts.append("\(path)=\(value)") }
      for (index, child) in children.enumerated() {
        add(child.value, "\(path).\(child.label ?? String(index))", reading)
      }
    }
  }
}
