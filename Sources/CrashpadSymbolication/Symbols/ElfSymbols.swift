// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import Synchronization
package import SystemPackage

/// The symbols in the ELF files of one module. Calls are serialized.
package final class ElfSymbols: SymbolFile {
  private let module: Mutex<ElfModule>
  package let imageBase: UInt64

  /// The parameters of `ElfModule.init`.
  init(loaded: ElfFile?, debug: ElfFile?, places: DebugPlaces) {
    let module = ElfModule(loaded: loaded, debug: debug, places: places)
    imageBase = module.imageBase
    self.module = Mutex(module)
  }

  /// Opens one ELF file, for its own symbols. Throws `Errno` or `ElfSymbols.NotElf`.
  package convenience init(_ path: FilePath) throws { try self.init(path, places: DebugPlaces()) }

  /// Opens one ELF file, with places to search for files that it refers to.
  convenience init(_ path: FilePath, places: DebugPlaces) throws {
    do {
      self.init(loaded: try ElfFile(path, places.inputs), debug: nil, places: places)
    } catch is ElfFile.NotElf {
      throw NotElf()
    }
  }

  /// The file has no section with the name that was given.
  package struct NoSection: Error { package let name: String }

  /// The file is not an ELF file.
  package struct NotElf: Error {}

  package var isEmpty: Bool { module.withLock { $0.isEmpty } }
  package var hasDebugInfo: Bool { module.withLock { $0.hasDebugInfo } }
  package var findings: FindingList { module.withLock { $0.findings } }

  /// The offset of the first symbol, of code or data, with one of these names.
  package func offset(ofSymbol names: [String]) -> UInt64? {
    module.withLock { $0.loaded.flatMap { ElfSymbolTable.address(of: names, in: $0) } }.map { $0 &- imageBase }
  }

  package var entry: UInt64? {
    module.withLock { ($0.loaded ?? $0.debug)?.entry }.flatMap { $0 == 0 ? nil : $0 &- imageBase }
  }

  /// A symbol without a size does not name data after it: the last symbol of the code would name all data.
  package func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    let address = imageBase &+ offset
    return module.withLock { module in
      guard let found = module.symbolize(address), !found.isNearest || module.isInFunction(address) else { return nil }
      return found.relative(to: imageBase)
    }
  }

  package func callPath(returningTo offset: UInt64, to callee: String?, at place: UInt64?) -> [CalledFunction] {
    module.withLock { module in
      module.info?.callPath(
        returningTo: imageBase &+ offset, to: callee, at: place.map { imageBase &+ $0 }
      ) { name in
        let start = module.functionAddress(named: name)
        // One function may have several names.
        return callee.flatMap { module.functionAddress(named: $0) } == start ? nil : start
      }
    } ?? []
  }

  package func functionAddress(_ offset: UInt64) -> UInt64? {
    module.withLock { $0.functionAddress(imageBase &+ offset) }.map { $0 &- imageBase }
  }

  package func dataSymbol(at offset: UInt64) -> DataSymbol? {
    module.withLock { $0.dataSymbol(at: imageBase &+ offset) }.map { found in
      DataSymbol(found.name, start: found.address &- imageBase, isNearest: found.isNearest)
    }
  }

  /// Returns the address of the first section with a name (0 in an object file), or nil.
  package func sectionAddress(_ name: String) -> UInt64? { module.withLock { $0.sectionAddress(name) } }

  package func isInFunction(_ offset: UInt64) -> Bool { module.withLock { $0.isInFunction(imageBase &+ offset) } }

  package func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    module.withLock { $0.frameRules(at: imageBase &+ offset) }
  }

  package func caller(
    of callee: FrameRegisters, at offset: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard case .arm = callee.architecture else { return nil }
    return module.withLock { $0.exceptionTable }?.caller(
      of: callee, at: imageBase &+ offset, isInnermost: isInnermost, code: { code(at: $0 &- imageBase) }, memory)
  }

  package func code(at offset: UInt64) -> UInt64? { module.withLock { $0.loaded?.word(at: imageBase &+ offset) } }

  package func code(around offset: UInt64, before: Int, after: Int) -> (bytes: [UInt8], before: Int)? {
    module.withLock { $0.loaded?.code(around: imageBase &+ offset, before: before, after: after) }
  }
}
