// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadFiles

/// The value of `--source-link`: the address of a line in an editor or a browser, such as `vscode://file{file}:{line}`.
struct SourceLink: ExpressibleByArgument, Sendable {
  private static let file = "{file}"
  private static let path = "{path}"
  private static let line = "{line}"
  /// Schemes of addresses that run or hold something in place of leading to it.
  private static let refused = ["javascript", "data", "vbscript", "blob", "about"]

  private let template: String

  init?(argument: String) {
    guard let colon = argument.firstIndex(of: ":"), ArgumentText.isUnicode(argument) else { return nil }
    // A file can't become a part of the scheme.
    let scheme = argument[..<colon]
    let isScheme =
      scheme.utf8.first.map(\.isLetterOrDigit) ?? false
      && scheme.utf8.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    guard isScheme, !Self.refused.contains(scheme.lowercased()), argument.utf8.allSatisfy({ $0 > 0x20 }),
      argument.containsBytes(Self.file) || argument.containsBytes(Self.path)
    else { return nil }
    template = argument
  }

  /// Whether it names files by the paths that the symbols have.
  var hasFile: Bool { template.containsBytes(Self.file) }
  /// Whether it names files by their paths below `--source`.
  var hasPath: Bool { template.containsBytes(Self.path) }

  /// The address of a line; nil where the file's place is not known: an editor can't open a name without its directory.
  func address(of file: String, line: UInt64, in sources: SourceTree?) -> String? {
    var address = template
    if hasFile {
      guard Self.isAbsolute(file) else { return nil }
      address = address.replacing(Self.file, with: Self.encoded(file))
    }
    if hasPath {
      guard let path = sources?.path(of: file) else { return nil }
      address = address.replacing(Self.path, with: Self.encoded(path))
    }
    return address.replacing(Self.line, with: String(line))
  }

  /// "/src/cart.cpp" or "C:\src\cart.cpp"
  private static func isAbsolute(_ file: String) -> Bool {
    let start = Array(file.utf8.prefix(3))
    if start.first == UInt8(ascii: "/") { return true }
    return start.count == 3 && start[0].isLetterOrDigit && start[1] == UInt8(ascii: ":")
      && (start[2] == UInt8(ascii: "\\") || start[2] == UInt8(ascii: "/"))
  }

  private static func encoded(_ path: String) -> String {
    let isUnix = path.utf8.first == UInt8(ascii: "/")
    let bytes = path.utf8.map { !isUnix && $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
    return percentEncoded(bytes, keeping: "-._~/")
  }
}
