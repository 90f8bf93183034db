// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils
internal import Glibc

/// The functions and labels in an ELF file's symbol tables, or the data, sorted by address.
struct ElfSymbolTable {
  struct Entry {
    let address: UInt64
    let size: UInt64
    /// The section with the names, and the offset of the name in it.
    let strings: Int32
    let name: UInt32
    /// The index in the symbol table.
    let number: Int32
    /// Whether it is a function or, in a table of data, an object; others are labels.
    let isFunction: Bool
  }

  private enum Content {
    case code
    case data
  }

  private var entries: [Entry] = []
  /// The table of an index that was kept, in place of the entries.
  private var kept: SharedBytes?

  var isEmpty: Bool { count == 0 }
  var count: Int { kept.map { Self.count($0) } ?? entries.count }
  subscript(index: Int) -> Entry { kept.map { Self.entry($0, index) } ?? entries[index] }

  /// Addresses with the symbols of several functions.
  private(set) var sharedAddresses: Set<UInt64> = []

  /// Whether these are all symbols of the program, not only those for other files.
  private(set) var isWhole = false

  init() {}

  /// Reads `.symtab`, or `.dynsym` if there is none.
  init(_ file: ElfFile) {
    if let kept = file.index?.part(Self.partName), let table = Self(kept: kept) {
      self = table
      return
    }
    self.init(file, .code)
  }

  /// Reads the data in the same tables.
  init(dataIn file: ElfFile) { self.init(file, .data) }

  private init(_ file: ElfFile, _ content: Content) {
    var tables: [ElfSection] = []
    file.forEachSection { section in
      if section.header.sh_type == UInt32(SHT_SYMTAB) || section.header.sh_type == UInt32(SHT_DYNSYM) {
        tables.append(section)
      }
      return true
    }
    // A file has one of each kind at most.
    let full = tables.first { $0.header.sh_type == UInt32(SHT_SYMTAB) }
    if let table = full ?? tables.first { read(table, file, content) }
    isWhole = full != nil
    sort()
    // strip(1) can leave a part of the full table.
    if full != nil, let dynamic = tables.first(where: { $0.header.sh_type == UInt32(SHT_DYNSYM) }) {
      var other = ElfSymbolTable()
      other.read(dynamic, file, content)
      let missing = other.entries.filter { entry in
        let place = entries.indices.partitioningIndex { entries[$0].address >= entry.address }
        return place == entries.count || entries[place].address != entry.address
      }
      if !missing.isEmpty {
        entries += missing
        sort()
      }
    }
    index()
  }

  private mutating func read(_ section: ElfSection, _ file: ElfFile, _ content: Content) {
    // In an object file each section begins at 0, so addresses can be looked up in only one of them.
    let codeSection = file.isRelocatable ? file.codeSection.flatMap { UInt16(exactly: $0) } : nil
    entries.reserveCapacity(entries.count + Self.count(section))
    Self.forEachSymbol(section) { index, symbol in
      let type = symbol.st_info & 0xf
      let isFunction =
        switch content {
        case .code: type == UInt8(STT_FUNC) || type == UInt8(STT_GNU_IFUNC)
        case .data: type == UInt8(STT_OBJECT) || type == UInt8(STT_COMMON)
        }
      guard isFunction || type == UInt8(STT_NOTYPE), symbol.st_shndx != UInt16(SHN_UNDEF), symbol.st_name != 0,
        symbol.st_value != 0 || codeSection != nil, codeSection == nil || symbol.st_shndx == codeSection,
        symbol.st_shndx < 0xff00 || symbol.st_shndx == 0xffff,
        content == .code ? file.isCode(symbol.st_value) : isFunction || isDataLabel(symbol, file)
      else { return true }
      // Skip symbols of the assembler, such as arm64's `$x` and `.LC19`.
      if type == UInt8(STT_NOTYPE),
        let name = unsafe elf_strptr(file.elf, Int(section.header.sh_link), Int(symbol.st_name)),
        unsafe name[0] == 0x24 || (name[0] == 0x2e && name[1] == 0x4c)
      {
        return true
      }
      entries.append(
        Entry(
          address: symbol.st_value, size: symbol.st_size, strings: Int32(bitPattern: section.header.sh_link),
          name: symbol.st_name, number: index, isFunction: isFunction))
      return true
    }
  }

