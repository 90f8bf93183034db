// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import SystemPackage

extension MachOFile {
  /// The files with debug information in a bundle, sorted: for `X.dSYM`, those in `Contents/Resources/DWARF`; for
  /// `X.xcarchive`, those of each bundle in its `dSYMs`; for another directory, those of each bundle in it. Empty if
  /// there are none; symbolic links to bundles are followed. Throws `SymbolInputs.NotOpened`
  /// if that can't be told.
  package static func dwarfFiles(inBundle path: FilePath) throws -> [FilePath] {
    switch path.lastComponent?.extension {
    case "dSYM": try files(inCompanion: path)
    case "xcarchive": try bundles(in: path.appending("dSYMs")).flatMap { try files(inCompanion: $0) }
    default: try bundles(in: path).flatMap { try files(inCompanion: $0) }
    }
  }

  private static func files(inCompanion path: FilePath) throws -> [FilePath] {
    let folder = path.appending("Contents").appending("Resources").appending("DWARF")
    return try ifPresent(folder) {
      let found = try regularFiles(in: folder, recursive: false)
      if let (path, errno) = found.unreadable.first { throw SymbolInputs.NotOpened(path, errno) }
      return found.files
    }
  }

  private static func bundles(in path: FilePath) throws -> [FilePath] {
    let names = try ifPresent(path) { try Folder(path).names() }
    return names.map { path.appending($0.text) }.filter { $0.extension == "dSYM" }.sorted { $0.string < $1.string }
  }

  /// The entries of a folder; none if it is not there.
  private static func ifPresent<Entry>(_ folder: FilePath, _ list: () throws -> [Entry]) throws -> [Entry] {
    do { return try list() } catch let failure as SymbolInputs.NotOpened { throw failure } catch {
      let errno = (error as? FileFailure)?.errno ?? error as? Errno ?? .ioError
      if errno.isOfMissingFile { return [] }
      throw SymbolInputs.NotOpened(folder, errno)
    }
  }
}
