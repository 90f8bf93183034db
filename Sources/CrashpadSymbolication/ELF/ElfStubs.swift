// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils
internal import CrashpadBytes

/// The stubs of a linked file through which it calls functions of other files: the procedure linkage table. The instructions of a
/// stub name a slot, and a relocation the function whose address is put there.
struct ElfStubs {
  private struct Stub {
    let address: UInt64
    let size: UInt64
    let name: String
  }

  /// Sorted by address.
  private var stubs: [Stub] = []

  /// Programs have some thousand stubs.
  private static let most = 1 << 18

  /// Nil if the file has none, or its machine is not supported.
  init?(_ file: ElfFile) {
    guard !file.isRelocatable, file.isLittleEndian, let types = Self.relocationTypes(file.machine) else { return nil }
    let slots = Self.slots(file, types)
    guard !slots.isEmpty else { return nil }
    let table = file.section(".got.plt")?.header.sh_addr ?? file.section(".got")?.header.sh_addr ?? 0
    file.forEachSection { section in
      if [".plt", ".plt.sec", ".plt.got", ".plt.bnd"].contains(section.name) {
        let (start, bytes) = (section.header.sh_addr, file.bytes(section))
        bytes.withBytes { add($0, start, file.machine, table, slots) }
      }
      return true
    }
    if stubs.isEmpty { return nil }
    stubs.sort { $0.address < $1.address }
  }

  /// The stub that contains an address, as a function.
  func lookup(_ address: UInt64) -> SymbolizedAddress? {
    let next = stubs.indices.partitioningIndex { stubs[$0].address > address }
    guard next > 0, address - stubs[next - 1].address < stubs[next - 1].size else { return nil }
    let stub = stubs[next - 1]
    let frame = SymbolizedAddress.Frame(function: stub.name + Demangler.stubSuffix, location: nil)
    return SymbolizedAddress(frames: [frame], functionAddress: stub.address, isNearest: false)
  }

  // MARK: Slots

  /// The relocations of slots: `R_…_JUMP_SLOT` and `R_…_GLOB_DAT`.
  private static func relocationTypes(_ machine: UInt16) -> [UInt32]? {
    switch Int32(machine) {
    case EM_X86_64, EM_386: [7, 6]
    case EM_AARCH64: [1026, 1025]
    default: nil
    }
  }

  /// The names of the functions by the addresses of their slots.
  private static func slots(_ file: ElfFile, _ types: [UInt32]) -> [UInt64: String] {
    var slots: [UInt64: String] = [:]
    file.forEachSection { section in
      let header = section.header
      guard header.sh_type == UInt32(SHT_RELA) || header.sh_type == UInt32(SHT_REL),
        header.sh_flags & UInt64(SHF_ALLOC) != 0
      else { return true }
      let strings = strings(of: section, file)
      _ = ElfRelocations.forEach(section, file) { relocation, symbol in
        guard types.contains(UInt32(truncatingIfNeeded: relocation.r_info)), symbol.st_name != 0, slots.count < most,
          let name = unsafe elf_strptr(file.elf, strings, Int(symbol.st_name))
        else { return }
        slots[relocation.r_offset] = unsafe String(cString: name)
      }
      return true
    }
    return slots
  }

  /// The index of the section with the names of the symbols to which relocations refer; 0 if there is none.
  private static func strings(of table: ElfSection, _ file: ElfFile) -> Int {
    var header = GElf_Shdr()
    guard let symbols = unsafe elf_getscn(file.elf, Int(table.header.sh_link)),
      unsafe gelf_getshdr(symbols, &header) != nil
    else { return 0 }
    return Int(header.sh_link)
  }

  // MARK: Instructions

  private mutating func add(
    _ bytes: RawSpan, _ start: UInt64, _ machine: UInt16, _ table: UInt64, _ slots: [UInt64: String]
  ) {
    if Int32(machine) == EM_AARCH64 { return addARM64(bytes, start, slots) }
    let isWide = Int32(machine) == EM_X86_64
    var offset = 0
    while offset <= bytes.byteCount - 6, stubs.count < Self.most {
      // JMP through a slot: FF 25 and its address or distance, or FF A3 and its distance from the table in EBX.
      guard bytes.uint8(at: offset) == 0xff, [0x25, 0xa3].contains(bytes.uint8(at: offset + 1)) else {
        offset += 1
        continue
      }
      let operand = bytes.uint32(at: offset + 2)
      let distance = UInt64(bitPattern: Int64(Int32(bitPattern: operand)))
      let slot =
        isWide
        ? start &+ UInt64(offset + 6) &+ distance
        : bytes.uint8(at: offset + 1) == 0x25 ? UInt64(operand) : (table &+ distance) & 0xffff_ffff
      if let name = slots[slot] {
        // A stub of 16 bytes may begin with an ENDBR or a prefix.
        let size = isShort(bytes, offset) ? 8 : 16
        stubs.append(Stub(address: start &+ UInt64(offset & ~(size - 1)), size: UInt64(size), name: name))
      }
      offset += 6
    }
  }

  /// Whether stubs have 8 bytes: behind the jump there are only two, such as 66 90.
  private func isShort(_ bytes: RawSpan, _ jump: Int) -> Bool {
    jump % 8 == 0 && jump + 8 <= bytes.byteCount && [0x9066, 0xcccc].contains(bytes.uint16(at: jump + 6))
  }

  /// ADRP x16, page; LDR x17, [x16, #offset]; ADD; BR x17.
  private mutating func addARM64(_ bytes: RawSpan, _ start: UInt64, _ slots: [UInt64: String]) {
    for offset in stride(from: 0, through: bytes.byteCount - 16, by: 4) where stubs.count < Self.most {
      let (page, load) = (bytes.uint32(at: offset), bytes.uint32(at: offset + 4))
      guard page & 0x9f00_001f == 0x9000_0010, load & 0xffc0_03ff == 0xf940_0211 else { continue }
      let high = Int64(Int32(bitPattern: page << 8) >> 13)
      let distance = high * 4 + Int64(page >> 29 & 3)
      let address = start &+ UInt64(offset)
      let slot = (address & ~0xfff) &+ UInt64(bitPattern: distance << 12) &+ UInt64(load >> 10 & 0xfff) * 8
      guard let name = slots[slot] else { continue }
      // BTI C
      let first = offset >= 4 && bytes.uint32(at: offset - 4) == 0xd503_245f ? 4 : 0
      stubs.append(Stub(address: address &- UInt64(first), size: UInt64(16 + first), name: name))
    }
  }
}
