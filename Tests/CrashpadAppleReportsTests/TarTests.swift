// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import DumpSynth
import Foundation
import SystemPackage
import Testing
import ToolRunner

/// Tar archives, compressed or not, are read in passes: what is a dump or report is a part, and nothing is lost in silence.
@Suite("Tar archives")
struct TarTests {
  private static let crash = Array(SampleReports.phone.utf8)
  private static let other = Array(SampleReports.mac.utf8)
  private static let ips = SynthReport().bytes

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ command: String) throws -> Tool.Outcome { try Tool.shell("crashpadctl \(command)", in: folder) }

  /// The text of `inspect` without the line of the name.
  private func shown(_ path: String) throws -> String {
    let result = try run("inspect '\(path)'")
    #expect(result.status == 0, "\(result.errorText)")
    return result.text.split(separator: "\n").dropFirst().joined(separator: "\n")
  }

  private func members(_ bytes: [UInt8], _ name: String = "members.tar") throws -> [String] {
    try folder.write(bytes, to: name)
    return try DumpInput.members(of: FilePath(folder.url(name).path))
  }

  private static func sysdiagnose(_ form: Packing.TarForm) -> [UInt8] {
    let long = form == .v7 ? "logs" : String(repeating: "sysdiagnose_", count: 8) + "/crashes_and_spins"
    return Packing.tar(
      [
        .init("./", [], type: "5"), .init("./notes.txt", Array("hello".utf8)), .init("./._b.crash", [0, 5, 22, 7]),
        .init("__MACOSX/._b.crash", crash), .init("./b.crash", crash), .init("\(long)/a report.ips", ips),
        .init("empty.ips", []), .init("log.json", Array("{\"a\":1}".utf8)), .init("untitled", other),
        .init("latest.crash", [], type: "2", linkName: "b.crash"),
      ], form)
  }

  // MARK: Parts

  @Test("The reports are found by their names and first bytes in each form", arguments: Packing.TarForm.allCases)
  func forms(_ form: Packing.TarForm) throws {
    let names = try members(Self.sysdiagnose(form), "s.tar")
    #expect(names.count == 3)
    #expect(names.first == "b.crash" && names.last == "untitled")
    #expect(names[1].hasSuffix("/a report.ips") && (form == .v7 || names[1].utf8.count > 110))
    try folder.write(Self.crash, to: "b.crash")
    try folder.write(Self.ips, to: "a.ips")
    #expect(try shown("s.tar/b.crash") == shown("b.crash"))
    #expect(try shown("s.tar/./b.crash") == shown("b.crash"))
    #expect(try shown("s.tar/\(names[1])") == shown("a.ips"))
  }

  @Test("An archive of many is read whole, counted, and refused where one is asked for", arguments: [false, true])
  func many(_ isCompressed: Bool) throws {
    let name = isCompressed ? "sysdiagnose.tar.gz" : "sysdiagnose.tar"
    let bytes = Self.sysdiagnose(.pax)
    try folder.write(isCompressed ? Packing.gzip(bytes) : bytes, to: "d/\(name)")
    try folder.write(isCompressed ? Packing.gzip(bytes) : bytes, to: "unnamed")
    #expect(try run("validate d").errorText.contains("passed: 3 dumps"))
    #expect(try run("group d").text.contains("\n3 crashes in "))
    #expect(try Tool.shell("crashpadctl inspect --format json d/\(name) | grep -c '^{'", in: folder).text == "3\n")
    for command in ["inspect unnamed", "inspect - <d/\(name)"] {
      let refused = try run(command)
      #expect(refused.status == 65)
      #expect(refused.errorText.contains("is an archive with 3 dumps or reports (b.crash, "), "\(refused.errorText)")
    }
    #expect(try run("inspect d/\(name)/c.crash").status == 66)
    // A file that is no dump by itself can still be named.
    #expect(try run("inspect d/\(name)/notes.txt").errorText.contains("is text, not a dump"))
  }

  @Test("Archives that other programs pack are read", arguments: ["", "gzip", "xz", "zstd -q"])
  func programs(_ compressor: String) throws {
    let program = compressor.prefix { $0 != " " }
    guard try Tool.shell("command -v tar \(program)", in: folder).status == 0 else { return }
    let long = String(repeating: "d", count: 90) + "/" + String(repeating: "e", count: 90)
    try folder.write(Self.crash, to: "in/\(long)/a.crash")
    try folder.write(Self.ips, to: "in/b.ips")
    try folder.write([UInt8](repeating: 7, count: 700_000), to: "in/large.bin")
    for form in ["v7", "ustar", "gnu", "pax"] {
      let pipe = compressor.isEmpty ? "" : "| \(compressor) -c"
      // The oldest form has no place for the long name.
      let made = try Tool.shell(
        "cd in && tar -H \(form) -cf - \(form == "v7" ? "b.ips large.bin" : ".") \(pipe) >../t.tar", in: folder)
      #expect(made.status == 0, "\(made.errorText)")
      let names = try DumpInput.members(of: FilePath(folder.url("t.tar").path))
      #expect(names.sorted() == Array(["b.ips", "\(long)/a.crash"].prefix(form == "v7" ? 1 : 2)), "\(form)")
      #expect(try shown("t.tar/b.ips") == shown("in/b.ips"))
      if form != "v7" { #expect(try shown("t.tar/\(long)/a.crash") == shown("in/\(long)/a.crash")) }
    }
  }

  @Test("The only report is read without its name, also in an archive in a zip archive")
  func single() throws {
    try folder.write(Self.crash, to: "b.crash")
    let tar = Packing.tar([.init("readme", [0x61]), .init("x/b.crash", Self.crash)])
    try folder.write(tar, to: "one.tar")
    try folder.write(Packing.gzip(tar), to: "one.tgz")
    try folder.write(Packing.zip([.init("one.tar.gz", Packing.gzip(tar))]), to: "one.zip")
    for name in ["one.tar", "one.tgz", "one.zip", "one.zip/one.tar.gz/x/b.crash"] {
      #expect(try shown(name) == shown("b.crash"))
    }
  }

  @Test("A later member replaces an earlier one of the same name, as it does when it is unpacked")
  func replaced() throws {
    let tar = Packing.tar([.init("a.crash", Self.crash), .init("b", Self.crash), .init("./a.crash", Self.other)])
    #expect(try members(tar) == ["b", "a.crash"])
    try folder.write(Self.other, to: "plain")
    #expect(try shown("members.tar/a.crash") == shown("plain"))
  }

  @Test("A member that is too large to be kept is read in a pass of its own")
  func large() throws {
    let padding = [UInt8](repeating: 0x20, count: 9 << 20)
    let tar = Packing.tar([.init("a.ips", Self.ips + padding), .init("b.crash", Self.crash)])
    #expect(try members(tar) == ["a.ips", "b.crash"])
    try folder.write(Self.ips, to: "plain")
    #expect(try shown("members.tar/a.ips") == shown("plain"))
    let refused = try run("inspect --max-input-size 1M members.tar/a.ips")
    #expect(refused.status == 65)
    #expect(refused.errorText.contains("holds more than"), "\(refused.errorText)")
  }

  // MARK: Refused

  @Test("Links, sparse files and damaged archives are refused with the reason")
  func refused() throws {
    let link = Packing.TarEntry("l.crash", [], type: "1", linkName: "b.crash")
    let sparse = Packing.TarEntry("core", [1, 2, 3], type: "S")
    var pax = Packing.TarEntry("GNUSparseFile.0/core", [1, 2, 3])
    pax.records = [("GNU.sparse.major", "1"), ("GNU.sparse.name", "x.core")]
    let symbolic = Packing.TarEntry("s.crash", [], type: "2", linkName: "b.crash")
    let report = Packing.TarEntry("b.crash", Self.crash)
    let good = Packing.tar([report, link, sparse, pax, symbolic])
    #expect(try members(good, "t.tar") == ["b.crash", "l.crash", "core", "x.core"])
    var flipped = good
    flipped[3] ^= 1
    var second = good
    second[Packing.blocks(report).count + 3] ^= 1
    var global = report
    global.type = "g"
    global.bytes = Array("16 path=b.crash\n".utf8)
    let files: [(name: String, bytes: [UInt8], path: String, text: String)] = [
      ("t.tar", good, "t.tar/l.crash", "is a link in a tar archive to b.crash; name that, or unpack it"),
      ("t.tar", good, "t.tar/core", "is a sparse file in a tar archive; unpack it first"),
      ("t.tar", good, "t.tar/x.core", "is a sparse file in a tar archive; unpack it first"),
      ("t.tar", good, "t.tar/s.crash", "is a symbolic link in a tar archive; name the file that it leads to"),
      ("f.tar", flipped, "f.tar", "is a tar archive that is damaged"),
      ("g.tar", second, "g.tar", "is a tar archive that is damaged"),
      ("c.tar", Array(good.dropLast(1024)), "c.tar", "is a tar archive that ends early"),
      ("d.tar", Array(good.prefix(900)), "d.tar", "is a tar archive that ends early"),
      (
        "h.tar", Packing.tar([global, report]), "h.tar",
        "is a tar archive of several volumes, or with global names or sizes"
      ),
      ("e.tar", Packing.tar([.init("a", [1])]), "e.tar", "is a tar archive without a dump or report"),
      ("g.gz", Array(Packing.gzip(good).dropLast(600)), "g.gz", "is compressed (gzip) and ends early"),
    ]
    for (name, bytes, path, text) in files {
      try folder.write(bytes, to: name)
      let result = try run("inspect \(path)")
      #expect(result.status == 65, "\(path)")
      #expect(result.errorText.hasPrefix("\(path): error: \(text)"), "\(result.errorText)")
    }
    try folder.write(second, to: "x/damaged.tar")
    let found = try run("validate x")
    #expect(found.status != 0)
    #expect(found.errorText.contains("x/damaged.tar: error: is a tar archive that is damaged"), "\(found.errorText)")
  }

  @Test("Reports in files that are no text are not read out of them")
  func foreign() throws {
    for (start, text) in [
      ("!<arch>\n", "an archive of object files, not a dump or crash report"),
      ("070701", "a cpio archive, which is not read; unpack it first"),
    ] {
      try folder.write(Array("\(start)a.crash\n\n".utf8) + Self.crash + Self.other, to: "x")
      let result = try run("inspect x")
      #expect(result.errorText == "x: error: is \(text)\n")
    }
  }

  // MARK: Hostile archives

  @Test("Names lead nowhere outside, and print no control characters")
  func names() throws {
    let names = ["../../up.crash", "/root.crash", "a\u{1b}[31m\n.crash"]
    try folder.write(Packing.tar(names.map { .init($0, Self.crash) } + [.init("x", Self.crash)]), to: "h.tar")
    let result = try Tool.shell(
      "mkdir -p p/q; crashpadctl convert --to json -o p/q/out/ h.tar && find p -type f -printf x", in: folder)
    #expect(result.text.hasSuffix("xxxx"), "\(result.errorText)")
    #expect(!result.errorText.contains("\u{1b}") && !result.text.contains("\u{1b}"))
    #expect(try Tool.shell("find . -type f ! -path './p/q/out/h.tar/*'", in: folder).text == "./h.tar\n")
  }

  @Test("Sizes that lie end the archive", arguments: [1 << 20, 1 << 40, (1 << 56) - 1])
  func sizes(_ size: Int) throws {
    let lie = Packing.TarEntry("a.crash", Self.crash, size: size)
    try folder.write(Packing.tar([lie]), to: "l.tar")
    #expect(try run("inspect l.tar").errorText == "l.tar: error: is a tar archive that ends early\n")
    var pax = Packing.TarEntry("a.crash", Self.crash)
    pax.records = [("size", "\(size)")]
    try folder.write(Packing.tar([pax]), to: "p.tar")
    #expect(try run("inspect p.tar").errorText == "p.tar: error: is a tar archive that ends early\n")
    let directory = Packing.TarEntry("a", [], type: "5", size: size)
    try folder.write(Packing.tar([directory, .init("a.crash", Self.crash)]), to: "d.tar")
    #expect(try run("inspect d.tar").errorText == "d.tar: error: is a tar archive that is damaged\n")
  }

  @Test("Members are not kept")
  func manyMembers() throws {
    final class Counter: TarVisitor {
      var count = 0
      func begin(_ member: TarMember) -> Bool {
        count += 1
        return false
      }
      func content(_ bytes: RawSpan) -> Bool { false }
      func end() {}
    }
    let counter = Counter()
    var reader = TarReader()
    let block = Packing.blocks(.init("a", []))
    let count = Soak.times(1_000_000, or: 5_000)
    for _ in 0..<count { try unsafe reader.read(block.span.bytes, counter) }
    #expect(counter.count == count)
    #expect(throws: TarFailure.cut) { try reader.finish() }
  }

  @Test("Too many reports are refused", .enabled(if: Soak.isOn, "takes half a minute; CRASHPADCTL_SOAK=1 runs it"))
  func manyReports() throws {
    let entries = (0...65_536).flatMap { Packing.blocks(.init("\($0).ips", [0x7b])) }
    try folder.write(entries + [UInt8](repeating: 0, count: 1024), to: "m.tar")
    let result = try run("inspect m.tar")
    #expect(result.status == 65)
    #expect(
      result.errorText == "m.tar: error: is a tar archive with more than 65536 dumps or reports; unpack it first\n")
  }

  @Test("An archive in archives ends somewhere")
  func nested() throws {
    var bytes = Packing.tar([.init("a.crash", Self.crash)])
    var zipped = bytes
    for _ in 0..<20 {
      bytes = Packing.tar([.init("a.crash", bytes)])
      zipped = Packing.zip([.init("a.crash", zipped)])
    }
    try folder.write(bytes, to: "n.tar")
    try folder.write(zipped, to: "n.zip")
    #expect(try run("inspect n.tar").status == 65)
    #expect(try run("inspect n.zip").status == 65)
  }

  @Test("Mutated and cut archives give the reports of the whole one, or a reason")
  func mutations() throws {
    let base = Self.sysdiagnose(.gnu)
    for round in 0..<Soak.times(4000, or: 300) {
      var random = SplitMix64(seed: UInt64(round), area: 31)
      var bytes = base
      for _ in 0..<random.between(1, 3) {
        bytes[random.below(bytes.count / 512) * 512 + random.below(160)] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.oneIn(4) { bytes.removeLast(random.below(bytes.count - 512)) }
      try folder.write(bytes, to: "m")
      do throws(DumpInputFailure) {
        _ = try DumpInput(FilePath(folder.url("m").path))
        // Only an archive with one report is read without its name.
        Issue.record("round \(round) is read")
      } catch {
        #expect(!error.description.isEmpty)
      }
    }
  }
}
