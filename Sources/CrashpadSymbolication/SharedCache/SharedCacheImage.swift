// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// Makes a Mach-O file of one image of a shared cache: its load commands, unwind information and symbols. In a cache these are
/// in several files, and its symbols in tables for all images. The code stays where it is.
struct SharedCacheImage {
  private let space: SharedCacheSpace
  let header: MachOHeader
  private let address: UInt64
  /// The header and the load commands.
  private var head: [UInt8]
  /// The bytes behind them.
  private var data: [UInt8] = []
  private var commands: [ByteRange] = []
  private var sections: [(address: UInt64, size: UInt64)] = []
  /// The address of the segment with symbols, less its offset in a file.
  private var linkedit: UInt64?
  /// The place in `head` of the size of `__TEXT`.
  private var textSize: (place: Int, size: Int)?
  private var exports: (address: UInt64, size: UInt64)?
  /// Whether there is a symbol table in a file that is not there.
  private var lacksSymbols = false

  /// Real images have at most some ten thousand bytes of load commands.
  private static let longestHead = 1 << 20

  /// Nil if the image can't be read.
  init?(_ space: SharedCacheSpace, at address: UInt64) {
    (self.space, self.address) = (space, address)
    let start = space.bytes(from: address)
    guard case .success(let header) = start.withBytes({ MachOHeader.read($0) }) else { return nil }
    let size = header.size + header.commandBytes
    guard size <= Self.longestHead, size <= start.count else { return nil }
    self.header = header
    head = start.withBytes { $0.array(in: ByteRange(offset: 0, count: size)) }
    var list = MachOCommandList(header, end: size)
    while let range = start.withBytes({ list.next(in: $0) }) { commands.append(range) }
    if list.fault != nil { return nil }
    for range in commands { readSegment(range) }
  }

  /// The bytes of the file, whether symbols were left out of it, and whether its symbol table is not there.
  ///
  /// - Parameters:
  ///   - locals: the local symbols of the image.
  ///   - room: the most bytes to read and make; what was made is taken off it.
  consuming func file(_ locals: SharedCacheSymbolTable?, room: inout Int) -> (
    bytes: [UInt8], isCut: Bool, lacksSymbols: Bool
  ) {
    var list = SharedCacheSymbolList(is32Bit: header.is32Bit, sections: sections, base: address, room: room)
    for range in commands { take(range, locals, &list) }
    if let exports {
      space.bytes(exports.address, exports.size).withBytes { list.add(exports: $0) }
    }
    list.finish()
    for range in commands where command(range) == 0x02 { writeSymbols(list, range) }
    // The sections in `__TEXT` are in the range that it declares.
    if let textSize { head.put(UInt64(head.count + data.count), at: textSize.place, size: textSize.size) }
    room = list.room - head.count - data.count
    return (head + data, list.isCut, lacksSymbols)
  }

  private func number(_ place: Int, size: Int = 4) -> UInt64 {
    unsafe head.span.bytes.number(at: place, size: size, isSigned: false)
  }

  private func command(_ range: ByteRange) -> UInt64 { number(range.offset) }

  // MARK: Segments

  private mutating func readSegment(_ range: ByteRange) {
    switch command(range) {
    // LC_SEGMENT_64, LC_SEGMENT
    case 0x19: readSegment(range, MachOCommands.wide)
    case 0x01: readSegment(range, MachOCommands.narrow)
    default: break
    }
  }

  /// Reads a segment, and changes its offsets in the cache's files into those in the new file.
  private mutating func readSegment(_ range: ByteRange, _ layout: MachOCommands.SegmentLayout) {
    guard range.count >= layout.size else { return }
    let (place, width) = (range.offset, layout.width)
    let name = unsafe head.span.bytes.name(at: place + 8)
    let file = place + layout.fileOffset
    if name == "__LINKEDIT" { linkedit = number(place + 24, size: width) &- number(file, size: width) }
    if name == "__TEXT" { textSize = (file + width, width) }
    head.put(0, at: file, size: width)
    head.put(0, at: file + width, size: width)
    let count = min(Int(number(place + layout.count)), (range.count - layout.size) / layout.sectionSize)
    for index in 0..<count { readSection(place + layout.size + index * layout.sectionSize, name, layout) }
  }

  private mutating func readSection(_ place: Int, _ segment: String, _ layout: MachOCommands.SegmentLayout) {
    let address = number(place + 32, size: layout.width)
    let size = number(place + 32 + layout.width, size: layout.width)
    sections.append((address, size))
    let name = unsafe head.span.bytes.name(at: place)
    let isWanted = segment == "__TEXT" && ["__unwind_info", "__eh_frame"].contains(name)
    let content = isWanted ? append(space.bytes(address, size)) : 0
    head.put(UInt64(content), at: place + layout.content, size: 4)
  }

  /// Appends bytes, and returns their offset in the file; 0 if there are none.
  private mutating func append(_ bytes: SharedBytes) -> Int {
    if bytes.isEmpty { return 0 }
    data += [UInt8](repeating: 0, count: (8 - (head.count + data.count) % 8) % 8)
    let offset = head.count + data.count
    bytes.withBytes { data += $0.array() }
    return offset
  }

  // MARK: Other commands

  private mutating func take(
    _ range: ByteRange, _ locals: SharedCacheSymbolTable?, _ list: inout SharedCacheSymbolList
  ) {
    switch command(range) {
    // LC_SYMTAB
    case 0x02 where range.count >= 24:
      if let locals { list.add(locals) }
      let own = table(range.offset)
      if own.entries.isEmpty, number(range.offset + 12) > 0 { lacksSymbols = true }
      list.add(own)
    // LC_FUNCTION_STARTS
    case 0x26 where range.count >= 16:
      let starts = linkeditBytes(number(range.offset + 8), number(range.offset + 12))
      head.put(UInt64(append(starts)), at: range.offset + 8, size: 4)
      head.put(UInt64(starts.count), at: range.offset + 12, size: 4)
    // LC_DYLD_EXPORTS_TRIE
    case 0x8000_0033 where range.count >= 16: readExports(range.offset + 8)
    // LC_DYLD_INFO, LC_DYLD_INFO_ONLY
    case 0x22 where range.count >= 48, 0x8000_0022 where range.count >= 48: readExports(range.offset + 40)
    default: break
    }
  }

  private mutating func readExports(_ place: Int) {
    guard let linkedit else { return }
    exports = (linkedit &+ number(place), number(place + 4))
  }

  /// The bytes at an offset that a load command names.
  private func linkeditBytes(_ offset: UInt64, _ count: UInt64) -> SharedBytes {
    linkedit.map { space.bytes($0 &+ offset, count) } ?? SharedBytes()
  }

  private func table(_ place: Int) -> SharedCacheSymbolTable {
    let size: UInt64 = header.is32Bit ? 12 : 16
    return SharedCacheSymbolTable(
      entries: linkeditBytes(number(place + 8), number(place + 12) * size),
      strings: linkeditBytes(number(place + 16), number(place + 20)))
  }

  private mutating func writeSymbols(_ list: SharedCacheSymbolList, _ range: ByteRange) {
    guard range.count >= 24 else { return }
    let place = range.offset
    data += [UInt8](repeating: 0, count: (8 - (head.count + data.count) % 8) % 8)
    head.put(UInt64(head.count + data.count), at: place + 8, size: 4)
    head.put(UInt64(list.count), at: place + 12, size: 4)
    data += list.entries
    head.put(UInt64(head.count + data.count), at: place + 16, size: 4)
    head.put(UInt64(list.strings.count), at: place + 20, size: 4)
    data += list.strings
  }
}
