// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadElfutils
package import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot
package import SystemPackage

/// The contents of a file with symbols, counted and named, to find out why lines are missing.
package enum SymbolContents: Sendable {
  case elf(Elf)
  case breakpad(Breakpad)
  /// The slices of a universal file, or of the files in a bundle; one for any other Mach-O file.
  case machO([MachO])
  case pe(PE)
  case sharedCache(Cache)

  package struct Elf: Sendable {
    package let module: BreakpadModule
    /// `executable`, `shared object`, `object` or `core`
    package let kind: String
    package let buildID: [UInt8]
    /// Whether there is code in it; false for a file with only debug information.
    package let hasCode: Bool
    package let symbols: Int
    package let dynamicSymbols: Int
    /// The versions of DWARF, without duplicates.
    package let dwarfVersions: [Int]
    package let units: Int
    package let functions: Int
    /// The number of units whose entries are in another file, and how many of these were found.
    package let splitUnits: Int
    package let foundSplitUnits: Int
    package let isCompressed: Bool
    /// The numbers of frame descriptions in `.eh_frame` and `.debug_frame`.
    package let exceptionFrames: Int
    package let debugFrames: Int
    package let hasMiniDebugInfo: Bool
    package let debugLink: DebugLink?
    /// The file with debug information shared with other files, created by dwz(1), and whether it was found.
    package let sharedFile: (name: String, isFound: Bool)?
    /// Whether the file has neither the full symbol table nor debug information.
    package var isStripped: Bool { symbols == 0 && units == 0 }
  }

  package struct Breakpad: Sendable {
    package let module: BreakpadModule
    package let files: Int
    package let functions: Int
    package let lines: Int
    package let inlinedCalls: Int
    package let inlineOrigins: Int
    package let publics: Int
    package let frameRules: Int
    package let findings: FindingList
  }

  /// Reads the file at `path`. Throws `Errno`, `InputFile.NotReadable` or `SymbolFileIdentity.UnknownFormat`.
  package init(_ path: FilePath) throws {
    switch try FileKind(at: path, followingLink: true) {
    case .directory:
      let files = try MachOFile.dwarfFiles(inBundle: path).flatMap { try MachO.all($0) }
      guard !files.isEmpty else { throw InputFile.NotReadable(reason: .directory) }
      self = .machO(files)
      return
    case .regular: break
    default: throw InputFile.NotReadable(reason: .notAFile)
    }
    switch try SymbolFileIdentity.format(of: path) {
    case .breakpad: self = .breakpad(try Breakpad(path))
    case .machO: self = .machO(try MachO.all(path))
    case .pe: self = .pe(try PE(path))
    case .sharedCache: self = .sharedCache(try Cache(path))
    case .elf:
      do {
        let places = DebugPlaces()
        self = .elf(Elf(try ElfFile(path, places.inputs), path, places))
        try places.inputs.checkReading(of: path)
      } catch is ElfFile.NotElf {
        throw SymbolFileIdentity.UnknownFormat()
      }
    }
  }
}

extension SymbolContents.Elf {
  init(_ file: ElfFile, _ path: FilePath, _ places: DebugPlaces) {
    module = BreakpadModule(file, name: path.lastComponent?.string ?? "")
    kind =
      switch Int32(file.type) {
      case ET_REL: "object"
      case ET_EXEC: "executable"
      case ET_DYN: file.section(".interp") != nil ? "executable" : "shared object"
      case ET_CORE: "core"
      default: "unknown"
      }
    buildID = file.buildID
    hasCode = file.hasCode
    debugLink = file.debugLink
    sharedFile = file.alternateName.map { ($0, file.alternate(places) != nil) }
    var counts: [UInt32: Int] = [:]
    var isCompressed = false
    var hasMini = false
    file.forEachSection { section in
      let header = section.header
      if header.sh_type != UInt32(SHT_NOBITS), header.sh_entsize > 0 {
        counts[header.sh_type, default: 0] += Int(min(header.sh_size, 1 << 40) / header.sh_entsize)
      }
      if header.sh_flags & UInt64(SHF_COMPRESSED) != 0 || section.name.hasPrefix(".zdebug") { isCompressed = true }
      if section.name == ".gnu_debugdata" { hasMini = true }
      return true
    }
    symbols = counts[UInt32(SHT_SYMTAB)] ?? 0
    dynamicSymbols = counts[UInt32(SHT_DYNSYM)] ?? 0
    self.isCompressed = isCompressed
    hasMiniDebugInfo = hasMini

    let info = file.hasDebugInfo ? DwarfInfo(file, places) : nil
    var versions: Set<Int> = []
    var (functions, split, found) = (0, 0, 0)
    for unit in info?.units ?? [] {
      versions.insert(unit.version)
      if unit.isSkeleton {
        split += 1
        if unit.hasSplitUnit { found += 1 }
      }
      functions += unit.functionCount
    }
    dwarfVersions = versions.sorted()
    units = info?.units.count ?? 0
    self.functions = functions
    (splitUnits, foundSplitUnits) = (split, found)
    exceptionFrames = Self.frames(".eh_frame", file)
    debugFrames = Self.frames(".debug_frame", file)
  }

  private static func frames(_ name: String, _ file: ElfFile) -> Int {
    guard file.isLittleEndian else { return 0 }
    return CfiSection(name, file)?.reader.entries.count ?? 0
  }
}

