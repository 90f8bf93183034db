// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import SystemPackage

extension MachOFile {
  /// Whether the file has readable debug information.
  package var hasDwarf: Bool {
    sections.contains { $0.segment == "__DWARF" && $0.name == "__debug_info" && $0.content != nil }
  }

  /// The debug information; nil if there is none.
  var dwarf: MachODwarf? { dwarf(at: nil, SymbolInputs()) }

  /// The same, with the index that is kept of a large file.
  ///
  /// - Parameters:
  ///   - path: the path of the file, if it is known.
  ///   - inputs: has the place of the index.
  func dwarf(at path: FilePath?, _ inputs: SymbolInputs) -> MachODwarf? {
    hasDwarf ? MachODwarf(self, indexed: path.flatMap { indexed($0, inputs) }, inputs) : nil
  }

  /// The file for its index; nil if none is kept of it. Each slice of a universal file has its own.
  private func indexed(_ path: FilePath, _ inputs: SymbolInputs) -> IndexedFile? {
    guard let indexes = inputs.indexes, kind == .debugSymbols, let uuid, let identity = file.identity,
      identity.size >= indexes.thresholds.fileSize, let path = realPath(path)
    else { return nil }
    let id = DebugID(uuid: uuid).text
    return IndexedFile(path: path.appending(id), identity: identity, id: Array(id.utf8))
  }
}

/// The debug sections of a Mach-O file, by their names in ELF files.
final class MachODwarf: DwarfContainer {
  private let file: MachOFile
  /// Sections of an object file, by name.
  private var relocated: [String: SharedBytes] = [:]
  private let indexed: IndexedFile?
  private let inputs: SymbolInputs
  private(set) lazy var index: FileIndex? = indexed.flatMap { inputs.index(of: $0) }

  fileprivate init(_ file: MachOFile, indexed: IndexedFile?, _ inputs: SymbolInputs) {
    (self.file, self.indexed, self.inputs) = (file, indexed, inputs)
  }

  var isLittleEndian: Bool { true }
  var isRelocatable: Bool { file.kind == .object }
  var path: FilePath? { nil }

  /// Mach-O truncates names to 16 bytes.
  func contents(_ name: String) -> SharedBytes {
    guard name.hasPrefix(".debug_") else { return SharedBytes() }
    let cut = String("__\(name.dropFirst())".prefix(16))
    guard let section = file.section("__DWARF", cut) else { return SharedBytes() }
    if let known = relocated[cut] { return known }
    let bytes = file.bytes(section)
    guard let own = MachORelocations(file, section)?.apply(to: bytes) else { return bytes }
    relocated[cut] = own
    return own
  }

  func isCode(_ address: UInt64) -> Bool {
    // The segment of an object file has no name.
    if isRelocatable { return file.isCode(address) }
    return address >= file.textAddress && address - file.textAddress < file.textSize
  }

  /// Keeps what was read for later runs, if the file is large and nothing is kept of it yet. Returns whether that was done.
  @discardableResult
  func keep(_ info: DwarfInfo) -> Bool {
    guard let indexed, index == nil, let indexes = inputs.indexes,
      info.sections.info.count >= indexes.thresholds.information, let tables = info.parts
    else { return false }
    return FileIndex.keep(tables, of: indexed, in: indexes)
  }

  var alternateName: String? { nil }
  func alternate(_ places: DebugPlaces) -> (any DwarfContainer)? { nil }
}

extension MachOFile {
  /// The bytes of a section; empty if they are not in the file.
  func bytes(_ section: MachOSection) -> SharedBytes {
    guard let content = section.content else { return SharedBytes() }
    return file.shared.part(UInt64(content.offset), UInt64(content.count))
  }
}
