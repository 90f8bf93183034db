/// What this code is prepared to spend on one input, whatever the input claims.
public struct Limits: Sendable {
  /// The largest property of an intermediate dump, in bytes. Crashpad refuses a larger one (`kMaximumPropertyLength`).
  public var maximumPropertyLength = 64 * 1024 * 1024

  /// Open containers, the root among them, above which Crashpad refuses the next command (`kMaxStackDepth`).
  public var maximumDepth = 10

  /// Findings that are kept with their details; further ones are only counted.
  public var maximumFindings = 1000

  public init() {}
}
