// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

/// `.gnu_debuglink`: the name of the file with the debug information, and its CRC-32.
package struct DebugLink: Sendable {
  package let name: String
  package let checksum: UInt32

  /// The paths to which it may refer in the file at `file`.
  func paths(from file: FilePath) -> [FilePath] {
    guard !name.contains("/"), !name.isEmpty else { return [] }
    let folder = file.removingLastComponent()
    var paths = [folder.appending(name), folder.appending(".debug").appending(name)]
    if folder.isAbsolute { paths.append(FilePath("/usr/lib/debug\(folder.string)").appending(name)) }
    return paths
  }

  /// Whether the file at `path` is the one that is meant. Throws `Errno` or `InputFile.NotReadable`.
  func matches(_ path: FilePath) throws -> Bool {
    let file = try InputFile(regular: path)
    return try file.checkingReading { file.withBytes { CyclicRedundancyCheck.of($0) } } == checksum
  }
}
