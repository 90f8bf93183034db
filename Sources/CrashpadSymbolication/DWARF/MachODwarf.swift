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
  var dwarf: MachODwarf? { hasDwarf ? MachODwarf(self) : nil }
}

/// The debug sections of a Mach-O file, by their names in ELF files.
final class MachODwarf: DwarfContainer {
  private let file: MachOFile
  /// Sections of an object file, by name.
  private var relocated: [String: SharedBytes] = [:]

  init(_ file: MachOFile) { self.file = file }

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
