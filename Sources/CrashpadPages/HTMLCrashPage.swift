// SPDX-License-Identifier: Apache-2.0
public import CrashpadCore
internal import CrashpadReportPage
internal import CrashpadSignatures
internal import CrashpadSymbolication
internal import CrashpadView
public import SystemPackage

/// One self-contained HTML page about a crash. The page needs no other file and no network, and texts of the input are
/// escaped.
public struct HTMLCrashPage: Sendable {
  private let view: CrashView
  private let cache: SymbolCache
  private let signatures: SignatureOptions
  private let name: String
  private var options = CrashPage.Options()

  /// Opens and reads the dump or report at `path`; nil if it has no meaning, and the findings of a `Dump` say why.
  ///
  /// - Parameters:
  ///   - path: the path of a dump or report in any format.
  ///   - symbols: files and directories to search for symbols: dSYM bundles, ELF files, Breakpad files. The directories
  ///     in which this system installs debug files are searched too.
  public init?(_ path: FilePath, symbols: [FilePath] = []) throws(DumpInputFailure) {
    try self.init(DumpInput(path), named: path.lastComponent?.string ?? path.string, symbols: symbols)
  }

  /// Reads a dump or report that is open; see the other initializer.
  ///
  /// - Parameters:
  ///   - input: the dump or report.
  ///   - name: the name by which the page refers to it.
  ///   - symbols: files and directories to search for symbols.
  public init?(_ input: DumpInput, named name: String, symbols: [FilePath] = []) throws(DumpInputFailure) {
    let dump = Dump(input)
    guard let snapshot = dump.snapshot else {
      try dump.checkReading()
      return nil
    }
    cache = SymbolCache(SymbolSearch(paths: symbols), names: .simplified)
    signatures = SignatureOptions(cache)
    view = CrashView(dump, snapshot, cache, threads: .all, signatures: signatures)
    self.name = name
    try dump.checkReading()
  }

  /// The title of the window, and the first heading; nil for what crashed.
  public var title: String? {
    get { options.title }
    set { options.title = newValue }
  }

  /// Whether directories of this machine are left out.
  public var hidesDirectories: Bool {
    get { options.isRedacted }
    set { options.isRedacted = newValue }
  }

  /// The name of the program that makes the page, for its last line.
  public var generator: String {
    get { options.generator }
    set { options.generator = newValue }
  }

  /// The page in UTF-8: the same bytes for the same input.
  public func html() -> [UInt8] { CrashPage(view, cache, signatures, name: name, options).html() }
}
