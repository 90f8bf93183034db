// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles

/// `--max-input-size`, for commands that read dumps from pipes.
struct PipeOption: OptionTable {
  var maxInputSize: SizeArgument?

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &maxInputSize, "--max-input-size <size>, formerly --pipe-limit",
      "Read pipes of up to this size, e.g. 4GiB. Without it, 1 GiB.")
  }

  /// Sets the global limit, because inputs are opened in many places.
  func validate() throws {
    if let maxInputSize { InputFile.pipeLimit = Int(clamping: maxInputSize.bytes) }
  }
}
