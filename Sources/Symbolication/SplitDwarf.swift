internal import CElfutils
internal import FileSystem
internal import Glibc
internal import SystemPackage

/// The file with the entries of a unit of split DWARF, which libdw opens wherever the unit says that it is.
enum SplitDwarf {
  /// Whether libdw may look for it: opening a named pipe would wait for whoever writes to it.
  ///
  /// - Parameters:
  ///   - die: the first entry of the skeleton.
  ///   - folder: where the file is that has the skeleton; nil of one in memory.
  static func mayBeOpened(_ die: inout Dwarf_Die, besides folder: FilePath?) -> Bool {
    guard let name = unsafe name(&die) else { return false }
    let compiled = unsafe text(&die, DW_AT_comp_dir).map { FilePath($0) }
    for place in [folder, compiled.map { folder?.pushing($0) ?? $0 }] {
      let path = place?.pushing(FilePath(name)) ?? FilePath(name)
      if let kind = try? FileKind(at: path, followingLink: true), !kind.isRegular { return false }
    }
    return true
  }

  /// The file's name, as a skeleton has it.
  static func name(_ die: inout Dwarf_Die) -> String? {
    unsafe text(&die, DW_AT_dwo_name) ?? text(&die, DW_AT_GNU_dwo_name)
  }

  /// What the entry itself has: for anything else libdw would look in the file.
  static func text(_ die: inout Dwarf_Die, _ name: Int) -> String? {
    var attribute = unsafe Dwarf_Attribute()
    guard let found = unsafe dwarf_attr(&die, UInt32(name), &attribute) else { return nil }
    return unsafe dwarf_formstring(found).map { unsafe String(cString: $0) }
  }

  /// The folder of an open file, by the kernel.
  static func folder(of descriptor: FileDescriptor) -> FilePath? {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
      let link = "/proc/self/fd/\(descriptor.rawValue)"
      let count = unsafe readlink(link, buffer.baseAddress!, Int(PATH_MAX))
      guard count > 0 else { return nil }
      unsafe buffer[count] = 0
      return unsafe FilePath(platformString: buffer.baseAddress!).removingLastComponent()
    }
  }
}

extension FileKind {
  fileprivate var isRegular: Bool { if case .regular = self { true } else { false } }
}
