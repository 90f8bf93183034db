internal import SystemPackage

/// Files of /proc and /sys.
enum ProcFile {
  /// The whole content, without the line feed at its end; nil if it can't be read. /proc gives at most a page for each
  /// read.
  static func text(_ path: String) -> String? {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec) else { return nil }
    defer { _ = try? file.close() }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 64 << 10)
    while let count = try? unsafe block.withUnsafeMutableBytes({ try unsafe file.read(into: $0) }), count > 0 {
      bytes += block[..<count]
    }
    if bytes.last == 0x0a { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The values of a file with lines such as `Name: value`.
  static func members(_ path: String) -> [String: String] {
    var members: [String: String] = [:]
    for line in (text(path) ?? "").split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      members[String(line[..<colon])] = String(line[line.index(after: colon)...].drop { $0 == "\t" || $0 == " " })
    }
    return members
  }
}
