// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `--color`, for commands with colored output.
struct ColorOption: OptionTable {
  var color: ColorChoice = .auto

  mutating func rows(_ row: inout OptionRows) {
    row.option(&color, "--color <when>", "Print in color; auto is on a terminal, unless NO_COLOR is set.")
  }

  func validate() { TextStyle.choose(color) }
}
