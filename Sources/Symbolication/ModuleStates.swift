package import FileSystem
package import Snapshot

/// The symbols of a snapshot's modules, without its stacks.
package struct ModuleStates: Sendable {
  package let modules: [Symbolization.Module]

  /// - Parameters:
  ///   - snapshot: what is known of the process.
  ///   - file: what the snapshot was read from.
  ///   - cache: holds and finds the symbols.
  ///   - isWanted: whether a module, an index of the snapshot's list, is looked at.
  package init(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ cache: SymbolCache, where isWanted: (Int) -> Bool = { _ in true }
  ) {
    modules = snapshot.modules.indices.filter(isWanted).map { index in
      let identity = ModuleIdentity(snapshot.modules[index], snapshot, file)
      return Symbolization.Module(index: index, identity: identity, symbols: cache.symbols(for: identity))
    }
  }
}
