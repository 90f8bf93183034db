// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils
package import SystemPackage

/// The description of a module in the first lines of its symbol file.
package struct BreakpadModule: Sendable, Hashable {
  /// `Linux`, `mac` or `iOS`
  package var operatingSystem: String
  /// Breakpad's name: `x86_64`, `arm64`, `x86` …
  package var architecture: String
  /// 32 upper-case hexadecimal digits and the age.
  package var debugID: String
  /// Upper-case hexadecimal digits; empty if there is none.
  package var codeID: String
  /// The name of the loaded file.
  package var name: String

  /// The path in a symbol store: `NAME/ID/NAME.sym`, without the extension `.pdb`.
  package func path(below folder: FilePath) -> FilePath {
    // Only a plain file name is used, so that the path stays below the folder.
    let plain = FilePath(name).lastComponent?.string ?? "unknown"
    return folder.pushing(FilePath(breakpadPath(plain, debugID)))
  }
}

extension BreakpadModule {
  private static let noID = String(repeating: "0", count: 33)

  init(_ file: ElfFile, name: String) {
    let id = file.buildID.isEmpty ? Self.hash(of: file) : file.buildID
    self.init(
      operatingSystem: "Linux", architecture: Self.architectures[Int32(file.machine)] ?? "unknown",
      debugID: DebugID(buildID: id)?.text ?? Self.noID, codeID: hexadecimalDigits(id).uppercased(), name: name)
  }

  init(_ file: MachOFile, name: String) {
    let isPhone = file.build?.platformName == "ios" || file.build?.platformName == "iossimulator"
    self.init(
      operatingSystem: isPhone ? "iOS" : "mac", architecture: file.architecture.description,
      debugID: file.uuid.map { DebugID(uuid: $0).text } ?? Self.noID, codeID: "", name: name)
  }

  /// The id of a file without a build id: the first page of `.text`, in blocks of 16 bytes combined by exclusive or.
  /// Empty if there is no `.text`.
  static func hash(of file: ElfFile) -> [UInt8] {
    guard let section = file.section(".text") ?? file.section("text"), section.header.sh_type == UInt32(SHT_PROGBITS),
      section.header.sh_size > 0
    else { return [] }
    return file.withImage { bytes in
      var hash: [UInt8] = Array(repeating: 0, count: 16)
      // Whole blocks, even beyond the end of the section
      let count = Int(min(section.header.sh_size, 4096) + 15) & ~15
      guard let start = Int(exactly: section.header.sh_offset), start < bytes.byteCount else { return hash }
      for index in 0..<min(count, bytes.byteCount - start) { hash[index & 15] ^= bytes.uint8(at: start + index) }
      return hash
    } ?? []
  }

  private static let architectures = [
    EM_386: "x86", EM_ARM: "arm", EM_AARCH64: "arm64", EM_MIPS: "mips", EM_PPC64: "ppc64", EM_PPC: "ppc",
    EM_S390: "s390", EM_SPARC: "sparc", EM_SPARCV9: "sparcv9", EM_X86_64: "x86_64", EM_RISCV: "riscv",
  ]
}
