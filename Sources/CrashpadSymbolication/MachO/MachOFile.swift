// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

/// A Mach-O file, or one slice of a universal one: little-endian, and 64-bit or `arm64_32` for watches.
///
/// The header and the load commands are read by the initializer; symbols, function starts and unwind information on the
/// first lookup of an address. A damaged part causes a finding and does not affect the others. Source: Apple's
/// `mach-o/loader.h` and `nlist.h`.
package struct MachOFile: Sendable {
  /// The reason why a file is not read.
  package enum Refusal: Error, Sendable, Hashable {
    case notMachO
    /// Several files in one: use `slices(of:)`.
    case universal
    case is32Bit
    case isBigEndian
    /// A kind without symbols of a program, such as a core.
    case kind(UInt32)
  }

  let file: InputFile
  /// The range in the file.
  package let range: ByteRange
  private let header: MachOHeader
  private let commands: MachOCommands
  let index = MachOIndex()
  /// The code, if it is in other files.
  private(set) var code: (any CodeSource)?

  package var architecture: MachOArchitecture { header.architecture }
  package var kind: MachOKind { header.kind }
  /// LC_UUID; a dSYM has the same as its program.
  package var uuid: UUIDBytes? { commands.uuid }
  package var build: MachOBuild? { commands.build }
  /// LC_ID_DYLIB: the path at which programs expect the library.
  package var installName: String? { commands.installName }
  package var segments: [MachOSegment] { commands.segments }
  package var sections: [MachOSection] { commands.sections }
  /// Whether the code is encrypted, as in files from the App Store. Then only data other than code can be read.
  package var isEncrypted: Bool { commands.isEncrypted }
  var symbolTable: MachOSymbolTable? { commands.symbolTable }
  /// LC_FUNCTION_STARTS
  var functionStartBytes: ByteRange? { commands.functionStarts }
  /// The size of addresses in its tables, in bytes.
  var addressSize: Int { header.is32Bit ? 4 : 8 }
  /// The address of the `__TEXT` segment, to which addresses in a process are relative; 0 if there is none.
  package let textAddress: UInt64
  /// The size in bytes; 0 if there is none.
  package let textSize: UInt64

  /// Reads the header and the load commands. Throws `Refusal`.
  ///
  /// - Parameters:
  ///   - file: the whole file, or a universal file.
  ///   - range: the range of a slice; nil for the whole file.
  package init(_ file: InputFile, in range: ByteRange? = nil) throws(Refusal) {
    let range = range ?? ByteRange(offset: 0, count: file.byteCount)
    let header = try Self.header(file, range)
    (self.file, self.range, self.header) = (file, range, header)
    commands = file.withBytes { bytes in MachOCommands(bytes, in: range, header) }
    let text = commands.segments.first { $0.name == "__TEXT" }
    (textAddress, textSize) = (text?.address ?? 0, text?.size ?? 0)
  }

  /// Reads a file whose code is elsewhere. Throws `Refusal`.
  init(_ file: InputFile, code: any CodeSource) throws(Refusal) {
    try self.init(file)
    self.code = code
  }

  /// Findings about the parts that have been read so far.
  package var findings: FindingList {
    var all = commands.findings
    if let lazy = index.findings { all.append(contentsOf: lazy) }
    guard code != nil, !all.isEmpty else { return all }
    // The bytes were put together: their offsets are in no file.
    var placeless = FindingList()
    for finding in all {
      placeless.append(Finding(finding.rule, path: finding.path, expected: finding.expected, found: finding.found))
    }
    return placeless
  }

  /// The first section with that name.
  package func section(_ segment: String, _ name: String) -> MachOSection? {
    sections.first { $0.name == name && $0.segment == segment }
  }

  var addresses: MachOAddresses { index.addresses(of: self) }

  // MARK: The header

  private static func header(_ file: InputFile, _ range: ByteRange) throws(Refusal) -> MachOHeader {
    let result: Result<MachOHeader, Refusal> = file.withBytes { bytes in
      guard range.offset >= 0, range.count >= 4, range.offset <= bytes.byteCount,
        range.count <= bytes.byteCount - range.offset
      else { return .failure(.notMachO) }
      return MachOHeader.read(bytes.extracting(range.offset..<range.end))
    }
    return try result.get()
  }
}

extension MachOHeader {
  private static let magic32: UInt32 = 0xfeed_face

  /// Reads the header at the start of `slice`.
  static func read(_ slice: RawSpan) -> Result<MachOHeader, MachOFile.Refusal> {
    guard slice.byteCount >= 4 else { return .failure(.notMachO) }
    switch slice.uint32(at: 0) {
    case 0xfeed_facf: break
    case magic32:
      let type = slice.byteCount >= 8 ? slice.uint32(at: 4) : 0
      guard MachOArchitecture(type: type, subtype: 0).isARM64With32BitPointers else { return .failure(.is32Bit) }
    case 0xcffa_edfe, 0xcefa_edfe: return .failure(.isBigEndian)
    case MachOSlice.magic.byteSwapped, MachOSlice.magic64.byteSwapped:
      return .failure(MachOSlice.isUniversal(slice) ? .universal : .notMachO)
    default: return .failure(.notMachO)
    }
    let is32Bit = slice.uint32(at: 0) == magic32
    guard slice.byteCount >= (is32Bit ? 28 : 32) else { return .failure(.notMachO) }
    guard let kind = MachOKind(rawValue: slice.uint32(at: 12)) else { return .failure(.kind(slice.uint32(at: 12))) }
    return .success(
      MachOHeader(
        is32Bit: is32Bit,
        architecture: MachOArchitecture(type: slice.uint32(at: 4), subtype: slice.uint32(at: 8)), kind: kind,
        commandCount: slice.uint32(at: 16), commandBytes: Int(slice.uint32(at: 20))))
  }
}
