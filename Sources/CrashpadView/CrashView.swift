// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadCore
internal import CrashpadFiles
internal import CrashpadMinidump
package import CrashpadSignatures
package import CrashpadSnapshot
package import CrashpadSymbolication
internal import CrashpadText
internal import IntermediateDump

/// A crash as people and programs read it: everything that a dump or a report says, in order, with names.
///
/// Text, JSON, HTML and `.crash` print this value and nothing else, so that none of them can lack a part that another one
/// has. The snapshot stays inside of this library: a part of it that no property here shows can't be printed. It is a class
/// because it is handed to the description of each row, and never changes.
package final class CrashView: Sendable {
  let dump: Dump
  let snapshot: ProcessSnapshot
  let modules: ModuleMap
  let unloadedMap: UnloadedModuleMap
  private let moduleNames: [String]
  /// Names for single addresses; nil without symbols.
  package let names: AddressNames?
  /// The stacks that were walked; nil if none was.
  let symbolization: Symbolization?
  /// Nil if no signature was requested.
  package let signature: Signature?

  /// - Parameters:
  ///   - dump: the input, which `snapshot` was read from.
  ///   - names: names for addresses outside of stacks; nil for none.
  ///   - stacks: the stacks of the threads; nil if none is to be shown.
  package init(
    _ dump: Dump, _ snapshot: ProcessSnapshot, names: AddressNames? = nil, stacks: Symbolization? = nil,
    signature: Signature? = nil
  ) {
    self.dump = dump
    self.snapshot = snapshot
    self.names = names
    self.signature = signature
    symbolization = stacks
    modules = ModuleMap(snapshot.modules)
    unloadedMap = UnloadedModuleMap(snapshot.unloadedModules)
    // Computed in advance, because every frame of every stack needs one.
    moduleNames = snapshot.modules.enumerated().map { index, module in
      let path = module.name.map { name in dump.file.withBytes { Text(snapshot.bytes(of: name, in: $0)) } }
      return path?.lastComponent ?? "module \(index)"
    }
  }

  /// Walks stacks, and names their frames.
  ///
  /// - Parameters:
  ///   - allModules: whether symbols are searched for modules without frames too.
  ///   - signatures: nil for no signature.
  package convenience init(
    _ dump: Dump, _ snapshot: ProcessSnapshot, _ cache: SymbolCache, threads: Symbolization.Threads = .crashed,
    allModules: Bool = false, signatures: SignatureOptions?
  ) {
    let stacks = Symbolization(snapshot, dump.file, cache, threads: threads, allModules: allModules)
    self.init(
      dump, snapshot, stacks: stacks, signature: signatures.map { Signature(snapshot, dump.file, stacks, $0) })
  }

  /// The same crash with names for addresses outside of stacks.
  package func naming(_ cache: SymbolCache) -> CrashView {
    CrashView(
      dump, snapshot, names: AddressNames(snapshot, dump.file, cache), stacks: symbolization, signature: signature)
  }

  /// The same crash with the stack of the thread that crashed.
  package func walkingCrashedThread(_ cache: SymbolCache) -> CrashView {
    CrashView(
      dump, snapshot, names: names, stacks: Symbolization(snapshot, dump.file, cache, threads: .crashed),
      signature: signature)
  }

  // MARK: Texts

  /// A text of the dump.
  package struct Text: Sendable, Hashable {
    /// Bytes that are not UTF-8 have scalars of their own, as in arguments.
    private let raw: String

    init(_ bytes: [UInt8]) { raw = ArgumentText.text(bytes) }

    /// One line, with bytes that are not UTF-8 as `\xNN`; nil if it is empty.
    package var line: String? { raw.isEmpty ? nil : TextFormat.printable(raw) }
    /// The last component of a path as one line; nil if the text is empty. Escapes have backslashes, which separate too.
    package var lastComponent: String? { raw.isEmpty ? nil : TextFormat.printable(lastPathComponent(raw)) }
    /// UTF-8, in which other bytes are U+FFFD.
    package var text: String { ArgumentText.repaired(raw) }
  }

  func text(_ content: SnapshotBytes?) -> Text? {
    content.map { content in Text(dump.file.withBytes { snapshot.bytes(of: content, in: $0) }) }
  }

  /// The same as one line; nil if it is missing or empty.
  func line(_ content: SnapshotBytes?) -> String? {
    guard let content, !content.isEmpty else { return nil }
    return dump.file.withBytes { TextFormat.printable(snapshot.bytes(of: content, in: $0)) }
  }

  // MARK: Addresses

  /// An address in a module.
  package struct Location: Sendable {
    /// The index in `modules`.
    package let module: Int
    package let moduleName: String
    /// The offset from the start of the module, in bytes.
    package let offset: UInt64
    /// Whether the module's symbols were searched.
    package let isExamined: Bool
    /// The symbol there; nil without symbols.
    package let symbol: SymbolizedAddress?
    /// The variable or table there, if it is not in a function.
    package let data: DataSymbol?

    /// Such as "main + 12 (/src/main.cpp:42), MyApp + 0x1234", or "MyApp + 0x1234".
    package var line: String {
      let place = "\(moduleName) + \(TextFormat.hex(offset))"
      return (symbol?.line(at: offset) ?? data?.line(at: offset)).map { "\($0), \(place)" } ?? place
    }
  }

  /// The name of a module without directories, such as "libc.so.6", or "module 3".
  package func moduleName(_ index: Int) -> String { moduleNames[index] }

  /// Nil outside all modules.
  package func location(_ address: UInt64) -> Location? {
    guard let (module, offset) = lookup(address) else { return nil }
    // Without names of all modules, those of the modules that the stacks needed are there.
    let symbols = names.map { $0.symbols(of: module) } ?? symbolization?.modules[module].symbols
    var symbol = symbols?.symbolize(offset)
    var data: DataSymbol?
    if symbol == nil || symbol?.isNearest == true { data = symbols?.dataSymbol(at: offset) }
    // Data that has the address is known; the nearest function is not.
    if data?.isNearest == true, symbol != nil { data = nil }
    if data != nil { symbol = nil }
    return Location(
      module: module, moduleName: moduleName(module), offset: offset, isExamined: symbols != nil, symbol: symbol,
      data: data)
  }

  /// The module at `address`, or at the address without its pointer authentication code.
  func lookup(_ address: UInt64) -> (module: Int, offset: UInt64)? {
    modules.lookup(address) ?? modules.lookup(strip(address))
  }

  /// Removes the bits that are not part of the address: on arm64, the pointer authentication code.
  private func strip(_ address: UInt64) -> UInt64 {
    // Simulators on Intel record a mask of all bits, which would leave nothing.
    guard snapshot.system.architecture == .arm64, let mask = snapshot.system.addressMask, mask != .max else {
      return address
    }
    return address & ~mask
  }

  /// The address with all digits of the architecture.
  package func fullAddress(_ value: UInt64) -> String {
    "0x" + hexadecimal(value, width: snapshot.system.architecture.hasNarrowAddresses ? 8 : 16)
  }

  /// Opens the symbol files of the modules in the stacks for `names` too, so that their findings are known.
  package func lookAtModulesOfStacks() {
    for module in symbolization?.modules ?? [] where module.symbols != nil { names?.look(at: module.index) }
  }
}

