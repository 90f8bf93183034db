// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
package import SystemPackage

extension MachOFile {
  /// The files with debug information in a bundle, sorted: for `X.dSYM`, those in `Contents/Resources/DWARF`; for
  /// `X.xcarchive`, those of each bundle in its `dSYMs`; for another directory, those of each bundle in it. Empty if
  /// there are none, or it can't be read; symbolic links to bundles are followed.
  package static func dwarfFiles(inBundle path: FilePath) -> [FilePath] {
    switch path.lastComponent?.extension {
    case "dSYM": files(inCompanion: path)
    case "xcarchive": bundles(in: path.appending("dSYMs")).flatMap { files(inCompanion: $0) }
    default: bundles(in: path).flatMap { files(inCompanion: $0) }
    }
  }

  private static func files(inCompanion path: FilePath) -> [FilePath] {
    let folder = path.appending("Contents").appending("Resources").appending("DWARF")
    return (try? regularFiles(in: folder, recursive: false).files) ?? []
  }

  private static func bundles(in path: FilePath) -> [FilePath] {
    guard let names = try? Folder(path).names() else { return [] }
    return names.map { path.appending($0.text) }.filter { $0.extension == "dSYM" }.sorted { $0.string < $1.string }
  }
}
