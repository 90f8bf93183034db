internal import CrashpadBytes
internal import CCrashpadElfutils

/// The call frame information of one ELF file: `.eh_frame` and `.debug_frame`. Not thread-safe.
struct DwarfFrames {
  /// The sections, in order of preference.
  private let sections: [CfiSection]
  private let architecture: FrameRegisters.Architecture
  /// Findings so far.
  private(set) var findings = FindingList()

  /// Nil if there is none, or if stack walking does not support the machine.
  ///
  /// - Parameters:
  ///   - file: the file that was loaded; a file with only debug information has no `.eh_frame`.
  ///   - debug: the file whose `.debug_frame` is used if `.eh_frame` has no rules.
  init?(_ file: ElfFile, _ debug: ElfFile?) {
    guard let architecture = file.architecture, file.isLittleEndian else { return nil }
    self.init(
      [CfiSection(".eh_frame", file), debug.flatMap { CfiSection(".debug_frame", $0) }].compactMap { $0 }, architecture)
  }

  /// Nil if `sections` is empty.
  init?(_ sections: [CfiSection], _ architecture: FrameRegisters.Architecture) {
    (self.sections, self.architecture) = (sections, architecture)
    guard !sections.isEmpty else { return nil }
    for section in sections where section.reader.damaged > 0 { add(section) }
  }

  private mutating func add(_ section: CfiSection) {
    findings.append(Finding(ElfRules.badFrames, path: section.name))
  }

  /// The rules to unwind from a frame at `address` to its caller.
  mutating func rules(at address: UInt64) -> FrameRules? {
    for section in sections {
      guard let entry = section.entry(at: address) else { continue }
      if let rules = section.rules(entry, at: address, architecture) { return rules }
      add(section)
    }
    return nil
  }
}

/// One section of frame descriptions, with an index.
struct CfiSection {
  let name: String
  let bytes: RawSpanHolder
  let reader: CfiReader
  /// Maps addresses to the indices of descriptions.
  private var index = RangeIndex()

  /// Nil if the section is empty.
  ///
  /// - Parameters:
  ///   - name: the name of the section, `.eh_frame` or `.debug_frame`.
  ///   - file: the file that has the section.
  init?(_ name: String, _ file: ElfFile) {
    let address = file.section(name)?.header.sh_addr ?? 0
    self.init(name, file.contents(name), address: address, addressSize: file.is64 ? 8 : 4)
  }

  /// - Parameters:
  ///   - name: the name of the section, `.eh_frame` or `.debug_frame`.
  ///   - bytes: the content of the section.
  ///   - address: the address at which it is loaded.
  ///   - addressSize: the size of an address in bytes.
  init?(_ name: String, _ bytes: RawSpanHolder, address: UInt64, addressSize: Int) {
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
      let count = max(architecture.count, Int(min(common.returnRegister, 63)) + 1)
      guard let found = CfiProgram.row(at: address, entry, common, bytes, registerCount: count) else { return nil }
      return FrameRules(found, common, bytes, architecture)
    }
  }
}