  /// Labels of assembly code have no type.
  private func isDataLabel(_ symbol: GElf_Sym, _ file: ElfFile) -> Bool {
    !file.isRelocatable && !file.codeRanges.isEmpty && !file.isCode(symbol.st_value)
  }

  /// The number of symbols in a table, as far as it is in the file.
  private static func count(_ section: ElfSection) -> Int {
    guard section.header.sh_entsize > 0, let data = unsafe elf_getdata(section.handle, nil) else { return 0 }
    return unsafe data.pointee.d_size / Int(clamping: section.header.sh_entsize)
  }

  /// Calls `body` with each symbol of a table and its index, until it returns false.
  @inline(__always)
  private static func forEachSymbol(_ section: ElfSection, _ body: (Int32, GElf_Sym) -> Bool) {
    guard let data = unsafe elf_getdata(section.handle, nil) else { return }
    var symbol = GElf_Sym()
    for index in 0..<Int32(clamping: count(section)) {
      guard unsafe gelf_getsym(data, index, &symbol) != nil, body(index, symbol) else { return }
    }
  }

  /// The address of the first symbol, of code or data, with one of these names.
  static func address(of names: [String], in file: ElfFile) -> UInt64? {
    var found: UInt64?
    file.forEachSection { section in
      guard [UInt32(SHT_SYMTAB), UInt32(SHT_DYNSYM)].contains(section.header.sh_type) else { return true }
      forEachSymbol(section) { _, symbol in
        if symbol.st_shndx != UInt16(SHN_UNDEF), symbol.st_value != 0,
          let name = unsafe elf_strptr(file.elf, Int(section.header.sh_link), Int(symbol.st_name)),
          names.contains(where: { unsafe strcmp($0, name) == 0 })
        {
          found = symbol.st_value
        }
        return found == nil
      }
      return found == nil
    }
    return found
  }

  /// The address of the function that other files call by a name.
  static func functionAddress(named name: String, in file: ElfFile) -> UInt64? {
    var found: UInt64?
    file.forEachSection { section in
      guard [UInt32(SHT_SYMTAB), UInt32(SHT_DYNSYM)].contains(section.header.sh_type) else { return true }
      forEachSymbol(section) { _, symbol in
        if symbol.st_info & 0xf == UInt8(STT_FUNC), symbol.st_info >> 4 != UInt8(STB_LOCAL),
          symbol.st_shndx != UInt16(SHN_UNDEF), symbol.st_value != 0,
          let text = unsafe elf_strptr(file.elf, Int(section.header.sh_link), Int(symbol.st_name)),
          unsafe strcmp(name, text) == 0
        {
          found = symbol.st_value
        }
        return found == nil
      }
      return found == nil
    }
    return found
  }

  private mutating func sort() {
    entries.sort { ($0.address, $0.size, $0.number) < ($1.address, $1.size, $1.number) }
    // At each address, keep the last of the largest symbols, like other tools.
    var kept = 0
    for index in entries.indices {
      if kept > 0, entries[kept - 1].address == entries[index].address {
        if entries[kept - 1].isFunction, entries[kept - 1].name != entries[index].name {
          sharedAddresses.insert(entries[index].address)
        }
        entries[kept - 1] = entries[index]
      } else {
        entries[kept] = entries[index]
        kept += 1
      }
    }
    entries.removeSubrange(kept...)
  }

  /// The furthest ends of all symbols up to the end of each block of entries.
  private var reaches: [UInt64] = []
  private static let blockSize = 64
  /// Symbols that a lookup passes over at most; no function has as many labels.
  private static let mostPassed = 4096

  private mutating func index() {
    reaches.reserveCapacity(entries.count / Self.blockSize + 1)
    var reach: UInt64 = 0
    for (number, entry) in entries.enumerated() {
      let (end, overflow) = entry.address.addingReportingOverflow(entry.size)
      reach = max(reach, overflow ? .max : end)
      if number % Self.blockSize == Self.blockSize - 1 || number == entries.count - 1 { reaches.append(reach) }
    }
  }

  private func reach(_ block: Int) -> UInt64 { kept.map { Self.reach($0, block) } ?? reaches[block] }

