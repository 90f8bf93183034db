// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// A fault of a database, found by `FaultFinder`. `DatabaseCheck` reports it, `DatabaseRepair` repairs it if there is a
/// `Remedy` for its rule, and cleaning removes those that are leftovers.
struct Fault {
  let rule: Rule
  /// The names that lead from the database to the entry; empty for the database itself.
  let place: [FileName]
  var expected: Finding.Value?
  var found: Finding.Value?
  /// The leftover that cleaning removes; nil if cleaning leaves the entry alone.
  var leftover: Leftover?
  /// Whether another program may be about to repair it: it has the report's lock.
  var isBusy = false
  /// Why the entry could not be examined, or can't be cleaned.
  var failure: FileFailure?

  /// The path relative to the database. `ArgumentText` has the bytes of names that are not UTF-8.
  var path: String { place.path }
}

extension [FileName] {
  /// The text of a place in a database.
  var path: String { map { ArgumentText.text($0.bytes) }.joined(separator: "/") }
}
