// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot

/// The symbols of a snapshot's modules, without stacks.
package struct ModuleStates: Sendable {
  package let modules: [Symbolization.Module]

  /// `isWanted` says whether to include a module, given its index in the snapshot's list.
  package init(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ cache: SymbolCache, where isWanted: (Int) -> Bool = { _ in true }
  ) {
    let wanted = snapshot.modules.indices.filter(isWanted)
    let identities = wanted.map { ModuleIdentity(snapshot.modules[$0], snapshot, file) }
    cache.prepare(identities)
    modules = zip(wanted, identities).map { index, identity in
      Symbolization.Module(index: index, identity: identity, symbols: cache.symbols(for: identity))
    }
  }
}
