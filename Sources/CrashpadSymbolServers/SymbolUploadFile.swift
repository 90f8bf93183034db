// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
package import CrashpadSymbolication
package import SystemPackage

/// A symbol file to send.
package struct SymbolUploadFile: Sendable {
  package let path: FilePath
  /// `NAME/ID/NAME.sym`: the path in the archive, and on servers in this layout.
  package let place: String
  package let debugID: DebugID?

  package init(path: FilePath, place: String, debugID: DebugID?) {
    (self.path, self.place, self.debugID) = (path, place, debugID)
  }

  /// The file as a server takes it; nil if it has no id, or the server takes no files of its format.
  package init?(_ file: SymbolStore.File, for kind: SymbolReceiver.Kind) {
    guard kind != .tecken || file.format == .breakpad, let id = file.debugIDs.first else { return nil }
    path = file.path
    debugID = id
    let name = FilePath(file.name).lastComponent?.string ?? "unknown"
    place = file.format == .breakpad ? breakpadPath(name, id.text) : "\(name)/\(id.text)/\(name)"
  }
}
