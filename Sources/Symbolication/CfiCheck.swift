internal import BinaryFormat
internal import CElfutils

/// Whether libdw may execute the descriptions of frames at an address: it makes room for all registers up to the one that is
/// named, and again for each state that is remembered.
struct CfiCheck {
  private let bytes: RawSpanHolder
  let reader: CfiReader
  /// Numbers of the descriptions.
  private var index = RangeIndex()

  /// No processor has more; those that are known have fewer than 200.
  private static let maximumRegister: UInt64 = 1024
  private static let maximumSaved = 64

  /// - Parameters:
  ///   - name: of the section, `.eh_frame` or `.debug_frame`.
  ///   - file: whose section it is.
  init(_ name: String, _ file: ElfFile) {
    let bytes = unsafe RawSpanHolder(DwarfInfo.Sections.contents(name, file), owner: file)
    let address = file.section(name)?.header.sh_addr ?? 0
    let reader = bytes.withBytes {
      CfiReader($0, address: address, isExceptionFrame: name == ".eh_frame", addressSize: file.is64 ? 8 : 4)
    }
    (self.bytes, self.reader) = (bytes, reader)
    for (number, entry) in reader.entries.enumerated() {
      let (end, overflow) = entry.start.addingReportingOverflow(entry.size)
      if entry.size > 0 { index.add(entry.start..<(overflow ? .max : end), number) }
    }
    index.finish()
  }

  /// False also where nothing is described.
  func allows(_ address: UInt64) -> Bool {
    let numbers = index.all(containing: address)
    // Of more only some are told.
    guard !numbers.isEmpty, numbers.count < 8 else { return false }
    return bytes.withBytes { bytes in
      numbers.allSatisfy { number in
        let entry = reader.entries[number]
        let common = reader.commons[entry.common]
        return Self.isHarmless(common.program, common, bytes) && Self.isHarmless(entry.program, common, bytes)
      }
    }
  }

  private static func isHarmless(_ program: ByteRange, _ common: CfiReader.Common, _ bytes: RawSpan) -> Bool {
    let part = bytes.extracting(0..<program.end)
    var offset = program.offset
    var saved = 0
    func isRegister() -> Bool { part.unsigned(&offset).map { $0 <= maximumRegister } ?? false }
    func isBlock() -> Bool {
      guard let length = part.unsigned(&offset), length <= UInt64(part.byteCount - offset) else { return false }
      offset += Int(length)
      return true
    }
    while offset < part.byteCount {
      let instruction = part.uint8(at: offset)
      offset += 1
      let isReadable: Bool
      switch instruction {
      case 0x40...0x7f, 0xc0...0xff, 0x00, 0x0b, 0x2d: isReadable = true
      case 0x80...0xbf, 0x0e, 0x2e: isReadable = part.unsigned(&offset) != nil
      case 0x01:
        offset += common.addressSize
        isReadable = common.addressEncoding == 0
      case 0x02, 0x03, 0x04:
        offset += 1 << Int(instruction - 2)
        isReadable = true
      case 0x05, 0x0c, 0x14, 0x2f: isReadable = isRegister() && part.unsigned(&offset) != nil
      case 0x06, 0x07, 0x08, 0x0d: isReadable = isRegister()
      case 0x09: isReadable = isRegister() && isRegister()
      case 0x0a:
        saved += 1
        isReadable = saved <= maximumSaved
      case 0x0f: isReadable = isBlock()
      case 0x10, 0x16: isReadable = isRegister() && isBlock()
      case 0x11, 0x12, 0x15: isReadable = isRegister() && part.signed(&offset) != nil
      case 0x13: isReadable = part.signed(&offset) != nil
      default: isReadable = false
      }
      guard isReadable else { return false }
    }
    return offset == part.byteCount
  }
}
