// SPDX-License-Identifier: Apache-2.0
public import CrashpadCore
package import CrashpadSignatures
internal import CrashpadSymbolication
public import SystemPackage

/// Crashes that are counted by their signatures: one fault, one group, whatever the build or device.
///
/// It keeps a few facts of each crash, and symbols are read once for all. Several reports of one crash count once.
public struct CrashGrouping: Sendable {
  private let signatures: SignatureOptions
  private var part = CrashGroups.Part()

  /// Begins without crashes.
  ///
  /// - Parameters:
  ///   - symbols: files and directories to search for symbols: dSYM bundles, ELF files, Breakpad files. The directories
  ///     in which this system installs debug files are searched too.
  ///   - inApp: patterns with `*` and `?` of the names or paths of modules that belong to the program, besides those that
  ///     look like it.
  public init(symbols: [FilePath] = [], inApp: [String] = []) {
    let cache = SymbolCache(SymbolSearch(paths: symbols), names: .mangled)
    signatures = SignatureOptions(cache, inApp: inApp.map { Glob($0) })
  }

  /// Opens the dump or report at `path`, and adds its crash.
  ///
  /// - Returns: the signature of the crash; nil if the input has no meaning, and the findings of a `Dump` say why.
  @discardableResult
  public mutating func add(_ path: FilePath) throws(DumpInputFailure) -> CrashSignature? {
    try add(DumpInput(path), named: path.string)
  }

  /// Adds the crash of an input that is open.
  ///
  /// - Parameters:
  ///   - input: a dump or report in any format.
  ///   - name: the name by which a group refers to it as its example.
  /// - Returns: the signature of the crash; nil if the input has no meaning.
  @discardableResult
  public mutating func add(_ input: DumpInput, named name: String) throws(DumpInputFailure) -> CrashSignature? {
    let dump = Dump(input)
    guard let snapshot = dump.snapshot else {
      try dump.checkReading()
      return nil
    }
    let signature = Signature(snapshot, dump.file, nil, signatures)
    let facts = CrashFacts(dump, snapshot, input: name, at: FilePath(name), displayed: { $0 })
    try dump.checkReading()
    part.add(signature, facts)
    return CrashSignature(signature)
  }

  /// The crashes with one signature.
  public struct Group: Sendable, Hashable {
    /// The id of the signature.
    public let id: String
    /// The text of the signature.
    public let text: String
    /// The number of crashes.
    public let count: Int
    /// The number of further reports of these crashes, which are not counted.
    public let repeatedReports: Int
    /// The number of copies of these reports, which are not counted either.
    public let copies: Int
    /// The time of the first crash, in seconds since 1970; nil if no input has one.
    public let first: Int64?
    /// The time of the last crash, in seconds since 1970; nil if no input has one.
    public let last: Int64?
    /// The number of crashes of each version of the program.
    public let versions: [String: Int]
    /// The number of crashes on each kind of device.
    public let devices: [String: Int]
    /// The number of crashes on each version of the operating system.
    public let systems: [String: Int]
    /// The number of installations that crashed at least three times within an hour, each time soon after the start.
    public let loopingClients: Int
    /// The number of installations that its crashes name; some crashes may name none.
    public let installations: Int
    /// The newest version of the program, if all crashes are of it and there are crashes of older ones in other groups.
    public let newIn: String?
    /// The first version of the program in which the fault does not occur any more.
    public let goneSince: String?
    /// The name of one of the inputs, whatever their order.
    public let example: String?
    package let source: CrashGroups.Group

    init(_ group: CrashGroups.Group) {
      id = group.id
      text = group.text
      count = group.cell.count
      (repeatedReports, copies) = (group.cell.twins, group.cell.copies)
      first = group.cell.first
      last = group.cell.last
      versions = group.cell.versions
      devices = group.cell.devices
      systems = group.cell.systems
      loopingClients = group.cell.loopingClients
      installations = group.cell.installations.count
      newIn = group.newIn
      goneSince = group.goneSince
      example = group.cell.example?.input
      source = group
    }
  }

  /// The groups: the largest first, then by id.
  public var groups: [Group] {
    let shard = CrashGroups.Shard(run: "", number: 1, total: 1)
    return CrashGroups(shard, part).groups(by: .signature).map { Group($0) }
  }
}
