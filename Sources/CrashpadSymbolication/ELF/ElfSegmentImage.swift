// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A copy of an ELF file that has no section headers of use, with headers for the parts to which the program headers lead: code,
/// dynamic symbols and frame descriptions. Packers and sstrip(1) leave such files, and the loader runs them.
///
/// Source: the System V ABI, "Dynamic Section", "Hash Table"; LSB, "Exception Frames"; for DT_GNU_HASH the code of glibc.
struct ElfSegmentImage {
  private struct Section {
    let name: String
    let type: UInt64
    var flags: UInt64 = 2
    let address: UInt64
    let range: ByteRange
    var link: UInt64 = 0
    var entrySize: UInt64 = 0
  }

  private let header: ElfHeader
  private var loads: [ElfSegment] = []
  private var dynamic: ElfSegment?
  private var frameIndex: ElfSegment?

  /// Larger files are not copied.
  private static let largest = 512 << 20

  /// Nil if the file has section headers, or no dynamic section.
  static func make(_ bytes: RawSpan) -> SharedBytes? {
    guard bytes.byteCount <= largest, let header = ElfHeader(bytes), !hasSections(header, bytes) else { return nil }
    var image = ElfSegmentImage(header: header)
    header.forEachSegment(bytes) { segment in
      switch segment.type {
      case ElfSegment.load: image.loads.append(segment)
      case 2: image.dynamic = segment
      case 0x6474_e550: image.frameIndex = segment
      default: break
      }
      return true
    }
    let sections = image.code(bytes) + image.symbols(bytes) + image.frames(bytes)
    return sections.isEmpty || image.dynamic == nil ? nil : image.written(bytes, sections)
  }

  private init(header: ElfHeader) { self.header = header }

  private static func hasSections(_ header: ElfHeader, _ bytes: RawSpan) -> Bool {
    let (countPlace, size) = header.is64Bit ? (60, 64) : (48, 40)
    let count = Int(bytes.number(at: countPlace, size: 2, header.isBigEndian))
    guard header.sectionTable > 0, let start = Int(exactly: header.sectionTable), start <= bytes.byteCount else {
      return false
    }
    // A count of 0 with a table is that of a file with more sections than the field has room for.
    let room = (bytes.byteCount - start) / size
    guard room >= max(count, 1) else { return false }
    // Programs that hide their parts have a table that leads to none.
    return (0..<(count > 0 ? count : room)).contains { isSection(start + $0 * size, header, bytes) }
  }

  /// Whether a section header has a type, and bytes of the file.
  private static func isSection(_ place: Int, _ header: ElfHeader, _ bytes: RawSpan) -> Bool {
    func number(_ offset: Int, _ size: Int) -> UInt64 {
      bytes.number(at: place + offset, size: size, header.isBigEndian)
    }
    let type = number(4, 4)
    let (offset, count) = header.is64Bit ? (number(24, 8), number(32, 8)) : (number(16, 4), number(20, 4))
    let (end, overflow) = offset.addingReportingOverflow(count)
    // SHT_NULL and SHT_NOBITS have none.
    return type != 0 && type != 8 && count > 0 && !overflow && end <= UInt64(bytes.byteCount)
  }

  private var wordSize: Int { header.is64Bit ? 8 : 4 }

  private func number(_ place: Int, _ size: Int, _ bytes: RawSpan) -> UInt64? {
    place >= 0 && place <= bytes.byteCount - size ? bytes.number(at: place, size: size, header.isBigEndian) : nil
  }

  /// The bytes of the file from an address to the end of its segment.
  private func content(_ address: UInt64, _ bytes: RawSpan) -> ByteRange? {
    for segment in loads where address >= segment.address && address - segment.address < segment.fileSize {
      let skipped = address - segment.address
      let (place, overflow) = segment.offset.addingReportingOverflow(skipped)
      guard !overflow, let offset = Int(exactly: place), offset <= bytes.byteCount else { return nil }
      return ByteRange(offset: offset, count: Int(min(segment.fileSize - skipped, UInt64(bytes.byteCount - offset))))
    }
    return nil
  }

  // MARK: Parts

  private func code(_ bytes: RawSpan) -> [Section] {
    loads.filter(\.isExecutable).compactMap { segment in
      segment.content(in: bytes).map {
        Section(name: ".text", type: 1, flags: 6, address: segment.address, range: $0)
      }
    }
  }

  /// The tags of the dynamic section that are read: DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ and DT_GNU_HASH.
  private enum Tag {
    static let hash: UInt64 = 4
    static let names: UInt64 = 5
    static let symbols: UInt64 = 6
    static let namesSize: UInt64 = 10
    static let gnuHash: UInt64 = 0x6fff_fef5
    static let all = [hash, names, symbols, namesSize, gnuHash]
  }

  /// The dynamic symbols and their names.
  private func symbols(_ bytes: RawSpan) -> [Section] {
    guard let range = dynamic?.content(in: bytes) else { return [] }
    var values: [UInt64: UInt64] = [:]
    for place in stride(from: range.offset, to: range.end - 2 * wordSize + 1, by: 2 * wordSize) {
      guard let tag = number(place, wordSize, bytes), tag != 0 else { break }
      // A damaged section may be as large as the file.
      if values[tag] == nil, Tag.all.contains(tag) { values[tag] = number(place + wordSize, wordSize, bytes) }
    }
    let entrySize = header.is64Bit ? 24 : 16
    guard let names = values[Tag.names], let table = values[Tag.symbols], let size = values[Tag.namesSize],
      var text = content(names, bytes), var entries = content(table, bytes)
    else { return [] }
    let count =
      values[Tag.hash].flatMap { chainCount($0, bytes) } ?? values[Tag.gnuHash].flatMap { hashCount($0, bytes) }
    text = ByteRange(offset: text.offset, count: Int(min(size, UInt64(text.count))))
    // Linkers put the names behind the symbols.
    let behind = names > table ? Int(min((names - table) / UInt64(entrySize), UInt64(bytes.byteCount))) : nil
    guard let count = count ?? behind else { return [] }
    entries = ByteRange(offset: entries.offset, count: min(count, entries.count / entrySize) * entrySize)
    return [
      Section(name: ".dynstr", type: 3, address: names, range: text),
      Section(name: ".dynsym", type: 11, address: table, range: entries, link: 0, entrySize: UInt64(entrySize)),
    ]
  }

