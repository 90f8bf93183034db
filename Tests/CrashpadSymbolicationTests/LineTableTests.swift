// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadFiles
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSymbolication

@Suite("Tables of lines")
struct LineTableTests {
  /// Numbers in either order.
  private struct Writer {
    var bytes: [UInt8] = []
    let isBigEndian: Bool

    mutating func number(_ value: UInt64, _ size: Int) {
      let little = (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
      bytes += isBigEndian ? little.reversed() : little
    }
  }

  /// A table of one version with two files, and rows from 0x1000 on: `b.c:10`, `b.c:12:3` at 0x1004, `a.c:7` at 0x1010, the
  /// end at 0x1020. In DWARF 5 the names are in `.debug_line_str`, and each file has a sum.
  private static func table(
    version: UInt64, isWide: Bool = false, isBigEndian: Bool = false, program: [UInt8]? = nil
  ) -> [UInt8] {
    var header = Writer(isBigEndian: isBigEndian)
    header.bytes = version >= 4 ? [1, 1] : [1]
    header.bytes += [1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]
    if version < 5 {
      header.bytes += Array("inc\0/abs/\0\0".utf8)
      let files: [(name: String, numbers: [UInt8])] = [
        ("a.c\0", [1, 0, 0]), ("b.c\0", [2, 0, 0]), ("/c.c\0", [0, 0, 0]), ("d.c\0", [0, 0, 0, 0]),
      ]
      for (name, numbers) in files {
        header.bytes += Array(name.utf8)
        header.bytes += numbers
      }
    } else {
      let size = isWide ? 8 : 4
      header.bytes += [1, 1, 0x1f, 3]
      for offset: UInt64 in [0, 5, 9] { header.number(offset, size) }
      // Name, folder and sum; file 0 is the unit's own.
      header.bytes += [3, 1, 0x1f, 2, 0x0b, 5, 0x1e, 5]
      for (name, folder): (UInt64, UInt8) in [(24, 0), (15, 1), (19, 2), (23, 0), (24, 0)] {
        header.number(name, size)
        header.bytes += [folder] + Array(repeating: 7, count: 16)
      }
    }
    var instructions = Writer(isBigEndian: isBigEndian)
    instructions.bytes = [0, 9, 2]
    instructions.number(0x1000, 8)
    // File 2, line 10, copy; column 3, 4 bytes and 2 lines on; file 1, line 7 at 0x1010; 16 bytes on.
    instructions.bytes += [4, 2, 3, 9, 1, 5, 3, UInt8(13 + 5 + 2 + 14 * 4), 4, 1, 3, 0x7b, 2, 12, 1, 2, 16, 0, 1, 1]
    let program = program ?? instructions.bytes
    var start = Writer(isBigEndian: isBigEndian)
    start.number(version, 2)
    if version == 5 { start.bytes += [8, 0] }
    start.number(UInt64(header.bytes.count), isWide ? 8 : 4)
    var length = Writer(isBigEndian: isBigEndian)
    if isWide { length.number(0xffff_ffff, 4) }
    length.number(UInt64(start.bytes.count + header.bytes.count + program.count), isWide ? 8 : 4)
    return length.bytes + start.bytes + header.bytes + program
  }

  private static let strings = Array("/src\0inc\0/abs/\0a.c\0b.c\0/c.c\0".utf8)

  private static func read(_ table: [UInt8]) throws -> (table: LineTable?, sections: DwarfSections) {
    let folder = try TemporaryFolder()
    let sections: [(name: String, flags: UInt64, bytes: [UInt8])] = [
      (".debug_abbrev", 0, [0]), (".debug_line", 0, table), (".debug_line_str", 0, strings),
    ]
    try folder.write(SynthElf.file(sections), to: "a")
    let read = DwarfSections(try ElfFile(FilePath(folder.url("a").path)))
    return (LineTable(read, at: 0, compilationFolder: "/src"), read)
  }

  private static func place(_ table: LineTable?, _ address: UInt64) -> String? {
    guard let table, let row = table.row(at: address) else { return nil }
    return "\(table.path(UInt64(row.file)) ?? "?"):\(row.line):\(row.column)"
  }

