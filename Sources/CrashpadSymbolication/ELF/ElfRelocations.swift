// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The relocations of one debug section in an object file that is not linked: `.o` files and kernel modules. Addresses
/// become relative to the section that was chosen; without one, to `.text`, or else to the first section with code. Addresses
/// in other sections with code become unused ones.
struct ElfRelocations {
  private let file: ElfFile
  private let tables: [ElfSection]
  private let codeSection: Int?
  private let otherCode: Set<Int>

  /// Nil if there are none for `section`.
  init?(_ file: ElfFile, _ section: ElfSection) {
    var tables: [ElfSection] = []
    var code: [ElfSection] = []
    file.forEachSection { other in
      let header = other.header
      if header.sh_type == UInt32(SHT_RELA) || header.sh_type == UInt32(SHT_REL),
        header.sh_info == UInt32(section.index)
      {
        tables.append(other)
      }
      if header.sh_flags & UInt64(SHF_EXECINSTR) != 0 { code.append(other) }
      return true
    }
    guard !tables.isEmpty else { return nil }
    (self.file, self.tables) = (file, tables)
    let main = file.codeSection
    codeSection = main
    otherCode = Set(code.map(\.index).filter { $0 != main })
  }

  /// Returns a copy with the relocations applied; nil if there is no symbol table. Unknown types are ignored.
  func apply(to bytes: SharedBytes) -> SharedBytes? {
    unsafe SharedBytes(count: bytes.count) { target in
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      var isApplied = false
      for table in tables where unsafe apply(table, UnsafeMutableRawBufferPointer(rebasing: target[0..<bytes.count])) {
        isApplied = true
      }
      return isApplied
    }
  }

  private func apply(_ table: ElfSection, _ target: UnsafeMutableRawBufferPointer) -> Bool {
    let hasAddends = table.header.sh_type == UInt32(SHT_RELA)
    return Self.forEach(table, file) { relocation, symbol in
      guard let action = Action(file.machine, UInt32(truncatingIfNeeded: relocation.r_info)),
        let offset = Int(exactly: relocation.r_offset), offset <= target.count - action.width
      else { return }
      let value = address(of: symbol) &+ UInt64(bitPattern: relocation.r_addend)
      unsafe apply(action, value, hasAddends, offset, target)
    }
  }

  /// Calls `body` with each relocation of a table, and its symbol. Returns false if the table can't be read.
  static func forEach(_ table: ElfSection, _ file: ElfFile, _ body: (GElf_Rela, GElf_Sym) -> Void) -> Bool {
    guard let relocations = unsafe elf_getdata(table.handle, nil),
      let symbols = unsafe elf_getscn(file.elf, Int(table.header.sh_link)).flatMap({ unsafe elf_getdata($0, nil) }),
      table.header.sh_entsize > 0
    else { return false }
    let hasAddends = table.header.sh_type == UInt32(SHT_RELA)
    let count = unsafe relocations.pointee.d_size / Int(clamping: table.header.sh_entsize)
    for index in 0..<Int32(clamping: count) {
      var relocation = GElf_Rela()
      if hasAddends {
        guard unsafe gelf_getrela(relocations, index, &relocation) != nil else { break }
      } else {
        var short = GElf_Rel()
        guard unsafe gelf_getrel(relocations, index, &short) != nil else { break }
        (relocation.r_offset, relocation.r_info) = (short.r_offset, short.r_info)
      }
      var symbol = GElf_Sym()
      guard unsafe gelf_getsym(symbols, Int32(clamping: relocation.r_info >> 32), &symbol) != nil else { continue }
      body(relocation, symbol)
    }
    return true
  }

  /// The address for code in other sections: unused, and low enough that sizes can be added.
  private var nowhere: UInt64 { file.is64 ? 0xffff_ffff_0000_0000 : 0xf000_0000 }

  private func address(of symbol: GElf_Sym) -> UInt64 {
    otherCode.contains(Int(symbol.st_shndx)) ? nowhere &+ symbol.st_value : symbol.st_value
  }

  private func apply(
    _ action: Action, _ value: UInt64, _ hasAddends: Bool, _ offset: Int, _ target: UnsafeMutableRawBufferPointer
  ) {
    var old: UInt64 = 0
    for index in 0..<action.width {
      let place = file.isLittleEndian ? action.width - 1 - index : index
      unsafe old = old << 8 | UInt64(target[offset + place])
    }
    var new: UInt64
    switch action.kind {
    case .set: new = hasAddends ? value : value &+ old
    case .add: new = old &+ value
    case .subtract: new = old &- value
    }
    if action.mask != .max { new = old & ~action.mask | new & action.mask }
    for index in 0..<action.width {
      let place = file.isLittleEndian ? index : action.width - 1 - index
      unsafe target[offset + place] = UInt8(truncatingIfNeeded: new >> UInt64(8 * index))
    }
  }

  /// The effect of a relocation. Debug information uses only a few types.
  private struct Action {
    enum Kind {
      case set, add, subtract
    }
    let kind: Kind
    let width: Int
    /// The bits that the relocation changes.
    var mask: UInt64 = .max

    init(_ kind: Kind, _ width: Int, mask: UInt64 = .max) { (self.kind, self.width, self.mask) = (kind, width, mask) }

    init?(_ machine: UInt16, _ type: UInt32) {
      switch (Int32(machine), type) {
      // R_X86_64_64; R_X86_64_32, R_X86_64_32S; R_386_32; R_ARM_ABS32; R_AARCH64_ABS64, R_AARCH64_ABS32
      case (EM_X86_64, 1): self.init(.set, 8)
      case (EM_X86_64, 10), (EM_X86_64, 11), (EM_386, 1), (EM_ARM, 2): self.init(.set, 4)
      case (EM_AARCH64, 257): self.init(.set, 8)
      case (EM_AARCH64, 258): self.init(.set, 4)
      case (EM_RISCV, _): self.init(riscv: type)
      // R_PPC64_ADDR64, R_PPC_ADDR32; R_390_64, R_390_32
      case (EM_PPC64, 38), (EM_S390, 22): self.init(.set, 8)
      case (EM_PPC64, 1), (EM_PPC, 1), (EM_S390, 4): self.init(.set, 4)
      default: return nil
      }
    }

    /// RISC-V linkers change sizes, so differences are relocated too: by pairs of additions and subtractions.
    private init?(riscv type: UInt32) {
      switch type {
      case 1: self.init(.set, 4)
      case 2: self.init(.set, 8)
      case 33...36: self.init(.add, 1 << Int(type - 33))
      case 37...40: self.init(.subtract, 1 << Int(type - 37))
      case 52: self.init(.subtract, 1, mask: 0x3f)
      case 53: self.init(.set, 1, mask: 0x3f)
      case 54...56: self.init(.set, 1 << Int(type - 54))
      default: return nil
      }
    }
  }
}
