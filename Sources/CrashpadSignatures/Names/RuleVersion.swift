// SPDX-License-Identifier: Apache-2.0
/// The version of the rules that make signatures. The rules of one version never change, as trackers keep the ids that they
/// lead to.
package enum RuleVersion: Int, Sendable, Hashable, CaseIterable {
  case first = 1
  case second = 2

  package static let current = RuleVersion.second
}
