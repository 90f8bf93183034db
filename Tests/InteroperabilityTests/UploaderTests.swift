// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Crashpad's own uploads: `CRASHPAD_UPLOADER` names a program that is called as `DATABASE URL [--no-gzip]`, and does
/// with the pending reports what Crashpad's handler does when it starts.
@Suite(
  "Crashpad's own uploader",
  .enabled(if: Peers.crashpadUploader != nil, "CRASHPAD_UPLOADER names no program"))
struct UploaderTests {
  struct Report {
    var content: [UInt8]
    /// The content is an intermediate dump, of which the report is made.
    var isDump = false
    var attachments: [(name: [UInt8], text: String)] = []
  }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static var oddNames: AnnotatedMinidump {
    var dump = AnnotatedMinidump([
      "prod": "\u{c4}pp & S\u{f6}hne/1", "ver": "1.2 \"beta\" 100%\r\n+~-_.!*()", "a\"quote": "v", "a\nline": "v",
      "a\r\nboth": "v", "a%percent": "%41", "n\u{e4}me": "v\u{e4}lue \u{2603}", "": "of no name", "empty": "",
      "b[x];y": "--boundary\r\n--", "Z": "upper", "a": "lower", "tab\tname": "tab\t", "back\\slash": "\\",
      "\u{1}": "\u{1}\u{7f}", "value": "a\0b",
    ])
    dump.annotations.append((text("bad") + [0xff, 0xfe], [0xff, 0xfe, 0x80]))
    return dump
  }

  private static var merged: AnnotatedMinidump {
    var dump = AnnotatedMinidump([
      "prod": "process", "x": "process", "list_annotations": "mine", "guid": "mine", "upload_file_minidump": "mine",
    ])
    dump.modules = [
      AnnotatedMinidump.Module(
        messages: [text("one"), text("two\nlines"), [], [0xff]],
        simple: [(text("x"), text("0")), (text("y"), text("0"))],
        objects: [
          (text("y"), 1, text("object")), (text("z"), 1, text("object")), (text("number"), 2, text("abcd")),
          (text("own"), 0x8000, text("u")), (text("z"), 1, text("again")), (text("nul"), 1, [97, 0, 98]),
          (text("none"), 0, []), (text("empty"), 1, []),
        ]),
      AnnotatedMinidump.Module(),
      AnnotatedMinidump.Module(
        messages: [text("three")], simple: [(text("z"), text("2")), (text("ver"), text("of a module"))],
        objects: [(text("w"), 1, text("2")), ([0xff, 98], 1, [0xfe])]),
    ]
    return dump
  }

  /// Reports that both send alike, by name.
  private static func reports() -> [(name: String, report: Report)] {
    let plain = AnnotatedMinidump(["prod": "App", "ver": "1.2.3", "plat": "iOS"]).bytes
    var emptyMessage = AnnotatedMinidump(["prod": "App"])
    emptyMessage.modules = [AnnotatedMinidump.Module(messages: [[]])]
    var list: [(String, Report)] = [
      ("plain", Report(content: plain)), ("odd names", Report(content: oddNames.bytes)),
      ("merged", Report(content: merged.bytes)), ("an empty message", Report(content: emptyMessage.bytes)),
      ("no annotations", Report(content: AnnotatedMinidump().bytes)), ("nothing", Report(content: [])),
      ("no minidump", Report(content: text("no minidump\r\n--"))),
      (
        "attachments",
        Report(
          content: AnnotatedMinidump(["prod": "App", "field": "1"]).bytes,
          attachments: [
            (text("log.txt"), "log"), (text("a\"quote"), "q"), (text("a%percent"), "p"), (text("a\nline"), "l"),
            (text("\u{fc}mlaut"), "u"), (text("bad") + [0xff], "bad"), (text("z"), "behind"), (text("Upper"), "up"),
            (text("empty"), ""), (text("a space"), "s"), (text(".hidden"), "h"),
          ])
      ),
      (
        "an attachment with the name of a field",
        Report(
          content: AnnotatedMinidump(["log": "field", "x": "y"]).bytes, attachments: [(text("log"), "attachment")])
      ),
    ]
    for subject in Subject.all {
      list.append((subject.label, Report(content: SynthDump(subject.parameters).bytes, isDump: true)))
    }
    return list
  }

