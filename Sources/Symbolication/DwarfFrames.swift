internal import BinaryFormat
internal import CElfutils

/// The call frame information of one ELF file: `.eh_frame` and `.debug_frame`. Not to be used from two threads at once.
struct DwarfFrames {
  /// The preferred one first.
  private let sections: [CfiSection]
  private let architecture: FrameRegisters.Architecture
  /// What can't be read.
  private(set) var findings = FindingList()

  /// Nil if there is none, or none for a machine whose stacks are walked.
  ///
  /// - Parameters:
  ///   - file: the file that was loaded; one with only the debug information lacks `.eh_frame`.
  ///   - debug: whose `.debug_frame` is used where `.eh_frame` says nothing.
  init?(_ file: ElfFile, _ debug: ElfFile?) {
    guard let architecture = file.architecture, file.isLittleEndian else { return nil }
    self.init(
      [CfiSection(".eh_frame", file), debug.flatMap { CfiSection(".debug_frame", $0) }].compactMap { $0 }, architecture)
  }

  /// Nil if there are none.
  init?(_ sections: [CfiSection], _ architecture: FrameRegisters.Architecture) {
    (self.sections, self.architecture) = (sections, architecture)
    guard !sections.isEmpty else { return nil }
    for section in sections where section.reader.damaged > 0 { add(section) }
  }

  private mutating func add(_ section: CfiSection) {
    findings.append(Finding(ElfRules.badFrames, path: section.name))
  }

  /// The rules that lead from a frame at `address` to its caller.
  mutating func rules(at address: UInt64) -> FrameRules? {
    for section in sections {
      guard let entry = section.entry(at: address) else { continue }
      if let rules = section.rules(entry, at: address, architecture) { return rules }
      add(section)
    }
    return nil
  }
}

/// One section with descriptions of frames, indexed.
struct CfiSection {
  let name: String
  let bytes: RawSpanHolder
  let reader: CfiReader
  /// Numbers of the descriptions.
  private var index = RangeIndex()

  /// Nil if there is nothing in it.
  ///
  /// - Parameters:
  ///   - name: of the section, `.eh_frame` or `.debug_frame`.
  ///   - file: whose section it is.
  init?(_ name: String, _ file: ElfFile) {
    let address = file.section(name)?.header.sh_addr ?? 0
    self.init(name, file.contents(name), address: address, addressSize: file.is64 ? 8 : 4)
  }

  /// - Parameters:
  ///   - name: of the section, `.eh_frame` or `.debug_frame`.
  ///   - bytes: what is in it.
  ///   - address: where it is loaded.
  ///   - addressSize: bytes of an address.
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

  /// Nil if the description can't be executed up to `address`, or says nothing that can be walked by.
  func rules(_ entry: CfiReader.Entry, at address: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    let common = reader.commons[entry.common]
    return bytes.withBytes { bytes in
      // The row of the return address is needed too, whatever its number.
      let count = max(architecture.count, Int(min(common.returnRegister, 63)) + 1)
      guard let found = CfiProgram.row(at: address, entry, common, bytes, registerCount: count) else { return nil }
      return FrameRules(found, common, bytes, architecture)
    }
  }
}
