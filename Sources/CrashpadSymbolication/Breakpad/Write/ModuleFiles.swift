// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils

/// The files of one module, of which a symbol file is made. Not thread-safe.
protocol ModuleFiles: AnyObject {
  /// The address in the files of the module's first page.
  var imageBase: UInt64 { get }
  /// Nil if there is no debug information.
  var info: DwarfInfo? { get }
  /// Whether there is anything to write.
  var hasSymbols: Bool { get }
  /// The names of the machine's registers; nil if the format has none.
  var registers: CfiRegisters? { get }
  /// The sections of frame descriptions, in order of preference.
  var frameSections: [CfiSection] { get }
  /// The file with Apple's compact unwind information; nil for other formats.
  var compactUnwind: MachOFile? { get }
  func isCode(_ address: UInt64) -> Bool
  /// The name of the function symbol that covers an address.
  func symbolName(covering address: UInt64) -> String?
  /// All symbols in the order of addresses, one per address.
  func symbols() -> [ModuleSymbol]
  func name(of symbol: ModuleSymbol) -> String?
}

/// A symbol, and the place of its name.
struct ModuleSymbol {
  enum Name {
    case text(String)
    /// A symbol table, and an entry in it.
    case entry(table: Int, index: Int)
  }

  let address: UInt64
  /// 0 if unknown.
  let size: UInt64
  /// Whether other functions have the same address.
  let isShared: Bool
  let name: Name
}

extension ElfModule: ModuleFiles {
  var hasSymbols: Bool { info != nil || !tables.isEmpty || loaded?.hasContents(".eh_frame") == true }
  var compactUnwind: MachOFile? { nil }

  var registers: CfiRegisters? {
    (loaded ?? debug).flatMap { $0.isLittleEndian ? CfiRegisters(machine: $0.machine) : nil }
  }

  func isCode(_ address: UInt64) -> Bool { loaded?.isCode(address) ?? false }

  func symbols() -> [ModuleSymbol] {
    var all: [(symbol: ModuleSymbol, table: Int)] = []
    for (number, (table, _)) in tables.enumerated() {
      for index in 0..<table.count {
        let entry = table[index]
        let isShared = table.sharedAddresses.contains(entry.address)
        let symbol = ModuleSymbol(
          address: entry.address, size: entry.size, isShared: isShared, name: .entry(table: number, index: index))
        all.append((symbol, number))
      }
    }
    guard tables.count > 1 else { return all.map(\.symbol) }
    all.sort { ($0.symbol.address, $0.table) < ($1.symbol.address, $1.table) }
    var last: UInt64?
    return all.compactMap { symbol, _ in
      defer { last = symbol.address }
      return symbol.address == last ? nil : symbol
    }
  }

  func name(of symbol: ModuleSymbol) -> String? {
    guard case .entry(let number, let index) = symbol.name else { return nil }
    let (table, file) = tables[number]
    guard let name = table.name(table[index], in: file), !name.isEmpty else { return nil }
    return name
  }
}

/// A Mach-O file, or one slice of a universal one, and the file of its dSYM.
final class MachOModule: ModuleFiles {
  private let file: MachOFile
  private let companion: MachOFile?

  init(_ file: MachOFile, companion: MachOFile?) { (self.file, self.companion) = (file, companion) }

  var imageBase: UInt64 { file.textAddress }
  private(set) lazy var info = (companion?.dwarf).flatMap { DwarfInfo($0) } ?? file.dwarf.flatMap { DwarfInfo($0) }
  var hasSymbols: Bool { info != nil || file.exceptionFrames != nil || !file.symbols().isEmpty }
  var compactUnwind: MachOFile? { file }

  var registers: CfiRegisters? {
    let machine = file.architecture.hasARM64Code ? EM_AARCH64 : file.architecture.isX86_64 ? EM_X86_64 : EM_NONE
    return CfiRegisters(machine: UInt16(machine))
  }

  var frameSections: [CfiSection] {
    [file.exceptionFrames ?? companion?.exceptionFrames, file.debugFrames ?? companion?.debugFrames].compactMap { $0 }
  }

  func isCode(_ address: UInt64) -> Bool { file.isCode(address) }

  /// Nil: Mach-O symbols have no sizes, and DWARF has all names.
  func symbolName(covering address: UInt64) -> String? { nil }

  /// A symbol whose name was taken out says where other names end.
  func symbols() -> [ModuleSymbol] {
    var all: [ModuleSymbol] = []
    for symbol in file.symbols() where symbol.address != all.last?.address && !symbol.name.isEmpty {
      all.append(ModuleSymbol(address: symbol.address, size: 0, isShared: false, name: .text(symbol.name)))
    }
    return all
  }

  func name(of symbol: ModuleSymbol) -> String? {
    guard case .text(let name) = symbol.name else { return nil }
    return name
  }
}
