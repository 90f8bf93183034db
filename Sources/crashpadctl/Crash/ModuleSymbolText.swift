import CrashpadCore
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// Modules and the state of their symbols.
struct ModuleSymbolText {
  let symbolized: SymbolizedView

  /// A table of the modules.
  static func table(_ modules: [Symbolization.Module], _ view: DumpView, style: TextStyle = .plain) -> String {
    var table = TextTable([("address", .left), ("name", .left), ("debug id", .left), ("symbols", .left)])
    table.elastic = ["symbols": .tail, "name": .tail]
    table.droppable = ["debug id", "address"]
    for module in modules {
      let address = view.snapshot.modules[module.index].address
      table.add([
        address.map(view.fullAddress) ?? "-", view.moduleName(module.index),
        module.identity.debugID?.text ?? "-", state(module),
      ])
    }
    return table.text(style)
  }

  /// Such as "found: /store/App/…/App.sym (breakpad)", "refused: /App.debug: of another build, 5CED…", "not found".
  static func state(_ module: Symbolization.Module) -> String {
    guard let search = module.symbols?.search else { return "not searched" }
    if !search.files.isEmpty {
      let files = search.files.map { file in
        "\(Wording.printable(file.path)) (\(file.role.rawValue)\(file.isVerified ? "" : ", unverified"))"
      }
      return "found: " + files.joined(separator: ", ")
    }
    if search.refused.isEmpty { return "not found" }
    return "refused: "
      + search.refused.map { "\(Wording.printable($0.path)): \(reason($0.reason))" }.joined(separator: ", ")
  }

  static func reason(_ reason: SymbolSearch.Refusal.Reason) -> String {
    switch reason {
    case .otherBuild(let id): "other build \(Wording.printable(id))"
    case .noIdentity: "no build id"
    case .otherChecksum: "other checksum"
    case .unknownFormat: "unknown format"
    case .unreadable(let errno): errno.description
    case .notWhole: "can't be read to its end"
    case .notAFile: "no regular file"
    }
  }

  /// The ids for requesting a module's symbols from a symbol server.
  struct Request {
    let name: String
    let debugID: String?
    let buildID: String?
    /// The path in a store with Breakpad's layout.
    let path: String?

    init(_ identity: ModuleIdentity) {
      name = identity.debugName
      debugID = identity.debugID?.text
      buildID = identity.buildID.isEmpty ? nil : hexadecimalDigits(identity.buildID)
      path = debugID.flatMap { id in
        let base = identity.debugName.hasSuffix(".pdb") ? String(identity.debugName.dropLast(4)) : identity.debugName
        return identity.debugName.isEmpty ? nil : "\(identity.debugName)/\(id)/\(base).sym"
      }
    }

    /// The fields, separated by tabs.
    var line: String {
      [name, debugID ?? "-", buildID ?? "-", path ?? "-"].map { Wording.printable($0) }.joined(separator: "\t")
    }
  }

  /// The modules that have frames but no symbols.
  var requests: [Request] {
    symbolized.modulesWithFrames.filter { $0.symbols?.isFound != true }.map { Request($0.identity) }
  }
}
