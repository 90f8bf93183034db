// SPDX-License-Identifier: Apache-2.0
/// Limits on the resources that reading one input may use, regardless of the sizes that the input declares.
package struct Limits: Sendable {
  /// The largest property of an intermediate dump, in bytes. Crashpad rejects larger ones (`kMaximumPropertyLength`).
  package var maximumPropertyLength = 64 * 1024 * 1024

  /// The number of open containers, including the root, above which Crashpad rejects the next command
  /// (`kMaxStackDepth`).
  package var maximumDepth = 10

  /// The number of findings kept with their details; further ones are only counted.
  package var maximumFindings = 1000

  package init() {}
}
