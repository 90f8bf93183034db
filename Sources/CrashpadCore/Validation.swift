// SPDX-License-Identifier: Apache-2.0
public import CrashpadBytes
internal import CrashpadFiles
public import CrashpadSnapshot

/// Checks one input with all rules of its format.
public struct Validation: Sendable {
  /// All rules, in the order of the layers that they belong to.
  public static let rules =
    FormatRow.of(.intermediateDump).rules + SnapshotRules.all + FormatRow.all.dropFirst().flatMap(\.rules)

  /// The architecture of dumps that do not determine it; nil for none.
  public var architecture: CPUArchitecture?
  /// Guesses the architecture from the system's facts if no thread has registers.
  package var guessesArchitecture = false
  package var limits = Limits()

  /// A validation by all rules.
  public init() {}

  /// The findings about `input`, in the order in which they were made.
  public func validate(_ input: DumpInput) -> FindingList {
    let row = FormatRow.of(input.format)
    var options = ReadingOptions()
    options.architecture = architecture
    options.guessesArchitecture = guessesArchitecture
    options.limits = limits
    return row.findings(of: input.reading(options), in: input.file, limits)
  }
}
