// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Inputs that are compressed, or in a zip archive, are read as what they hold.
@Suite("Packed inputs")
struct PackedInputTests {
  private static let report = Array(SampleReports.phone.utf8)

  private func inspect(_ bytes: [UInt8], _ name: String = "input", options: String = "") throws -> Tool.Outcome {
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: name)
    return try Tool.shell("crashpadctl inspect \(options) \(name)", in: folder)
  }

  @Test("Files that other programs compressed are read", arguments: ["gzip -c", "xz -c", "zstd -qc"])
  func programs(_ command: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.report, to: "plain")
    let program = String(command.prefix { $0 != " " })
    guard try Tool.shell("command -v \(program)", in: folder).status == 0 else { return }
    let result = try Tool.shell(
      """
      \(command) plain >packed
      crashpadctl inspect plain | sed 's/^[a-z]*://' >expected
      crashpadctl inspect packed | sed 's/^[a-z]*://' >found
      cmp expected found && crashpadctl inspect - <packed
      """, in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.text.contains("Orrery"))
    let cut = try Tool.shell("head -c 700 packed >cut; crashpadctl inspect cut", in: folder)
    #expect(cut.status == 65)
    #expect(cut.errorText.contains("cut: error: is compressed (\(program)) and ends early"))
  }

  @Test("A zip archive is one by its first bytes, however early it ends", arguments: [4, 8, 21, 22, 30])
  func shortZip(_ count: Int) throws {
    let result = try inspect(Array(([0x50, 0x4b, 3, 4] + Array("junk and more junk and more".utf8)).prefix(count)))
    #expect(result.status == 65 && result.errorText.contains("zip") && !result.errorText.contains("intermediate dump"))
  }

  @Test("One that is damaged is refused")
  func damaged() throws {
    var bytes = Packing.gzip(Self.report)
    bytes[bytes.count - 6] ^= 1
    let result = try inspect(bytes)
    #expect(result.status == 65)
    #expect(result.errorText == "input: error: is compressed (gzip) and damaged\n")
  }

  @Test("Files that were put behind one another are one")
  func joined() throws {
    let half = Self.report.count / 2
    let bytes = Packing.gzip(Array(Self.report[..<half])) + Packing.gzip(Array(Self.report[half...]))
    #expect(try inspect(bytes).text == inspect(Self.report).text)
  }

  /// Frames of zstd without content, as pzstd writes them, and the zeros that fill up a file of xz.
  private static let between: [(program: String, bytes: String)] = [
    ("zstd", #"\120\052\115\030\004\000\000\000abcd"#), ("zstd", #"\137\052\115\030\000\000\000\000"#),
    ("xz", #"\000\000\000\000\000\000\000\000"#),
  ]

  @Test("Padding between streams is passed over, and other bytes are damage", arguments: between)
  func padding(_ program: String, _ bytes: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.report, to: "plain")
    guard try Tool.shell("command -v \(program)", in: folder).status == 0 else { return }
    let result = try Tool.shell(
      """
      fill() { printf '\(bytes)'; }
      first() { head -c 400 plain | \(program) -qc; }
      second() { tail -c +401 plain | \(program) -qc; }
      (first; fill; fill; second; fill) >between; (fill; first; second) >before
      (first; second; printf 'rest of something') >rest
      crashpadctl inspect plain | sed 's/^[a-z]*://' >expected
      for name in between\(program == "zstd" ? " before" : ""); do
        crashpadctl inspect $name | sed 's/^[a-z]*://' >found && cmp expected found || exit 3
      done
      crashpadctl inspect rest
      """, in: folder)
    #expect(result.status == 65, "\(result.text)\(result.errorText)")
    #expect(result.errorText == "rest: error: is compressed (\(program)) and damaged\n")
  }

  @Test("A member of an archive is read", arguments: [false, true])
  func members(_ isDeflated: Bool) throws {
    let archive = Packing.zip([
      .init("notes/readme.txt", Array("hello".utf8)), .init("__MACOSX/._a.crash", Self.report),
      .init("notes/a.crash", Self.report, isDeflated: isDeflated),
    ])
    #expect(try inspect(archive).text == inspect(Self.report).text)
    // A member that is compressed itself.
    let twice = Packing.zip([.init("a.crash.gz", Packing.gzip(Self.report), isDeflated: isDeflated)])
    #expect(try inspect(twice).text == inspect(Self.report).text)
  }

  @Test("An archive with none, many or secret ones is refused, with the reason")
  func archives() throws {
    let answers: [(archive: [Packing.Member], text: String)] = [
      ([.init("readme.txt", Array("hello".utf8))], "is a zip archive without a dump or report"),
      ([], "is a zip archive without a dump or report"),
      (
        [.init("a.crash", Self.report), .init("b.crash", Self.report)],
        "is an archive with 2 dumps or reports (a.crash, b.crash); name one of them, as ARCHIVE/NAME"
      ),
      ([.init("a.crash", Self.report, isEncrypted: true)], "is an encrypted zip archive; unpack it first"),
    ]
    for (archive, text) in answers {
      let result = try inspect(Packing.zip(archive))
      #expect(result.status == 65)
      #expect(result.errorText == "input: error: \(text)\n")
    }
  }

  @Test("A file that grows without bound when it is unpacked is refused")
  func bombs() throws {
    let folder = try TemporaryFolder()
    try folder.write(Packing.gzip([UInt8](repeating: 0, count: 3 << 20)), to: "large")
    let large = try Tool.shell("crashpadctl inspect --max-input-size 1M large", in: folder)
    #expect(large.status == 65)
    #expect(large.errorText.contains("large: error: is compressed (gzip) and holds more than"))
    guard try Tool.shell("command -v zstd", in: folder).status == 0 else { return }
    let bomb = try Tool.shell("head -c 200000000 /dev/zero | zstd -q >bomb; crashpadctl inspect bomb", in: folder)
    #expect(bomb.status == 65)
    #expect(bomb.errorText.contains("bomb: error: is compressed (zstd) more than any dump is"))
  }

  @Test("A report behind 4 GiB of an archive is read, and what can't be read of an archive is said")
  func largeArchives() throws {
    let folder = try TemporaryFolder()
    let zeros = 5 << 30
    let archive = Packing.largeZip([.init("a.crash", Self.report, isDeflated: true)], zeros: zeros)
    try folder.write(archive.start, to: "large.zip")
    try folder.write(archive.end, behind: zeros, to: "large.zip")
    try folder.write(Self.report, to: "plain")
    let read = try Tool.shell("crashpadctl inspect large.zip/a.crash && crashpadctl inspect large.zip", in: folder)
    let plain = try Tool.shell("crashpadctl inspect plain && crashpadctl inspect plain", in: folder)
    let text = read.text.replacing("large.zip/a.crash", with: "plain").replacing("large.zip", with: "plain")
    #expect(read.status == 0 && text == plain.text, "\(read.errorText)")
    let member = try Tool.shell("crashpadctl inspect large.zip/zeros", in: folder)
    #expect(member.errorText.contains("is compressed (zip) and holds more than"), "\(member.errorText)")

    let whole = Packing.zip([.init("a.crash", Self.report), .init("b.txt", [1])])
    let directory = whole.count - 22 - 2 * 46 - 7 - 5
    let answers: [(change: (inout [UInt8]) -> Void, text: String)] = [
      ({ $0.removeLast(30) }, "is compressed (zip) and ends early"),
      // The offset of the directory, as programs without Zip64 write it behind 4 GiB.
      ({ $0[$0.count - 6] ^= 1 }, "is compressed (zip) and damaged"),
      ({ $0[directory + 46 + 7] ^= 1 }, "is compressed (zip) and damaged"),
      // Its number among several parts.
      ({ $0[$0.count - 18] = 1 }, "is one of the parts of a zip archive in several; join and unpack them first"),
    ]
    for (change, text) in answers {
      var bytes = whole
      change(&bytes)
      let result = try inspect(bytes, "a.zip")
      #expect(result.status == 65 && result.errorText == "a.zip: error: \(text)\n", "\(result.errorText)")
    }
  }

  @Test("An archive in an archive in an archive ends somewhere")
  func nested() throws {
    var bytes = Self.report
    for _ in 0..<20 { bytes = Packing.gzip(bytes) }
    #expect(try inspect(bytes).status == 65)
  }

  @Test("Mutated archives and streams give an answer", arguments: 0..<4)
  func mutations(_ part: Int) throws {
    let folder = try TemporaryFolder()
    let bases = [
      Packing.gzip(Self.report), Packing.zip([.init("a.crash", Self.report, isDeflated: true), .init("b", [1])]),
    ]
    var names: [String] = []
    for round in 0..<60 {
      var random = SplitMix64(seed: UInt64(round), area: UInt64(part))
      var bytes = bases[round % 2]
      for _ in 0..<random.between(1, 4) {
        // The frames at the start and at the end are small.
        let place = random.oneIn(2) ? random.below(64) : bytes.count - 1 - random.below(128)
        bytes[place] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.oneIn(4) { bytes.removeLast(random.below(bytes.count)) }
      try folder.write(bytes, to: "m\(round)")
      names.append("m\(round)")
    }
    let command = names.map { "crashpadctl inspect \($0) >/dev/null 2>&1 || echo $?" }.joined(separator: "\n")
    let statuses = try Tool.shell(command, in: folder).text.split(separator: "\n")
    #expect(statuses.allSatisfy { ["1", "65"].contains($0) }, "\(Set(statuses))")
  }

  @Test("A file that is no dump says what it is")
  func foreign() throws {
    let answers: [(bytes: [UInt8], text: String)] = [
      (Array("hello world\n".utf8), "is text, not a dump or crash report"),
      (Array("h\u{e4}llo \u{1f600}".utf8), "is text, not a dump or crash report"),
      (Array("<!DOCTYPE html><html></html>".utf8), "is an HTML page, not a dump or crash report"),
      (
        Array("  {\n    \"cpu_type\" = 12;\n    name = \"/usr/lib/libA.dylib\";\n}\n".utf8),
        "is a property list of the old form, not a dump or crash report"
      ),
      ([0x89, 0x50, 0x4e, 0x47, 0xd, 0xa, 0x1a, 0xa], "is a PNG image, not a dump or crash report"),
      (
        [0xcf, 0xfa, 0xed, 0xfe, 0, 0],
        "is a Mach-O program, not a dump or crash report; crashpadctl symbolize --symbols takes it"
      ),
    ]
    for (bytes, text) in answers {
      let result = try inspect(bytes)
      #expect(result.status == 65)
      #expect(result.errorText == "input: error: \(text)\n")
    }
  }

  @Test("A file made from a secret file is as secret, and keeps the format of the name")
  func permissions() throws {
    let folder = try TemporaryFolder()
    try folder.write(Packing.gzip(Self.report), to: "a.crash.gz")
    let result = try Tool.shell(
      "chmod 600 a.crash.gz; crashpadctl convert --to json -o out.json a.crash.gz && stat -c %a out.json", in: folder)
    #expect(result.text.hasSuffix("600\n"), "\(result.errorText)")
  }

  // MARK: Parts of texts

  /// A report of apport with a value in base64, in pieces as apport compresses them.
  private static func apport(_ content: [UInt8], piece: Int) -> [UInt8] {
    let packed = Packing.gzip(content)
    let lines = stride(from: 0, to: packed.count, by: piece).map { start in
      " " + Data(packed[start..<min(start + piece, packed.count)]).base64EncodedString()
    }
    let head = "ProblemType: Crash\nArchitecture: amd64\nProcMaps:\n 55a0-55a1 r--p 0 0:0 1 /bin/wheel\nSignal: 11\n"
    return Array((head + "CoreDump: base64\n" + lines.joined(separator: "\n") + "\n").utf8)
  }

  @Test("The core of a report of apport is read", arguments: [10, 11, 12, 1000])
  func apportCore(_ piece: Int) throws {
    let whole = Self.apport(Self.report, piece: piece)
    #expect(try inspect(whole).text == inspect(Self.report).text)
    #expect(try inspect(whole + Array("Zone: 1\n more\n".utf8)).text == inspect(Self.report).text)
    let cut = try inspect(Array(whole.dropLast(40)))
    #expect(cut.status == 65 && cut.errorText == "input: error: is compressed (gzip) and ends early\n")
    let damaged = try inspect(whole.dropLast(20) + Array("*".utf8) + whole.suffix(20))
    #expect(damaged.status == 65 && damaged.errorText == "input: error: is compressed (base64) and damaged\n")
  }

  /// The body of an upload with these files, and two fields before them.
  private static func body(_ files: [(name: String, bytes: [UInt8])], lineEnd: String = "\r\n") -> [UInt8] {
    let boundary = "---MultipartBoundary-77ab---"
    var body: [UInt8] = []
    func part(_ head: [String], _ bytes: [UInt8]) {
      body += Array((["--" + boundary] + head + ["", ""]).joined(separator: lineEnd).utf8) + bytes
      body += Array(lineEnd.utf8)
    }
    part(["Content-Disposition: form-data; name=\"prod\""], Array("Wheel".utf8))
    part(["Content-Disposition: form-data; name=\"list_annotations\""], [])
    for (name, bytes) in files {
      let disposition = "content-disposition: form-data; name=\"upload_file_minidump\"; filename=\"\(name)\""
      part([disposition, "Content-Type: application/octet-stream"], bytes)
    }
    return body + Array("--\(boundary)--\(lineEnd)".utf8)
  }

  @Test("The dump in the body of an upload is read", arguments: ["\r\n", "\n"])
  func uploadBody(_ lineEnd: String) throws {
    let expected = try inspect(Self.report).text
    let one = Self.body([("notes.txt", Array("hello".utf8)), ("dump", Self.report)], lineEnd: lineEnd)
    #expect(try inspect(one).text == expected)
    #expect(try inspect(Packing.gzip(one)).text == expected)
    let packed = Self.body([("dump.gz", Packing.gzip(Self.report))], lineEnd: lineEnd)
    #expect(try inspect(packed).text == expected)
    let head = ["POST /submit HTTP/1.1", "Host: crashes", "content-type: Multipart/Form-Data; boundary=x", "", ""]
    #expect(try inspect(Array(head.joined(separator: lineEnd).utf8) + one).text == expected)
    #expect(try inspect(Array(one.dropLast(44 + 2 * lineEnd.utf8.count))).text.contains("Orrery"))
  }

  @Test("A part of the body of an upload without a name is passed over")
  func namelessPart() throws {
    let body = String(decoding: Self.body([("a.crash", Self.report)]), as: UTF8.self)
    let cut = body.replacing(
      "Content-Disposition: form-data; name=\"list_annotations\"", with: "Content-Type: text/plain")
    let result = try inspect(Array(cut.utf8))
    #expect(try result.status == 0 && result.text == inspect(Self.report).text)
  }

  @Test("One of several dumps in the body of an upload is named, and a body without a dump is refused")
  func severalInBody() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.body([("a.crash", Self.report), ("b.crash", Array(SampleReports.mac.utf8))]), to: "body")
    let both = try Tool.shell("crashpadctl inspect body", in: folder)
    #expect(both.status == 65 && both.errorText.contains("(a.crash, b.crash)"), "\(both.errorText)")
    #expect(try Tool.shell("crashpadctl inspect body/a.crash", in: folder).text.contains("Orrery"))
    try folder.write(Self.body([("notes.txt", Array("hello".utf8))]), to: "none")
    let none = try Tool.shell("crashpadctl inspect none", in: folder)
    #expect(none.status == 65 && none.errorText == "none: error: is the body of an upload without a dump or report\n")
    // The first lines of a mail, and a report below a rule.
    let mail = Array("--b1\r\nContent-Type: text/plain\r\n\r\n".utf8) + Self.report + Array("\r\n--b1--\r\n".utf8)
    #expect(try inspect(mail).text.contains("Orrery"))
    #expect(try inspect(Array("----------\n".utf8) + Self.report).text.contains("Orrery"))
  }
}
