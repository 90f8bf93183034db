// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles

extension CrashDatabase {
  /// The sizes in bytes of the files in `new/`, those that live sessions of ours are writing and the others: what dead
  /// programs left, and what other programs write. Throws `FileFailure`.
  package func newFileSizes() throws(FileFailure) -> (inUse: [Int], others: [Int]) {
    guard let folder = try folder(DatabaseLayout.new) else { return ([], []) }
    var sizes: (inUse: [Int], others: [Int]) = ([], [])
    for (name, size) in try Self.files(in: folder) {
      let owner = name.hasPrefix(SessionFile.prefix) ? try SessionFile.owner(of: name, in: folder) : .free
      if owner == .owned { sizes.inUse.append(size) } else { sizes.others.append(size) }
    }
    return sizes
  }

  /// The sizes in bytes of the dumps in `rejected/`, without the reason files. Throws `FileFailure`.
  package func rejectedDumpSizes() throws(FileFailure) -> [Int] {
    guard let folder = try folder(DatabaseLayout.rejected) else { return [] }
    return try Self.files(in: folder).filter { !$0.name.hasSuffix(DatabaseLayout.reasonExtension) }.map(\.size)
  }

  private static func files(in folder: Folder) throws(FileFailure) -> [(name: FileName, size: Int)] {
    var files: [(name: FileName, size: Int)] = []
    for name in try folder.names() {
      if let status = try folder.status(name), status.kind == .regular { files.append((name, status.size)) }
    }
    return files
  }
}
