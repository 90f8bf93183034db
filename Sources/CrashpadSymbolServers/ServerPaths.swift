// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadSymbolication

/// The paths of a module's files in the layouts of servers. In the cache, files lie as on the server, but without
/// debuginfod's first folder, as in its own cache.
struct ServerPaths {
  private let identity: ModuleIdentity
  /// Nil if the name can be no part of a path: names come from dumps.
  private let name: String?
  private let buildID: String?
  /// The UUID of a Mach-O file in lowercase digits. Nil for an ELF file, which has a build id.
  private let uuid: String?

  init(_ identity: ModuleIdentity) {
    self.identity = identity
    let isName = FileName(identity.debugName) != nil && !identity.debugName.hasPrefix(".")
    name = isName ? identity.debugName : nil
    buildID = identity.buildID.count > 1 ? hexadecimalDigits(identity.buildID) : nil
    let id = identity.buildID.isEmpty ? identity.debugID : nil
    uuid = id.flatMap { $0.isOfOldPDB ? nil : $0.text.prefix(32).lowercased() }
  }

  /// No file has a longer name, neither on a server nor in the cache: ids and names come from dumps.
  private static let longestName = 255

  func requests(_ server: Int, _ layout: SymbolServer.Layout) -> [ServerRequest] {
    all(server, layout).filter { request in request.place.allSatisfy { $0.utf8.count <= Self.longestName } }
  }

  private func all(_ server: Int, _ layout: SymbolServer.Layout) -> [ServerRequest] {
    func request(_ part: ServerRequest.Part, _ path: [String], below folder: [String] = []) -> ServerRequest {
      ServerRequest(server: server, part: part, path: folder + path, place: path)
    }
    switch layout {
    case .breakpad:
      guard let name, let id = identity.debugID?.text else { return [] }
      return [request(.names, [name, id, breakpadFileName(name)])]
    case .unified:
      guard let digits = buildID ?? uuid else { return [] }
      let folder = [String(digits.prefix(2)), String(digits.dropFirst(2))]
      return [
        request(.names, folder + ["debuginfo"]), request(.names, folder + ["breakpad"]),
        request(.program, folder + ["executable"]),
      ]
    case .ssqp: return ssqp().map { request($0.part, $0.path) }
    case .debuginfod:
      guard let buildID else { return [] }
      return [
        request(.names, [buildID, "debuginfo"], below: ["buildid"]),
        request(.program, [buildID, "executable"], below: ["buildid"]),
      ]
    }
  }

  /// All parts of these paths are in lowercase.
  private func ssqp() -> [(part: ServerRequest.Part, path: [String])] {
    let name = name?.lowercased()
    if let buildID {
      return [(.names, ["_.debug", "elf-buildid-sym-\(buildID)", "_.debug"])]
        + (name.map { [(.program, [$0, "elf-buildid-\(buildID)", $0])] } ?? [])
    }
    guard let uuid else { return [] }
    return [(.names, ["_.dwarf", "mach-uuid-sym-\(uuid)", "_.dwarf"])]
      + (name.map { [(.program, [$0, "mach-uuid-\(uuid)", $0])] } ?? [])
  }
}
