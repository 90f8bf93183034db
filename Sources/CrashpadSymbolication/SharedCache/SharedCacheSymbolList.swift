// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The symbol table of one image, made of the tables of a shared cache: its own, that of the local symbols, and the names that
/// it exports.
struct SharedCacheSymbolList {
  /// As in a file: entries, and the strings to which they refer.
  private(set) var entries: [UInt8] = []
  private(set) var strings: [UInt8] = [0]
  private(set) var count = 0
  /// Whether names were left out, because the files can't have as many.
  private(set) var isCut = false
  /// The bytes that may still be read and made.
  private(set) var room: Int
  private let is32Bit: Bool
  private let sections: [(address: UInt64, size: UInt64)]
  private let base: UInt64
  /// The addresses that have a name.
  private var named: Set<UInt64> = []
  /// Functions whose names were taken out of the image's own table.
  private var redacted: [(address: UInt64, section: UInt8)] = []

  private var entrySize: Int { is32Bit ? 12 : 16 }

  /// - Parameters:
  ///   - sections: those of the image, in its order.
  ///   - base: the address of the image.
  ///   - room: the most bytes to read and to make.
  init(is32Bit: Bool, sections: [(address: UInt64, size: UInt64)], base: UInt64, room: Int) {
    (self.is32Bit, self.sections, self.base, self.room) = (is32Bit, sections, base, room)
  }

  /// Adds the symbols of a table that lie in a section.
  mutating func add(_ table: SharedCacheSymbolTable) {
    guard take(table.entries.count) else { return }
    table.entries.withBytes { entries in
      table.strings.withBytes { strings in
        for place in stride(from: 0, through: entries.byteCount - entrySize, by: entrySize) {
          add(entries.extracting(place..<place + entrySize), strings)
        }
      }
    }
  }

  private mutating func add(_ entry: RawSpan, _ strings: RawSpan) {
    let (type, section) = (entry.uint8(at: 4), entry.uint8(at: 5))
    let address = is32Bit ? UInt64(entry.uint32(at: 8)) : entry.uint64(at: 8)
    // Debugging entries (N_STAB), and symbols that are not defined in a section (N_SECT).
    guard type & 0xe0 == 0, type & 0x0e == 0x0e, contains(section, address),
      let name = strings.name(at: Int(entry.uint32(at: 0))), !name.isEmpty
    else { return }
    if name.elementsEqual(redactedName.utf8) { return redacted.append((address, section)) }
    append(name, type, section, address)
  }

  /// The symbol of the header lies before the first section, and labels may lie at the end of one.
  private func contains(_ section: UInt8, _ address: UInt64) -> Bool {
    guard section > 0, section <= sections.count else { return false }
    let (start, size) = sections[Int(section) - 1]
    if address == base { return true }
    return address >= start && (address - start < size || (address - start == size && size <= .max - start))
  }

  /// Adds the exported names of addresses that have none.
  mutating func add(exports trie: RawSpan) {
    guard take(trie.byteCount) else { return }
    var added: [(name: [UInt8], address: UInt64)] = []
    MachOExports.forEach(trie, room: room) { name, offset in
      let address = base &+ offset
      if !named.contains(address) { added.append((name, address)) }
    }
    for (name, address) in added {
      guard let section = sections.firstIndex(where: { address >= $0.address && address - $0.address < $0.size }),
        section < 255, !name.isEmpty
      else { continue }
      append(name, 0x0f, UInt8(section + 1), address)
    }
  }

  /// Adds the functions that still have no name: they say where other names end.
  mutating func finish() {
    let name = Array(redactedName.utf8)
    for (address, section) in redacted where !named.contains(address) { append(name, 0x0e, section, address) }
  }

  /// Whether there is room for more bytes.
  private mutating func take(_ count: Int) -> Bool {
    room -= count
    if room <= 0 { isCut = true }
    return room > 0
  }

  private mutating func append(_ name: [UInt8], _ type: UInt8, _ section: UInt8, _ address: UInt64) {
    guard take(name.count + entrySize + 1) else { return }
    named.insert(address)
    entries.append(little: UInt64(strings.count), size: 4)
    entries += [type, section, 0, 0]
    entries.append(little: address, size: entrySize - 8)
    strings += name
    strings.append(0)
    count += 1
  }
}

extension RawSpan {
  /// The bytes of a name up to the next zero, at most 64 KiB; nil if it does not begin in the span.
  fileprivate func name(at offset: Int) -> [UInt8]? {
    guard offset < byteCount else { return nil }
    let end = firstZero(in: ByteRange(offset: offset, count: min(byteCount - offset, 1 << 16)))
    return array(in: ByteRange(offset: offset, count: end - offset))
  }
}

extension [UInt8] {
  /// Appends the lowest bytes of a number.
  mutating func append(little value: UInt64, size: Int) {
    for index in 0..<size { append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
  }

  /// Writes the lowest bytes of a number at an offset.
  mutating func put(_ value: UInt64, at offset: Int, size: Int) {
    for index in 0..<size { self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
  }
}
