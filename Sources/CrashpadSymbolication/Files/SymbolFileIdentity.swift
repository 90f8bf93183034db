// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import SystemPackage

/// The format and the ids of a file with symbols, read without its symbols.
package struct SymbolFileIdentity: Sendable {
  /// The file has none of the supported formats.
  package struct UnknownFormat: Error, Sendable {
    /// A format of files that may have symbols, but are not read.
    package enum Other: Sendable {
      /// A tool makes a file of it that is read.
      case pdb
      /// An archive, or a file in a compression that is not read: "a 7z archive".
      case packed(String)
      case zip
      /// A Breakpad file in UTF-16, in which PowerShell keeps what a program prints.
      case utf16
    }
    package var other: Other?
  }

  /// The file does not name its build.
  package struct NoID: Error, Sendable {}

  package enum Format: String, Sendable {
    case elf = "ELF"
    case machO = "Mach-O"
    case breakpad = "Breakpad"
    /// A program or library of Windows.
    case pe = "PE"
    /// The libraries of one of Apple's systems.
    case sharedCache = "shared cache"
  }

  package let format: Format
  /// Several for a universal file, and those of all images for a shared cache; empty if the file has no id.
  package let debugIDs: [DebugID]
  /// NT_GNU_BUILD_ID of an ELF file.
  package let buildID: [UInt8]
  /// The code id of a Windows file, or the one that a Breakpad file names; nil if the file has no code id.
  package let codeID: WindowsCodeID?

  /// Detects the format from the first bytes. Throws `Errno`, `SymbolInputs.Compressed` or `SymbolFileIdentity.UnknownFormat`.
  static func format(of path: FilePath) throws -> Format {
    try format(of: SymbolInputs.start(of: path, count: TarReader.blockSize).bytes)
  }

  static func format(of start: [UInt8]) throws(SymbolFileIdentity.UnknownFormat) -> Format {
    if start.starts(with: [0x7f, 0x45, 0x4c, 0x46]) { return .elf }
    if start.dropFirst(unsafe start.span.bytes.markOfUTF8).starts(with: BreakpadFile.start) { return .breakpad }
    if start.starts(with: Array("MZ".utf8)) { return .pe }
    if unsafe SharedCacheHeader.architecture(start.span.bytes) != nil { return .sharedCache }
    let machO: [[UInt8]] = [
      [0xcf, 0xfa, 0xed, 0xfe], [0xce, 0xfa, 0xed, 0xfe], [0xca, 0xfe, 0xba, 0xbe], [0xca, 0xfe, 0xba, 0xbf],
    ]
    guard machO.contains(where: { start.starts(with: $0) }) else { throw UnknownFormat(other: other(start)) }
    return .machO
  }

  private static func other(_ start: [UInt8]) -> UnknownFormat.Other? {
    if programDatabases.contains(where: { start.starts(with: $0) }) { return .pdb }
    if start.starts(with: Array("PK\u{3}\u{4}".utf8)) { return .zip }
    if start.starts(with: [0xff, 0xfe] + BreakpadFile.start.flatMap { [$0, 0] }) { return .utf16 }
    if unsafe TarReader.recognises(start.span.bytes) { return .packed("a tar archive") }
    return unsafe FileMagic.known(start.span.bytes).flatMap { $0.isPacked ? .packed($0.name) : nil }
  }

  /// The first bytes of Microsoft's PDB, and of the portable one of .NET.
  private static let programDatabases = [Array("Microsoft C/C++ ".utf8), Array("BSJB".utf8)]

  /// The number of bytes in which the ids of most files are.
  package static let startLength = SymbolInputs.startLength

  /// Throws `Errno`, `InputFile.NotReadable`, `SymbolInputs.Compressed` or `SymbolFileIdentity.UnknownFormat`.
  package init(_ path: FilePath) throws {
    try self.init(path, SymbolInputs.start(of: path, count: Self.startLength))
  }

  /// Nothing but the start of most of the many thousand files in a folder is read.
  init(_ path: FilePath, _ start: SymbolInputs.Start) throws {
    try self.init(start.bytes, isUnpacked: start.isUnpacked) { try SymbolInputs().open(path) }
  }

  /// The identities of the files in an archive with several.
  struct InArchive {
    /// Files in no known format have none.
    var known: [SymbolFileIdentity] = []
    /// Why a file could not be read, which may have any.
    var failure: SymbolInputs.Compressed?
  }

  static func all(inArchive path: FilePath) throws -> InArchive {
    var all = InArchive()
    try SymbolInputs.forEachMember(of: path) {
      all.failure = all.failure ?? $0
    } _: { start, open in
      do { all.known.append(try SymbolFileIdentity(start, open: open)) } catch is UnknownFormat {}
    }
    return all
  }

  /// - Parameters:
  ///   - start: the first bytes of a file.
  ///   - isUnpacked: whether they were compressed.
  ///   - open: opens the whole file.
  init(_ start: [UInt8], isUnpacked: Bool = true, open: () throws -> InputFile) throws {
    format = try Self.format(of: start)
    switch format {
    case .elf:
      let file: ElfFile
      do { file = try ElfFile(open(), "") } catch is ElfFile.NotElf { throw SymbolFileIdentity.UnknownFormat() }
      try file.input?.checkReading()
      (buildID, codeID) = (file.buildID, nil)
      debugIDs = DebugID(buildID: file.buildID).map { [$0] } ?? []
    case .machO:
      (buildID, codeID) = ([], nil)
      if !isUnpacked, let uuid = unsafe MachOFile.uuid(inStart: start.span.bytes) {
        debugIDs = [DebugID(uuid: uuid)]
        return
      }
      let file = try open()
      let slices = MachOFile.all(in: file)
      try file.checkReading()
      guard !slices.isEmpty else { throw SymbolFileIdentity.UnknownFormat() }
      debugIDs = slices.compactMap { $0.uuid.map { DebugID(uuid: $0) } }
    case .pe:
      let file = try open()
      let ids = file.withBytes { bytes in
        PEFile(bytes).map { file in
          let code = WindowsCodeID(timestamp: file.timestamp, size: UInt64(file.imageSize))
          return (debug: file.programDatabase(bytes)?.id, code: code)
        }
      }
      try file.checkReading()
      guard let ids else { throw SymbolFileIdentity.UnknownFormat() }
      (buildID, codeID) = ([], ids.code)
      debugIDs = ids.debug.map { [$0] } ?? []
    case .sharedCache:
      (buildID, codeID) = ([], nil)
      let file = try open()
      let header = file.withBytes { SharedCacheHeader($0) }
      try file.checkReading()
      debugIDs = header.map { $0.isPart ? [] : $0.images.map { DebugID(uuid: $0.uuid) } } ?? []
    case .breakpad:
      buildID = []
      codeID = unsafe BreakpadIndex.codeID(start.span.bytes).flatMap { WindowsCodeID(text: $0) }
      let text = start.dropFirst(unsafe start.span.bytes.markOfUTF8)
      let line = String(decoding: text.prefix { $0 != 0x0a && $0 != 0x0d }, as: UTF8.self)
      let words = line.split(separator: " ")
      let id = words.count > 3 ? String(words[3]) : ""
      debugIDs = (DebugID(text: id) ?? DebugID(oldPDBText: id)).map { [$0] } ?? []
    }
  }
}

extension SymbolFileIdentity.UnknownFormat.Other: CustomStringConvertible {
  package var description: String {
    switch self {
    case .pdb: "a PDB, which is not read"
    case .packed(let kind): "\(kind), which has to be unpacked"
    case .utf16: "a text in UTF-16, which has to be converted to UTF-8"
    case .zip: "a zip archive without dSYM bundles and without files whose names end with .sym, .dbg, .debug or .so"
    }
  }
}
