// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadSymbolication

/// The contents of a symbol file as JSON.
struct SymbolContentsDocument {
  let file: String
  var contents: SymbolContents?
  /// The reason why it can't be read.
  var failure: FailureText?

  static let document = Document<SymbolContentsDocument>(
    "crashpadctl-symbols-info/1",
    "Output of `crashpadctl symbols info --format json`. The members after `status` depend on the format.",
    .argument("file", "The file.") { $0.file },
    .word(
      "format", of: ["elf", "breakpad", "macho", "pe", "shared_cache"],
      "`elf`, `breakpad`, `macho`, `pe` or `shared_cache`; null if it cannot be read."
    ) {
      switch $0.contents {
      case .elf: "elf"
      case .breakpad: "breakpad"
      case .machO: "macho"
      case .pe: "pe"
      case .sharedCache: "shared_cache"
      case nil: nil
      }
    },
    .members(ifAny: InputRecord.failure) { $0.failure },
    .members(ifAny: elf) { if case .elf(let file) = $0.contents { file } else { nil } },
    .members(ifAny: breakpad) { if case .breakpad(let file) = $0.contents { file } else { nil } },
    .members(ifAny: pe) { if case .pe(let file) = $0.contents { file } else { nil } },
    .members(ifAny: cache) { if case .sharedCache(let cache) = $0.contents { cache } else { nil } },
    .list("slices", slice, "The slices of a Mach-O file.", .omittable) {
      if case .machO(let slices) = $0.contents { slices } else { nil }
    })

  private static let module = Record<BreakpadModule>(
    .text("os", "The system, as in a Breakpad MODULE record.", .always) { $0.operatingSystem },
    .text("architecture", "The architecture, as in a Breakpad MODULE record.", .always) { $0.architecture },
    .text("debug_id", "The id, as in a Breakpad MODULE record.", .always) { $0.debugID },
    .text("code_id", "The id, as in a Breakpad INFO CODE_ID record.") { $0.codeID.isEmpty ? nil : $0.codeID },
    .text("name", "The name, as in a Breakpad MODULE record.", .always) { $0.name })

  // MARK: Shared caches

  private static let cache = Record<SymbolContents.Cache>(
    .text("uuid", "The UUID of a dyld shared cache.", .always) { $0.uuid },
    .text("architecture", "The architecture, as in a Breakpad MODULE record.", .always) { $0.architecture },
    .number("images", "The number of libraries in a dyld shared cache.", .always) { $0.images },
    .number("sub_caches", "The number of further files of a dyld shared cache.", .always) { $0.parts },
    .word(
      "local_symbols", of: ["none", "found", "missing"],
      "The names of local functions in a dyld shared cache: `none`; `found`; or `missing`, as their file can't be used.",
      .always
    ) { $0.localSymbols.rawValue },
    .list("problems", problem, "The files of a dyld shared cache that can't be used.", .omittable) {
      $0.problems.isEmpty ? nil : $0.problems
    })

  private static let problem = Record<SharedCacheProblem>(
    .path("file", "The file.", .always) { $0.path },
    .text("code", "The code of the finding.", .always) { $0.finding().rule.code },
    .text("text", "The sentence of the finding.", .always) { Sentences.sentence($0.finding()) })

  // MARK: PE

  private static let pe = Record<SymbolContents.PE>(
    .members(of: module) { $0.module },
    .number("exports", "The number of named functions that a Windows file exports.", .always) { $0.exports },
    .number("pdata_functions", "The number of functions with unwind information in a Windows file.", .always) {
      $0.functions
    })

  // MARK: ELF

