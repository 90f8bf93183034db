// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The contents of a directory: every name below it with its kind, its permissions and its bytes. Neither times nor inodes.
struct Tree: Equatable {
  enum Entry: Equatable {
    case file([UInt8], mode: UInt32)
    case directory(mode: UInt32)
    case link(to: String)
    /// FIFOs and sockets.
    case special(mode: UInt32)
  }

  /// By path below the directory, which itself is ".". Bytes of names that are not UTF-8 stand as `\xff`.
  var entries: [String: Entry] = [:]

  init() {}

  init(at url: URL) throws { try add(Array(url.path.utf8), as: ".") }

  private struct Failure: Error { let path: String, errno: Int32 }

  private mutating func add(_ path: [UInt8], as name: String) throws {
    func failure() -> Failure { Failure(path: name, errno: errno) }
    let cPath = (path + [0]).map { CChar(bitPattern: $0) }
    var status = stat()
    guard unsafe lstat(cPath, &status) == 0 else { throw failure() }
    let mode = UInt32(status.st_mode & 0o7777)
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      let descriptor = unsafe open(cPath, O_RDONLY)
      guard descriptor >= 0 else { throw failure() }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
      let got = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      guard got == bytes.count else { throw failure() }
      entries[name] = .file(bytes, mode: mode)
    case S_IFDIR:
      entries[name] = .directory(mode: mode)
      guard let stream = unsafe opendir(cPath) else { throw failure() }
      defer { unsafe closedir(stream) }
      while let entry = unsafe readdir(stream) {
        let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
        if bytes == [0x2e] || bytes == [0x2e, 0x2e] { continue }
        let text = Self.text(bytes)
        try add(path + [0x2f] + bytes, as: name == "." ? text : "\(name)/\(text)")
      }
    case S_IFLNK:
      var target = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink(cPath, &target, target.count)
      entries[name] = .link(to: Self.text(target.prefix(max(0, count)).map { UInt8(bitPattern: $0) }))
    default: entries[name] = .special(mode: mode)
    }
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "\\x" + String($0, radix: 16) }.joined()
  }

  subscript(path: String) -> [UInt8]? {
    if case .file(let bytes, _) = entries[path] { bytes } else { nil }
  }

  /// The names directly in a directory, sorted.
  func names(in directory: String) -> [String] {
    entries.keys.filter { $0.hasPrefix(directory + "/") && !$0.dropFirst(directory.count + 1).contains("/") }
      .map { String($0.dropFirst(directory.count + 1)) }.sorted()
  }

  /// With another id in place of the client id in `settings.dat`, wherever it stands: a random one is then always the
  /// same.
  func withFixedClientID() -> Tree {
    let fixed = DatabasePlan.settings[24..<40]
    guard let settings = self["settings.dat"], settings.count >= 40, settings[24..<40] != fixed else { return self }
    let id = Data(settings[24..<40])
    var tree = self
    for (name, entry) in entries {
      guard case .file(let bytes, let mode) = entry else { continue }
      var data = Data(bytes)
      while let range = data.range(of: id) { data.replaceSubrange(range, with: fixed) }
      tree.entries[name] = .file(Array(data), mode: mode)
    }
    return tree
  }

  /// Without what a run that ended badly may leave until the next one: its files in `new/`, and locks.
  var withoutLeftovers: Tree {
    var tree = self
    tree.entries = entries.filter { !$0.key.hasPrefix("new/.crashpadctl-") && !$0.key.hasSuffix(".lock") }
    return tree
  }

  /// A line for each difference; none if both are the same.
  func differences(from expected: Tree) -> [String] {
    Set(entries.keys).union(expected.entries.keys).sorted().compactMap { name in
      switch (entries[name], expected.entries[name]) {
      case (let found?, let wanted?) where found == wanted: nil
      case (let found?, let wanted?): "\(name): \(Self.text(found)), not \(Self.text(wanted))"
      case (let found?, nil): "\(name): \(Self.text(found)), which should not be there"
      case (nil, let wanted?): "\(name): missing, should be \(Self.text(wanted))"
      case (nil, nil): nil
      }
    }
  }

  private static func text(_ entry: Entry) -> String {
    switch entry {
    case .file(let bytes, let mode):
      let hash = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
      return "file \(String(mode, radix: 8)) of \(bytes.count) bytes #\(String(hash, radix: 16))"
    case .directory(let mode): return "directory \(String(mode, radix: 8))"
    case .link(let target): return "link to \(target)"
    case .special(let mode): return "special file \(String(mode, radix: 8))"
    }
  }
}
