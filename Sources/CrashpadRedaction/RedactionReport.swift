// SPDX-License-Identifier: Apache-2.0
/// The removals from a dump, with counts and names but without the removed content.
public struct RedactionReport: Sendable {
  package enum Format: String, Sendable {
    case intermediateDump = "intermediate-dump"
    case minidump
    /// A crash report with names and stacks instead of memory; the output is the body of an `.ips`.
    case report
  }

  /// The kinds of removed content. The texts are used in JSON.
  public enum Kind: String, Sendable, CaseIterable {
    /// Annotations that the policy does not allow, by name.
    case annotation
    /// Values of annotations that are not text, by name.
    case value
    /// Parts of text, such as user names and hidden text, by place.
    case text
    /// Values of environment variables, by name.
    case variable
    /// Command-line arguments.
    case argument
    /// Words of stacks, and of memory that is treated like stacks.
    case word
    /// Ranges of memory.
    case memory
    /// Registers.
    case register
    /// Unknown minidump streams, or ones that hold too much, by name.
    case stream
    /// Unknown keys of an intermediate dump, or ones that hold too much, by name.
    case key
    /// Bytes that belong to no readable structure.
    case unread
  }

  /// The removals of one kind.
  public struct Removal: Sendable, Hashable {
    /// The kind of data.
    public let kind: Kind
    /// Empty if the kind has no names. Names come from the dump and may hold anything.
    public let name: String
    /// The number of removals.
    public internal(set) var count: Int
    /// The number of bytes that were removed or overwritten.
    public internal(set) var byteCount: Int
  }

  package let format: Format
  /// The size of the input in bytes.
  public internal(set) var inputByteCount: Int
  /// The size of the output in bytes.
  public internal(set) var outputByteCount = 0
  /// Sorted by kind, in the order of `Kind`, then by name.
  public internal(set) var removals: [Removal] = []
  /// The number of memory words that stayed.
  package internal(set) var keptWords = 0

  init(_ format: Format, inputByteCount: Int) {
    self.format = format
    self.inputByteCount = inputByteCount
  }

  /// The number of removals of this kind.
  package func count(of kind: Kind) -> Int {
    removals.reduce(0) { $0 + ($1.kind == kind ? $1.count : 0) }
  }
}

/// Counts what is removed, by kind and name.
struct RemovalCounter {
  private struct Key: Hashable {
    let kind: RedactionReport.Kind
    let name: String
  }

  private var removals: [Key: (count: Int, byteCount: Int)] = [:]
  /// Further names are counted together under an empty name.
  private static let maximumNames = 1000
  /// Longer names are truncated.
  private static let maximumNameLength = 256

  mutating func add(_ kind: RedactionReport.Kind, _ name: String = "", count: Int = 1, byteCount: Int) {
    if count == 0 { return }
    var key = Key(kind: kind, name: name)
    if removals[key] == nil, removals.count >= Self.maximumNames { key = Key(kind: kind, name: "") }
    removals[key, default: (0, 0)].count += count
    removals[key, default: (0, 0)].byteCount += byteCount
  }

  mutating func add(_ kind: RedactionReport.Kind, name: [UInt8], byteCount: Int) {
    add(kind, String(decoding: name.prefix(Self.maximumNameLength), as: UTF8.self), byteCount: byteCount)
  }

  var sorted: [RedactionReport.Removal] {
    let order = Dictionary(uniqueKeysWithValues: RedactionReport.Kind.allCases.enumerated().map { ($1, $0) })
    return removals.map { key, value in
      RedactionReport.Removal(kind: key.kind, name: key.name, count: value.count, byteCount: value.byteCount)
    }.sorted {
      (order[$0.kind] ?? 0, $0.name) < (order[$1.kind] ?? 0, $1.name)
    }
  }
}
