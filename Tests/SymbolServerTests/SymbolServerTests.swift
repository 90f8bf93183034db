// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Synchronization
import Testing
import ToolRunner

@Suite("Symbol servers")
struct SymbolServerTests {
  /// A dump, and the Breakpad file of one of its modules.
  struct Sample {
    let folder: TemporaryFolder
    let name: String
    let uuid: String
    /// The path of the file on a server.
    let path: String
    let symbols: [UInt8]

    init() throws {
      folder = try TemporaryFolder()
      var parameters = SynthParameters(architecture: .arm64, seed: 1)
      parameters.exception = .badAccess
      try folder.write(SynthDump(parameters).bytes, to: "crash.idump")
      let missing = try Tool.run(["symbolize", "--missing", "crash.idump"], in: folder)
      let line = try #require(missing.outputLines.first, "\(missing.errorText)")
      let words = line.split(separator: "\t").map(String.init)
      (name, uuid, path) = (words[0], words[1].prefix(32).lowercased(), "/" + words[3])
      symbols = Array("MODULE mac arm64 \(words[1]) \(words[0])\nPUBLIC 0 0 from_a_server\n".utf8)
    }

    func symbolize(_ servers: [FileServer], _ arguments: [String] = []) throws -> Tool.Outcome {
      try Tool.run(
        ["symbolize", "crash.idump", "--symbols-cache", "cache", "--symbols-timeout", "2s"] + arguments
          + servers.flatMap { ["--symbols-url", $0.url] }, in: folder)
    }

    /// The files in the cache, without the hidden folder.
    var kept: [String] {
      let all = FileManager.default.enumerator(atPath: folder.url("cache").path)?.allObjects as? [String] ?? []
      return all.filter { $0.hasSuffix(".sym") }
    }

    /// The files that downloads have left.
    var parts: [String] {
      (try? FileManager.default.contentsOfDirectory(atPath: folder.url("cache/.crashpadctl/parts").path)) ?? []
    }
  }

  private static func isNamed(_ outcome: Tool.Outcome) -> Bool { outcome.text.contains("from_a_server") }

  @Test("A file is downloaded once, verified, kept as others keep it, and used without the server")
  func downloading() throws {
    let sample = try Sample()
    let server = try FileServer { [sample] path in path == sample.path ? .file(sample.symbols) : .status(404) }
    let first = try sample.symbolize([server])
    #expect(Self.isNamed(first), "\(first.text)\(first.errorText)")
    #expect(first.errorText.isEmpty)
    #expect(sample.kept == [String(sample.path.dropFirst())])
    let count = server.paths.count
    #expect(Set(server.paths).count == count)
    // Files and absences are remembered.
    let second = try sample.symbolize([server])
    #expect(second.text == first.text)
    #expect(server.paths.count == count)
    let offline = try sample.symbolize([], ["--offline"])
    #expect(offline.text == first.text, "\(offline.errorText)")
  }

