/// What was removed from a dump: how much, and under which names; never what it was.
public struct RedactionReport: Sendable {
  public enum Format: String, Sendable {
    case intermediateDump = "intermediate-dump"
    case minidump
    /// A crash report with names and stacks in place of memory; the output is the body of an `.ips`.
    case report
  }

  /// What kind of thing was removed. The texts are those of JSON.
  public enum Kind: String, Sendable, CaseIterable {
    /// Annotations that the policy does not let through; by name.
    case annotation
    /// Values of annotations that are no text; by name.
    case value
    /// Parts of text: user names, hidden text; by where they stood.
    case text
    /// Values of environment variables; by name.
    case variable
    /// Arguments of the command line.
    case argument
    /// Words of stacks, and of memory that is treated as they are.
    case word
    /// Ranges of memory.
    case memory
    /// Registers.
    case register
    /// Streams of a minidump that nobody knows, or that hold too much; by name.
    case stream
    /// Keys of an intermediate dump that nobody knows, or that hold too much; by name.
    case key
    /// Bytes that belong to nothing that could be read.
    case unread
  }

  public struct Removal: Sendable, Hashable {
    public let kind: Kind
    /// Empty where the kind has no names. Names come from the dump, so they may hold anything.
    public let name: String
    public internal(set) var count: Int
    public internal(set) var byteCount: Int
  }

  public let format: Format
  public internal(set) var inputByteCount: Int
  public internal(set) var outputByteCount = 0
  /// By kind, in the order of `Kind`, and by name.
  public internal(set) var removals: [Removal] = []
  /// How many words of memory stayed.
  public internal(set) var keptWords = 0

  init(_ format: Format, inputByteCount: Int) {
    self.format = format
    self.inputByteCount = inputByteCount
  }

  /// How many things of that kind were removed.
  public func count(of kind: Kind) -> Int {
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
  /// Further names are counted together, under none.
  private static let maximumNames = 1000
  /// Names are cut there.
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