  @Test("Every version says the same", arguments: 2...5, [false, true])
  func versions(version: Int, isWide: Bool) throws {
    let (table, sections) = try Self.read(Self.table(version: UInt64(version), isWide: isWide))
    #expect(Self.place(table, 0xfff) == nil)
    #expect(Self.place(table, 0x1000) == "/abs/b.c:10:0")
    #expect(Self.place(table, 0x1003) == "/abs/b.c:10:0")
    #expect(Self.place(table, 0x1004) == "/abs/b.c:12:3")
    #expect(Self.place(table, 0x101f) == "/src/inc/a.c:7:3")
    #expect(Self.place(table, 0x1020) == nil)
    if version < 5 {
      #expect(table?.path(0) == nil)
      #expect(table?.path(3) == "/c.c")
      #expect(table?.path(4) == "/src/d.c")
    } else {
      #expect(table?.path(3) == "/c.c")
    }
    #expect(table?.path(5) == nil)
    #expect(sections.findings.list.isEmpty)
  }

  @Test("Numbers may be in the other order", arguments: 2...5)
  func bigEndian(version: Int) {
    let bytes = Self.table(version: UInt64(version), isBigEndian: true)
    let header = unsafe LineHeader(bytes.span.bytes, at: 0, isBigEndian: true)
    #expect(header?.files.count == 5)
    #expect(header?.program.end == bytes.count)
  }

  @Test("A table that was cut is told, and does no harm", arguments: 2...5)
  func cut(version: Int) throws {
    let whole = Self.table(version: UInt64(version))
    for count in stride(from: 1, to: whole.count, by: Soak.times(1, or: 5)) {
      let (table, sections) = try Self.read(Array(whole.prefix(count)))
      #expect(table == nil)
      #expect(sections.findings.list.map(\.rule.code) == ["bad-line-table"])
    }
  }

  @Test("Rows before an instruction that can't be read count")
  func damage() throws {
    let program: [UInt8] = [0, 9, 2, 0, 0x10, 0, 0, 0, 0, 0, 0, 1, 2, 8, 1, 0, 5, 2, 1, 2, 3]
    let (table, sections) = try Self.read(Self.table(version: 4, program: program))
    #expect(Self.place(table, 0x1004) == "/src/inc/a.c:1:0")
    #expect(Self.place(table, 0x1008) == nil)
    #expect(sections.findings.list.map(\.rule.code) == ["bad-line-table"])
  }

  @Test("An address that decreases begins another sequence; dropped functions have none")
  func sequences() throws {
    var program: [UInt8] = []
    for start: [UInt8] in [[0, 0], [0, 0x20], [0, 0x18]] {
      program += [0, 9, 2] + start + [0, 0, 0, 0, 0, 0, 1, 2, 8, 1]
      if start == [0, 0] { program += [0, 1, 1] }
    }
    program += [2, 8, 0, 1, 1]
    let (table, _) = try Self.read(Self.table(version: 4, program: program))
    #expect(Self.place(table, 0x4) == nil)
    #expect(Self.place(table, 0x2004) != nil)
    #expect(Self.place(table, 0x2008) == nil)
    #expect(Self.place(table, 0x180f) != nil)
    #expect(Self.place(table, 0x1810) == nil)
  }

  @Test("Every address of long sequences is found from the row that was kept before it")
  func longSequence() throws {
    var program: [UInt8] = [0, 9, 2, 0, 0x10, 0, 0, 0, 0, 0, 0]
    // One byte and one line on, 500 times; each fourth stays at its address.
    var expected: [UInt64: UInt32] = [:]
    var (address, line): (UInt64, UInt32) = (0x1000, 1)
    for index in 0..<500 {
      let delta: UInt64 = index % 4 == 0 ? 0 : 1
      program.append(UInt8(13 + 5 + 1 + 14 * delta))
      address += delta
      line += 1
      expected[address] = line
    }
    program += [2, 1, 0, 1, 1]
    let (table, _) = try Self.read(Self.table(version: 4, program: program))
    for (address, line) in expected { #expect(table?.row(at: address)?.line == line) }
    #expect(table?.row(at: address + 1) == nil)
  }
}
