// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadFiles
internal import Synchronization

/// The names, lines and frame rules of one module, from all files found for it. Results are cached, so that the same
/// stack in another thread or dump costs nothing. Thread-safe.
package final class ModuleSymbols: Sendable {
  package let identity: ModuleIdentity
  /// The result of the search: the files that are used and those that are not.
  package let search: SymbolMatches

  private struct Known {
    var names: [UInt64: SymbolizedAddress?] = [:]
    var rules: [UInt64: FrameRules?] = [:]
    var paths: [UInt64: (callee: String?, place: UInt64?, path: [CalledFunction])] = [:]
  }
  private let known = Mutex(Known())
  private let faults: SymbolFaults
  private let names: NameForm
  /// The maximum number of cached addresses.
  private static let capacity = 1 << 17

  init(_ identity: ModuleIdentity, _ search: SymbolMatches, _ faults: SymbolFaults, names: NameForm) {
    self.identity = identity
    self.search = search
    self.faults = faults
    self.names = names
  }

  /// Whether symbols were found.
  package var isFound: Bool { !search.symbols.isEmpty }

  /// Whether files turned out to be unreadable: then nothing more is said from them, as it would be made of zeros. Files
  /// that could not be opened may have more than what is said.
  private var isNotWhole: Bool {
    for file in search.inputs.notOpened.map(\.failure) where !file.errno.isOfOthersFile {
      faults.add(file.path, .unreadable(file.errno))
    }
    guard search.inputs.hasFailed else { return false }
    for path in search.inputs.notWhole { faults.add(path, .notWhole) }
    return true
  }

  /// Whether more may be known of the module when a server answers, or a file can be read.
  package var hasOpenQuestions: Bool {
    search.answers.contains(where: \.isOpen) || search.inputs.hasFailed || search.inputs.hasOpenQuestion
      || search.inputs.notOpened.contains { !$0.failure.errno.isOfOthersFile }
      || search.refused.contains { refusal in
        if case .unreadable = refusal.reason { true } else { refusal.reason == .notWhole }
      }
  }

  package var findings: FindingList {
    var findings = FindingList()
    for source in search.symbols { findings.append(contentsOf: source.findings) }
    return findings
  }

  /// The symbol at an offset in the module; nil if no symbol is near.
  package func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    if search.symbols.isEmpty { return nil }
    if let name = known.withLock({ $0.names[offset] }) { return name }
    var best: SymbolizedAddress?
    for source in search.symbols {
      guard let name = source.symbolize(offset) else { continue }
      // Prefer a name with a source location to one from a stripped file's symbol table.
      if best == nil || (best?.frames.last?.location == nil && name.frames.last?.location != nil) { best = name }
      if best?.frames.last?.location != nil { break }
    }
    if isNotWhole { return nil }
    if var name = best {
      for index in name.frames.indices { demangle(&name.frames[index]) }
      best = name
    }
    known.withLock { known in
      if known.names.count >= Self.capacity { known.names.removeAll() }
      known.names[offset] = .some(best)
    }
    return best
  }

  /// The offset of the first symbol in ELF files, of code or data, with one of these names.
  func offset(ofSymbol names: [String]) -> UInt64? {
    search.symbols.firstResult { ($0 as? ElfSymbols)?.offset(ofSymbol: names) }
  }

  private func demangle(_ frame: inout SymbolizedAddress.Frame) {
    guard names != .mangled, let function = frame.function else { return }
    frame.name = Demangler.demangle(function, names) ?? function
  }

  /// The functions through which the call led that returns to an offset, the first one first; empty if that is not known.
  ///
  /// - Parameters:
  ///   - callee: the function in which it ended, as the symbols have it; nil if that is not known.
  ///   - place: an offset in that function; nil if it is in another module.
  func callPath(returningTo offset: UInt64, to callee: String?, at place: UInt64?) -> [CalledFunction] {
    if let known = known.withLock({ $0.paths[offset] }), known.callee == callee, known.place == place {
      return known.path
    }
    let paths = search.symbols.lazy.map { $0.callPath(returningTo: offset, to: callee, at: place) }
    var path = paths.first { !$0.isEmpty } ?? []
    if isNotWhole { return [] }
    for index in path.indices {
      demangle(&path[index].function)
      for number in path[index].inlined.indices { demangle(&path[index].inlined[number]) }
    }
    known.withLock { known in
      if known.paths.count >= Self.capacity { known.paths.removeAll() }
      known.paths[offset] = (callee, place, path)
    }
    return path
  }

  /// The rules to unwind from a frame at an offset to its caller.
  func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    if search.symbols.isEmpty { return nil }
    if let rules = known.withLock({ $0.rules[offset] }) { return rules }
    var rules: FrameRules?
    for source in search.symbols.filter(\.hasOwnFrameRules) + search.symbols.filter({ !$0.hasOwnFrameRules }) {
      rules = source.frameRules(at: offset, architecture)
      if rules != nil { break }
    }
    if isNotWhole { return nil }
    known.withLock { known in
      if known.rules.count >= Self.capacity { known.rules.removeAll() }
      known.rules[offset] = .some(rules)
    }
    return rules
  }

  /// The caller's registers from Apple's compact unwind information, which has no rules per address.
  func caller(
    of callee: FrameRegisters, at offset: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    let caller = search.symbols.firstResult {
      $0.caller(of: callee, at: offset, isInnermost: isInnermost, memory)
    }
    return caller == nil || isNotWhole ? nil : caller
  }

  func parameterSize(at offset: UInt64) -> UInt64? { search.symbols.firstResult { $0.parameterSize(at: offset) } }

  /// Eight bytes of code at an offset, little-endian; nil if no file has them.
  package func code(at offset: UInt64) -> UInt64? {
    guard let word = search.symbols.firstResult({ $0.code(at: offset) }) else { return nil }
    return isNotWhole ? nil : word
  }

  /// Code around an offset, and how many bytes of it are before the offset; nil if no file has it.
  package func code(around offset: UInt64, before: Int, after: Int) -> (bytes: [UInt8], before: Int)? {
    search.symbols.firstResult { $0.code(around: offset, before: before, after: after) }
  }

  /// Up to `count` bytes that a file loads at an offset; nil if none has the first one.
  package func data(at offset: UInt64, count: Int) -> [UInt8]? {
    guard let bytes = search.symbols.firstResult({ $0.data(at: offset, count: count) }) else { return nil }
    return isNotWhole ? nil : bytes
  }

  /// Returns the data that contains an offset, or the nearest data of unknown size before it. Nil if there is neither.
  package func dataSymbol(at offset: UInt64) -> DataSymbol? {
    var nearest: DataSymbol?
    for source in search.symbols {
      guard let found = source.dataSymbol(at: offset), nearest == nil || !found.isNearest else { continue }
      nearest = found
      if !found.isNearest { break }
    }
    guard var found = nearest, !isNotWhole else { return nil }
    if names != .mangled { found.name = Demangler.demangle(found.symbol, names) ?? found.symbol }
    return found
  }

  func functionAddress(_ offset: UInt64) -> UInt64? {
    search.symbols.firstResult { $0.functionAddress(offset) }
  }

  /// The offset of the code that is started.
  var entry: UInt64? { search.symbols.firstResult { $0.entry } }

  /// Whether a return address in a stack can be at an offset, as far as known.
  func isInFunction(_ offset: UInt64) -> Bool {
    search.symbols.isEmpty || search.symbols.contains { $0.isInFunction(offset) }
  }
}

