// SPDX-License-Identifier: Apache-2.0

/// The answer to the question whether something is at a place.
///
/// A look that failed is no absence, so this is no optional: a `switch` takes it apart, and says what becomes of each
/// answer. Functions that throw `FileFailure` and return an optional have the same three answers.
package enum Look<Found> {
  case found(Found)
  case absent
  /// It could not be examined, so whether it is there is not known.
  case failed(FileFailure)
}

extension Look: Sendable where Found: Sendable {}

/// The answer to a question on which only the wording of a message or a completion in a shell depends, or after which the
/// same is looked at again by a call whose failure is reported; nil if the look fails. `scripts/house-rules` refuses the
/// value of a `try?` elsewhere: a look that failed would pass for an absence.
package func hint<Value>(_ look: () throws -> Value?) -> Value? { try? look() }
