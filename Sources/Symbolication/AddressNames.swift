package import FileSystem
package import Snapshot

/// Names of single addresses in the modules of one snapshot. A module's symbols are looked for when the first is asked for.
package struct AddressNames: Sendable {
  private let modules: [LazySymbols]

  /// - Parameters:
  ///   - snapshot: what is known of the process.
  ///   - file: what the snapshot was read from.
  ///   - cache: holds and finds the symbols.
  package init(_ snapshot: ProcessSnapshot, _ file: InputFile, _ cache: SymbolCache) {
    modules = snapshot.modules.map { LazySymbols(ModuleIdentity($0, snapshot, file), cache) }
  }

  /// What lies at an offset in a module, an index of the snapshot's list; nil if no symbol is near.
  package func name(module: Int, offset: UInt64) -> SymbolizedAddress? { modules[module].symbols.symbolize(offset) }

  /// Looks for a module's symbols, an index of the snapshot's list, before the first name is asked for.
  package func look(at module: Int) { _ = modules[module].symbols }

  /// What there is to say about the files that were looked at so far.
  package var fileFindings: [SymbolFileFinding] { modules.flatMap { $0.known?.fileFindings ?? [] } }
}
