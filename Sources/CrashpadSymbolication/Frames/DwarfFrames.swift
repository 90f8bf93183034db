// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The call frame information of one module: `.eh_frame` and `.debug_frame`. Not thread-safe.
struct DwarfFrames {
  /// The sections, in order of preference.
  private let sections: [CfiSection]
  private let architecture: FrameRegisters.Architecture
  /// Findings so far.
  private(set) var findings = FindingList()

  /// Nil if `sections` is empty. The sections are in order of preference.
  init?(_ sections: [CfiSection], _ architecture: FrameRegisters.Architecture) {
    (self.sections, self.architecture) = (sections, architecture)
    guard !sections.isEmpty else { return nil }
    for section in sections where section.reader.damaged > 0 { add(section) }
  }

  private mutating func add(_ section: CfiSection) {
    findings.append(Finding(ElfRules.badFrames, path: section.name))
  }

  /// The rules to unwind from a frame at `address` to its caller.
  ///
  /// - Parameter imageBase: the address of the module's first page.
  mutating func rules(at address: UInt64, imageBase: UInt64) -> FrameRules? {
    for section in sections {
      guard let entry = section.entry(at: address) else { continue }
      if var rules = section.rules(entry, at: address, architecture) {
        rules.start = entry.start &- imageBase
        return rules
      }
      add(section)
    }
    return nil
  }
}

/// One section of frame descriptions, with an index.
struct CfiSection {
  let name: String
  let bytes: SharedBytes
  let reader: CfiReader
  /// Maps addresses to the indices of descriptions.
  private var index = RangeIndex()

  /// Nil if the section, `.eh_frame` or `.debug_frame`, is empty.
  init?(_ name: String, _ file: ElfFile) {
    let address = file.section(name)?.header.sh_addr ?? 0
    self.init(name, file.contents(name), address: address, addressSize: file.is64 ? 8 : 4)
  }

  /// The same for the bytes of a section, which is loaded at `address`.
  init?(_ name: String, _ bytes: SharedBytes, address: UInt64, addressSize: Int) {
    guard !bytes.isEmpty else { return nil }
    let reader = bytes.withBytes {
      CfiReader($0, address: address, isExceptionFrame: name == ".eh_frame", addressSize: addressSize)
    }
    (self.name, self.bytes, self.reader) = (name, bytes, reader)
    for (number, entry) in reader.entries.enumerated() {
      let (end, overflow) = entry.start.addingReportingOverflow(entry.size)
      index.add(entry.start..<(overflow ? .max : end), number)
    }
    index.finish()
  }

  func entry(at address: UInt64) -> CfiReader.Entry? {
    index.first(containing: address).map { reader.entries[$0] }
  }

  /// Nil if the description can't be executed up to `address`, or has no usable rules.
  func rules(_ entry: CfiReader.Entry, at address: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    let common = reader.commons[entry.common]
    return bytes.withBytes { bytes in
      // The rule of the return address is needed too, regardless of its number.
      let count = max(architecture.count, Int(min(common.returnRegister, 65)) + 1)
      guard let found = CfiProgram.row(at: address, entry, common, bytes, registerCount: count) else { return nil }
      return FrameRules(found, common, bytes, architecture)
    }
  }
}

extension ElfFile {
  /// The register set of its code; nil if stack walking does not support the machine.
  var architecture: FrameRegisters.Architecture? {
    switch Int32(machine) {
    case EM_X86_64: .x86_64
    case EM_AARCH64: .arm64
    case EM_386: .x86
    case EM_ARM: .arm(framePointer: 11)
    case EM_RISCV where is64: .riscv64
    case EM_LOONGARCH where is64: .loongarch64
    case EM_PPC64 where isLittleEndian: .ppc64
    case EM_MIPS where isLittleEndian: is64 ? .mips64 : .mips
    default: nil
    }
  }
}

extension MachOFile {
  /// `__eh_frame`; nil if the file has none.
  var exceptionFrames: CfiSection? {
    guard kind != .object, let section = section("__TEXT", "__eh_frame") else { return nil }
    return CfiSection(".eh_frame", bytes(section), address: section.address, addressSize: addressSize)
  }

  /// `__debug_frame`, a part of the debug information; nil if the file has none.
  var debugFrames: CfiSection? {
    guard kind != .object, let section = section("__DWARF", "__debug_frame") else { return nil }
    return CfiSection(".debug_frame", bytes(section), address: 0, addressSize: addressSize)
  }
}