/// The symbols of all requested modules: each module is searched once, for any number of dumps.
package final class SymbolCache: Sendable {
  package let search: SymbolSearch
  fileprivate let names: NameForm

  private final class Slot: Sendable {
    let symbols = Mutex<ModuleSymbols?>(nil)
  }
  private struct Slots {
    var byIdentity: [ModuleIdentity: Slot] = [:]
  }
  private let slots = Mutex(Slots())
  /// The cache that opens the files; nil if this one does.
  private let other: SymbolCache?

  /// The maximum number of cached modules. Hostile dumps may have new modules without end: then the cache is cleared.
  private static let capacity = 1 << 14

  package init(_ search: SymbolSearch, names: NameForm = .full) {
    self.search = search
    self.names = names
    other = nil
  }

  /// Shares the symbols of `other`, with names in another form; each file is read only once.
  package init(sharing other: SymbolCache, names: NameForm) {
    search = other.search
    self.names = names
    self.other = other
  }

  /// Converts a name from a dump to this cache's form; nil if it is not mangled.
  func demangled(_ name: String) -> String? { names == .mangled ? nil : Demangler.demangle(name, names) }

  /// Returns the symbols of a module; searches them on the first call. Concurrent calls for the same module wait.
  package func symbols(for identity: ModuleIdentity) -> ModuleSymbols {
    if search.cannotFind(identity) {
      return ModuleSymbols(identity, SymbolMatches(), search.faults, names: names)
    }
    let slot = slots.withLock { slots in
      if let slot = slots.byIdentity[identity] { return slot }
      if slots.byIdentity.count >= Self.capacity { slots.byIdentity.removeAll() }
      let slot = Slot()
      slots.byIdentity[identity] = slot
      return slot
    }
    return slot.symbols.withLock { symbols in
      if let symbols { return symbols }
      let found = other?.symbols(for: identity).search ?? search.find(identity)
      let new = ModuleSymbols(identity, found, search.faults, names: names)
      symbols = new
      return new
    }
  }
}

