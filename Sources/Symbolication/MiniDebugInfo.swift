internal import CElfutils
internal import CLinux
internal import Glibc
internal import SystemPackage

/// The symbol table that some distributions leave in stripped files: `.gnu_debugdata`, an ELF file compressed with xz.
enum MiniDebugInfo {
  static let section = ".gnu_debugdata"

  /// Nil if `file` has none, or it can't be read.
  static func file(of file: ElfFile) -> ElfFile? {
    guard let section = file.section(Self.section), let bytes = file.bytes(section), !bytes.isEmpty else {
      return nil
    }
    guard let size = unsafe ElfLimits.unpackedSize(ofXZ: bytes.span.bytes),
      size <= ElfLimits.unpacked(UInt64(bytes.count))
    else { return nil }
    // libdw decompresses files, not memory.
    guard let descriptor = memoryFile(bytes) else { return nil }
    do { return try ElfFile(descriptor, isCompressed: true) } catch {
      _ = try? descriptor.close()
      return nil
    }
  }

  private static func memoryFile(_ bytes: [UInt8]) -> FileDescriptor? {
    let raw = unsafe memfd_create("debugdata", LINUX_MFD_CLOEXEC)
    guard raw >= 0 else { return nil }
    let descriptor = FileDescriptor(rawValue: raw)
    do {
      try descriptor.writeAll(bytes)
      return descriptor
    } catch {
      _ = try? descriptor.close()
      return nil
    }
  }
}
