// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Reads all frame descriptions of one `.eh_frame` or `.debug_frame` section in one pass.
///
/// `.eh_frame_hdr` is neither needed nor trusted: every offset is checked.
struct CfiReader {
  /// The data shared by several descriptions (a CIE).
  struct Common {
    var codeAlignment: UInt64 = 1
    var dataAlignment: Int64 = 1
    var returnRegister: UInt64 = 0
    /// The encoding of addresses in the descriptions; `DW_EH_PE_absptr` in `.debug_frame`.
    var addressEncoding: UInt8 = 0
    var addressSize = 8
    var hasAugmentationData = false
    var isSignalFrame = false
    /// The instructions for the initial row.
    var program = ByteRange.empty
  }

  /// The frame description of one range of code (an FDE).
  struct Entry {
    let start: UInt64
    /// The size of the code in bytes.
    let size: UInt64
    /// The index of its CIE in `commons`.
    let common: Int
    let program: ByteRange
  }

  private(set) var entries: [Entry] = []
  private(set) var commons: [Common] = []
  /// The number of records that can't be read.
  private(set) var damaged = 0

  private let isExceptionFrame: Bool
  private let address: UInt64
  private let addressSize: Int
  /// The CIEs' indices by the offset of their records; nil if one can't be read.
  private var numbers: [Int: Int?] = [:]

  /// - Parameters:
  ///   - bytes: the section, which is loaded at `address`.
  ///   - isExceptionFrame: whether it is `.eh_frame`, in which some fields differ.
  ///   - addressSize: the size of an address in bytes, 4 or 8.
  init(_ bytes: RawSpan, address: UInt64, isExceptionFrame: Bool, addressSize: Int) {
    self.isExceptionFrame = isExceptionFrame
    self.address = address
    self.addressSize = addressSize
    entries.reserveCapacity(bytes.byteCount / 40)
    var offset = 0
    while let record = Record(bytes, at: offset, isExceptionFrame) {
      offset = record.end
      // An empty record is the end of the list in `.eh_frame`, or padding.
      guard !record.isEmpty, !record.isCommon else { continue }
      guard let common = common(at: record.commonOffset, bytes), let entry = entry(record, common, bytes) else {
        damaged += 1
        continue
      }
      if entry.size > 0 { entries.append(entry) }
    }
  }

  /// The envelope of a record: its length, and the CIE that it refers to.
  private struct Record {
    let end: Int
    var isEmpty = false
    var isCommon = false
    /// The offset of its CIE; -1 if there is no valid one.
    var commonOffset = -1
    /// The offset after the identification.
    var content = 0

    init?(_ bytes: RawSpan, at start: Int, _ isExceptionFrame: Bool) {
      var format = DwarfFormat(version: 0, addressSize: 8, offsetSize: 4, isBigEndian: false)
      var offset = start
      guard let end = format.readEnd(bytes, &offset) else { return nil }
      self.end = end
      // In `.eh_frame` the identification has four bytes in both the 32-bit and the 64-bit format.
      let isWide = format.offsetSize == 8 && !isExceptionFrame
      guard end - offset >= (isWide ? 8 : 4) else {
        isEmpty = true
        return
      }
      let id = isWide ? bytes.uint64(at: offset) : UInt64(bytes.uint32(at: offset))
      content = offset + (isWide ? 8 : 4)
      if isExceptionFrame {
        isCommon = id == 0
        if !isCommon, id <= UInt64(offset) { commonOffset = offset - Int(id) }
      } else {
        isCommon = id == (isWide ? .max : 0xffff_ffff)
        if !isCommon, let place = Int(exactly: id), place < bytes.byteCount { commonOffset = place }
      }
    }
  }

  private mutating func common(at offset: Int, _ bytes: RawSpan) -> Int? {
    if let known = numbers[offset] { return known }
    var number: Int?
    if let record = Record(bytes, at: offset, isExceptionFrame), record.isCommon, let common = common(record, bytes) {
      number = commons.count
      commons.append(common)
    }
    numbers[offset] = .some(number)
    return number
  }

