// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadCore
internal import CrashpadFiles
package import CrashpadSnapshot
package import CrashpadSymbolication
internal import CrashpadText
internal import SystemPackage

/// The modules, and the files with their symbols.
extension CrashView {
  package struct Module: Sendable {
    let snapshot: ModuleSnapshot
    /// In the dump's list.
    package let index: Int
    /// The path of the file, or the name in its place.
    package let path: Text?
    package let debugName: Text?
    /// A UUID, or a build id in hexadecimal digits.
    package let identity: String?
    package let isBuildID: Bool
    package let isOfWindows: Bool
    /// The id by which servers have the program's file; nil if the dump does not have it.
    package let codeID: String?
    package let version: String?
    package let messages: [Text]
    package let simpleAnnotations: [NamedText]
    package let annotationObjects: [AnnotationValue]

    package var address: UInt64? { snapshot.address }
    package var size: UInt64? { snapshot.size }
    /// The byte after the last one.
    package var end: UInt64? { snapshot.address.flatMap { address in snapshot.size.map { address &+ $0 } } }
    package var timestamp: UInt64? { snapshot.timestamp }
    package var bundleID: String? { snapshot.bundleID }
    package var bundleVersion: String? { snapshot.bundleVersion }
    package var architecture: String? { snapshot.architecture }
    /// Such as "library"; nil if it is unknown.
    package var typeName: String? {
      switch snapshot.fileType {
      case .executable: "executable"
      case .sharedLibrary: "library"
      case .loadableModule: "bundle"
      case .dynamicLoader: "loader"
      case .other: "other"
      case nil: nil
      }
    }
    package var uuid: UUIDBytes? { if case .uuid(let uuid, _)? = snapshot.identity { uuid } else { nil } }
  }

  package struct NamedText: Sendable {
    package let name: Text
    package let value: Text
  }

  /// An annotation object of a module.
  package struct AnnotationValue: Sendable {
    package let name: Text
    package let type: UInt16
    package let bytes: [UInt8]

    /// Nil if the value is not a text.
    package var text: Text? { type == 1 ? Text(bytes) : nil }
  }

  package var moduleList: [Module] { snapshot.modules.indices.map { module($0) } }

  package func module(_ index: Int) -> Module {
    let module = snapshot.modules[index]
    var isBuildID = false
    if case .buildID? = module.identity { isBuildID = true }
    return Module(
      snapshot: module, index: index, path: text(module.name), debugName: text(module.debugName),
      identity: identity(module), isBuildID: isBuildID,
      isOfWindows: snapshot.system.operatingSystem == .windows, codeID: codeID(module), version: version(module),
      messages: module.messages.compactMap { text($0) }, simpleAnnotations: module.simpleAnnotations.map(namedText),
      annotationObjects: module.annotationObjects.map { object in
        AnnotationValue(
          name: text(object.name) ?? Text([]), type: object.type,
          bytes: dump.file.withBytes { snapshot.bytes(of: object.value, in: $0) })
      })
  }

  func namedText(_ annotation: Annotation) -> NamedText {
    NamedText(name: text(annotation.name) ?? Text([]), value: text(annotation.value) ?? Text([]))
  }

  /// The annotations of the process.
  package var annotations: [NamedText] { snapshot.annotations.map(namedText) }

  private func identity(_ module: ModuleSnapshot) -> String? {
    switch module.identity {
    case .uuid(let uuid, let age): return age == 0 ? uuid.text : "\(uuid.text) age \(age)"
    case .buildID(let content):
      return hexadecimalDigits(dump.file.withBytes { snapshot.bytes(of: content, in: $0) })
    case nil: return module.oldPDB.map { "\(hexadecimal(UInt64($0.time), width: 8)) age \($0.age)" }
    }
  }

  private func codeID(_ module: ModuleSnapshot) -> String? {
    if snapshot.system.operatingSystem == .windows {
      return windowsCodeID(timestamp: module.timestamp ?? 0, size: module.size ?? 0)
    }
    switch module.identity {
    case .uuid(.zero, _): return nil
    case .uuid(let uuid, _): return hexadecimal(uuid.high, width: 16) + hexadecimal(uuid.low, width: 16)
    case .buildID, nil: return identity(module)
    }
  }

  /// Windows has no id of builds: the linker's time and the size in memory stand for one.
  func windowsCodeID(timestamp: UInt64, size: UInt64) -> String {
    hexadecimal(timestamp, width: 8) + hexadecimal(size)
  }

  private func version(_ module: ModuleSnapshot) -> String? {
    if let version = module.dylibVersion { return "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)" }
    if let version = module.fileVersion { return version.text }
    guard let version = module.sourceVersion else { return nil }
    // LC_SOURCE_VERSION has one part of 24 bits and four of 10; trailing zero parts are left out.
    var parts = [version >> 40] + [30, 20, 10, 0].map { version >> UInt64($0) & 0x3ff }
    while parts.count > 2, parts.last == 0 { parts.removeLast() }
    return parts.map { String($0) }.joined(separator: ".")
  }