extension SymbolCache {
  /// The number of files that are downloaded at once.
  private static let mostDownloads = 16

  /// Searches the symbols of modules at once where servers are asked, which takes long one after the other.
  func prepare(_ identities: [ModuleIdentity]) {
    guard search.asksServers, identities.count > 1 else { return }
    let next = Mutex(0)
    onThreads(min(identities.count, Self.mostDownloads)) {
      while true {
        let index = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard index < identities.count else { return }
        _ = symbols(for: identities[index])
      }
    }
  }

  /// The symbols of a module from its image in memory; nil if that is not an ELF file with symbols.
  fileprivate func symbols(for identity: ModuleIdentity, in image: SharedBytes) -> ModuleSymbols? {
    guard let file = try? ElfFile(image: image) else { return nil }
    var found = SymbolMatches()
    let symbols = ElfSymbols(loaded: file, debug: nil, places: DebugPlaces())
    if symbols.isEmpty { return nil }
    found.symbols = [symbols]
    return ModuleSymbols(identity, found, search.faults, names: names)
  }
}

/// The symbols of one module in one dump, searched on first use.
package final class LazySymbols: Sendable {
  private let identity: ModuleIdentity
  private let cache: SymbolCache
  /// The module in the memory of the process, if no file can have it.
  private let image: @Sendable () -> SharedBytes?
  private let found = Mutex<ModuleSymbols?>(nil)

  package convenience init(_ identity: ModuleIdentity, _ cache: SymbolCache) { self.init(identity, cache) { nil } }

  init(_ identity: ModuleIdentity, _ cache: SymbolCache, image: @escaping @Sendable () -> SharedBytes?) {
    self.identity = identity
    self.cache = cache
    self.image = image
  }

  /// Searches the symbols on first use.
  package var symbols: ModuleSymbols {
    if let found = known { return found }
    var new = cache.symbols(for: identity)
    if !new.isFound, identity.symbolObstacle == .kernel, let image = image(),
      let own = cache.symbols(for: identity, in: image)
    {
      new = own
    }
    found.withLock { $0 = new }
    return new
  }

  /// Nil if the symbols have not been used.
  package var known: ModuleSymbols? { found.withLock { $0 } }
}
