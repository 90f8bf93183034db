// SPDX-License-Identifier: Apache-2.0
/// The header of an ELF file, of either word size and byte order, and its program headers.
///
/// Cores, programs and images in memory are read here, without libelf: a part of a file may be all that there is, and offsets
/// and counts may be anything up to 2^64. Sections, relocations and symbols are read with libelf.
///
/// Source: the System V ABI, "ELF Header" and "Program Header".
package struct ElfHeader: Sendable {
  /// The most bytes that a header has.
  package static let maximumSize = 64
  /// 0x7f, "ELF"
  package static let magic: UInt32 = 0x464c_457f
  /// PN_XNUM: the number of program headers is in the first section header.
  package static let extendedCount = 0xffff

  package let is64Bit: Bool
  package let isBigEndian: Bool
  /// ET_*
  package let type: UInt16
  /// EM_*
  package let machine: UInt16
  /// The address at which the program starts (e_entry); 0 if the file has no entry point.
  package let entry: UInt64
  /// The offset of the program headers from the beginning of the file.
  package let segmentTable: UInt64
  /// The size of one, and the number of them as the header has it: `extendedCount` stands for more.
  package let segmentEntrySize: Int
  package let segmentField: Int
  /// The offset of the section headers from the beginning of the file.
  package let sectionTable: UInt64

  /// The least size of a program header that has all its members.
  package var minimumEntrySize: Int { is64Bit ? 56 : 32 }

  /// Nil if there is no ELF header at `offset`, or not all of it.
  package init?(_ bytes: RawSpan, at offset: Int = 0) {
    guard offset >= 0, offset <= bytes.byteCount - 6, bytes.uint32(at: offset) == Self.magic else { return nil }
    let (kind, order) = (bytes.uint8(at: offset + 4), bytes.uint8(at: offset + 5))
    guard [1, 2].contains(kind), [1, 2].contains(order) else { return nil }
    is64Bit = kind == 2
    isBigEndian = order == 2
    guard offset <= bytes.byteCount - (kind == 2 ? 64 : 52) else { return nil }
    let (is64, isBig) = (kind == 2, order == 2)
    func half(_ place: Int) -> UInt16 { UInt16(bytes.number(at: offset + place, size: 2, isBig)) }
    func word(_ place: Int) -> UInt64 { bytes.number(at: offset + place, size: is64 ? 8 : 4, isBig) }
    type = half(16)
    machine = half(18)
    entry = word(24)
    segmentTable = word(is64 ? 32 : 28)
    sectionTable = word(is64 ? 40 : 32)
    segmentEntrySize = Int(half(is64 ? 54 : 42))
    segmentField = Int(half(is64 ? 56 : 44))
  }

  /// The number of program headers that the file claims to have. `bytes` are the whole file.
  ///
  /// Nil if it is in the first section header, and that is missing.
  package func segmentCount(_ bytes: RawSpan) -> Int? {
    guard segmentField == Self.extendedCount else { return segmentField }
    // sh_info
    let (size, place) = is64Bit ? (64, 44) : (40, 28)
    guard sectionTable > 0, let section = Int(exactly: sectionTable), section <= bytes.byteCount - size else {
      return nil
    }
    return Int(bytes.number(at: section + place, size: 4, isBigEndian))
  }

  /// The number of program headers for which `bytes`, the file or its beginning, have room.
  package func segmentRoom(_ bytes: RawSpan) -> Int {
    guard segmentEntrySize >= minimumEntrySize, let start = Int(exactly: segmentTable), start <= bytes.byteCount else {
      return 0
    }
    return (bytes.byteCount - start) / segmentEntrySize
  }

  /// Calls `body` with each program header that is in `bytes`, which are the whole file, until it returns false.
  package func forEachSegment(_ bytes: RawSpan, _ body: (ElfSegment) -> Bool) {
    let count = min(segmentCount(bytes) ?? 0, segmentRoom(bytes))
    for index in 0..<count where !body(segment(at: Int(segmentTable) + index * segmentEntrySize, bytes)) { return }
  }

  /// The program header at an offset of `bytes`, which must have all of it.
  package func segment(at place: Int, _ bytes: RawSpan) -> ElfSegment {
    func value(_ wide: Int, _ narrow: Int) -> UInt64 {
      bytes.number(at: place + (is64Bit ? wide : narrow), size: is64Bit ? 8 : 4, isBigEndian)
    }
    func half(_ place: Int) -> UInt32 { UInt32(bytes.number(at: place, size: 4, isBigEndian)) }
    return ElfSegment(
      type: half(place), flags: half(place + (is64Bit ? 4 : 24)), offset: value(8, 4), fileSize: value(32, 16),
      address: value(16, 8), memorySize: value(40, 20), alignment: value(48, 28))
  }
}

/// One program header.
package struct ElfSegment: Sendable, Equatable {
  package static let load: UInt32 = 1
  package static let interpreter: UInt32 = 3
  package static let note: UInt32 = 4

  /// PT_*
  package let type: UInt32
  /// PF_X 1, PF_W 2, PF_R 4
  package let flags: UInt32
  /// The range in the file, in bytes.
  package let offset: UInt64
  package let fileSize: UInt64
  /// The range in memory, in bytes.
  package let address: UInt64
  package let memorySize: UInt64
  package let alignment: UInt64

  package var isExecutable: Bool { flags & 1 != 0 }

  /// The range in `bytes`, the file or its beginning; nil if not all of it is there.
  package func content(in bytes: RawSpan) -> ByteRange? { ByteRange(offset, count: fileSize, in: bytes) }
}

extension ByteRange {
  /// A range that a file declares; nil if not all of it is in `bytes`.
  package init?(_ offset: UInt64, count: UInt64, in bytes: RawSpan) {
    guard let offset = Int(exactly: offset), let count = Int(exactly: count), offset <= bytes.byteCount,
      count <= bytes.byteCount - offset
    else { return nil }
    self.init(offset: offset, count: count)
  }
}
