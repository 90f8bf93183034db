internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
internal import Synchronization

/// The symbols in the Mach-O files of one module: the loaded file, and the dSYM with its debug information. All methods
/// are thread-safe.
package final class AppleSymbols: Sendable {
  private let loaded: MachOFile?
  private let companion: MachOFile?
  /// LC_UUID
  var uuid: UUIDBytes? { (loaded ?? companion)?.uuid }
  /// The address of `__TEXT`.
  let imageBase: UInt64

  private struct State {
    var isRead = false
    var info: DwarfInfo?
    var frames: DwarfFrames?
    var findings = FindingList()
  }
  /// The DWARF data, used by one call at a time.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - loaded: the file that was loaded, for its symbols and unwind information.
  ///   - companion: the file in a dSYM of the same build.
  init(loaded: MachOFile?, companion: MachOFile?) {
    self.loaded = loaded
    self.companion = companion
    imageBase = (loaded ?? companion)?.textAddress ?? 0
  }

  var hasDebugInfo: Bool { files.contains { $0.hasDwarf } }

  /// Whether the files have neither names nor lines.
  var isEmpty: Bool { files.allSatisfy { !$0.hasDwarf && $0.symbols().isEmpty } }

  /// The files, with the one for debug information first.
  private var files: [MachOFile] { [companion, loaded].compactMap { $0 } }

  /// Findings so far. Each affects only the names that depend on it.
  var findings: FindingList {
    var findings = FindingList()
    for file in files { findings.append(contentsOf: file.findings) }
    state.withLock { state in
      findings.append(contentsOf: state.findings)
      if let info = state.info { findings.append(contentsOf: info.findings) }
      if let frames = state.frames { findings.append(contentsOf: frames.findings) }
    }
    return findings
  }

  /// Reads the DWARF on the first call.
  private func prepare() {
    let files = files
    state.withLock { state in
      guard !state.isRead else { return }
      state.isRead = true
      Self.read(files, &state)
    }
  }

  private static func read(_ files: [MachOFile], _ state: inout State) {
    for file in files where state.info == nil {
      guard let dwarf = file.dwarf else { continue }
      state.info = DwarfInfo(dwarf)
      if state.info == nil { state.findings.append(Finding(ElfRules.badDwarf)) }
    }
    for file in files.reversed() where state.frames == nil {
      guard let frames = file.exceptionFrames else { continue }
      state.frames = DwarfFrames([frames], file.architecture.isX86_64 ? .x86_64 : .arm64)
    }
  }

  /// The symbol at `address`, relative to the file's own image base; nil if no symbol is near.
  func symbolize(imageAddress address: UInt64) -> SymbolizedAddress? {
    prepare()
    let found = state.withLock { $0.info?.lookup(address, { _ in nil }) }
    if let found, found.frames.last?.function != nil { return found }
    guard let symbol = symbol(at: address) else { return found }
    let frame = SymbolizedAddress.Frame(function: symbol.symbol.name, location: found?.frames.last?.location)
    return SymbolizedAddress(frames: [frame], functionAddress: symbol.symbol.address, isNearest: symbol.isNearest)
  }

  private func symbol(at address: UInt64) -> (symbol: MachOSymbol, isNearest: Bool)? {
    for file in files {
      if let symbol = file.symbol(containing: address) { return (symbol, false) }
    }
    for file in files where isCode(address) {
      if let symbol = file.symbol(before: address) { return (symbol, true) }
    }
    return nil
  }

  private func isCode(_ address: UInt64) -> Bool {
    files.contains { file in
      file.sections.contains { $0.hasInstructions && address >= $0.address && address < $0.end }
    }
  }

  /// The start of the function that contains `address`.
  func functionAddress(imageAddress address: UInt64) -> UInt64? {
    for file in files {
      if let function = file.function(containing: address) { return function.lowerBound }
    }
    prepare()
    return state.withLock { $0.info?.functionAddress(address) } ?? symbol(at: address)?.symbol.address
  }

  /// Whether a return address in a stack can be at `address`.
  func isInFunction(imageAddress address: UInt64) -> Bool { isCode(address) }

  /// The caller's registers, from compact unwind information.
  func caller(
    of callee: FrameRegisters, imageAddress address: UInt64, isInnermost: Bool, _ memory: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    loaded?.caller(of: callee, at: address, isInnermost: isInnermost, memory: memory)
  }

  /// The `__eh_frame` rules to unwind from a frame at `address` to its caller.
  func frameRules(imageAddress address: UInt64) -> FrameRules? {
    prepare()
    return state.withLock { $0.frames?.rules(at: address) }
  }
}

extension AppleSymbols {
  /// The slice of `file` with an id; without one, the first for arm64, or else the first.
  static func slice(of file: InputFile, with id: DebugID? = nil, architecture: String? = nil) -> MachOFile? {
    let all = MachOFile.slices(of: file).slices.compactMap { try? MachOFile(file, in: $0.range) }
    let slices = all.filter { architecture == nil || $0.architecture.description == architecture }
    guard let id else { return slices.first { $0.architecture.isARM64 } ?? slices.first }
    return slices.first { $0.uuid == id.uuid }
  }
}