extension SymbolizedAddress {
  /// The name of a function as one line: "main"; nil without a name.
  package static func line(_ function: Frame?) -> String? {
    function.flatMap { $0.name ?? $0.function }.map { TextFormat.printable($0) }
  }

  /// "main + 12 (/src/main.cpp:42)"; of inlined calls the innermost one. Nil without a name.
  package func line(at offset: UInt64) -> String? {
    guard let function = frames.first, let name = Self.line(function) else { return nil }
    let start = functionAddress.flatMap { frames.count == 1 && offset >= $0 ? $0 : nil }
    let distance = start.map { " + \(offset - $0)" } ?? ""
    return name + distance + (isNearest ? " (nearest symbol)" : "") + (function.sourceLine.map { " (\($0))" } ?? "")
  }
}

extension DataSymbol {
  /// "table + 16 (data)", or "table + 16 (nearest data)" if the symbol has no size.
  package func line(at offset: UInt64) -> String {
    let distance = offset > start ? " + \(offset - start)" : ""
    return TextFormat.printable(name) + distance + (isNearest ? " (nearest data)" : " (data)")
  }
}

extension SymbolizedAddress.Frame {
  /// The file as one line, and the line from 1; 0 if unknown.
  package var source: (file: String, line: UInt64)? {
    guard let location, let file = location.file else { return nil }
    return (TextFormat.printable(file), location.line)
  }

  /// The name of the file alone, as one line.
  package var sourceName: String? { location?.file.map { TextFormat.printable(lastPathComponent($0)) } }

  /// "main.cpp:42"
  package var shortSourceLine: String? {
    sourceName.flatMap { name in source.map { $0.line > 0 ? "\(name):\($0.line)" : name } }
  }

  /// "/src/main.cpp:42"
  package var sourceLine: String? { source.map { $0.line > 0 ? "\($0.file):\($0.line)" : $0.file } }
}
