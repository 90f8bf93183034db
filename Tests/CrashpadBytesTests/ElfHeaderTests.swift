// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import Testing

/// Both word sizes and byte orders, and what damage may put into a header.
@Suite("Headers and notes of ELF files")
struct ElfHeaderTests {
  /// A file with two program headers, one of notes, and the first section header at its end.
  struct Synth {
    var is64 = true
    var isBig = false
    var type: UInt64 = 4
    var machine: UInt64 = 62
    var table: UInt64?
    var entrySize: UInt64?
    var count: UInt64 = 2
    var sections: UInt64?
    var noteOffset: UInt64?
    var noteSize: UInt64?
    /// sh_info of the first section header.
    var realCount: UInt64 = 2

    private func number(_ value: UInt64, _ size: Int) -> [UInt8] {
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
      return isBig ? bytes.reversed() : bytes
    }

    private func segment(_ type: UInt64, _ offset: UInt64, _ size: UInt64) -> [UInt8] {
      let word = is64 ? 8 : 4
      let flags = number(5, 4)
      var bytes = number(type, 4) + (is64 ? flags : [])
      for value in [offset, 0x40_0000, 0, size, size &+ 0x100] { bytes += number(value, word) }
      return bytes + (is64 ? [] : flags) + number(4, word)
    }

    var headerSize: Int { is64 ? 64 : 52 }
    var noteStart: Int { headerSize + 2 * (is64 ? 56 : 32) }

