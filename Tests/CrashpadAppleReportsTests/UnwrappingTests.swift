// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Reports are read from mails, logs and documents, or refused: never read with other facts than those of the plain report.
@Suite("Reports inside of other text")
struct UnwrappingTests {
  private static let texts = [
    SampleReports.phone, SampleReports.mac, SampleReports.arm, SampleReports.swiftPlain, SampleReports.panicText,
  ]

  private static var json: [String] {
    var app = SynthReport()
    app.more = [("asi", #"{"libsystem_c.dylib":["abort() called","a \"b\" & <c>:\nnext \\ line"]}"#)]
    var named = SynthReport()
    named.threads[0].frames.insert(.init(SynthReport.app, 0x4b00, "-[Größe<Int> add:to:]", plus: 4), at: 0)
    named.images[0].name = "My Demo"
    named.bugType = "309"
    var quiet = SynthReport()
    quiet.exception = nil
    quiet.threads[1].name = "a worker: 1"
    return [app.text, named.text, quiet.text]
  }

  /// All facts of a text with one report, or with several.
  private static func facts(_ bytes: [UInt8]) -> [String] {
    let reading = Reading(bytes)
    guard let snapshot = reading.snapshot, let report = snapshot.report else { return [] }
    var facts = [
      "\(reading.form.map(\.rawValue) ?? "none")", "process \(report.processName ?? "-") \(snapshot.processID ?? -1)",
      "path \(report.processPath ?? "-")",
      "id \(report.bundleID ?? "-") \(report.version ?? "-") \(report.build ?? "-")",
      "time \(String(describing: snapshot.snapshotTime))", "system \(report.osText ?? "-")",
      "exception \(report.exceptionType ?? "-") \(report.exceptionSignal ?? "-") \(report.exceptionCodes ?? "-")",
      "termination \(report.termination?.namespace ?? "-") \(report.termination?.code ?? 0)",
      "panic \(report.panic?.headline ?? "-") \(report.panic?.task ?? "-")",
      "thread \(report.faultingThread ?? -1)", "incident \(report.incident ?? "-")",
    ]
    for thread in snapshot.threads {
      facts.append("thread \(thread.id ?? 0) \(reading.text(thread.name) ?? "-") \(reading.text(thread.queue) ?? "-")")
      facts += (thread.frames ?? []).map { frame(reading, $0) }
      facts += (thread.context?.generalRegisters ?? []).map { "\($0.name) \($0.value)" }
    }
    facts += report.lastException.map { "last " + frame(reading, $0) }
    for module in snapshot.modules {
      facts.append("image \(reading.text(module.name) ?? "-") \(module.address ?? 0) \(module.size ?? 0)")
      facts.append("\(String(describing: module.identity))")
    }
    return facts
  }

  private static func frame(_ reading: Reading, _ frame: RecordedFrame) -> String {
    "\(frame.address) \(reading.image(frame) ?? "-") \(frame.function ?? "-") \(frame.functionOffset ?? 0) "
      + "\(frame.file ?? "-") \(frame.line ?? 0)"
  }

  enum Outcome: Hashable {
    case equal, refused, other
  }

  private static func outcome(_ wrapped: [UInt8], _ plain: String) -> Outcome {
    switch unsafe Unwrapper.unwrap(wrapped.span.bytes) {
    case .plain: facts(wrapped) == facts(Array(plain.utf8)) ? .equal : Reading(wrapped).form == nil ? .refused : .other
    case .unwrapped(let unwrapping):
      facts(unwrapping.bytes) == facts(Array(plain.utf8))
        ? .equal : Reading(unwrapping.bytes).snapshot == nil ? .refused : .other
    case .several: .other
    case .refused: .refused
    }
  }

  /// The first fact that a wrapped report lacks or adds.
  private static func difference(_ wrapped: [UInt8], _ plain: String) -> String {
    var bytes = wrapped
    switch unsafe Unwrapper.unwrap(wrapped.span.bytes) {
    case .unwrapped(let unwrapping): bytes = unwrapping.bytes
    case .several: return "several reports"
    case .plain, .refused: break
    }
    let (read, expected) = (facts(bytes), facts(Array(plain.utf8)))
    let first = zip(read, expected).first { $0 != $1 }
    return first.map { "\($0) in place of \($1)" } ?? "\(read.count) facts in place of \(expected.count)"
  }

  @Test("47 wrappings of each of five texts")
  func texts() { check(Wrapping.ofText, Self.texts, count: 47) }

  @Test("49 wrappings of each of three reports in JSON")
  func json() { check(Wrapping.ofJSON, Self.json, count: 49) }

  private func check(_ wrappings: [Wrapping], _ reports: [String], count: Int) {
    #expect(wrappings.count == count)
    var counts: [Outcome: Int] = [:]
    for report in reports {
      #expect(Self.facts(Array(report.utf8)).count > 10)
      for wrapping in wrappings {
        let outcome = Self.outcome(wrapping.apply(report), report)
        counts[outcome, default: 0] += 1
        #expect(outcome == (wrapping.isRefused ? .refused : .equal), "\(wrapping.name): \(report.prefix(60))")
      }
    }
    print("\(count) wrappings of \(reports.count): \(counts[.equal] ?? 0) read equal, \(counts[.refused] ?? 0) refused")
  }

  @Test(
    "A mail whose lines end at blanks", arguments: [SampleReports.phone, SampleReports.arm, SampleReports.swiftPlain])
  func filled(_ report: String) {
    let wrapped = Wrapping.filled.apply(report)
    #expect(Self.outcome(wrapped, report) == .equal, "\(Self.difference(wrapped, report))")
  }

  @Test("Two wrappings, one inside of the other")
  func pairs() {
    var counts: [Outcome: Int] = [:]
    var choice = Soak.random()
    let unseen = (0..<Soak.times(1000, or: 0)).map { _ in choice.between(2000, 1 << 30) }
    // The first ones are of kinds that were read wrong.
    let known = [
      169, 599, 1069, 1118, 1175, 1194, 1566, 1766, 412_950_011, 492_219_140, 554_308_961, 622_745_080, 633_570_387,
      706_805_123,
      745_228_362, 773_682_866,
      776_211_214,
      793_342_467, 861_532_406,
      873_163_090, 877_402_832, 934_146_856, 970_901_725,
    ]
    for round in known + Array(0..<Soak.times(2000, or: 60)) + unseen {
      var random = SplitMix64(seed: UInt64(round), area: 30)
      let isText = random.oneIn(2)
      let reports = isText ? Self.texts : Self.json
      let wrappings = isText ? Wrapping.ofText : Wrapping.ofJSON
      let report = reports[random.below(reports.count)]
      let inner = wrappings[random.below(wrappings.count)]
      let outer = wrappings[random.below(wrappings.count)]
      // Broken lines and letters in place of bytes leave no report that another wrapping could be seen around.
      guard !inner.isRefused, !outer.isRefused, !outer.breaksLines, !outer.name.hasPrefix("mail of"),
        inner.name != outer.name || inner.name.hasPrefix("HTML entities"), !outer.name.hasPrefix("indented JSON"),
        !inner.name.hasPrefix("mail of"),
        // A blank at the start of a broken line may be taken for that of the marks, and the line for one that ended at a blank.
        !(inner.breaksLines && outer.name.hasSuffix("two widths")),
        // A mark of pages on a line with a time stamp leaves a blank line.
        inner.name != "pages",
        let text = String(bytes: inner.apply(report), encoding: .utf8), !text.contains("\0")
      else { continue }
      let outcome = Self.outcome(outer.apply(text), report)
      counts[outcome, default: 0] += 1
      #expect(
        outcome != .other,
        "\(inner.name) in \(outer.name), round \(round): \(Self.difference(outer.apply(text), report))")
    }
    print("pairs of wrappings: \(counts[.equal] ?? 0) read equal, \(counts[.refused] ?? 0) refused")
    #expect(counts[.equal, default: 0] > counts[.refused, default: 0] * 4)
  }

  @Test("Entities of entities, in any spelling, are no plain report", arguments: ["&#60;", "&#x3c;", "&lt;", "&LT;"])
  func entities(_ spelling: String) {
    for depth in 0..<4 {
      for report in Self.texts {
        var text = report.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: spelling)
        for _ in 0..<depth { text = text.replacingOccurrences(of: "&", with: "&amp;") }
        #expect(Self.outcome(Array(text.utf8), report) == .equal, "\(depth) times: \(report.prefix(60))")
      }
    }
  }

