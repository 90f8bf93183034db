// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import Synchronization

/// A symbol of a Mach-O file.
package struct MachOSymbol: Sendable, Hashable {
  /// The name without the leading underscore of C names.
  package let name: String
  package let address: UInt64
  /// The address after the last one, limited by the next symbol, the next function start or the end of the section.
  package let end: UInt64
  /// Whether the symbol is visible to other files.
  package let isExternal: Bool

  /// Whether the name is known. Without one, the symbol only says that other names end where it begins.
  package var hasName: Bool { !name.isEmpty && name != redactedName }
}

extension MachOFile {
  /// The symbol that contains `address`; nil if there is none. If several have one address, an external one is
  /// preferred.
  package func symbol(containing address: UInt64) -> MachOSymbol? {
    let addresses = addresses
    guard let index = addresses.index(atOrBefore: address) else { return nil }
    let symbol = symbol(index, addresses)
    return address < symbol.end ? symbol : nil
  }

  /// The last symbol that begins at or before `address`, whether or not it contains the address.
  package func symbol(before address: UInt64) -> MachOSymbol? {
    let addresses = addresses
    return addresses.index(atOrBefore: address).map { symbol($0, addresses) }
  }

  /// Returns the data symbol at or before `address` in the same section, or nil.
  func dataSymbol(before address: UInt64) -> MachOSymbol? {
    let addresses = index.data(of: self)
    guard let index = addresses.index(atOrBefore: address) else { return nil }
    let symbol = symbol(index, addresses)
    return address < symbol.end ? symbol : nil
  }

  /// All symbols of code, sorted by address; the preferred one of each address comes first.
  package func symbols() -> [MachOSymbol] {
    let addresses = addresses
    // In a hostile file, thousands of symbols may share one name that is as long as the file.
    var room = 1 << 20 + 4 * (symbolTable?.strings.count ?? 0)
    return addresses.symbols.indices.map { index in
      let symbol = symbol(index, addresses, longest: room)
      room -= symbol.name.utf8.count
      return symbol
    }
  }

  /// The starts of functions, sorted, including functions without symbols. Empty if the file has no list.
  package var functionStarts: [UInt64] { addresses.functionStarts }

  /// The function that contains `address`, from LC_FUNCTION_STARTS; nil if unknown.
  package func function(containing address: UInt64) -> Range<UInt64>? {
    let starts = addresses.functionStarts
    let next = starts.firstIndex(above: address)
    guard next > 0, let section = sections.first(where: { $0.hasInstructions && $0.contains(address) }) else {
      return nil
    }
    let start = starts[next - 1]
    guard start >= section.address else { return nil }
    return start..<(next < starts.count ? min(starts[next], section.end) : section.end)
  }

  private func symbol(_ index: Int, _ addresses: MachOAddresses, longest: Int = .max) -> MachOSymbol {
    let entry = addresses.symbols[index]
    var end = sections[Int(entry.section)].end
    let nextSymbol = (index..<addresses.symbols.count).partitioningIndex {
      addresses.symbols[$0].address > entry.address
    }
    if nextSymbol < addresses.symbols.count { end = min(end, addresses.symbols[nextSymbol].address) }
    let nextStart = addresses.functionStarts.firstIndex(above: entry.address)
    if nextStart < addresses.functionStarts.count { end = min(end, addresses.functionStarts[nextStart]) }
    let name = file.withBytes { bytes in
      // The table is in the file, and the start of the name is in the table.
      let strings = symbolTable?.strings ?? .empty
      let start = strings.offset + Int(entry.name)
      let end = bytes.firstZero(in: ByteRange(offset: start, count: strings.end - start))
      let hasUnderscore = end > start && bytes.uint8(at: start) == UInt8(ascii: "_")
      let first = hasUnderscore ? start + 1 : start
      return bytes.text(in: ByteRange(offset: first, count: min(end - first, max(longest, 0))))
    }
    return MachOSymbol(name: name, address: entry.address, end: end, isExternal: entry.rank == 0)
  }
}

extension MachOFile {
  func isCode(_ address: UInt64) -> Bool { sections.contains { $0.hasInstructions && $0.contains(address) } }
}

/// Symbols and function starts, sorted by address.
struct MachOAddresses: Sendable {
  struct Symbol: Sendable {
    let address: UInt64
    /// The offset in the string table.
    let name: UInt32
    /// The index of its section.
    let section: UInt8
    /// Among the symbols at one address, the lowest rank is preferred.
    let rank: UInt8
  }

  private(set) var symbols: [Symbol] = []
  private(set) var functionStarts: [UInt64] = []
  private(set) var findings = FindingList()