  @Test("A file of the cache that lost bytes in a power failure is not used, and downloaded again")
  func cutCache() throws {
    let sample = try Sample()
    let server = try FileServer { [sample] path in path == sample.path ? .file(sample.symbols) : .status(404) }
    func requests() -> Int { server.paths.filter { $0 == sample.path }.count }
    let first = try sample.symbolize([server])
    let file = sample.folder.url("cache" + sample.path)
    let origins = sample.folder.url("cache/.crashpadctl/origins")
    let origin = origins.appending(
      path: try #require(FileManager.default.contentsOfDirectory(atPath: origins.path).first))
    let known = try Data(contentsOf: origin)
    // The file has its id, and not its names; the address has no bytes, or half of them.
    let line = sample.symbols.firstIndex(of: 0x0a)! + 1
    for (bytes, facts) in [(line, known.count), (sample.symbols.count, 0), (sample.symbols.count, known.count - 3)] {
      try Data(sample.symbols[..<bytes]).write(to: file)
      try known.prefix(facts).write(to: origin)
      let offline = try sample.symbolize([], ["--offline"])
      #expect(!Self.isNamed(offline) && offline.errorText.contains("not all of its bytes"), "\(offline.errorText)")
      let count = requests()
      let outcome = try sample.symbolize([server])
      #expect(outcome.text == first.text, "\(outcome.errorText)")
      #expect(requests() == count + 1)
      #expect(try Data(contentsOf: file) == Data(sample.symbols) && Data(contentsOf: origin) == known)
    }
    // A file of another program, whose address is not known.
    try FileManager.default.removeItem(at: origins)
    let count = requests()
    #expect(try sample.symbolize([server]).text == first.text)
    #expect(requests() == count)
  }

  @Test("A kept file that can't be opened is no file that is not there")
  func closedCache() throws {
    let sample = try Sample()
    let place = sample.folder.url("cache" + sample.path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    // A circle can't be opened by any user.
    try FileManager.default.createSymbolicLink(atPath: place.path, withDestinationPath: place.lastPathComponent)
    let offline = try sample.symbolize([], ["--offline"])
    #expect(offline.errorText.contains("the cache of symbol servers can't be used"), "\(offline.errorText)")
    #expect(offline.errorText.contains(place.lastPathComponent))
  }

  @Test("The address of a server is no path of --symbols, which the message says")
  func addressAsPath() throws {
    let sample = try Sample()
    let outcome = try Tool.run(["symbolize", "crash.idump", "-s", "https://example.com/symbols"], in: sample.folder)
    #expect(outcome.status == 64 && outcome.errorText.contains("--symbols-url takes a server"), "\(outcome.errorText)")
  }

  @Test("A file that a server does not show with one token is asked for again with another one")
  func otherToken() throws {
    let sample = try Sample()
    let server = try FileServer { _ in .status(404) }
    for (field, isAsked) in [("A: 1", true), ("A: 1", false), ("A: 2", true), ("A: 1", false)] {
      let count = server.paths.count
      _ = try sample.symbolize([server], ["--symbols-header", field])
      #expect((server.paths.count > count) == isAsked, "\(field)")
    }
  }

  @Test("A compressed file is kept as what it holds")
  func compressed() throws {
    let sample = try Sample()
    try sample.folder.write(sample.symbols, to: "plain")
    _ = try Tool.shell("gzip -k plain", in: sample.folder)
    let packed = [UInt8](try Data(contentsOf: sample.folder.url("plain.gz")))
    let server = try FileServer { [sample] path in path == sample.path ? .file(packed) : .status(404) }
    #expect(Self.isNamed(try sample.symbolize([server])))
    let kept = try Data(contentsOf: sample.folder.url("cache" + sample.path))
    #expect([UInt8](kept) == sample.symbols)
  }

  @Test("A file with another id is refused, said and not kept, and the next server is asked")
  func lying() throws {
    let sample = try Sample()
    let other = Array("MODULE mac arm64 00112233445566778899AABBCCDDEEFF0 A\nPUBLIC 0 0 a_lie\n".utf8)
    let liar = try FileServer { [sample] path in path == sample.path ? .file(other) : .status(404) }
    let honest = try FileServer { [sample] path in path == sample.path ? .file(sample.symbols) : .status(404) }
    let alone = try sample.symbolize([liar])
    #expect(!alone.text.contains("a_lie") && !Self.isNamed(alone))
    #expect(alone.errorText.contains("it sent a file of another build"), "\(alone.errorText)")
    #expect(sample.kept.isEmpty)
    #expect(Self.isNamed(try sample.symbolize([liar, honest])))
  }

  /// Answers that say nothing about whether the server has the file.
  private static let faults: [(name: String, answer: FileServer.Answer, words: String)] = [
    ("error", .status(500), "it answered 500"), ("refusal", .status(403), "it answered 403"),
    ("silence", .hang, "timed out"), ("drip", .drip, "timed out"),
    ("cut", .cut([1, 2, 3]), "the connection broke off"),
    ("unmarked", .unmarked(Array("MODULE".utf8)), "no length"), ("page", .file(Array("<html>".utf8)), "no symbol file"),
    ("no id", .file(Array("MODULE ".utf8)), "it sent a file that does not name its build"),
    (
      "archive", .file(Packing.zip(["a.sym", "b.sym"].map { Packing.Member($0, Array("MODULE Linux".utf8)) })),
      "an archive with several"
    ),
    (
      "closed archive", .file(Packing.zip([.init("a.sym", Array("MODULE Linux".utf8), isEncrypted: true)])),
      "a file that is compressed and"
    ),
    ("circle", .redirect("/again"), "redirects"), ("elsewhere", .redirect("file:///etc/passwd"), "redirects"),
  ]

  @Test("A failed look is said at once, and is not remembered as an absence", arguments: faults.indices)
  func failing(index: Int) throws {
    let fault = Self.faults[index]
    let sample = try Sample()
    let server = try FileServer { _ in fault.answer }
    let first = try sample.symbolize([server])
    #expect(first.errorText.contains(fault.words), "\(fault.name): \(first.errorText)")
    #expect(!Self.isNamed(first))
    let count = server.paths.count
    #expect(count > 0)
    // Asked again by the next run.
    _ = try sample.symbolize([server])
    #expect(server.paths.count > count, "\(fault.name)")
    let json = try sample.symbolize([server], ["--format", "json"])
    let outcomes = [#""outcome": "failed""#, #""outcome": "refused""#]
    #expect(outcomes.contains { json.text.contains($0) }, "\(fault.name)")
  }

  @Test("A server that gives no answer is left out for the rest of the run")
  func silent() throws {
    let sample = try Sample()
    let server = try FileServer { _ in .hang }
    let start = Date()
    let outcome = try sample.symbolize([server], ["--modules"])
    #expect(outcome.errorText.contains("is not asked again"))
    // All modules are asked for at once; none after that.
    #expect(server.paths.count <= 16)
    #expect(Date().timeIntervalSince(start) < 20)
  }

  @Test("A server that answers 403 for some files is asked for the others")
  func refusing() throws {
    let sample = try Sample()
    let server = try FileServer { _ in .status(403) }
    let outcome = try sample.symbolize([server], ["--modules"])
    #expect(outcome.errorText.contains("it answered 403") && !outcome.errorText.contains("not asked again"))
    #expect(server.paths.count > 3, "\(server.paths)")
  }

  @Test("A directory that is no cache keeps its files")
  func otherDirectory() throws {
    let folder = try TemporaryFolder()
    try folder.write([1, 2, 3], to: "own/file")
    let outcome = try Tool.run(["symbols", "cache", "--symbols-cache", "own", "--max-size", "0"], in: folder)
    #expect(outcome.status == 64 && outcome.errorText.contains("is no cache"), "\(outcome.errorText)")
    #expect(folder.exists("own/file"))
  }

  @Test("Eight runs at once download a file once")
  func together() throws {
    let sample = try Sample()
    let server = try FileServer { [sample] path in
      usleep(200_000)
      return path == sample.path ? .file(sample.symbols) : .status(404)
    }
    let command = """
      for i in 1 2 3 4 5 6 7 8; do
        crashpadctl symbolize crash.idump --symbols-cache cache --symbols-url \(server.url) > out.$i 2> err.$i &
      done; wait; cat err.*; grep -l from_a_server out.* | wc -l
      """
    let outcome = try Tool.shell(command, in: sample.folder)
    #expect(outcome.text == "8\n", "\(outcome.text)")
    #expect(server.paths.filter { $0 == sample.path }.count == 1)
    #expect(Set(server.paths).count == server.paths.count)
  }

  @Test("A download that was cut continues where it ended, in this run and in the next")
  func continuing() throws {
    let sample = try Sample()
    let lines = (0..<40_000).map { "PUBLIC \(String(0x100000 + $0 * 16, radix: 16)) 0 function_\($0)\n" }
    let whole = sample.symbols + Array(lines.joined().utf8)
    let tag = Mutex("\"first\"")
    let server = try FileServer { [sample, whole] path in
      path == sample.path
        ? .marked(
          tag.withLock { $0 } == "\"first\"" ? whole : whole + Array("PUBLIC ffffff 0 last\n".utf8),
          tag: tag.withLock { $0 }, most: 150_000) : .status(404)
    }
    // A run asks five times, and the next one goes on.
    let first = try sample.symbolize([server])
    #expect(!Self.isNamed(first) && first.errorText.contains("the connection broke off"), "\(first.errorText)")
    #expect(server.fields.filter { $0.hasPrefix("Range: ") } == [1, 2, 3, 4].map { "Range: bytes=\($0 * 150_000)-" })
    let second = try sample.symbolize([server])
    #expect(Self.isNamed(second), "\(second.errorText)")
    #expect(server.fields.contains("Range: bytes=750000-"))
    #expect([UInt8](try Data(contentsOf: sample.folder.url("cache" + sample.path))) == whole)
    // A part of another file is not continued.
    try FileManager.default.removeItem(at: sample.folder.url("cache"))
    _ = try sample.symbolize([server])
    tag.withLock { $0 = "\"other\"" }
    for _ in 0..<3 { _ = try sample.symbolize([server]) }
    let kept = [UInt8](try Data(contentsOf: sample.folder.url("cache" + sample.path)))
    #expect(kept == whole + Array("PUBLIC ffffff 0 last\n".utf8))
  }

  @Test("The rest of a file that has fewer bytes than its range is not used")
  func shortRest() throws {
    let sample = try Sample()
    let server = try FileServer { [sample] path in
      path == sample.path ? .shortRest(sample.symbols, most: sample.symbols.count - 9) : .status(404)
    }
    let outcome = try sample.symbolize([server])
    #expect(!Self.isNamed(outcome) && !outcome.errorText.isEmpty, "\(outcome.errorText)")
    #expect(server.fields.contains { $0.hasPrefix("Range: ") })
    #expect(sample.kept.isEmpty)
  }

  @Test("Header fields go to the server that they are for, and not where it redirects to")
  func redirecting() throws {
    let sample = try Sample()
    let store = try FileServer { _ in .file([UInt8](sample.symbols)) }
    let server = try FileServer { [sample] path in
      path == sample.path ? .redirect(store.url + "/elsewhere") : .status(404)
    }
    let outcome = try sample.symbolize([server], ["--symbols-header", "Auth-Token: secret"])
    #expect(Self.isNamed(outcome), "\(outcome.errorText)")
    #expect(server.fields.contains("Auth-Token: secret"))
    #expect(!store.fields.contains { $0.contains("secret") })
  }

  @Test("A bomb is refused, also one that begins as the file that is asked for", arguments: ["zstd -19 -q", "gzip -9"])
  func bomb(compressor: String) throws {
    let sample = try Sample()
    try sample.folder.write(sample.symbols, to: "start")
    _ = try Tool.shell("(cat start; head -c 150000000 /dev/zero) | \(compressor) > bomb", in: sample.folder)
    let packed = [UInt8](try Data(contentsOf: sample.folder.url("bomb")))
    try #require(packed.count < 300_000)
    let server = try FileServer { [sample] path in path == sample.path ? .file(packed) : .status(404) }
    let outcome = try sample.symbolize([server])
    #expect(
      outcome.errorText.contains("it sent a file that is compressed and has more than 100 times"),
      "\(outcome.errorText)")
    #expect(sample.kept.isEmpty && sample.parts.isEmpty)
  }

  @Test("An answer without end is ended when it can't be what was asked for", arguments: ["none", "other", "packed"])
  func endless(kind: String) throws {
    let sample = try Sample()
    let other = "MODULE mac arm64 00112233445566778899AABBCCDDEEFF0 A\n"
    // The lines can't be compressed to nothing.
    let lines = (0..<60_000).map { "PUBLIC \(String($0 &* 2_654_435_761 % 0xffff_ffff, radix: 16)) 0 a\n" }
    try sample.folder.write(Array((other + lines.joined()).utf8), to: "start")
    _ = try Tool.shell("gzip -k start", in: sample.folder)
    let start: [UInt8] =
      switch kind {
      case "none": Array("#".utf8)
      case "other": Array(other.utf8)
      default: [UInt8](try Data(contentsOf: sample.folder.url("start.gz")))
      }
    let server = try FileServer { [sample] path in path == sample.path ? .endless(start) : .status(404) }
    let outcome = try sample.symbolize([server])
    let reason = kind == "none" ? "it sent no symbol file" : "it sent a file of another build, which is not used"
    #expect(outcome.errorText.contains(reason), "\(outcome.errorText)")
    #expect(sample.kept.isEmpty && sample.parts.isEmpty)
  }

  @Test("The servers of the environment are asked, and an address that is none ends the tool")
  func environment() throws {
    let sample = try Sample()
    let server = try FileServer { [sample] path in path == sample.path ? .file(sample.symbols) : .status(404) }
    let command = "CRASHPADCTL_SYMBOLS_URL='\(server.url)' crashpadctl symbolize crash.idump --symbols-cache cache"
    #expect(Self.isNamed(try Tool.shell(command, in: sample.folder)))
    let wrong = try Tool.shell("CRASHPADCTL_SYMBOLS_URL=ftp://a crashpadctl symbolize crash.idump", in: sample.folder)
    #expect(wrong.status == 64)
    #expect(wrong.errorText.contains("CRASHPADCTL_SYMBOLS_URL: "), "\(wrong.errorText)")
  }

  @Test("A module of a program is asked for in each layout", arguments: ["unified+", "ssqp+", "debuginfod+"])
  func layouts(prefix: String) throws {
    let sample = try Sample()
    let server = try FileServer { _ in .status(404) }
    _ = try Tool.run(
      ["symbolize", "crash.idump", "--symbols-cache", "cache", "--symbols-url", prefix + server.url], in: sample.folder)
    let (uuid, name) = (sample.uuid, sample.name.lowercased())
    let expected =
      switch prefix {
      case "unified+":
        ["debuginfo", "breakpad", "executable"].map { "/\(uuid.prefix(2))/\(uuid.dropFirst(2))/\($0)" }
      case "ssqp+": ["/_.dwarf/mach-uuid-sym-\(uuid)/_.dwarf", "/\(name)/mach-uuid-\(uuid)/\(name)"]
      // Programs without a build id are not asked for there.
      default: [] as [String]
      }
    #expect(server.paths.filter { $0.contains(uuid.dropFirst(2)) } == expected)
  }

  /// A program with one function, whose name is in the file that it shares with others.
  private static func sharing(_ name: String, _ id: [UInt8]) -> [UInt8] {
    // A unit: name, range. A function: origin in the other file, range.
    let abbreviations: [UInt8] = [
      1, 0x11, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, 2, 0x2e, 0, 0x31, 0xa0, 0x3e, 0x11, 0x01, 0x12, 0x07, 0, 0,
      0,
    ]
    let range = Bytes.of(UInt64(0x1000)) + Bytes.of(UInt64(0x100))
    var unit = Bytes.of(UInt16(4)) + Bytes.of(UInt32(0)) + [8]
    unit += [1] + Array("app.c".utf8) + [0] + range + [2] + Bytes.of(SynthElf.helperEntry) + range + [0]
    return SynthElf.file([
      (".gnu_debugaltlink", 0, Array(name.utf8) + [0] + id), (".debug_abbrev", 0, abbreviations),
      (".debug_info", 0, Bytes.of(UInt32(unit.count)) + unit),
    ])
  }

  @Test("The file that dwz makes for several others is asked for by its own id", arguments: [200, 404, 500])
  func sharedInformation(status: Int) throws {
    let folder = try TemporaryFolder()
    var shared = SynthElf()
    let id = (0..<20).map { UInt8($0) * 3 + 1 }
    shared.buildID = id
    try folder.write(Self.sharing("/usr/lib/debug/.dwz/common.debug", id), to: "program")
    let bytes = shared.bytes
    let server = try FileServer { _ in status == 200 ? .file(bytes) : .status(status) }
    func lookUp(_ more: [String]) throws -> Tool.Outcome {
      try Tool.run(["symbols", "lookup", "program", "0x1010", "--symbols-cache", "cache"] + more, in: folder)
    }
    let outcome = try lookUp(["--symbols-url", "debuginfod+" + server.url])
    #expect(server.paths == ["/buildid/\(Hex.digits(id))/debuginfo"])
    #expect(outcome.text.hasPrefix("helper\n") == (status == 200), "\(outcome.text)")
    // One that could not be asked for may be there.
    #expect(outcome.errorText.contains("shared-dwarf-missing") == (status == 404), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("it answered 500") == (status == 500), "\(outcome.errorText)")
    guard status == 200 else { return }
    #expect(try lookUp(["--offline"]).text.hasPrefix("helper\n"))
    #expect(server.paths.count == 1)
  }

  @Test("A stripped file is not said to be without symbols while a server does not answer", arguments: [404, 500])
  func strippedFile(status: Int) throws {
    let folder = try TemporaryFolder()
    var program = SynthElf()
    (program.hasSymbols, program.hasDebugInfo) = (false, false)
    try folder.write(program.bytes, to: "program")
    let server = try FileServer { _ in .status(status) }
    let outcome = try Tool.run(
      [
        "symbols", "lookup", "program", "0x1010", "--symbols-cache", "cache", "--symbols-url",
        "debuginfod+" + server.url,
      ],
      in: folder)
    #expect(outcome.status == (status == 404 ? 65 : 75), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("not all places could be asked") == (status == 500), "\(outcome.errorText)")
  }
}
