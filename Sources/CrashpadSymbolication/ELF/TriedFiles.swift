// SPDX-License-Identifier: Apache-2.0
internal import SystemPackage

/// ELF files that may be at one of several places, tried one after the other. If none of them is the one, the failures
/// say which places could not be looked at.
struct TriedFiles {
  private(set) var failures: [SymbolInputs.NotOpened] = []

  /// The file at a place; nil if no file of this kind is there, or if it can't be opened.
  mutating func open(_ path: FilePath, _ inputs: SymbolInputs = SymbolInputs()) -> ElfFile? {
    var file: ElfFile?
    look(at: path) { file = try ElfFile(path, inputs) }
    return file
  }

  /// Whether the file at a place fits.
  mutating func fits(_ path: FilePath, _ body: () throws -> Bool) -> Bool {
    var fits = false
    look(at: path) { fits = try body() }
    return fits
  }

  private mutating func look(at path: FilePath, _ body: () throws -> Void) {
    do { try body() } catch let errno as Errno {
      if !errno.isOfMissingFile { failures.append(SymbolInputs.NotOpened(path, errno)) }
    } catch {
      // A file of another kind. One that can't be read to its end is known to the inputs.
    }
  }
}
