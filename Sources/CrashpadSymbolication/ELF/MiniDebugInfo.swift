// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The symbol table that some distributions keep in stripped files: `.gnu_debugdata`, an ELF file compressed with xz.
enum MiniDebugInfo {
  static let section = ".gnu_debugdata"

  /// Nil if `file` has none, or it can't be read.
  static func file(of file: ElfFile) -> ElfFile? {
    guard let section = file.section(Self.section) else { return nil }
    let packed = file.bytes(section)
    guard let size = packed.withBytes({ ElfLimits.unpackedSize(ofXZ: $0) }),
      size <= ElfLimits.unpacked(UInt64(packed.count)),
      let image = SharedBytes(unpacking: packed, .xz, count: Int(size))
    else { return nil }
    return try? ElfFile(image: image)
  }
}