  private static let elf = Record<SymbolContents.Elf>(
    .members(of: module) { $0.module },
    .word(
      "kind", of: ["executable", "shared object", "object", "core"],
      "For an ELF file, `executable`, `shared object`, `object` or `core`.", .always
    ) { $0.kind },
    .digits("build_id", "The build id of an ELF file.") { $0.buildID.isEmpty ? nil : $0.buildID },
    .flag("has_code", "Whether an ELF file has code.") { $0.hasCode },
    .flag("is_stripped", "Whether an ELF file lacks both the full symbol table and debug information.") {
      $0.isStripped
    },
    .number("symbols", "The number of entries in the symbol table.", .always) { $0.symbols },
    .number("dynamic_symbols", "The number of entries in the dynamic symbol table of an ELF file.", .always) {
      $0.dynamicSymbols
    },
    .object("dwarf", dwarf, "The debug information.", .always) { $0 },
    .number("eh_frame_functions", "The number of frame descriptions in `.eh_frame`.", .always) {
      $0.exceptionFrames
    },
    .number("debug_frame_functions", "The number of frame descriptions in `.debug_frame` of an ELF file.", .always) {
      $0.debugFrames
    },
    .flag("has_mini_debug_info", "Whether an ELF file has the section `.gnu_debugdata`.") {
      $0.hasMiniDebugInfo
    },
    .object("debug_link", debugLink, "The file with the debug information of an ELF file.") { $0.debugLink },
    .object(
      "shared_file", sharedFile, "The file with shared debug information of an ELF file, as made by dwz(1)."
    ) { $0.sharedFile })

  private static let dwarf = Record<SymbolContents.Elf>(
    .numbers("versions", "The versions of DWARF.") { $0.dwarfVersions.map(Int64.init) },
    .number("units", "The number of units.", .always) { $0.units },
    .number("functions", "The number of functions with code.", .always) { $0.functions },
    .number("split_units", "The number of units whose entries are in other files.", .always) { $0.splitUnits },
    .number("split_units_found", "The number of split units that were found.", .always) { $0.foundSplitUnits },
    .flag("is_compressed", "Whether it is compressed.") { $0.isCompressed })

  private static let debugLink = Record<DebugLink>(
    .text("name", "The name of the file.", .always) { $0.name },
    .address("crc", "The checksum of the file.", .always) { UInt64($0.checksum) })

  private static let sharedFile = Record<(name: String, isFound: Bool)>(
    .text("name", "The name of the file.", .always) { $0.name },
    .flag("is_found", "Whether it was found.") { $0.isFound })

  // MARK: Breakpad

  private static let breakpad = Record<SymbolContents.Breakpad>(
    .members(of: module) { $0.module },
    .number("files", "The number of FILE records in a Breakpad symbol file.", .always) { $0.files },
    .number("functions", "The number of FUNC records in a Breakpad symbol file.", .always) { $0.functions },
    .number("lines", "The number of lines in a Breakpad symbol file.", .always) { $0.lines },
    .number("inlined_calls", "The number of INLINE records in a Breakpad symbol file.", .always) { $0.inlinedCalls },
    .number("inline_origins", "The number of INLINE_ORIGIN records in a Breakpad symbol file.", .always) {
      $0.inlineOrigins
    },
    .number("publics", "The number of PUBLIC records in a Breakpad symbol file.", .always) { $0.publics },
    .number("frame_rules", "The number of ranges with STACK records in a Breakpad symbol file.", .always) {
      $0.frameRules
    },
    .members(of: FindingRecord.list) { $0.findings })

  // MARK: Mach-O

  private static let slice = Record<SymbolContents.MachO>(
    .members(of: module) { $0.module },
    .text("kind", "The kind of file, such as `execute`, `dylib` or `debugSymbols`.", .always) { $0.kind },
    .text("platform", "The target of the build, such as `ios 14.0`.") { $0.platform },
    .flag("is_encrypted", "Whether it is encrypted.") { $0.isEncrypted },
    .number("symbols", "The number of entries in the symbol table.", .always) { $0.symbols },
    .number("function_starts", "The number of starts of functions.", .always) { $0.functionStarts },
    .object("dwarf", machODwarf, "The debug information.", .always) { $0 },
    .number("compact_unwind_ranges", "The number of ranges with compact unwind entries.", .always) {
      $0.compactUnwinds
    },
    .number("eh_frame_functions", "The number of frame descriptions in `__eh_frame`.", .always) { $0.exceptionFrames })

  private static let machODwarf = Record<SymbolContents.MachO>(
    .numbers("versions", "The versions of DWARF.") { $0.dwarfVersions.map(Int64.init) },
    .number("units", "The number of units.", .always) { $0.units },
    .number("functions", "The number of functions with code.", .always) { $0.functions })
}