  /// Minidumps that Crashpad refuses to read, so that it sends none of their annotations. The tool reads what there is.
  private static func unread() -> [(name: String, report: Report)] {
    let plain = AnnotatedMinidump(["prod": "App"])
    var twice = plain
    twice.annotations += twice.annotations
    var bare = plain
    bare.hasCrashpadInfo = false
    bare.modules = [AnnotatedMinidump.Module()]
    return [
      ("cut off", Report(content: Array(plain.bytes.prefix(100)))),
      ("the header only", Report(content: text("MDMP") + [UInt8](repeating: 0, count: 28))),
      ("a name twice", Report(content: twice.bytes)), ("nothing of Crashpad's", Report(content: bare.bytes)),
    ]
  }

  private static func id(_ number: Int) -> String {
    let digits = String(number)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  /// The outcome of a report, in the order of attempts.
  private struct Upload: Equatable {
    var target = ""
    var contentType = ""
    var encoding: String?
    /// Names, files' names, types, checksums.
    var parts: [[String]] = []
    var fields: [[String]] = []
    /// The size of the form, not compressed; boundaries have one length.
    var size = 0
  }

  private func uploads(_ collected: URL, _ path: String) throws -> [String: Upload] {
    var uploads: [String: Upload] = [:]
    let lines = try String(decoding: Data(contentsOf: collected.appending(path: "log.ndjson")), as: UTF8.self)
    for line in lines.split(separator: "\n") {
      let event = try JSONDocument(Data(line.utf8))
      guard event["event"].string == "request", let target = event["target"].string, target.hasPrefix(path) else {
        continue
      }
      #expect(event["problem"].isNull)
      let headers = Dictionary(
        event["headers"].array.map { (($0.array[0].string ?? "").lowercased(), $0.array[1].string ?? "") }
      ) { $0 + "," + $1 }
      #expect(headers["expect"] == nil)
      var upload = Upload(target: String(target.dropFirst(path.count)))
      upload.contentType = String((headers["content-type"] ?? "").prefix { $0 != "=" })
      upload.encoding = headers["content-encoding"]
      upload.parts = event["parts"].array.map { part in
        [
          part["name"].string, part["file_name"].string, part["type"].string, part["size"].int.map(String.init),
          part["crc32"].int.map(String.init),
        ].map { $0 ?? "-" }
      }
      upload.size = event["body_size"].int ?? -1
      let number = try #require(event["number"].int)
      upload.fields = try JSONDocument(Data(contentsOf: collected.appending(path: "\(number)/fields.json"))).array
        .map { $0.array.map { $0.string ?? "-" } }
      uploads[try #require(event["report"].string)] = upload
    }
    return uploads
  }

  /// Two copies of one database, one for each.
  private func prepare(_ reports: [(name: String, report: Report)], in folder: TemporaryFolder) throws {
    let created = try Tool.shell(
      "crashpadctl database create -d ours && crashpadctl database settings -d ours --uploads-enabled yes", in: folder)
    try #require(created.status == 0, "\(created.errorText)")
    for (number, (_, report)) in reports.enumerated() {
      var content = report.content
      if report.isDump {
        try folder.write(content, to: "crash.idump")
        let options = ["--annotation", "prod=App", "--annotation", "ver=1.2"]
        let result = try Tool.run(["convert", "crash.idump", "-o", "crash.dmp"] + options, in: folder)
        try #require(result.status == 0, "\(result.errorText)")
        content = try folder.bytes(of: "crash.dmp")
      }
      let id = Self.id(number)
      try folder.write(content, to: "ours/pending/\(id).dmp")
      let zeros = [UInt8](repeating: 0, count: 15)
      try folder.write([1] + zeros + [1] + zeros, to: "ours/pending/\(id).meta")
      for (name, text) in report.attachments {
        try folder.write([], to: "ours/attachments/\(id)/.keep")
        let path = Array(folder.url("ours/attachments/\(id)/").path.utf8) + Array("/".utf8) + name + [0]
        let file = unsafe path.withUnsafeBufferPointer { bytes in
          unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe fopen($0.baseAddress!, "w") }
        }
        let stream = try unsafe #require(file)
        unsafe fputs(text, stream)
        unsafe fclose(stream)
        try FileManager.default.removeItem(at: folder.url("ours/attachments/\(id)/.keep"))
      }
    }
    #expect(try Tool.shell("cp -a ours theirs", in: folder).status == 0)
  }

  /// The requests of both for copies of one database, by the reports' names.
  private func send(_ reports: [(name: String, report: Report)], gzip: Bool) throws
    -> [(name: String, ours: Upload, theirs: Upload)]
  {
    let folder = try TemporaryFolder()
    try prepare(reports, in: folder)
    let collector = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appending(path: "collector").path
    let option = gzip ? "" : "--no-gzip"
    // The collector runs as long as the pipe is open.
    let result = try Tool.shell(
      """
      mkfifo alive; '\(collector)' --directory collected <alive >said & exec 3>alive
      while ! grep -q listening said; do sleep 0.05; done; port=$(sed -n 's/listening //p' said)
      '\(Peers.crashpadUploader ?? "")' theirs "http://127.0.0.1:$port/theirs" \(option) >/dev/null 2>&1 || exit 9
      crashpadctl upload -d ours --url "http://127.0.0.1:$port/ours" \(option); status=$?
      exec 3>&-; wait; exit $status
      """, in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    let ours = try uploads(folder.url("collected"), "/ours")
    let theirs = try uploads(folder.url("collected"), "/theirs")
    #expect(ours.count == reports.count)
    return try reports.enumerated().map { number, report in
      let id = Self.id(number)
      return (report.name, try #require(ours[id], "\(report.name)"), try #require(theirs[id], "\(report.name)"))
    }
  }

  @Test("The tool sends what Crashpad sends", arguments: [true, false])
  func same(gzip: Bool) throws {
    for (name, ours, theirs) in try send(Self.reports(), gzip: gzip) { #expect(ours == theirs, "\(name)") }
  }

  @Test("The tool sends the same file of a report that Crashpad cannot read, and what it can read of its annotations")
  func unread() throws {
    for (name, ours, theirs) in try send(Self.unread(), gzip: true) {
      #expect(theirs.fields.isEmpty && theirs.target.isEmpty, "\(name)")
      #expect(ours.parts.filter { $0[1] != "-" } == theirs.parts, "\(name)")
      #expect(ours.fields.contains(["prod", "App"]) == (name == "a name twice"), "\(name)")
    }
  }

  @Test("The tool sends what Crashpad sends of annotations of any bytes")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    // No NUL in names, where Crashpad cuts them off, and no name twice in one list, which it does not read.
    func name(_ random: inout SplitMix64) -> [UInt8] {
      if Bool.random(using: &random) {
        return Self.text(["prod", "ver", "guid", "a", "b"].randomElement(using: &random)!)
      }
      return (0..<Int.random(in: 0..<5, using: &random)).map { _ in UInt8.random(in: 1...255, using: &random) }
    }
    func value(_ random: inout SplitMix64) -> [UInt8] {
      (0..<Int.random(in: 0..<20, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    func pairs(_ random: inout SplitMix64) -> [AnnotatedMinidump.Pair] {
      var pairs: [[UInt8]: [UInt8]] = [:]
      for _ in 0..<Int.random(in: 0..<6, using: &random) { pairs[name(&random)] = value(&random) }
      return pairs.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
    }
    let reports = (0..<60).map { number in
      var dump = AnnotatedMinidump()
      dump.clientID = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
      dump.annotations = pairs(&random).map { pair in
        // Crashpad's URL ends at a NUL.
        (pair.name, pair.value.map { $0 == 0 ? 1 : $0 })
      }
      dump.modules = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
        AnnotatedMinidump.Module(
          messages: (0..<Int.random(in: 0..<3, using: &random)).map { _ in value(&random) },
          simple: pairs(&random).map { ($0.name, $0.value.map { $0 == 0 ? 1 : $0 }) },
          objects: pairs(&random).map {
            ($0.name, [0, 1, 1, 1, 2, 0x8000].randomElement(using: &random)!, $0.value.map { $0 == 0 ? 1 : $0 })
          })
      }
      return ("random \(number), seed \(seed)", Report(content: dump.bytes))
    }
    for (name, ours, theirs) in try send(reports, gzip: true) { #expect(ours == theirs, "\(name)") }
  }
}
