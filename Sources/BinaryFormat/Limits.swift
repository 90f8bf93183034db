/// What this code is prepared to spend on one input, whatever the input claims.
package struct Limits: Sendable {
  /// The largest property of an intermediate dump, in bytes. Crashpad refuses a larger one (`kMaximumPropertyLength`).
  package var maximumPropertyLength = 64 * 1024 * 1024

  /// Open containers, the root among them, above which Crashpad refuses the next command (`kMaxStackDepth`).
  package var maximumDepth = 10

  /// Findings that are kept with their details; further ones are only counted.
  package var maximumFindings = 1000

  package init() {}
}
