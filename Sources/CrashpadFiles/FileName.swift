// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// The name of one entry of a directory, as the kernel's bytes: any except `/` and NUL, in any encoding.
public struct FileName: Sendable, Hashable, Comparable {
  /// The bytes of the name, which need not be UTF-8.
  public let bytes: [UInt8]

  /// Returns nil if this is not a valid name for an entry: empty, `.`, `..`, or with `/` or NUL.
  package init?(bytes: [UInt8]) {
    guard !bytes.isEmpty, bytes != [0x2e], bytes != [0x2e, 0x2e], !bytes.contains(0), !bytes.contains(0x2f) else {
      return nil
    }
    self.bytes = bytes
  }

  /// Returns nil in the same cases as `init(bytes:)`.
  public init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// The name of a path's component, byte for byte; nil for `.` and `..`.
  package init?(_ component: FilePath.Component) {
    let bytes = unsafe component.withPlatformString { text in
      unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }
    self.init(bytes: bytes)
  }

  /// A name that is a literal in the source.
  package init(literal: StaticString) {
    let bytes = Array("\(literal)".utf8)
    guard FileName(bytes: bytes) != nil else { preconditionFailure("no file name: \(literal)") }
    self.bytes = bytes
  }

  private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  /// The name for display; bytes that are not UTF-8 become U+FFFD.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  package func hasSuffix(_ suffix: String) -> Bool {
    bytes.count > suffix.utf8.count && bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
  package func hasPrefix(_ prefix: String) -> Bool { bytes.starts(with: prefix.utf8) }

  /// The name followed by `suffix`. Names have at most 255 bytes; the kernel refuses a longer one.
  package func appending(_ suffix: String) -> FileName { FileName(unchecked: bytes + suffix.utf8) }

  /// The first `count` bytes of the name behind a dot, which hides it.
  package func hidden(upTo count: Int) -> FileName { FileName(unchecked: Array(".".utf8) + bytes.prefix(count)) }

  /// The name without `suffix`; nil if it does not end with it, or is nothing else.
  package func removing(suffix: String) -> FileName? {
    hasSuffix(suffix) ? FileName(bytes: Array(bytes.dropLast(suffix.utf8.count))) : nil
  }

  public static func < (a: FileName, b: FileName) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}

// By bytes: each look at the components of a FilePath costs five times as much, and the first ones eight look-ups of
// conformances, half a millisecond of a start.
extension FilePath {
  private static var slash: UInt8 { UInt8(ascii: "/") }

  /// The path of the entry `name` in this directory, with the exact bytes of the name.
  package func appending(_ name: FileName) -> FilePath {
    let bytes = bytes
    return FilePath(bytes: bytes + (bytes.isEmpty || bytes.last == Self.slash ? [] : [Self.slash]) + name.bytes)
  }

  /// The bytes behind the last slash; those of a name, or `.`, `..` or nothing.
  package var lastBytes: [UInt8] {
    let bytes = bytes
    return Array(bytes[(bytes.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0)...])
  }

  /// The path of the entry `name` in the directory that this path's last component is in.
  package func beside(_ name: FileName) -> FilePath {
    let bytes = bytes
    return FilePath(bytes: bytes[..<(bytes.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0)] + name.bytes)
  }

  /// This path as seen from a directory that it begins with.
  package func relative(to directory: FilePath) -> FilePath {
    FilePath(bytes: Array(bytes.dropFirst(directory.bytes.count).drop { $0 == Self.slash }))
  }
}

extension FileName {
  /// Calls `body` with the name as a C string.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
    try unsafe (bytes + [0]).withUnsafeBufferPointer { buffer in
      try unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
        guard let start = characters.baseAddress else { preconditionFailure("a name has at least its end") }
        return try unsafe body(start)
      }
    }
  }
}