  // MARK: Symbols

  /// The modules with the files of their symbols; empty if no stack was walked.
  package var symbolizedModules: [Symbolization.Module] { symbolization?.modules ?? [] }

  /// The modules that contain frames.
  package var modulesWithFrames: [Symbolization.Module] {
    guard let symbolization else { return [] }
    let frames = symbolization.threads.flatMap(\.frames) + symbolization.lastException
    let used = Set(frames.compactMap(\.frame.module))
    return symbolization.modules.filter { used.contains($0.index) }
  }
}

extension [Symbolization.Module] {
  /// The findings about their symbol files.
  package var fileFindings: [SymbolFileFinding] { flatMap { $0.symbols?.fileFindings ?? [] } }
}

extension Symbolization.Module {
  package enum SymbolState: String, Sendable, CaseIterable {
    case found
    case refused
    case missing = "not found"
    case unused = "not needed"
  }

  package var symbolState: SymbolState {
    guard let symbols else { return .unused }
    return symbols.isFound ? .found : symbols.search.refused.isEmpty ? .missing : .refused
  }

  /// Such as "found: /store/App/…/App.sym (breakpad)", "refused: /App.debug: of another build, 5CED…", "not found".
  package var symbolLine: String {
    guard let search = symbols?.search else { return "not searched" }
    if !search.files.isEmpty {
      let files = search.files.map { file in
        "\(TextFormat.printable(file.path)) (\(file.role.rawValue)\(file.isVerified ? "" : ", unverified"))"
      }
      return "found: " + files.joined(separator: ", ")
    }
    if symbols?.isFound == true { return "found: in the memory of the dump" }
    if search.refused.isEmpty { return identity.symbolObstacle?.words ?? search.notFound }
    return "refused: "
      + search.refused.map { "\(TextFormat.printable($0.path)): \($0.reason.words)" }.joined(separator: ", ")
  }
}

extension SymbolMatches {
  /// "not found", with the servers of which nothing is known.
  fileprivate var notFound: String {
    let doubts = answers.compactMap { answer -> String? in
      switch answer.outcome {
      case .failed(let text), .refused(let text), .notAsked(let text):
        "\(TextFormat.printable(answer.url ?? "")): \(TextFormat.printable(text))"
      case .kept, .downloaded, .absent, .absentBefore: nil
      }
    }
    return doubts.isEmpty ? "not found" : "not found; " + doubts.joined(separator: ", ")
  }
}

extension SymbolRefusal.Reason {
  package var words: String {
    switch self {
    case .otherBuild(let id): "other build \(TextFormat.printable(id))"
    case .otherCode(let id): "other build, code id \(id.text)"
    case .noIdentity: "no build id"
    case .otherChecksum: "other checksum"
    case .unknownFormat: "unknown format"
    case .pdb: "a PDB; dump_syms makes a .sym of it"
    case .otherMembers: "a zip archive without symbol files"
    case .unreadable(let errno): errno.description
    case .notWhole: "can't be read to its end"
    case .notAFile: "no regular file"
    case .compressed(let text): text
    case .noSymbolFiles: "no symbol files"
    case .onlyPDBs: "PDBs alone; dump_syms makes a .sym of each"
    case .tooManyFiles(let most): "more than \(most) files"
    case .sharedCache(let finding): finding.sentence
    case .cachePart: "a part of a shared cache"
    }
  }
}

extension SymbolObstacle {
  fileprivate var words: String {
    switch self {
    case .kernel: "not needed: the kernel's own"
    case .noID: "not needed: the module has no id"
    }
  }
}

/// The ids for requesting a module's symbols from a symbol server.
package struct SymbolRequest: Sendable {
  package let name: String
  package let debugID: String?
  package let buildID: String?
  /// The path in a store with Breakpad's layout.
  package let path: String?

  package init(_ identity: ModuleIdentity) {
    name = identity.debugName
    debugID = identity.debugID?.text
    buildID = identity.buildID.isEmpty ? nil : hexadecimalDigits(identity.buildID)
    path = debugID.flatMap { id in
      let base = identity.debugName.hasSuffix(".pdb") ? String(identity.debugName.dropLast(4)) : identity.debugName
      return identity.debugName.isEmpty ? nil : "\(identity.debugName)/\(id)/\(base).sym"
    }
  }

  /// The fields, separated by tabs.
  package var line: String {
    [name, debugID ?? "-", buildID ?? "-", path ?? "-"].map { TextFormat.printable($0) }.joined(separator: "\t")
  }
}

extension CrashView {
  /// The requests for modules that have frames but no symbols.
  package var symbolRequests: [SymbolRequest] {
    modulesWithFrames.filter(\.lacksSymbols).map { SymbolRequest($0.identity) }
  }
}
