// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadFiles
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSymbolication

@Suite("Hostile ELF files")
struct HostileElfTests {
  /// A unit of DWARF 4 with these bytes behind its header.
  private static func unit(_ content: [UInt8], abbreviations: UInt32 = 0) -> [UInt8] {
    var unit: [UInt8] = []
    unit.append(little: UInt32(7 + content.count))
    unit.append(little: UInt16(4))
    unit.append(little: abbreviations)
    return unit + [8] + content
  }

  private static func words(_ values: UInt64...) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values { bytes.append(little: value) }
    return bytes
  }

  private static func number(_ value: Int) -> [UInt8] {
    value < 128 ? [UInt8(value)] : [UInt8(value & 0x7f) | 0x80] + number(value >> 7)
  }

  private static func info(_ bytes: [UInt8]) throws -> DwarfInfo? {
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: "a")
    return DwarfInfo(try ElfFile(FilePath(folder.url("a").path)))
  }

  private static func write(_ bytes: [UInt8]) throws -> (text: String, source: BreakpadInput) {
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: "a")
    let source = try BreakpadInput(FilePath(folder.url("a").path))
    let output = MemoryOutput()
    _ = try BreakpadWriter.write(source, BreakpadWriter.Options(), to: output)
    return (String(decoding: output.bytes, as: UTF8.self), source)
  }

  @Test("A function whose name is something else is written without one")
  func unreadableRange() throws {
    var elf = SynthElf()
    elf.hasSymbols = false
    var bytes = elf.bytes
    // Its name becomes the first of two beginnings, of a form that none has.
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: [2, 0x2e, 1, 0x03, 0x08]) })
    bytes[place + 3] = 0x11
    #expect(try Self.write(bytes).text.contains("\nFUNC 1000 40 0 ??\n"))
  }

  @Test("Thousands of functions with one long list of ranges are not all read")
  func sharedRanges() throws {
    let abbreviations: [UInt8] = [
      1, 0x11, 1, 0x13, 0x05, 0x11, 0x01, 0x12, 0x07, 0, 0,
      2, 0x2e, 0, 0x03, 0x08, 0x55, 0x17, 0, 0, 0,
    ]
    var ranges: [UInt8] = []
    for index in 0..<1500 as Range<UInt64> { ranges += Self.words(2 * index, 2 * index + 1) }
    var content: [UInt8] = [1, 4, 0] + Self.words(0x1000, 0x1000)
    for _ in 0..<1000 { content += [2, 0x66, 0, 0, 0, 0, 0] }
    let bytes = SynthElf.file([
      (".debug_abbrev", 0, abbreviations), (".debug_info", 0, Self.unit(content + [0])),
      (".debug_ranges", 0, ranges + Self.words(0, 0)),
    ])
    let info = try #require(try Self.info(bytes))
    #expect(info.lookup(0x1000) { _ in nil }?.frames.last?.function == "f")
    #expect(info.findings.map(\.rule.code) == ["bad-dwarf"])
  }

  @Test("Hundreds of units with one long table of lines are not all read")
  func sharedLines() throws {
    let abbreviations: [UInt8] = [1, 0x11, 0, 0x13, 0x05, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, 0]
    let unit = Self.unit([1, 4, 0, 0, 0, 0, 0] + Self.words(0x1000, 0x1000))
    var header: [UInt8] = [1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0]
    header += Array("a.c".utf8) + [0, 0, 0, 0, 0]
    var program: [UInt8] = [0, 9, 2] + Self.words(0x1000)
    for index in 0..<4000 { program.append(index % 2 == 0 ? 0x20 : 0x30) }
    program += [0, 1, 1]
    var lines: [UInt8] = []
    lines.append(little: UInt32(6 + header.count + program.count))
    lines.append(little: UInt16(4))
    lines.append(little: UInt32(header.count))
    let bytes = SynthElf.file([
      (".debug_abbrev", 0, abbreviations), (".debug_line", 0, lines + header + program),
      (".debug_info", 0, Array(repeating: unit, count: 400).flatMap { $0 }),
    ])
    let source = try Self.write(bytes).source
    #expect(source.files.info?.findings.map(\.rule.code) == ["bad-dwarf"])
  }

  /// A table of DWARF 4 with one file, and sequences of rows.
  private static func lines(_ program: [UInt8]) -> [UInt8] {
    var header: [UInt8] = [1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0]
    header += Array("a.c".utf8) + [0, 0, 0, 0, 0]
    var lines: [UInt8] = []
    lines.append(little: UInt32(6 + header.count + program.count))
    lines.append(little: UInt16(4))
    lines.append(little: UInt32(header.count))
    return lines + header + program
  }

  @Test(
    "The rows that have a code address of their own are kept of a million",
    arguments: [
      // At one address; two bytes on each time, from code to far behind it; each a sequence of its own.
      ([0, 9, 2] + words(0x1000) + Array(repeating: 0x13, count: 1_000_000) + [2, 1, 0, 1, 1], 2...2),
      ([0, 9, 2] + words(0x1f00) + Array(repeating: 0x2e, count: 1_000_000) + [0, 1, 1], 100...2200),
      (Array(repeating: [0, 9, 2] + words(0x1000) + [0x13, 0, 1, 1], count: 50_000).flatMap { $0 }, 0...0),
    ])
  func manyRows(program: [UInt8], kept: ClosedRange<Int>) throws {
    let abbreviations: [UInt8] = [1, 0x11, 0, 0x13, 0x05, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, 0]
    let bytes = SynthElf.file([
      (".debug_abbrev", 0, abbreviations), (".debug_line", 0, Self.lines(program)),
      (".debug_info", 0, Self.unit([1, 4, 0, 0, 0, 0, 0] + Self.words(0x1000, 0x1000))),
    ])
    let info = try #require(try Self.info(bytes))
    var lines = BreakpadLines(unitCount: info.units.count)
    for unit in info.units { lines.read(unit, BreakpadNames()) { (0x1000..<0x2000).contains($0) } }
    #expect(kept.contains(lines.rows.count), "\(lines.rows.count)")
  }

  @Test("Units that each need the last of many abbreviations are not read", arguments: [2, 80])
  func sharedAbbreviations(units: Int) throws {
    var abbreviations: [UInt8] = []
    for code in 2..<50_000 { abbreviations += Self.number(code) + [0x2e, 0, 0x03, 0x08, 0, 0] }
    abbreviations += [1, 0x11, 0, 0x13, 0x05, 0x11, 0x01, 0x12, 0x07, 0, 0, 0]
    let unit = Self.unit([1, 4, 0] + Self.words(0x1000, 0x1000))
    let bytes = SynthElf.file([
      (".debug_abbrev", 0, abbreviations),
      (".debug_info", 0, Array(repeating: unit, count: units).flatMap { $0 }),
    ])
    let info = try #require(try Self.info(bytes))
    #expect(units == 2 ? info.units.count == 2 : info.units.count < units)
    #expect(info.findings.first?.rule.code == (units == 2 ? nil : "bad-dwarf"))
  }

  @Test("Compressed debug information that would become far larger is not decompressed")
  func compression() throws {
    func findings(_ size: UInt64) throws -> [String] {
      // ELFCOMPRESS_ZLIB, and what is no zlib.
      let content = Self.words(1, size, 1) + [1, 2, 3, 4]
      let folder = try TemporaryFolder()
      try folder.write(SynthElf.file([(".debug_info", 0x800, content), (".debug_abbrev", 0, [0])]), to: "a")
      let file = try ElfFile(FilePath(folder.url("a").path))
      return file.hasPlausibleCompression ? [] : ["too large"]
    }
    #expect(try findings(1 << 20).isEmpty)
    #expect(try findings(1 << 32) == ["too large"])
    #expect(try findings(.max) == ["too large"])
  }

  @Test("The uncompressed size of an xz file is known from its chunks")
  func xz() {
    let header: [UInt8] = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0, 1, 0, 0, 0, 0]
    let block: [UInt8] = [2, 0, 0x21, 1, 0x16, 0, 0, 0, 0, 0, 0, 0]
    // Three bytes as they are; two mebibytes out of one byte.
    let chunks: [UInt8] = [1, 0, 2, 7, 7, 7, 0xff, 0xff, 0xff, 0, 0, 0x5d, 9, 0]
    let file = header + block + chunks + [0, 0] + [1, 2, 3, 4] + [0, 1, 0, 0]
    func size(_ bytes: [UInt8]) -> UInt64? { unsafe ElfLimits.unpackedSize(ofXZ: bytes.span.bytes) }
    #expect(size(file) == 3 + 2 << 20)
    for count in 0..<(file.count - 4) { #expect(size(Array(file.prefix(count))) == nil) }
    #expect(size(header + block + [3] + chunks) == nil)
  }

  @Test("A named pipe in the place of split debug information is not opened")
  func pipe() throws {
    let abbreviations: [UInt8] = [1, 0x11, 0, 0xb0, 0x42, 0x08, 0xb1, 0x42, 0x07, 0x11, 0x01, 0x12, 0x07, 0, 0, 0]
    let content = [1] + Array("a.dwo\0".utf8) + Self.words(1, 0x1000, 0x1000)
    let folder = try TemporaryFolder()
    let bytes = SynthElf.file([(".debug_abbrev", 0, abbreviations), (".debug_info", 0, Self.unit(content))])
    try folder.write(bytes, to: "a")
    let made = unsafe mkfifo(folder.url("a.dwo").path, 0o600)
    try #require(made == 0)
    let file = try ElfSymbols(FilePath(folder.url("a").path))
    #expect(file.symbolize(0x1000 &- file.imageBase) == nil)
    #expect(file.findings.map(\.rule.code) == ["split-dwarf-missing"])
  }

  @Test("Shared descriptions of frames are read up to a limit", arguments: [4000, 5000])
  func longCommon(instructions: Int) {
    var common: [UInt8] = [0, 0, 0, 0, 1, 0, 1, 0x78, 16]
    common += Array(repeating: 0, count: instructions)
    var bytes: [UInt8] = []
    bytes.append(little: UInt32(common.count))
    bytes += common
    let start = bytes.count
    bytes.append(little: UInt32(20))
    bytes.append(little: UInt32(start + 4))
    bytes += Self.words(0x1000, 0x10)
    let reader = unsafe CfiReader(bytes.span.bytes, address: 0, isExceptionFrame: true, addressSize: 8)
    #expect(reader.entries.count == (instructions < 4096 ? 1 : 0))
    #expect(reader.damaged == (instructions < 4096 ? 0 : 1))
  }

  /// `.eh_frame` at 0x2000: a description of 0x1000 to 0x1100 with these instructions.
  private static func frames(_ instructions: [UInt8]) -> [UInt8] {
    var common: [UInt8] = [0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1]
    while common.count % 4 != 0 { common.append(0) }
    var bytes: [UInt8] = []
    bytes.append(little: UInt32(common.count))
    bytes += common
    let start = bytes.count
    bytes.append(little: UInt32(20 + instructions.count))
    bytes.append(little: UInt32(start + 4))
    bytes += words(0x1000, 0x100) + instructions
    return bytes + [0, 0, 0, 0]
  }

  @Test("Descriptions of frames that would take much room are not executed")
  func registers() throws {
    func rules(_ instructions: [UInt8]) throws -> FrameRules? {
      let folder = try TemporaryFolder()
      try folder.write(SynthElf.file([(".eh_frame", 2, Self.frames(instructions))]), to: "a")
      return try SymbolFiles.open(FilePath(folder.url("a").path)).frameRules(at: 0x1010, .x86_64)
    }
    #expect(try rules([0x05, 3, 2]) != nil)
    #expect(try rules([0x05] + Self.number(200_000) + [2]) != nil)
    #expect(try rules(Array(repeating: 0x0a, count: 10)) != nil)
    #expect(try rules(Array(repeating: 0x0a, count: 100)) == nil)
    // An unreadable part counts from its start on.
    #expect(try rules([0x50, 0x3f]) == nil)
    #expect(try rules([0x60, 0x3f]) != nil)
  }

  @Test("Unreadable descriptions of frames and small symbol tables are reported")
  func refused() throws {
    let folder = try TemporaryFolder()
    let sections: [(String, UInt64, [UInt8])] = [
      (".eh_frame", 2, Self.frames([0x3f])), (".gnu_debugdata", 0, [1, 2, 3]),
    ]
    try folder.write(SynthElf.file(sections.map { (name: $0.0, flags: $0.1, bytes: $0.2) }), to: "a")
    let file = try SymbolFiles.open(FilePath(folder.url("a").path))
    #expect(file.frameRules(at: 0x1010, .x86_64) == nil)
    #expect(file.symbolize(0x1010) == nil)
    #expect(Set(file.findings.map(\.rule.code)) == ["bad-frame-rules", "unknown-compression"])
    #expect(Set(file.findings.map(\.path)) == [".eh_frame", ".gnu_debugdata"])
  }

  @Test("A compressed file that is damaged is said to be")
  func wholeFile() throws {
    let folder = try TemporaryFolder()
    try folder.write([0x1f, 0x8b, 8, 0] + Array(repeating: 0, count: 100), to: "a.gz")
    #expect(throws: (any Error).self) { try BreakpadInput(FilePath(folder.url("a.gz").path)) }
    #expect(throws: SymbolInputs.Compressed.self) { try SymbolContents(FilePath(folder.url("a.gz").path)) }
  }

  @Test("Descriptions of frames that compilers wrote are executed")
  func realFrames() throws {
    let file = try ElfFile("/proc/self/exe")
    let architecture = try #require(file.architecture)
    let section = try #require(CfiSection(".eh_frame", file))
    try #require(!section.reader.entries.isEmpty)
    #expect(section.reader.damaged == 0)
    let refused = section.reader.entries.filter { section.rules($0, at: $0.start + $0.size - 1, architecture) == nil }
    #expect(refused.isEmpty)
  }

  @Test("Sections that say that they have more entries than memory are counted")
  func sizes() throws {
    var bytes = SynthElf().bytes
    func number(_ offset: Int, _ width: Int) -> Int {
      (0..<width).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }
    // Size and size of entries of all sections but the first and the names.
    for index in 1..<(number(60, 2) - 1) {
      let header = number(40, 8) + 64 * index
      bytes.replaceSubrange(header + 32..<header + 40, with: Self.words(.max))
      bytes.replaceSubrange(header + 56..<header + 64, with: Self.words(1))
    }
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: "a")
    guard case .elf(let contents) = try SymbolContents(FilePath(folder.url("a").path)) else {
      Issue.record("no ELF file")
      return
    }
    #expect(contents.symbols > 0)
  }

  @Test("Inlined calls of a symbol file nest no deeper than in real ones")
  func depth() throws {
    var text = "MODULE Linux x86_64 0 a\nINLINE_ORIGIN 0 in\nFUNC 1000 10 0 out\n"
    for level in 0..<300 { text += "INLINE \(level) 1 0 0 1000 10\n" }
    let file = try BreakpadFile(InputFile(bytes: Array(text.utf8)))
    #expect(file.symbolize(0x1000)?.frames.count == 201)
  }

  @Test("A section that claims to be huge does not make a huge size after decompression plausible")
  func liesAboutSize() throws {
    var bytes = SynthElf().bytes
    func number(_ offset: Int, _ width: Int) -> Int {
      (0..<width).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }
    // Every section is compressed, and has the header of one that takes 2^40 bytes.
    let (table, count) = (number(40, 8), number(60, 2))
    let content = bytes.count
    bytes += Self.words(1, 1 << 40, 1)
    for index in 1..<count - 1 {
      let header = table + 64 * index
      bytes.replaceSubrange(header + 8..<header + 16, with: Self.words(0x800))
      let isLie = index % 2 == 0
      bytes.replaceSubrange(
        header + 24..<header + 40, with: Self.words(UInt64(content), isLie ? 1 << 56 : 24))
    }
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: "a")
    let file = try ElfFile(FilePath(folder.url("a").path))
    #expect(!file.hasPlausibleCompression)
  }

  @Test("Segments of code at the ends of the address space are read without a trap")
  func hugeSegments() throws {
    for (offset, size, address) in [(UInt64(0), UInt64(1) << 63, UInt64(0)), (0xffff_ffff_ffff_ff00, 0xf0, 0)] {
      var bytes = SynthElf().bytes
      let header = (0..<8).reversed().reduce(0) { $0 << 8 | Int(bytes[32 + $1]) }
      bytes.replaceSubrange(header..<header + 8, with: [1, 0, 0, 0, 5, 0, 0, 0])
      bytes.replaceSubrange(header + 8..<header + 48, with: Self.words(offset, address, address, size, size))
      let folder = try TemporaryFolder()
      try folder.write(bytes, to: "a")
      let file = try ElfFile(FilePath(folder.url("a").path))
      #expect(file.isCode(address))
      _ = file.word(at: address + 8)
      _ = file.word(at: size - 1)
      _ = file.code(around: address + 16, before: 1 << 20, after: 1 << 20)
      _ = file.code(around: size - 1, before: 16, after: .max)
    }
  }
}