    var bytes: [UInt8] {
      let word = is64 ? 8 : 4
      var note = number(4, 4) + number(20, 4) + number(3, 4) + Array("GNU\0".utf8)
      note += (1...20).map { UInt8($0) }
      let end = noteStart + note.count
      var bytes: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, isBig ? 2 : 1, 1] + [UInt8](repeating: 0, count: 9)
      bytes += number(type, 2) + number(machine, 2) + number(1, 4) + number(0x40_1000, word)
      bytes += number(table ?? UInt64(headerSize), word) + number(sections ?? UInt64(end), word) + number(0, 4)
      bytes += number(UInt64(headerSize), 2) + number(entrySize ?? (is64 ? 56 : 32), 2) + number(count, 2)
      bytes += [UInt8](repeating: 0, count: headerSize - bytes.count)
      bytes += segment(1, 0, UInt64(end))
      bytes += segment(4, noteOffset ?? UInt64(noteStart), noteSize ?? UInt64(note.count))
      bytes += note
      var section = [UInt8](repeating: 0, count: is64 ? 64 : 40)
      section.replaceSubrange((is64 ? 44 : 28)..<(is64 ? 48 : 32), with: number(realCount, 4))
      return bytes + section
    }
  }

  static let kinds = [(true, false), (true, true), (false, false), (false, true)]

  private func segments(_ bytes: [UInt8]) -> [ElfSegment]? {
    withBytes(bytes) { span in
      guard let header = ElfHeader(span) else { return nil }
      var segments: [ElfSegment] = []
      header.forEachSegment(span) {
        segments.append($0)
        return true
      }
      return segments
    }
  }

  private func buildID(_ bytes: [UInt8]) -> [UInt8]? {
    withBytes(bytes) { span in
      guard let header = ElfHeader(span) else { return nil }
      var id: ByteRange?
      header.forEachSegment(span) { segment in
        guard segment.type == ElfSegment.note, let place = segment.content(in: span) else { return true }
        var notes = ElfNotes(place, alignment: segment.alignment, isBigEndian: header.isBigEndian)
        while let note = notes.next(span) { id = id ?? note.buildID(span) }
        return true
      }
      return id.map { span.array(in: $0) }
    }
  }

  @Test("A header of each word size and byte order is read", arguments: kinds)
  func forms(_ is64: Bool, _ isBig: Bool) throws {
    let file = Synth(is64: is64, isBig: isBig)
    let bytes = file.bytes
    let header = try #require(withBytes(bytes) { ElfHeader($0) })
    #expect(header.is64Bit == is64 && header.isBigEndian == isBig)
    #expect(header.type == 4 && header.machine == 62)
    let end = UInt64(file.noteStart + 36)
    #expect(
      segments(bytes)?.map { [UInt64($0.type), UInt64($0.flags), $0.offset, $0.fileSize, $0.address, $0.memorySize] }
        == [
          [1, 5, 0, end, 0x40_0000, end + 0x100], [4, 5, UInt64(file.noteStart), 36, 0x40_0000, 0x124],
        ])
    #expect(segments(bytes)?.map(\.alignment) == [4, 4])
    #expect(buildID(bytes) == (1...20).map { UInt8($0) })
  }

  @Test("More than 65,534 program headers are counted by the first section header", arguments: kinds)
  func extendedCount(_ is64: Bool, _ isBig: Bool) throws {
    var file = Synth(is64: is64, isBig: isBig, count: 0xffff)
    #expect(segments(file.bytes)?.count == 2)
    file.sections = .max
    #expect(withBytes(file.bytes) { ElfHeader($0)?.segmentCount($0) } == nil)
    #expect(segments(file.bytes) == [])
    file.sections = 0
    #expect(segments(file.bytes) == [])
    file.sections = nil
    // Four billion of them: as many as have room.
    file.realCount = .max
    #expect((2...4).contains(segments(file.bytes)?.count ?? 0))
  }

  @Test("A beginning of a file has a header or none, and never more program headers than bytes", arguments: kinds)
  func everyLength(_ is64: Bool, _ isBig: Bool) {
    let file = Synth(is64: is64, isBig: isBig)
    for count in 0...file.bytes.count {
      let part = Array(file.bytes.prefix(count))
      #expect((segments(part) == nil) == (count < file.headerSize), "\(count) bytes")
      let room = (count - file.headerSize) / (is64 ? 56 : 32)
      #expect((segments(part)?.count ?? 0) == min(2, max(0, room)), "\(count) bytes")
      _ = buildID(part)
    }
  }

  static let values: [UInt64] = [0, 1, 0x7fff_ffff_ffff_ffff, 0x8000_0000_0000_0000, .max - 1, .max]

  @Test("Offsets and sizes up to 2^64 lead nowhere", arguments: values)
  func extremes(_ value: UInt64) {
    for (is64, isBig) in Self.kinds {
      _ = segments(Synth(is64: is64, isBig: isBig, table: value).bytes)
      #expect(segments(Synth(is64: is64, isBig: isBig, entrySize: value & 31).bytes) == [])
      _ = segments(Synth(is64: is64, isBig: isBig, count: 0xffff, sections: value).bytes)
      if value > 1 {
        #expect(segments(Synth(is64: true, isBig: isBig, table: value).bytes) == [])
        #expect(buildID(Synth(is64: is64, isBig: isBig, noteOffset: value).bytes) == nil)
        #expect(buildID(Synth(is64: is64, isBig: isBig, noteSize: value).bytes) == nil)
      }
    }
  }

  @Test("Any bytes in place of those of a header, a program header or a note end in an answer")
  func everyByte() {
    for (is64, isBig) in Self.kinds {
      let bytes = Synth(is64: is64, isBig: isBig).bytes
      for index in bytes.indices {
        for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
          var damaged = bytes
          damaged[index] = value
          let found = segments(damaged)
          #expect((found == nil) == !damaged.starts(with: [0x7f, 0x45, 0x4c, 0x46]) || index == 4 || index == 5)
          _ = buildID(damaged)
        }
      }
    }
  }

  @Test("Bytes that are not an ELF header are refused")
  func others() {
    #expect(segments([]) == nil)
    #expect(segments(Array("#!/bin/sh\n".utf8)) == nil)
    for (offset, value): (Int, UInt8) in [(0, 0x7e), (4, 0), (4, 3), (5, 0), (5, 3)] {
      var bytes = Synth().bytes
      bytes[offset] = value
      #expect(segments(bytes) == nil)
    }
    let bytes = Synth().bytes
    for offset in [-1, 1, bytes.count, .max] { #expect(withBytes(bytes) { ElfHeader($0, at: offset) } == nil) }
    let behind = [UInt8](repeating: 1, count: 9) + bytes
    #expect(withBytes(behind) { ElfHeader($0, at: 9) }?.machine == 62)
  }
}
