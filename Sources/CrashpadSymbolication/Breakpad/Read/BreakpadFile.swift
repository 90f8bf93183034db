// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadFiles

/// A memory-mapped symbol file in Breakpad's text format. Opening it only builds an index; the lines of a function are
/// parsed on lookup of an address in it.
///
/// Each line is a record: `MODULE os arch id name`, `INFO CODE_ID id`, `FILE number name`, `INLINE_ORIGIN number name`,
/// `FUNC [m] address size parameters name` followed by its `INLINE` and line records, `PUBLIC [m] address parameters
/// name`, `STACK CFI INIT address size rules`, `STACK CFI address rules`, `STACK WIN …`. Line numbers, file numbers and nesting levels
/// are decimal, all other numbers hexadecimal. Source: Breakpad's `docs/symbol_files.md`.
package final class BreakpadFile: Sendable {
  let file: InputFile
  /// The operating system in MODULE: `mac`, `Linux`, `iOS` …
  package let operatingSystem: String
  package let architecture: String
  /// The id in MODULE: 32 upper-case hexadecimal digits and the age.
  package let debugID: String
  /// The name of the module's file.
  package let name: String
  /// Findings; each affects only the names of one line.
  package let findings: FindingList

  /// Sorted by address.
  let functions: [BreakpadIndex.Entry]
  /// Sorted by address; their ends are unknown.
  let publics: [BreakpadIndex.Entry]
  /// STACK CFI INIT, sorted by address.
  let frameRules: [BreakpadIndex.Entry]
  let windowsFrames: WindowsFrames
  /// Offsets of the names in FILE and INLINE_ORIGIN records, by number.
  let files: NameTable
  let inlineOrigins: NameTable

  /// The first bytes of each file, after the mark of UTF-8 if there is one.
  static let start = Array("MODULE ".utf8)

  /// The file is not a symbol file: it does not begin with MODULE.
  package struct NotABreakpadFile: Error, Sendable {}

  /// Indexes `file`. Throws `NotABreakpadFile`.
  package init(_ file: InputFile) throws {
    var index = BreakpadIndex()
    let module = try file.withBytes { bytes in
      guard let module = BreakpadIndex.module(bytes) else { throw NotABreakpadFile() }
      index.read(bytes)
      return module
    }
    self.file = file
    (operatingSystem, architecture, debugID, name) = module
    functions = index.functions.sortedByAddress()
    publics = index.publics.sortedByAddress()
    frameRules = index.frameRules.sortedByAddress()
    index.windowsFrames.finish()
    windowsFrames = index.windowsFrames
    files = index.files
    inlineOrigins = index.inlineOrigins
    findings = index.findings
  }

  /// The id and the name in the MODULE record; nil if there is none. For identifying a file without reading it.
  package static func module(of bytes: RawSpan) -> (debugID: String, name: String)? {
    BreakpadIndex.module(bytes).map { ($0.debugID, $0.name) }
  }
}
