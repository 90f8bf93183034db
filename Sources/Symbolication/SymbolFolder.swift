internal import FileSystem
internal import Synchronization
public import SystemPackage

/// All files with symbols below a folder by their ids, read when the layouts that are known did not lead to one.
final class SymbolFolder: Sendable {
  let path: FilePath
  private let index = Mutex<[String: [FilePath]]?>(nil)

  /// A folder with more files is no folder of symbols.
  private static let maximumFiles = 200_000

  init(_ path: FilePath) { self.path = path }

  /// Files with this debug id, the age apart.
  func files(with id: DebugID) -> [FilePath] {
    index.withLock { index in
      let known = index ?? Self.read(path)
      index = known
      return known[String(id.text.prefix(32))] ?? []
    }
  }

  private static func read(_ path: FilePath) -> [String: [FilePath]] {
    guard let files = try? regularFiles(in: path, recursive: true, hidden: true).files else { return [:] }
    var index: [String: [FilePath]] = [:]
    for file in files.prefix(maximumFiles) {
      for id in (try? SymbolFileIdentity(file))?.debugIDs ?? [] {
        index[String(id.text.prefix(32)), default: []].append(file)
      }
    }
    return index
  }
}

/// What a file with symbols says of itself, without reading its symbols.
public struct SymbolFileIdentity: Sendable {
  public enum Format: String, Sendable {
    case elf = "ELF"
    case machO = "Mach-O"
    case sym = "Breakpad"
  }

  public let format: Format
  /// Of a fat file several; empty of a file that does not say.
  public let debugIDs: [DebugID]
  /// NT_GNU_BUILD_ID of an ELF file.
  public let buildID: [UInt8]

  /// Throws `Errno`, `InputFile.NotReadable` or `SymbolFile.UnknownFormat`.
  public init(_ path: FilePath) throws {
    let start = try InputFile.prefix(of: path, count: 512)
    if start.starts(with: [0x7f, 0x45, 0x4c, 0x46]) {
      guard let file = try? ElfFile(path) else { throw SymbolFile.UnknownFormat() }
      format = .elf
      buildID = file.buildID
      debugIDs = DebugID(buildID: file.buildID).map { [$0] } ?? []
    } else if start.starts(with: Array("MODULE ".utf8)) {
      format = .sym
      buildID = []
      let line = String(decoding: start.prefix { $0 != 0x0a && $0 != 0x0d }, as: UTF8.self)
      let words = line.split(separator: " ")
      debugIDs = words.count > 3 ? DebugID(text: String(words[3])).map { [$0] } ?? [] : []
    } else {
      throw SymbolFile.UnknownFormat()
    }
  }
}
