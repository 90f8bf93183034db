// SPDX-License-Identifier: Apache-2.0
extension ModuleIdentity {
  /// Whether a file names the build of this module. False if one of the two has no id.
  package func isBuild(of file: SymbolFileIdentity) -> Bool { comparison(with: file) == .same }

  /// The answer of the ids of a module and a file to the question whether they are of one build.
  enum Comparison {
    case same
    /// A build id or a debug id differs.
    case otherID
    /// The code ids of Windows differ.
    case otherCodeID
    /// They have no ids of one kind.
    case unknown
  }

  func comparison(with file: SymbolFileIdentity) -> Comparison {
    if !buildID.isEmpty, !file.buildID.isEmpty { return buildID == file.buildID ? .same : .otherID }
    if let debugID, !file.debugIDs.isEmpty {
      guard file.debugIDs.contains(where: { $0.uuid == debugID.uuid }) else { return .otherID }
      if let comparison = comparison(ofCodeIn: file) { return comparison }
      return !isOfWindows || file.debugIDs.contains { $0.isOfSameLink(as: debugID) } ? .same : .otherID
    }
    return comparison(ofCodeIn: file) ?? .unknown
  }

  /// Nil if one of the two has no code id.
  private func comparison(ofCodeIn file: SymbolFileIdentity) -> Comparison? {
    guard let codeID, let own = file.codeID else { return nil }
    return codeID == own ? .same : .otherCodeID
  }

  /// Whether a file that begins with these bytes names the build of this module; nil if its id may be behind them. Throws
  /// `SymbolFileIdentity.UnknownFormat` for bytes with which no symbol file begins, and `SymbolFileIdentity.NoID`.
  package func isBuild(ofFileWith start: [UInt8]) throws -> Bool? {
    // The directory of a zip archive is at its end.
    if start.starts(with: Array("PK\u{3}\u{4}".utf8)) { return nil }
    // Its sections of notes, behind these bytes, are looked at when the file is used.
    if !buildID.isEmpty, unsafe ElfFile.buildID(inStart: start.span.bytes) == buildID { return true }
    struct NeedsAll: Error {}
    do {
      return try isCertainBuild(of: try SymbolFileIdentity(start, isUnpacked: false) { throw NeedsAll() })
    } catch is NeedsAll {
      return nil
    }
  }

  /// Whether a file names the build of this module. Throws `SymbolFileIdentity.NoID` if it names none.
  package func isCertainBuild(of file: SymbolFileIdentity) throws(SymbolFileIdentity.NoID) -> Bool {
    if file.buildID.isEmpty, file.debugIDs.isEmpty { throw SymbolFileIdentity.NoID() }
    return isBuild(of: file)
  }
}
