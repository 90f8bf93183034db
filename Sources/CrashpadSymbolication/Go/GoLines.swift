// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils
internal import CrashpadBytes

/// The functions, lines and inlined calls of a program of Go, from the table that it has for itself: stripped ones have it too.
final class GoLines {
  private let table: GoTable
  /// The address from which functions are counted; 0 before 1.18.
  private let text: UInt64
  /// The lists of inlined calls, from where offsets to them count; empty if that is not known.
  private let calls: SharedBytes

  /// Nil if the file has no table, or the address of the first function is not known.
  init?(_ file: ElfFile) {
    let names = [".gopclntab", ".data.rel.ro.gopclntab"]
    guard let section = names.firstResult({ file.section($0) }), section.header.sh_type != UInt32(SHT_NOBITS),
      let table = GoTable(file.bytes(section))
    else { return nil }
    self.table = table
    guard table.version >= .go118 else {
      (text, calls) = (0, SharedBytes())
      return
    }
    let module = GoModule(file, table, at: section.header.sh_addr)
    let named = ElfSymbolTable.address(of: ["runtime.text"], in: file)
    guard let text = module?.text ?? named ?? (table.headerText == 0 ? nil : table.headerText) else { return nil }
    self.text = text
    let symbols = ["go:func.*", "go.func.*"]
    let starts = [ElfSymbolTable.address(of: symbols, in: file)].compactMap { $0 } + (module?.callPlaces ?? [])
    calls = starts.map { file.loadedBytes(from: $0) }.first { Self.isList($0, table) } ?? SharedBytes()
  }

  /// Whether the inlined calls of the first functions that have some are listed in these bytes: names begin where they say.
  private static func isList(_ data: SharedBytes, _ table: GoTable) -> Bool {
    if data.isEmpty { return false }
    var seen = 0
    for number in 0..<min(table.count, 20_000) where seen < 64 {
      guard let function = table.function(number: number), table.hasCalls(function) else { continue }
      guard let call = table.call(0, of: function, in: data), call.caller < 1 << 24 else { return false }
      seen += 1
    }
    return seen > 0
  }

  /// The largest depth of inlined calls.
  private static let deepest = 1000

  /// The functions and lines at an address, and the address of the compiled function.
  func lookup(_ address: UInt64) -> SymbolizedAddress? {
    guard address >= text, let function = table.function(at: address - text), let name = table.name(function.name)
    else { return nil }
    let start = text &+ function.start
    var place = address - start
    var frames: [SymbolizedAddress.Frame] = []
    var steps = GoTable.mostStepsOfLookup
    while frames.count < Self.deepest, let index = table.callIndex(function, at: place, &steps),
      let call = table.call(index, of: function, in: calls)
    {
      frames.append(
        SymbolizedAddress.Frame(
          function: table.name(call.name), location: table.location(function, at: place, &steps)))
      place = call.caller
    }
    frames.append(SymbolizedAddress.Frame(function: name, location: table.location(function, at: place, &steps)))
    return SymbolizedAddress(frames: frames, functionAddress: start, isNearest: false)
  }

  /// The start of the function that contains an address.
  func functionAddress(_ address: UInt64) -> UInt64? {
    guard address >= text else { return nil }
    return table.function(at: address - text).map { text &+ $0.start }
  }
}

/// The runtime's own list of the parts of a program, `runtime.firstmoduledata`, which is found by the address of the table at its
/// beginning.
private struct GoModule {
  private let words: [Int: UInt64]

  /// The number of the words that are read.
  private static let count = 48

  /// Nil if it is not found.
  init?(_ file: ElfFile, _ table: GoTable, at address: UInt64) {
    let size = UInt64(table.pointerSize)
    // The list has the addresses of the table and of the names in it; in a file that is loaded anywhere, its relocations do.
    let names = address &+ UInt64(table.names)
    var words: [Int: UInt64]?
    file.forEachSectionOnce { section in
      let flags = section.header.sh_flags
      guard flags & UInt64(SHF_ALLOC) != 0, flags & UInt64(SHF_EXECINSTR) == 0,
        section.header.sh_type == UInt32(SHT_PROGBITS), section.name != ".gopclntab"
      else { return nil }
      return file.bytes(section)
    } _: { bytes in
      words = Self.words(in: bytes, address, names, Int(size), !file.isLittleEndian)
      return words == nil
    }
    guard let words = words ?? Self.words(file.relativeRelocations(), address, names, size) else { return nil }
    self.words = words
  }

