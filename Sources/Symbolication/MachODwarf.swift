internal import BinaryFormat
internal import FileSystem
internal import SystemPackage

extension MachOFile {
  /// Whether it has debug information that can be read. Of an object file there is none: its sections are not relocated.
  package var hasDwarf: Bool {
    kind != .object && sections.contains { $0.segment == "__DWARF" && $0.name == "__debug_info" && $0.content != nil }
  }

  /// Its debug information; nil if it has none.
  var dwarf: MachODwarf? { hasDwarf ? MachODwarf(self) : nil }
}

/// The sections of a Mach-O file with debug information, under the names that ELF files give them.
final class MachODwarf: DwarfContainer {
  private let file: MachOFile

  init(_ file: MachOFile) { self.file = file }

  var isLittleEndian: Bool { true }
  var isRelocatable: Bool { false }
  var path: FilePath? { nil }

  /// Mach-O cuts names at 16 bytes.
  func contents(_ name: String) -> RawSpanHolder {
    guard name.hasPrefix(".debug_") else { return RawSpanHolder() }
    let cut = String("__\(name.dropFirst())".prefix(16))
    return file.section("__DWARF", cut).map { file.bytes($0) } ?? RawSpanHolder()
  }

  func isCode(_ address: UInt64) -> Bool {
    address >= file.textAddress && address - file.textAddress < file.textSize
  }

  var alternateName: String? { nil }
  func alternate(_ places: DebugPlaces) -> (any DwarfContainer)? { nil }
}

extension MachOFile {
  /// The bytes of a section; none if they are not in the file.
  func bytes(_ section: Section) -> RawSpanHolder {
    guard let content = section.content else { return RawSpanHolder() }
    let whole = file.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe RawSpanHolder($0, owner: file) }
    }
    return whole.part(UInt64(content.offset), UInt64(content.count))
  }

  /// `__eh_frame`; nil if it has none.
  var exceptionFrames: CfiSection? {
    guard kind != .object, let section = section("__TEXT", "__eh_frame") else { return nil }
    return CfiSection(".eh_frame", bytes(section), address: section.address, addressSize: addressSize)
  }

  /// `__debug_frame`, which is with the debug information; nil if it has none.
  var debugFrames: CfiSection? {
    guard kind != .object, let section = section("__DWARF", "__debug_frame") else { return nil }
    return CfiSection(".debug_frame", bytes(section), address: 0, addressSize: addressSize)
  }
}
