// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// The way in which `group` reads crashes.
struct GroupReading {
  let list: InputList
  let places: SymbolOptions
  /// Patterns of modules that belong to the program too.
  let inApp: [String]
  /// Nil to guess.
  let architecture: CPUArchitecture?
  /// The number of dumps to read at once; nil for one per CPU.
  let jobs: Int?
  /// Earlier crashes are left out; seconds since 1970.
  let since: Int64?
  let showsProgress: Bool
  let rules: RuleVersion
  let limits: DumpLimits
  /// The page that is written as well.
  let page: HTMLOption

  /// - Parameter comparing: makes signatures by this version of the rules too.
  func reader(_ search: SymbolSearch, since: Int64?, comparing: RuleVersion? = nil) throws -> GroupReader {
    let cache = SymbolCache(search, names: .mangled)
    let reader = CrashReader(
      signatures: signatures(cache), architecture: architecture, since: since,
      compared: comparing.map { signatures(cache, $0) })
    return try GroupReader(reader, search, limits, jobs: jobs)
  }

  /// - Parameter rules: another version of the rules than that of the run.
  func signatures(_ cache: SymbolCache, _ rules: RuleVersion? = nil) -> SignatureOptions {
    SignatureOptions(cache, inApp: inApp.map { Glob($0) }, version: rules ?? self.rules)
  }

  /// The examples that a page shows; nil if there is to be none.
  func examples(_ search: SymbolSearch) -> GroupExamples? {
    if page.html == nil { return nil }
    let cache = SymbolCache(search, names: .simplified)
    let maker = CrashPageMaker(cache: cache, signatures: signatures(cache))
    return GroupExamples(list, maker, architecture: architecture, jobs: jobs)
  }
}
