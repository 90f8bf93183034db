// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot

/// Names of single addresses in the modules of one snapshot. A module's symbols are searched on first use.
package struct AddressNames: Sendable {
  private let modules: [LazySymbols]

  package init(_ snapshot: ProcessSnapshot, _ file: InputFile, _ cache: SymbolCache) {
    modules = snapshot.modules.map { LazySymbols(ModuleIdentity($0, snapshot, file), cache) }
  }

  /// The symbols of a module; `module` is an index of the snapshot's list.
  package func symbols(of module: Int) -> ModuleSymbols { modules[module].symbols }

  /// Up to `count` bytes that a module's file loads at an offset; nil if there is no file that has the first one.
  package func data(module: Int, offset: UInt64, count: Int) -> [UInt8]? {
    modules[module].symbols.data(at: offset, count: count)
  }

  /// Searches a module's symbols before the first name is needed. `module` is an index of the snapshot's list.
  package func look(at module: Int) { _ = symbols(of: module) }

  /// Findings about the files opened so far.
  package var fileFindings: [SymbolFileFinding] { modules.flatMap { $0.known?.fileFindings ?? [] } }
}