  init(_ file: MachOFile) {
    file.file.withBytes { bytes in
      if let range = file.functionStartBytes { readFunctionStarts(range, file.textAddress, bytes) }
      if let table = file.symbolTable { readSymbols(table, file, bytes, hasCode: true) }
    }
  }

  /// The symbols of data.
  init(dataIn file: MachOFile) {
    guard let table = file.symbolTable else { return }
    file.file.withBytes { readSymbols(table, file, $0, hasCode: false) }
  }

  /// Reads ULEB128 deltas, the first relative to the start of `__TEXT`; a zero terminates them.
  private mutating func readFunctionStarts(_ range: ByteRange, _ text: UInt64, _ bytes: RawSpan) {
    let list = bytes.extracting(0..<range.end)
    var address = text
    var offset = range.offset
    while offset < range.end {
      let delta = list.unsigned(&offset)
      if delta == 0 { return }
      let next = delta.map { address.addingReportingOverflow($0) }
      guard let (next, overflow) = next, !overflow else {
        findings.append(Finding(MachORules.badFunctionStarts, at: offset))
        return
      }
      address = next
      functionStarts.append(address)
    }
  }

  private mutating func readSymbols(
    _ table: MachOSymbolTable, _ file: MachOFile, _ bytes: RawSpan, hasCode: Bool
  ) {
    let sections = file.sections
    for index in 0..<(table.entries.count / table.entrySize) {
      let place = table.entries.offset + index * table.entrySize
      let type = bytes.uint8(at: place + 4)
      // Skip debugging entries (N_STAB), and symbols that are not defined in a section (N_SECT).
      guard type & 0xe0 == 0, type & 0x0e == 0x0e else { continue }
      let section = Int(bytes.uint8(at: place + 5)) - 1
      let address = file.addressSize == 4 ? UInt64(bytes.uint32(at: place + 8)) : bytes.uint64(at: place + 8)
      let name = bytes.uint32(at: place)
      guard section >= 0, section < sections.count, Int(name) < table.strings.count else {
        findings.append(Finding(MachORules.badSymbol, at: place, path: "nlist[\(index)]", found: .address(address)))
        continue
      }
      guard sections[section].hasInstructions == hasCode else { continue }
      guard sections[section].contains(address) else {
        // Labels at the very end of a section and the symbol of the header are valid, but contain nothing.
        if address != sections[section].end, address != file.textAddress {
          findings.append(Finding(MachORules.badSymbol, at: place, path: "nlist[\(index)]", found: .address(address)))
        }
        continue
      }
      let first = bytes.uint8(at: table.strings.offset + Int(name))
      // Names without an underscore, such as ltmp0, are generated by the assembler.
      let isTemporary = first == UInt8(ascii: "l") || first == UInt8(ascii: "L")
      let isUnnamed = first == 0 || first == UInt8(ascii: "<")
      let rank: UInt8 = isUnnamed ? 3 : type & 0x01 != 0 ? 0 : isTemporary ? 2 : 1
      symbols.append(Symbol(address: address, name: name, section: UInt8(section), rank: rank))
    }
    if !symbols.isSorted({ ($0.address, $0.rank) < ($1.address, $1.rank) }) {
      symbols.sort { ($0.address, $0.rank, $0.name) < ($1.address, $1.rank, $1.name) }
    }
  }

  /// The index of the preferred symbol at the last address at or before `address`.
  func index(atOrBefore address: UInt64) -> Int? {
    let next = symbols.indices.partitioningIndex { symbols[$0].address > address }
    guard next > 0 else { return nil }
    let start = symbols[next - 1].address
    return symbols.indices.partitioningIndex { symbols[$0].address >= start }
  }
}

extension [UInt64] {
  fileprivate func firstIndex(above address: UInt64) -> Int { indices.partitioningIndex { self[$0] > address } }
}

/// Creates the addresses on first use.
final class MachOIndex: Sendable {
  private let made = Mutex<MachOAddresses?>(nil)
  private let madeOfData = Mutex<MachOAddresses?>(nil)

  func addresses(of file: MachOFile) -> MachOAddresses { Self.known(made) { MachOAddresses(file) } }

  /// The symbols of data, of which faults are not said: the code has the same tables.
  func data(of file: MachOFile) -> MachOAddresses { Self.known(madeOfData) { MachOAddresses(dataIn: file) } }

  private static func known(_ made: borrowing Mutex<MachOAddresses?>, _ make: () -> MachOAddresses) -> MachOAddresses {
    made.withLock { made in
      if let made { return made }
      let new = make()
      made = new
      return new
    }
  }

  var findings: FindingList? { made.withLock { $0?.findings } }
}
