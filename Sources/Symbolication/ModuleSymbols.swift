package import BinaryFormat
internal import Synchronization

/// The names, lines and frame rules of one module, from all files that were found for it. What was asked for once is kept,
/// so that the same stack in another thread or dump costs nothing. All calls may come from any thread.
package final class ModuleSymbols: Sendable {
  package let identity: ModuleIdentity
  /// What was found, and where else was looked.
  package let search: SymbolSearch.Result

  private struct Known {
    var names: [UInt64: SymbolizedAddress?] = [:]
    var rules: [UInt64: FrameRules?] = [:]
  }
  private let known = Mutex(Known())
  private let names: NameForm
  /// So many addresses are kept.
  private static let capacity = 1 << 17

  init(_ identity: ModuleIdentity, _ search: SymbolSearch.Result, names: NameForm) {
    self.identity = identity
    self.search = search
    self.names = names
  }

  /// Whether there are names.
  package var isFound: Bool { !search.files.isEmpty }

  package var findings: FindingList {
    var findings = FindingList()
    for source in search.symbols { findings.append(contentsOf: source.findings) }
    return findings
  }

  /// What lies at an offset in the module; nil if no symbol is near.
  package func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    if let name = known.withLock({ $0.names[offset] }) { return name }
    var best: SymbolizedAddress?
    for source in search.symbols {
      guard let name = source.symbolize(offset) else { continue }
      // A name from a stripped file's table is better than none, and a place in the source better than that.
      if best == nil || (best?.frames.last?.location == nil && name.frames.last?.location != nil) { best = name }
      if best?.frames.last?.location != nil { break }
    }
    if names != .mangled, var name = best {
      for index in name.frames.indices {
        if let function = name.frames[index].function {
          name.frames[index].name = Demangler.demangle(function, names) ?? function
        }
      }
      best = name
    }
    known.withLock { known in
      if known.names.count >= Self.capacity { known.names.removeAll() }
      known.names[offset] = .some(best)
    }
    return best
  }

  /// The rules that lead from a frame at an offset to its caller.
  func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    if let rules = known.withLock({ $0.rules[offset] }) { return rules }
    var rules: FrameRules?
    // Breakpad's text can not say all that the program's own tables do: which frames are those of signals, to begin with.
    let (texts, programs) = (search.symbols.filter(\.isSym), search.symbols.filter { !$0.isSym })
    for source in programs + texts {
      rules = source.frameRules(at: offset, architecture)
      if rules != nil { break }
    }
    known.withLock { known in
      if known.rules.count >= Self.capacity { known.rules.removeAll() }
      known.rules[offset] = .some(rules)
    }
    return rules
  }

  /// The caller's registers by what is no rule for one address: Apple's compact unwind information.
  func caller(
    of callee: FrameRegisters, at offset: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    for case .machO(let symbols) in search.symbols {
      let address = symbols.imageBase &+ offset
      if let caller = symbols.caller(of: callee, imageAddress: address, isInnermost: isInnermost, memory) {
        return caller
      }
    }
    return nil
  }

  /// Eight bytes of the code at an offset, little endian; nil if no file has them.
  package func code(at offset: UInt64) -> UInt64? {
    for case .elf(let symbols) in search.symbols {
      if let word = symbols.code(imageAddress: symbols.imageBase &+ offset) { return word }
    }
    return nil
  }

  func functionAddress(_ offset: UInt64) -> UInt64? {
    for source in search.symbols {
      if let address = source.functionAddress(offset) { return address }
    }
    return nil
  }

  /// Whether a stack may go through an offset, as far as is known.
  func isInFunction(_ offset: UInt64) -> Bool {
    search.files.isEmpty || search.symbols.contains { $0.isInFunction(offset) }
  }
}

/// The symbols of all modules that were asked for: each is looked for once, however many dumps have it.
package final class SymbolCache: Sendable {
  package let search: SymbolSearch
  private let names: NameForm

  private final class Slot: Sendable {
    let symbols = Mutex<ModuleSymbols?>(nil)
  }
  private let slots = Mutex<[ModuleIdentity: Slot]>([:])
  /// Has the files; nil of one that finds them itself.
  private let other: SymbolCache?

  /// So many modules are kept. Hostile dumps name new ones without end: then all are looked for anew.
  private static let capacity = 1 << 14

  /// - Parameters:
  ///   - search: where symbols are looked for.
  ///   - names: the form of the functions' names.
  package init(_ search: SymbolSearch, names: NameForm = .full) {
    self.search = search
    self.names = names
    other = nil
  }

  /// The same symbols with names of another form; each file is read once for both.
  package init(sharing other: SymbolCache, names: NameForm) {
    search = other.search
    self.names = names
    self.other = other
  }

  /// A name that a dump lists, in this cache's form; nil of one that is not mangled.
  func demangled(_ name: String) -> String? { names == .mangled ? nil : Demangler.demangle(name, names) }

  /// Looks for the symbols of a module, the first time. Others that ask for the same meanwhile wait.
  package func symbols(for identity: ModuleIdentity) -> ModuleSymbols {
    if search.cannotFind(identity) { return ModuleSymbols(identity, SymbolSearch.Result(), names: names) }
    let slot = slots.withLock { slots in
      if let slot = slots[identity] { return slot }
      if slots.count >= Self.capacity { slots.removeAll() }
      let slot = Slot()
      slots[identity] = slot
      return slot
    }
    return slot.symbols.withLock { symbols in
      if let symbols { return symbols }
      let found = other?.symbols(for: identity).search ?? search.find(identity)
      let new = ModuleSymbols(identity, found, names: names)
      symbols = new
      return new
    }
  }
}

/// The symbols of one module of one dump, looked for when somebody needs them.
package final class LazySymbols: Sendable {
  private let identity: ModuleIdentity
  private let cache: SymbolCache
  private let found = Mutex<ModuleSymbols?>(nil)

  package init(_ identity: ModuleIdentity, _ cache: SymbolCache) {
    self.identity = identity
    self.cache = cache
  }

  /// Looks for them the first time.
  package var symbols: ModuleSymbols {
    if let found = known { return found }
    let new = cache.symbols(for: identity)
    found.withLock { $0 = new }
    return new
  }

  /// Nil if nobody needed them yet.
  package var known: ModuleSymbols? { found.withLock { $0 } }
}
