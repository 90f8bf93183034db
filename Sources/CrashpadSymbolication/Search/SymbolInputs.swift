internal import CrashpadFiles
internal import Synchronization
package import SystemPackage

/// The files that were opened for the symbols of one module. Thread-safe.
package final class SymbolInputs: Sendable {
  /// A file that became shorter while it was read, or whose disk can't be read.
  package struct NotWhole: Error { package let path: FilePath }

  /// Those whose reading may still fail.
  private let files = Mutex<[(path: FilePath, input: InputFile)]>([])

  package init() {}

  /// Opens a regular file. Throws `Errno` or `InputFile.NotReadable`.
  func open(_ path: FilePath) throws -> InputFile {
    let input = try InputFile(regular: path)
    if input.isGuarded { files.withLock { $0.append((path, input)) } }
    return input
  }

  /// The files of which some bytes could not be read.
  package var notWhole: [FilePath] { files.withLock { $0.filter(\.input.hasFailed).map(\.path) } }

  /// Whether results may rest on bytes that could not be read.
  var hasFailed: Bool { files.withLock { $0.contains(where: \.input.hasFailed) } }

  /// Throws `NotWhole` if results may rest on bytes that could not be read; `InputFile.NotReadable` if these are of the
  /// file at `own`.
  package func checkReading(of own: FilePath? = nil) throws {
    let paths = notWhole
    if let own, paths.contains(own) { throw InputFile.NotReadable(reason: .unreadable) }
    if let path = paths.first { throw NotWhole(path: path) }
  }
}

/// Files and folders in which symbols were searched and that can't be read, each once. Thread-safe.
package final class SymbolFaults: Sendable {
  private struct Known {
    var refusals: [SymbolSearch.Refusal] = []
    var paths: Set<FilePath> = []
  }
  private let faults = Mutex(Known())

  func add(_ path: FilePath, _ reason: SymbolSearch.Refusal.Reason) {
    faults.withLock { faults in
      if faults.paths.insert(path).inserted {
        faults.refusals.append(SymbolSearch.Refusal(path: path, reason: reason))
      }
    }
  }

  /// One finding for each, in the order in which they were found.
  package var findings: [SymbolFileFinding] {
    faults.withLock { $0.refusals }.map { SymbolFileFinding(file: $0.path, finding: $0.finding(of: nil)) }
  }
}

extension SymbolSearch.Refusal.Reason {
  /// The reason of an error of opening or reading a file.
  init(_ error: any Error) {
    switch error {
    case let errno as Errno: self = .unreadable(errno)
    case let error as InputFile.NotReadable: self = error.reason == .unreadable ? .notWhole : .notAFile
    case is SymbolInputs.NotWhole: self = .notWhole
    default: self = .unknownFormat
    }
  }

  /// Whether the file itself can't be read, whatever is in it.
  var isUnreadable: Bool {
    switch self {
    case .unreadable, .notWhole, .notAFile: true
    case .otherBuild, .noIdentity, .otherChecksum, .unknownFormat: false
    }
  }
}