  /// The number of symbols in DT_HASH.
  private func chainCount(_ address: UInt64, _ bytes: RawSpan) -> Int? {
    content(address, bytes).flatMap { number($0.offset + 4, 4, bytes) }.map { Int($0) }
  }

  /// The number of symbols in DT_GNU_HASH: behind the last one of the last chain.
  private func hashCount(_ address: UInt64, _ bytes: RawSpan) -> Int? {
    guard let start = content(address, bytes)?.offset, let buckets = number(start, 4, bytes),
      let first = number(start + 4, 4, bytes), let words = number(start + 8, 4, bytes),
      Int(words) <= bytes.byteCount, Int(buckets) <= bytes.byteCount
    else { return nil }
    let table = start + 16 + Int(words) * wordSize
    var last: UInt64 = 0
    for index in 0..<Int(buckets) { last = max(last, number(table + 4 * index, 4, bytes) ?? 0) }
    guard last >= first else { return Int(first) }
    let chains = table + 4 * Int(buckets)
    while let hash = number(chains + 4 * Int(last - first), 4, bytes) {
      last += 1
      if hash & 1 != 0 { return Int(last) }
    }
    return nil
  }

  /// `.eh_frame`, to which the index of the unwinder leads.
  private func frames(_ bytes: RawSpan) -> [Section] {
    guard let segment = frameIndex, let start = segment.content(in: bytes)?.offset,
      let form = number(start + 1, 1, bytes), let value = number(start + 4, 4, bytes)
    else { return [] }
    let offset = UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: value)))
    let address: UInt64
    switch form {
    case 0x1b: address = segment.address &+ 4 &+ offset
    case 0x3b: address = segment.address &+ offset
    case 0x03, 0x0b: address = offset
    default: return []
    }
    guard let content = content(address, bytes) else { return [] }
    let range = ByteRange(offset: content.offset, count: recordsEnd(content, bytes) - content.offset)
    return range.count > 0 ? [Section(name: ".eh_frame", type: 1, address: address, range: range)] : []
  }

  /// The end of the records, which one without a length marks.
  private func recordsEnd(_ range: ByteRange, _ bytes: RawSpan) -> Int {
    var place = range.offset
    while place + 4 <= range.end, let length = number(place, 4, bytes), length > 0 {
      var (end, overflow) = UInt64(place + 4).addingReportingOverflow(length)
      if length == 0xffff_ffff {
        guard let long = number(place + 4, 8, bytes) else { return place }
        (end, overflow) = UInt64(place + 12).addingReportingOverflow(long)
      }
      guard !overflow, end <= UInt64(range.end) else { return place }
      place = Int(end)
    }
    return place
  }

  // MARK: The copy

  private func written(_ bytes: RawSpan, _ parts: [Section]) -> SharedBytes? {
    let strings = Array(("\0" + (parts.map(\.name) + [".shstrtab"]).map { $0 + "\0" }.joined()).utf8)
    let stringsPlace = (bytes.byteCount + 7) & ~7
    let table = (stringsPlace + strings.count + 7) & ~7
    let size = header.is64Bit ? 64 : 40
    var sections = parts
    if let names = sections.firstIndex(where: { $0.name == ".dynstr" }) {
      for index in sections.indices where sections[index].name == ".dynsym" { sections[index].link = UInt64(names + 1) }
    }
    sections.append(
      Section(
        name: ".shstrtab", type: 3, flags: 0, address: 0, range: ByteRange(offset: stringsPlace, count: strings.count)))
    return unsafe SharedBytes(count: table + (sections.count + 1) * size) { target in
      unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      func put(_ value: UInt64, _ place: Int, _ size: Int) {
        for index in 0..<size {
          let shift = UInt64(8 * (header.isBigEndian ? size - 1 - index : index))
          unsafe target[place + index] = UInt8(truncatingIfNeeded: value >> shift)
        }
      }
      for (index, byte) in strings.enumerated() { unsafe target[stringsPlace + index] = byte }
      put(UInt64(table), header.is64Bit ? 40 : 32, wordSize)
      let counts = header.is64Bit ? 58 : 46
      put(UInt64(size), counts, 2)
      put(UInt64(sections.count + 1), counts + 2, 2)
      put(UInt64(sections.count), counts + 4, 2)
      var name = 1
      for (index, section) in sections.enumerated() {
        var place = table + (index + 1) * size
        func field(_ value: UInt64, _ size: Int) {
          put(value, place, size)
          place += size
        }
        field(UInt64(name), 4)
        field(section.type, 4)
        field(section.flags, wordSize)
        field(section.address, wordSize)
        field(UInt64(section.range.offset), wordSize)
        field(UInt64(section.range.count), wordSize)
        field(section.link, 4)
        // The number of local symbols: only the first entry, which is none.
        field(section.type == 11 ? 1 : 0, 4)
        field(8, wordSize)
        field(section.entrySize, wordSize)
        name += section.name.utf8.count + 1
      }
      return true
    }
  }
}
