// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Synchronization
internal import SystemPackage

/// Files and folders in which symbols were searched and that can't be read, each once. Thread-safe.
package final class SymbolFaults: Sendable {
  private struct Known {
    var refusals: [SymbolRefusal] = []
    var paths: Set<FilePath> = []
  }
  private let faults = Mutex(Known())

  func add(_ path: FilePath, _ reason: SymbolRefusal.Reason) {
    faults.withLock { faults in
      if faults.paths.insert(path).inserted {
        faults.refusals.append(SymbolRefusal(path: path, reason: reason))
      }
    }
  }

  /// Whether a file or folder could not be read: it may have the symbols that were not found.
  var hasUnreadable: Bool { faults.withLock { $0.refusals.contains { $0.reason.isUnreadable } } }

  /// One finding for each, in the order in which they were found.
  package var findings: [SymbolFileFinding] {
    faults.withLock { $0.refusals }.map { SymbolFileFinding(file: $0.path, finding: $0.finding(of: nil)) }
  }
}

extension SymbolRefusal.Reason {
  /// The reason of an error of opening or reading a file.
  init(_ error: any Error) {
    switch error {
    case let errno as Errno: self = .unreadable(errno)
    case let error as SymbolInputs.NotOpened: self = .unreadable(error.failure.errno)
    case let error as InputFile.NotReadable: self = error.reason == .unreadable ? .notWhole : .notAFile
    case is SymbolInputs.NotWhole: self = .notWhole
    case let error as SymbolInputs.Compressed:
      self = .compressed("it is compressed (\(error.compression)) and \(error.reason)")
    case let error as SymbolInputs.SeveralFiles:
      self = .compressed("it is a zip archive with \(error.count) files with symbols, which has to be unpacked")
    case let error as SharedCache.NotACache: self = error.isPart ? .cachePart : .unknownFormat
    case let error as SymbolFileIdentity.UnknownFormat:
      self =
        switch error.other {
        case .pdb?: .pdb
        case .packed?, .utf16?: .compressed("it is \(error.other?.description ?? "")")
        case .zip?: .otherMembers
        case nil: .unknownFormat
        }
    default: self = .unknownFormat
    }
  }

  /// Whether the file itself can't be read, whatever is in it.
  var isUnreadable: Bool {
    switch self {
    case .unreadable, .notWhole, .notAFile, .compressed, .tooManyFiles, .sharedCache, .cachePart: true
    case .otherBuild, .otherCode, .noIdentity, .otherChecksum, .unknownFormat, .pdb, .otherMembers, .noSymbolFiles,
      .onlyPDBs:
      false
    }
  }
}

extension SymbolRefusal {
  /// Whether the error says that there is no such file.
  static func isMissing(_ error: any Error) -> Bool { (error as? Errno)?.isOfMissingFile == true }
}
