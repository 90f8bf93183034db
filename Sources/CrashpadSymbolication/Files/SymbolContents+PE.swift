// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

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
