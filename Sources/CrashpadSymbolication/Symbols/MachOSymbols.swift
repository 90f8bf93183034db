// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadFiles
internal import Synchronization
internal import SystemPackage

/// The symbols in the Mach-O files of one module: the loaded file, and the dSYM with its debug information. All methods
/// are thread-safe.
package final class MachOSymbols: SymbolFile {
  private let loaded: MachOFile?
  private let companion: MachOFile?
  private let places: DebugPlaces
  /// The path of the file with debug information, if it is known.
  private let path: FilePath?
  /// The address of `__TEXT`.
  package let imageBase: UInt64

  private struct State {
    var isRead = false
    var info: DwarfInfo?
    /// The debug information in object files, if there is no other.
    var map: DebugMapInfo?
    var frames: DwarfFrames?
    var findings = FindingList()
  }
  /// The DWARF data, used by one call at a time.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - companion: the file in a dSYM of the same build.
  ///   - places: the places to search for object files.
  ///   - path: the path of the file with debug information; nil to keep no index of it.
  init(loaded: MachOFile?, companion: MachOFile?, places: DebugPlaces = DebugPlaces(), path: FilePath? = nil) {
    self.path = path
    self.loaded = loaded
    self.companion = companion
    self.places = places
    imageBase = (loaded ?? companion)?.textAddress ?? 0
  }

  package var sliceID: DebugID? { (loaded ?? companion)?.uuid.map { DebugID(uuid: $0) } }

  package var hasDebugInfo: Bool { files.contains { $0.hasDwarf } }

  package var isEmpty: Bool { files.allSatisfy { !$0.hasDwarf && $0.symbols().isEmpty } }

  /// The files, with the one for debug information first.
  private var files: [MachOFile] { [companion, loaded].compactMap { $0 } }

  package var findings: FindingList {
    var findings = FindingList()
    for file in files { findings.append(contentsOf: file.findings) }
    state.withLock { state in
      findings.append(contentsOf: state.findings)
      if let info = state.info { findings.append(contentsOf: info.findings) }
      if let map = state.map { findings.append(contentsOf: map.findings) }
      if let frames = state.frames { findings.append(contentsOf: frames.findings) }
    }
    return findings
  }

  /// Calls `body` with the DWARF data, which is read on the first call.
  private func withDwarf<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      if !state.isRead {
        state.isRead = true
        for file in files where state.info == nil {
          guard let dwarf = file.dwarf(at: path, places.inputs) else { continue }
          state.info = DwarfInfo(dwarf)
          if let info = state.info { dwarf.keep(info) }
          if state.info == nil { state.findings.append(Finding(ElfRules.badDwarf)) }
        }
        if !files.contains(where: \.hasDwarf) { state.map = loaded.flatMap { DebugMapInfo($0, places) } }
        state.frames = files.reversed().firstResult { file in
          file.exceptionFrames.flatMap { DwarfFrames([$0], file.architecture.isX86_64 ? .x86_64 : .arm64) }
        }
      }
      return body(&state)
    }
  }

  package func symbolize(_ offset: UInt64) -> SymbolizedAddress? {
    let address = imageBase &+ offset
    let found = withDwarf { $0.info?.lookup(address) { _ in nil } ?? $0.map?.lookup(address) }
    if let found, found.frames.last?.function != nil { return found.relative(to: imageBase) }
    guard let (symbol, isNearest) = symbol(at: address) else { return found?.relative(to: imageBase) }
    let frame = SymbolizedAddress.Frame(function: symbol.name, location: found?.frames.last?.location)
    return SymbolizedAddress(frames: [frame], functionAddress: symbol.address &- imageBase, isNearest: isNearest)
  }

  /// A symbol without a name says that the address is in none of the others.
  private func symbol(at address: UInt64) -> (symbol: MachOSymbol, isNearest: Bool)? {
    let found = files.compactMap { $0.symbol(containing: address) }
    if let symbol = found.first(where: \.hasName) { return (symbol, false) }
    guard found.isEmpty, isCode(address) else { return nil }
    return files.firstResult { $0.symbol(before: address) }.flatMap { $0.hasName ? ($0, true) : nil }
  }

  private func isCode(_ address: UInt64) -> Bool { files.contains { $0.isCode(address) } }

  package func callPath(returningTo offset: UInt64, to callee: String?, at place: UInt64?) -> [CalledFunction] {
    let address = imageBase &+ offset
    let place = place.map { imageBase &+ $0 }
    return withDwarf { dwarf in
      dwarf.info?.callPath(returningTo: address, to: callee, at: place) { _ in nil }
        ?? dwarf.map?.callPath(returningTo: address, to: callee, at: place)
    } ?? []
  }

  package func functionAddress(_ offset: UInt64) -> UInt64? {
    let address = imageBase &+ offset
    let function = files.firstResult { $0.function(containing: address)?.lowerBound }
    let described = withDwarf { $0.info?.functionAddress(address) ?? $0.map?.functionAddress(address) }
    let start = function ?? described ?? symbol(at: address)?.symbol.address
    return start.map { $0 &- imageBase }
  }

  package func isInFunction(_ offset: UInt64) -> Bool { isCode(imageBase &+ offset) }

  /// Symbols have no size: only the address of one itself is surely its own.
  package func dataSymbol(at offset: UInt64) -> DataSymbol? {
    let address = imageBase &+ offset
    guard let symbol = files.firstResult({ $0.dataSymbol(before: address) }), symbol.hasName else { return nil }
    return DataSymbol(symbol.name, start: symbol.address &- imageBase, isNearest: symbol.address != address)
  }

  /// From compact unwind information.
  package func caller(
    of callee: FrameRegisters, at offset: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    loaded?.caller(of: callee, at: imageBase &+ offset, isInnermost: isInnermost, memory: memory)
  }

  /// From `__eh_frame`.
  package func frameRules(at offset: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    withDwarf { $0.frames?.rules(at: imageBase &+ offset, imageBase: imageBase) }
  }
}
