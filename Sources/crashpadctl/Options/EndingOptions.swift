// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles

/// The options for the end of a run before all is done.
struct EndingOptions: OptionTable {
  var grace = DurationArgument(milliseconds: RunEnd.standardGrace)
  var maxTime: DurationArgument?

  mutating func rows(_ row: inout OptionRows) {
    row.grace(&grace)
    row.option(&maxTime, "--max-time <duration>", "Begin nothing more after this time, e.g. 4m. Without it, no limit.")
  }

  var isGiven: Bool { maxTime != nil || grace.milliseconds != RunEnd.standardGrace }

  func validate() throws {
    try Self.check(grace)
    if let maxTime, maxTime.milliseconds < 1 { throw ValidationError("--max-time takes 1 ms or more.") }
  }

  static func check(_ grace: DurationArgument) throws {
    if !(0...3_600_000).contains(grace.milliseconds) { throw ValidationError("--grace takes 0s to 1h.") }
  }

  /// Makes signals end the run in good order.
  func begin() -> RunEnd {
    EndSignals.begin(grace: grace.milliseconds, total: maxTime?.milliseconds)
    return EndSignals.run
  }
}

extension OptionRows {
  mutating func grace(_ value: inout DurationArgument) {
    option(
      &value, "--grace <duration>",
      "After a signal that ends the run, allow this long for what is in progress, e.g. 5s.")
  }
}
