// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import SystemPackage

extension SymbolContents {
  /// One Mach-O file, or one slice of a universal one.
  package struct MachO: Sendable {
    package let module: BreakpadModule
    /// `execute`, `dylib`, `debugSymbols` …: the names of `MachOFile.Kind`
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

    /// Reads the slices of a file. Throws `Errno`, `InputFile.NotReadable`, or `SymbolFiles.UnknownFormat` if none can
    /// be read.
    static func all(_ path: FilePath) throws -> [MachO] {
      let input = try SymbolInputs().open(path)
      let slices = MachOFile.all(in: input)
      return try input.checkingReading {
        guard !slices.isEmpty else { throw SymbolFiles.UnknownFormat() }
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
