package import BinaryFormat
package import FileSystem

/// A symbol file in Breakpad's text format, mapped. Only an index is made of it when it is read; the lines of a function are
/// parsed when somebody asks for an address in it.
///
/// Lines, each a record: `MODULE os arch id name`, `INFO CODE_ID id`, `FILE number name`, `INLINE_ORIGIN number name`,
/// `FUNC [m] address size parameters name` with its `INLINE` and line records behind it, `PUBLIC [m] address parameters
/// name`, `STACK CFI INIT address size rules`, `STACK CFI address rules`. Numbers of lines, files and nesting are decimal,
/// all others hexadecimal. Source: Breakpad's `docs/symbol_files.md`.
package final class SymFile: Sendable {
  let file: InputFile
  /// The operating system that MODULE names: `mac`, `Linux`, `iOS` …
  package let operatingSystem: String
  package let architecture: String
  /// 32 upper-case hexadecimal digits and the age, as MODULE has it.
  package let debugID: String
  /// The name of the module's file.
  package let name: String
  /// What was wrong; each such line costs its own names only.
  package let findings: FindingList

  /// A range of addresses, relative to the module, and the line that tells of it.
  struct Entry: Sendable {
    let address: UInt64
    /// Behind the last one.
    let end: UInt64
    /// Offset of the line in the file.
    let offset: Int
  }

  /// Sorted by address.
  let functions: [Entry]
  /// Sorted by address; their ends are not known.
  let publics: [Entry]
  /// STACK CFI INIT, sorted by address.
  let frameRules: [Entry]
  /// Offsets of the names of FILE and INLINE_ORIGIN records, by number.
  let files: NameTable
  let inlineOrigins: NameTable

  /// The bytes are no symbol file: they do not begin with MODULE.
  package struct NotASymFile: Error, Sendable {}

  /// Indexes `file`. Throws `NotASymFile`.
  package init(_ file: InputFile) throws {
    var index = SymIndex()
    let module = try file.withBytes { bytes in
      guard let module = SymIndex.module(bytes) else { throw NotASymFile() }
      index.read(bytes)
      return module
    }
    self.file = file
    (operatingSystem, architecture, debugID, name) = module
    functions = index.functions.sortedByAddress()
    publics = index.publics.sortedByAddress()
    frameRules = index.frameRules.sortedByAddress()
    files = index.files
    inlineOrigins = index.inlineOrigins
    findings = index.findings
  }

  /// What stands before the first line feed, if it is a MODULE record; of a file that is only to be found.
  package static func module(of bytes: RawSpan) -> (debugID: String, name: String)? {
    SymIndex.module(bytes).map { ($0.debugID, $0.name) }
  }
}

/// Offsets of names by number. The numbers of real files begin at 0 and are dense; others are kept apart.
struct NameTable: Sendable {
  private var dense: [Int] = []
  private var sparse: [UInt64: Int] = [:]

  mutating func set(_ number: UInt64, _ offset: Int) {
    if number == UInt64(dense.count) {
      dense.append(offset)
    } else if number < UInt64(dense.count) {
      dense[Int(number)] = offset
    } else {
      sparse[number] = offset
    }
  }

  subscript(number: UInt64) -> Int? {
    number < UInt64(dense.count) ? dense[Int(number)] : sparse[number]
  }
}

extension [SymFile.Entry] {
  /// Most files are sorted already.
  func sortedByAddress() -> [SymFile.Entry] {
    var isSorted = true
    for index in indices.dropFirst() where self[index - 1].address > self[index].address {
      isSorted = false
      break
    }
    return isSorted ? self : sorted { ($0.address, $0.offset) < ($1.address, $1.offset) }
  }

  /// The last entry that begins at or before `address`.
  func last(atOrBefore address: UInt64) -> SymFile.Entry? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].address <= address { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? self[low - 1] : nil
  }

  /// The entry that `address` lies in.
  func entry(containing address: UInt64) -> SymFile.Entry? {
    guard let entry = last(atOrBefore: address), address < entry.end else { return nil }
    return entry
  }
}