extension SymbolContents.Breakpad {
  init(_ path: FilePath) throws {
    let input = try SymbolInputs().open(path)
    let file: BreakpadFile
    do { file = try BreakpadFile(input) } catch { throw SymbolFileIdentity.UnknownFormat() }
    var counts = BreakpadCounts()
    let codeID = input.withBytes { bytes in
      counts.read(bytes)
      return BreakpadIndex.codeID(bytes) ?? ""
    }
    try input.checkReading()
    module = BreakpadModule(
      operatingSystem: file.operatingSystem, architecture: file.architecture, debugID: file.debugID,
      codeID: codeID, name: file.name)
    (functions, publics, frameRules) = (file.functions.count, file.publics.count, file.frameRules.count)
    (files, lines, inlinedCalls, inlineOrigins) = (counts.files, counts.lines, counts.calls, counts.origins)
    findings = file.findings
  }
}

/// Counts the records of a symbol file that its index does not contain.
private struct BreakpadCounts {
  var files = 0
  var lines = 0
  var calls = 0
  var origins = 0

  mutating func read(_ bytes: RawSpan) {
    var offset = 0
    while offset < bytes.byteCount {
      var line = TextLineReader(at: offset, in: bytes)
      offset = bytes.lineEnd(from: offset) + 1
      guard !line.isAtEnd else { continue }
      switch bytes.uint8(at: line.offset) {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): lines += 1
      case UInt8(ascii: "F"): if line.skip("FILE ", in: bytes) { files += 1 }
      case UInt8(ascii: "I"):
        if line.skip("INLINE ", in: bytes) {
          calls += 1
        } else if line.skip("INLINE_ORIGIN ", in: bytes) {
          origins += 1
        }
      default: break
      }
    }
  }
}

extension SymbolContents {
  /// One Mach-O file, or one slice of a universal one.
  package struct MachO: Sendable {
    package let module: BreakpadModule
    /// `execute`, `dylib`, `debugSymbols` …: the names of `MachOKind`
    package let kind: String
    /// The target of the build: "ios 14.0"; nil if unknown.
    package let platform: String?
    package let hasUUID: Bool
    package let isEncrypted: Bool
    package let symbols: Int
    /// LC_FUNCTION_STARTS
    package let functionStarts: Int
    /// The versions of DWARF, without duplicates.
    package let dwarfVersions: [Int]
    package let units: Int
    package let functions: Int
    /// The number of compact unwind entries.
    package let compactUnwinds: Int
    /// The number of frame descriptions in `__eh_frame`.
    package let exceptionFrames: Int

    /// Reads the slices of a file. Throws `Errno`, `InputFile.NotReadable`, or `SymbolFileIdentity.UnknownFormat` if none can
    /// be read.
    static func all(_ path: FilePath) throws -> [MachO] {
      let input = try SymbolInputs().open(path)
      let slices = MachOFile.all(in: input)
      return try input.checkingReading {
        guard !slices.isEmpty else { throw SymbolFileIdentity.UnknownFormat() }
        return slices.map { MachO($0, name: path.lastComponent?.string ?? "") }
      }
    }

    private init(_ file: MachOFile, name: String) {
      module = BreakpadModule(file, name: name)
      kind = "\(file.kind)"
      platform = file.build.map { "\($0.platformName) \($0.minimumOS)" }
      hasUUID = file.uuid != nil
      isEncrypted = file.isEncrypted
      symbols = file.symbols().count
      functionStarts = file.functionStarts.count
      let info = file.dwarf.flatMap { DwarfInfo($0) }
      dwarfVersions = Set((info?.units ?? []).map(\.version)).sorted()
      units = info?.units.count ?? 0
      functions = (info?.units ?? []).reduce(0) { $0 + $1.functionCount }
      compactUnwinds = file.compactUnwindRanges().count { $0.unwind.encoding != 0 }
      exceptionFrames = file.exceptionFrames?.reader.entries.count ?? 0
    }
  }
}

extension SymbolContents {
  /// A program or library of Windows.
  package struct PE: Sendable {
    package let module: BreakpadModule
    /// The number of exported functions with names.
    package let exports: Int
    /// The number of functions with unwind information, in `.pdata`.
    package let functions: Int

    /// Throws `Errno`, `InputFile.NotReadable` or `SymbolFileIdentity.UnknownFormat`.
    init(_ path: FilePath) throws {
      let input = try SymbolInputs().open(path)
      let found = input.withBytes { bytes in
        PEFile(bytes).map { ($0, $0.programDatabase(bytes), $0.exports(bytes).count, $0.functionCount) }
      }
      try input.checkReading()
      guard let (file, database, exports, functions) = found else { throw SymbolFileIdentity.UnknownFormat() }
      module = BreakpadModule(
        operatingSystem: "windows", architecture: file.machine.map { "\($0)" } ?? "unknown",
        debugID: database?.id.text ?? "", codeID: file.codeID, name: path.lastComponent?.string ?? "")
      (self.exports, self.functions) = (exports, functions)
    }
  }
}

extension SymbolContents {
  /// A dyld shared cache.
  package struct Cache: Sendable {
    package let uuid: String
    package let architecture: String
    package let images: Int
    package let parts: Int
    package let localSymbols: SharedCacheLocalState
    package let problems: [SharedCacheProblem]

    /// Throws as `SharedCache.init`.
    init(_ path: FilePath) throws {
      let cache = try SharedCache(path)
      try cache.checkReading()
      uuid = cache.uuid.text
      architecture = cache.architecture
      (images, parts, localSymbols) = (cache.imageCount, cache.partCount, cache.localSymbols)
      problems = cache.problems
    }
  }
}