  private static func words(
    in data: SharedBytes, _ address: UInt64, _ names: UInt64, _ size: Int, _ isBigEndian: Bool
  ) -> [Int: UInt64]? {
    data.withBytes { bytes -> [Int: UInt64]? in
      var place = 0
      while place + 2 * size <= bytes.byteCount {
        defer { place += size }
        guard bytes.number(at: place, size: size, isBigEndian) == address,
          bytes.number(at: place + size, size: size, isBigEndian) == names
        else { continue }
        var words: [Int: UInt64] = [:]
        for index in 0..<count where place + (index + 1) * size <= bytes.byteCount {
          words[index] = bytes.number(at: place + index * size, size: size, isBigEndian)
        }
        return words
      }
      return nil
    }
  }

  private static func words(
    _ relocations: [UInt64: UInt64], _ address: UInt64, _ names: UInt64, _ size: UInt64
  ) -> [Int: UInt64]? {
    for (place, target) in relocations where target == address && relocations[place &+ size] == names {
      var words: [Int: UInt64] = [:]
      for index in 0..<count { words[index] = relocations[place &+ UInt64(index) * size] }
      return words
    }
    return nil
  }

  /// The first instruction that functions are counted from: behind six lists, and three addresses.
  var text: UInt64? { words[22].flatMap { $0 == 0 ? nil : $0 } }

  /// The places of the data about functions, by the versions of Go: 1.18, 1.20, 1.26 and 1.27. Readers check which one it is.
  var callPlaces: [UInt64] { [38, 40, 41, 42, 43, 44].compactMap { words[$0] }.filter { $0 != 0 } }
}

extension ElfFile {
  /// Calls `body` with the bytes of sections that `choose` returns, until it returns false. Not more bytes than the file has are
  /// passed: thousands of sections may share them.
  fileprivate func forEachSectionOnce(_ choose: (ElfSection) -> SharedBytes?, _ body: (SharedBytes) -> Bool) {
    var left = withImage { $0.byteCount } ?? 0
    forEachSection { section in
      guard let bytes = choose(section) else { return true }
      left -= bytes.count
      return left >= 0 && body(bytes)
    }
  }

  /// The bytes of the loaded section that contains an address, from there on; empty if there are none in the file.
  fileprivate func loadedBytes(from address: UInt64) -> SharedBytes {
    var found = SharedBytes()
    forEachSection { section in
      let header = section.header
      guard header.sh_flags & UInt64(SHF_ALLOC) != 0, header.sh_type != UInt32(SHT_NOBITS), address >= header.sh_addr,
        address - header.sh_addr < header.sh_size
      else { return true }
      let all = bytes(section)
      let offset = address - header.sh_addr
      if offset < UInt64(all.count) { found = all.part(offset, UInt64(all.count) - offset) }
      return false
    }
    return found
  }

  /// The addresses that the loader writes where the file has them only relative to its start.
  fileprivate func relativeRelocations() -> [UInt64: UInt64] {
    let types: [UInt16: UInt64] = [
      UInt16(EM_X86_64): 8, UInt16(EM_AARCH64): 1027, UInt16(EM_RISCV): 3, UInt16(EM_PPC64): 22, UInt16(EM_S390): 12,
    ]
    guard is64, isLittleEndian, let type = types[machine] else { return [:] }
    var found: [UInt64: UInt64] = [:]
    forEachSectionOnce { section in
      let isOfLoader = section.header.sh_type == UInt32(SHT_RELA) && section.header.sh_flags & UInt64(SHF_ALLOC) != 0
      return isOfLoader ? bytes(section) : nil
    } _: { bytes in
      bytes.withBytes { bytes in
        for place in stride(from: 0, to: bytes.byteCount - 23, by: 24)
        where bytes.uint64(at: place + 8) & 0xffff_ffff == type {
          found[bytes.uint64(at: place)] = bytes.uint64(at: place + 16)
        }
      }
      return true
    }
    return found
  }
}