  /// The index of the symbol that contains `address`, or of a preceding symbol of unknown size.
  func lookup(_ address: UInt64) -> Int? {
    let low = (0..<count).partitioningIndex { self[$0].address > address }
    // A function may contain labels, which end before it does, or have no size.
    var unsized: Int?
    var index = low - 1
    while index >= 0, low - index <= Self.mostPassed {
      // No earlier symbol reaches the address.
      if low - index > 16, reach(index / Self.blockSize) <= address { break }
      let entry = self[index]
      if entry.size == 0 {
        if index == low - 1 { unsized = index }
        if entry.isFunction { break }
      } else if address &- entry.address < entry.size {
        return entry.isFunction ? index : unsized ?? index
      }
      index -= 1
    }
    return unsized
  }

  /// The name without the version that some symbols of the C library have: `puts@@GLIBC_2.2.5`.
  func name(_ entry: Entry, in file: ElfFile) -> String? {
    guard let start = unsafe elf_strptr(file.elf, Int(entry.strings), Int(entry.name)), unsafe start[0] != 0 else {
      return nil
    }
    let text = unsafe UnsafePointer(start)
    guard let end = unsafe Self.version(in: text) else { return unsafe String(cString: text) }
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: end - text)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// The start of the version at the end of a name, which has no other signs than those of a word and dots. Names of Zig have the
  /// sign before a version, too: `__zig_tag_name_@typeInfo(main.Item)`.
  private static func version(in text: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
    guard let found = unsafe strrchr(text, 0x40) else { return nil }
    var sign = unsafe UnsafePointer(found)
    var rest = unsafe sign + 1
    guard unsafe rest.pointee != 0 else { return nil }
    while unsafe rest.pointee != 0 {
      let byte = unsafe UInt8(bitPattern: rest.pointee)
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."):
        break
      default: return nil
      }
      unsafe rest += 1
    }
    if unsafe sign > text, unsafe sign[-1] == 0x40 { unsafe sign -= 1 }
    return unsafe sign > text ? unsafe sign : nil
  }
}

// MARK: Keeping

extension ElfSymbolTable {
  static let partName = "symbols"
  private static let headerSize = 16
  private static let entrySize = 32

  /// The numbers of symbols and of shared addresses, whether these are all symbols; then the symbols, the furthest ends, and
  /// the shared addresses. Nil if the size is another one.
  private init?(kept: SharedBytes) {
    guard kept.count >= Self.headerSize else { return nil }
    let (count, shared, isWhole) = kept.withBytes {
      (Int($0.uint32(at: 0)), Int($0.uint32(at: 4)), $0.uint32(at: 8) == 1)
    }
    let start = Self.reaches(count) + (count + Self.blockSize - 1) / Self.blockSize * 8
    guard kept.count == start + shared * 8 else { return nil }
    (self.kept, self.isWhole) = (kept, isWhole)
    sharedAddresses = kept.withBytes { bytes in Set((0..<shared).map { bytes.uint64(at: start + $0 * 8) }) }
  }

  /// The table in the form in which it is kept.
  var bytes: [UInt8] {
    if let kept { return kept.withBytes { $0.array() } }
    let output = MemoryOutput()
    var writer = ByteWriter(to: output, expecting: count * Self.entrySize)
    for value in [count, sharedAddresses.count, isWhole ? 1 : 0, 0] { writer.uint32(UInt32(clamping: value)) }
    for entry in entries {
      writer.uint64(entry.address)
      writer.uint64(entry.size)
      writer.int32(entry.strings)
      writer.uint32(entry.name)
      writer.int32(entry.number)
      writer.uint32(entry.isFunction ? 1 : 0)
    }
    for value in reaches + sharedAddresses.sorted() { writer.uint64(value) }
    try? writer.finish()
    return output.bytes
  }

  private static func count(_ kept: SharedBytes) -> Int { kept.withBytes { Int($0.uint32(at: 0)) } }

  private static func entry(_ kept: SharedBytes, _ index: Int) -> Entry {
    kept.withBytes { bytes in
      let place = headerSize + index * entrySize
      return Entry(
        address: bytes.uint64(at: place), size: bytes.uint64(at: place + 8), strings: bytes.int32(at: place + 16),
        name: bytes.uint32(at: place + 20), number: bytes.int32(at: place + 24),
        isFunction: bytes.uint32(at: place + 28) == 1)
    }
  }

  /// The place of the furthest ends.
  private static func reaches(_ count: Int) -> Int { headerSize + count * entrySize }

  private static func reach(_ kept: SharedBytes, _ block: Int) -> UInt64 {
    kept.withBytes { $0.uint64(at: reaches(count(kept)) + block * 8) }
  }
}