  private func common(_ record: Record, _ bytes: RawSpan) -> Common? {
    var common = Common()
    common.addressSize = addressSize
    let part = bytes.extracting(0..<record.end)
    var offset = record.content
    guard offset < record.end else { return nil }
    let version = part.uint8(at: offset)
    offset += 1
    guard version == 1 || version == 3 || version == 4 else { return nil }
    let name = part.firstZero(in: ByteRange(offset: offset, count: record.end - offset))
    guard name < record.end else { return nil }
    let augmentation = part.array(in: ByteRange(offset: offset, count: name - offset))
    offset = name + 1
    if version == 4 {
      guard offset + 2 <= record.end else { return nil }
      common.addressSize = Int(part.uint8(at: offset))
      guard common.addressSize == 4 || common.addressSize == 8, part.uint8(at: offset + 1) == 0 else { return nil }
      offset += 2
    }
    // GCC 2 wrote an address here.
    if augmentation == Array("eh".utf8) { offset += addressSize }
    guard offset <= record.end, let code = part.unsigned(&offset), let data = part.signed(&offset) else { return nil }
    (common.codeAlignment, common.dataAlignment) = (code, data)
    if version == 1 {
      guard offset < record.end else { return nil }
      common.returnRegister = UInt64(part.uint8(at: offset))
      offset += 1
    } else {
      guard let register = part.unsigned(&offset) else { return nil }
      common.returnRegister = register
    }
    guard augment(&common, augmentation, part, &offset) else { return nil }
    common.program = ByteRange(offset: offset, count: record.end - offset)
    // These instructions run once for each description that uses the CIE; compilers write only a few bytes.
    guard common.program.count <= 4096 else { return nil }
    return common
  }

  private func augment(_ common: inout Common, _ letters: [UInt8], _ bytes: RawSpan, _ offset: inout Int) -> Bool {
    guard letters.first == UInt8(ascii: "z") else { return letters.isEmpty || letters == Array("eh".utf8) }
    common.hasAugmentationData = true
    guard let length = bytes.unsigned(&offset), length <= UInt64(bytes.byteCount - offset) else { return false }
    let end = offset + Int(length)
    defer { offset = end }
    for letter in letters.dropFirst() {
      switch letter {
      case UInt8(ascii: "R") where offset < end:
        common.addressEncoding = bytes.uint8(at: offset)
        offset += 1
      case UInt8(ascii: "L") where offset < end: offset += 1
      case UInt8(ascii: "P") where offset < end:
        let encoding = bytes.uint8(at: offset)
        offset += 1
        guard value(encoding & 0xf, bytes, &offset, common.addressSize) != nil else { return false }
      case UInt8(ascii: "S"): common.isSignalFrame = true
      // arm64: return addresses are signed with key B; the stack is tagged.
      case UInt8(ascii: "B"), UInt8(ascii: "G"): break
      // The data of an unknown letter can be skipped, because the total length is known, but not if an address encoding
      // may be part of it.
      default: return !letters.contains(UInt8(ascii: "R"))
      }
    }
    return true
  }

  private func entry(_ record: Record, _ number: Int, _ bytes: RawSpan) -> Entry? {
    let common = commons[number]
    let part = bytes.extracting(0..<record.end)
    var offset = record.content
    let place = address &+ UInt64(offset)
    guard var start = value(common.addressEncoding & 0xf, part, &offset, common.addressSize),
      let size = value(common.addressEncoding & 0x7, part, &offset, common.addressSize)
    else { return nil }
    switch common.addressEncoding & 0xf0 {
    case 0: break
    case 0x10: start = start &+ place
    default: return nil
    }
    if common.addressSize == 4 { start &= 0xffff_ffff }
    if common.hasAugmentationData {
      guard let length = part.unsigned(&offset), length <= UInt64(record.end - offset) else { return nil }
      offset += Int(length)
    }
    guard offset <= record.end else { return nil }
    return Entry(
      start: start, size: size, common: number, program: ByteRange(offset: offset, count: record.end - offset))
  }

  /// Reads a value in one of the `DW_EH_PE_…` encodings.
  private func value(_ encoding: UInt8, _ bytes: RawSpan, _ offset: inout Int, _ addressSize: Int) -> UInt64? {
    let rest = bytes.byteCount - offset
    let size: Int
    switch encoding {
    case 0x1: return bytes.unsigned(&offset)
    case 0x9: return bytes.signed(&offset).map { UInt64(bitPattern: $0) }
    case 0x2, 0xa: size = 2
    case 0x3, 0xb: size = 4
    case 0x4, 0xc: size = 8
    case 0x0, 0x8: size = addressSize
    default: return nil
    }
    guard rest >= size else { return nil }
    defer { offset += size }
    return bytes.number(at: offset, size: size, isSigned: encoding >= 0x8)
  }
}