  // MARK: What is said

  private func steps(_ text: String) -> [Unwrapping.Step] {
    let bytes = Array(text.utf8)
    guard case .unwrapped(let unwrapping) = unsafe Unwrapper.unwrap(bytes.span.bytes) else { return [] }
    return unwrapping.steps
  }

  @Test("Each step says what was removed, and where it began")
  func sentences() {
    let lines = SampleReports.phone.split(separator: "\n", omittingEmptySubsequences: false)
    let quoted = "Hello\n" + lines.map { "> " + $0 }.joined(separator: "\n")
    #expect(steps(quoted).map(\.text) == ["each line began with \"> \""])
    #expect(steps(quoted).map(\.offset) == [6])
    let some = lines.enumerated().map { $0 == 9 ? "lost\n> " + $1 : "> " + $1 }.joined(separator: "\n")
    #expect(steps(some).map(\.isUncertain) == [false, true])
    #expect(steps(some)[1].text == "1 lines between them did not, and were left as they are")
    let numbered = lines.enumerated().filter { $0.offset != 30 }.map { "\($0 + 1): \($1)" }.joined(separator: "\n")
    #expect(
      steps(numbered).map(\.text) == [
        "each line began with its number", "1 times the numbers skip lines, which are missing",
      ])
  }

  @Test("Mails break lines at blanks, and not inside of words that are longer")
  func mail() throws {
    let text = SampleReports.phone.replacingOccurrences(
      of: "Path:                /private",
      with: "Path:\n/private/a/word/that/is/longer/than/the/lines/of/mails/are/as/a/rule")
    let broken = text.replacingOccurrences(of: " (Planet.swift:42)", with: " (\nPlanet.swift:42)")
      .replacingOccurrences(of: " (Sky.m:7)", with: "\n(Sky.m:7)")
    let bytes = Array(broken.utf8)
    guard case .unwrapped(let unwrapping) = unsafe Unwrapper.unwrap(bytes.span.bytes) else {
      Issue.record("not unwrapped")
      return
    }
    #expect(unwrapping.steps.map(\.isUncertain) == [true])
    let reading = Reading(unwrapping.bytes)
    #expect(reading.frames(1).map(\.file) == ["Planet.swift", "Sky.m", nil, nil])
    #expect(reading.report?.processPath?.hasSuffix("Orrery.app/Orrery") == true)
  }

  @Test("Code in a line of Markdown ends before its mark")
  func inlineCode() {
    let text = SampleReports.mac
    let bytes = Array("It stops:\n\n`\(text.trimmingCharacters(in: .whitespacesAndNewlines))`\n".utf8)
    guard case .unwrapped(let unwrapping) = unsafe Unwrapper.unwrap(bytes.span.bytes) else {
      Issue.record("not unwrapped")
      return
    }
    #expect(!unwrapping.bytes.contains(UInt8(ascii: "`")))
  }

  @Test("A line break inside of a string of JSON is none of its characters")
  func breakInString() {
    let text = SynthReport().text.replacingOccurrences(of: "CartView.refresh()", with: "CartView.ref\nresh()")
    let bytes = Array(("Hello\n" + text).utf8)
    guard case .unwrapped(let unwrapping) = unsafe Unwrapper.unwrap(bytes.span.bytes) else {
      Issue.record("not unwrapped")
      return
    }
    #expect(Reading(unwrapping.bytes).frames(0).contains { $0.function == "CartView.refresh()" })
    #expect(unwrapping.steps.contains { $0.isUncertain })
  }

  @Test("A plain report is taken as it is")
  func plain() {
    for text in SampleReports.texts.map(\.text) + Self.json {
      let bytes = Array(text.utf8)
      guard case .plain = unsafe Unwrapper.unwrap(bytes.span.bytes) else {
        Issue.record("\(text.prefix(80))")
        continue
      }
    }
  }

  @Test("Offsets of findings are those of the wrapped text")
  func offsets() throws {
    let folder = try TemporaryFolder()
    let text = SampleReports.phone.replacingOccurrences(of: "0x100010000 - 0x", with: "0x100010000 - 1x")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { "> " + $0 }.joined(separator: "\n")
    try folder.write(Array(lines.utf8), to: "quoted.txt")
    let result = try Tool.shell("crashpadctl validate quoted.txt", in: folder)
    let place = try #require(lines.range(of: "0x100010000 - 1x")).lowerBound
    let offset = String(lines.utf8.distance(from: lines.startIndex, to: place), radix: 16)
    #expect(result.text.contains("quoted.txt:0x\(offset): warning: A binary image can't be read"), "\(result.text)")
    #expect(result.text.contains("quoted.txt:0x0: note: The report was embedded in other text, which was removed: "))
  }

  @Test("A document without a report is refused by its name")
  func refusals() throws {
    let folder = try TemporaryFolder()
    let texts: [(bytes: [UInt8], words: String)] = [
      (Array("{\\rtf1\\ansi Hello}".utf8), "is an RTF document whose text holds no report"),
      (
        [0xff, 0xfe] + "Hello there".utf16.flatMap { [UInt8($0 & 0xff), 0] },
        "is UTF-16 or UTF-32 text without a report"
      ),
      (
        [UInt8](Data(SampleReports.phone.utf8).base64EncodedData()), "is a report in base64; base64 -d decodes it"
      ),
      (
        Array(("{\"text\":\"" + SampleReports.phone.replacingOccurrences(of: "\n", with: "\\n")).utf8),
        "is a report in a string that is broken into lines or cut"
      ),
    ]
    for (bytes, words) in texts {
      try folder.write(bytes, to: "input")
      let result = try Tool.shell("crashpadctl inspect input", in: folder)
      #expect(result.status == 65)
      #expect(result.errorText == "input: error: \(words)\n")
    }
  }

  @Test("One thread alone is read with its number")
  func oneThread() {
    let text = "Thread 4 Crashed:\n0   App   0x0000000100004010 main + 16\n1   App   0x0000000100004100 start + 4\n"
    let reading = Reading(text)
    #expect(reading.form == .crash)
    #expect(reading.snapshot?.threads.map(\.number) == [4])
    #expect(reading.report?.faultingThread == 0)
    #expect(reading.frames(0).map(\.function) == ["main", "start"])
  }

  // MARK: Several reports

  private static let second = SampleReports.phone.replacingOccurrences(of: "[4711]", with: "[4712]")

  @Test("Reports behind one another are parts", arguments: [0, 1, 2, 3, 4])
  func several(_ form: Int) throws {
    let folder = try TemporaryFolder()
    let other = SynthReport().text.replacingOccurrences(of: #""pid" : 812"#, with: #""pid" : 813"#)
    let (text, pids): (String, [String]) =
      switch form {
      case 0: (SampleReports.phone + Self.second, ["4711", "4712"])
      case 1: (SynthReport().text + other, ["812", "813"])
      case 2: ("One:\n```\n\(SampleReports.phone)```\nTwo:\n```\n\(Self.second)```\n", ["4711", "4712"])
      case 3:
        (
          "[\(SynthReport().body),\(SynthReport().body.replacingOccurrences(of: ": 812", with: ": 813"))]",
          ["812", "813"]
        )
      default: (SampleReports.mac + SampleReports.mac.replacingOccurrences(of: "[815]", with: "[816]"), ["815", "816"])
      }
    try folder.write(Array(text.utf8), to: "two.txt")
    let validated = try Tool.shell("crashpadctl validate two.txt", in: folder)
    #expect(validated.errorText.contains("2 dumps"), "\(validated.errorText)")
    for (index, pid) in pids.enumerated() {
      let result = try Tool.shell("crashpadctl inspect two.txt/\(index + 1)", in: folder)
      #expect(result.text.contains("pid \(pid)"), "\(result.text) \(result.errorText)")
    }
    #expect(try Tool.shell("crashpadctl inspect two.txt | grep -c 'pid 81\\|pid 471'", in: folder).text == "2\n")
    #expect(try Tool.shell("crashpadctl inspect two.txt/3", in: folder).status == 66)
    #expect(try Tool.shell("crashpadctl inspect - <two.txt", in: folder).status == 65)
  }

  @Test("Two reports in one file are two crashes")
  func counted() throws {
    let folder = try TemporaryFolder()
    let other = Self.second.replacingOccurrences(of: "0D0C0B0A-", with: "1D0C0B0A-")
    try folder.write(Array((SampleReports.phone + other).utf8), to: "two.crash")
    let grouped = try Tool.shell("crashpadctl group two.crash | tail -n 1", in: folder)
    #expect(grouped.text == "2 crashes in 1 group\n", "\(grouped.text) \(grouped.errorText)")
  }

  // MARK: Bounds

  @Test("Hostile texts take no longer than their length")
  func bounds() {
    let seeds = [
      "> ", "\n", "{", "[", "\"", "\\", "\\n", "<br>", "&lt;", "=\n", "Incident Identifier: ", "Process: a [1]\n",
      "Thread 0 Crashed:\n", "```\n", "{\"app_name\":1}\n", "1: ", "2026-03-14T15:09:26Z ", "\u{a0}", "\\u12",
      "{\\rtf1",
      "\\'", "\r", "> > ", "Exception Type: EXC_\n", "0x1 - ", "[{", "\"\\n", "a:", "\"bug_type\":", "<p>", "{\"a\":[",
      "\\\\\"", "{\"a\":1}\n", "<b ", "<b <",
      "Incident Identifier:\nException Type:\n",
    ]
    let starts = ["", "> Process: a [1]\n> Exception Type:  EXC\n", "{\"bug_type\":\"309\",", "{\\rtf1 ", "<html>"]
    for (start, seed) in Soak.some(14, of: starts.flatMap { start in seeds.map { (start, $0) } }) {
      let times = [20_000, 80_000].map { count in
        let bytes = Array((start + String(repeating: seed, count: count / seed.utf8.count)).utf8)
        return ProcessorTime.measure { _ = unsafe Unwrapper.unwrap(bytes.span.bytes) }
      }
      // Squares would take 16 times as long; small times are mostly noise.
      #expect(times[1] < max(times[0] * 12, 800_000_000), "\(start)\(seed): \(times)")
    }
  }

  @Test("Mutated wrappings give an answer, and no offset outside of the text")
  func mutations() {
    for round in 0..<Soak.times(4000, or: 100) {
      var random = SplitMix64(seed: UInt64(round), area: 31)
      let isText = random.oneIn(2)
      let wrappings = isText ? Wrapping.ofText : Wrapping.ofJSON
      var bytes = wrappings[random.below(wrappings.count)].apply(isText ? SampleReports.phone : SynthReport().text)
      for _ in 0..<random.between(1, 8) {
        let place = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + random.below(200)))
        default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + random.below(200))], at: place)
        }
        if bytes.count < 2 { break }
      }
      let result = unsafe Unwrapper.unwrap(bytes.span.bytes)
      let parts: [Unwrapping] =
        switch result {
        case .plain, .refused: []
        case .unwrapped(let one): [one]
        case .several(let all): all
        }
      for part in parts {
        #expect(part.steps.allSatisfy { ($0.offset ?? 0) <= bytes.count })
        for offset in stride(from: 0, to: part.bytes.count, by: 97) {
          #expect((part.source(of: offset) ?? 0) <= bytes.count)
        }
        #expect(Reading(part.bytes).isSound)
      }
    }
  }
}
