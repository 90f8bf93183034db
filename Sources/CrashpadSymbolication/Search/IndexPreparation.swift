// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import SystemPackage

/// Makes indexes ahead, as later runs would make them.
package struct IndexPreparation {
  private let store: IndexStore

  package init(_ store: IndexStore) {
    var store = store
    store.isDurable = true
    self.store = store
  }

  /// Keeps the ids of all files below a directory. Returns whether an index has them: that of a small one is not worth keeping.
  package func prepare(directory: FilePath) -> Bool { SymbolFolder(directory, SymbolFaults(), store).prepare() }

  /// Keeps what is expensive to read in an ELF file, or a Mach-O file with debug information. Returns whether an index has it.
  package func prepare(file path: FilePath) -> Bool {
    let places = DebugPlaces(indexes: store)
    guard let file = hint({ try ElfFile(path, places.inputs) }) else {
      return prepare(slicesOf: path, places.inputs)
    }
    guard file.lacksIndex else { return file.index != nil }
    guard let info = DwarfInfo(file, places) else { return false }
    return file.keep(info)
  }

  private func prepare(slicesOf path: FilePath, _ inputs: SymbolInputs) -> Bool {
    guard let file = hint({ try inputs.open(path) }) else { return false }
    var isKept = false
    for slice in MachOFile.all(in: file) {
      guard let dwarf = slice.dwarf(at: path, inputs) else { continue }
      if dwarf.index != nil || DwarfInfo(dwarf).map({ dwarf.keep($0) }) == true { isKept = true }
    }
    return isKept
  }
}
