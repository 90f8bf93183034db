// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles

/// `--pipe-limit`, for commands that read dumps from pipes.
struct PipeOption: OptionTable {
  var pipeLimit: SizeArgument?

  mutating func rows(_ row: inout OptionRows) {
    row.option(&pipeLimit, "--pipe-limit <size>", "Read pipes of up to this size, e.g. 4GiB. Without it, 1 GiB.")
  }

  /// Sets the global limit, because inputs are opened in many places.
  func validate() throws {
    if let pipeLimit { InputFile.pipeLimit = Int(clamping: pipeLimit.bytes) }
  }
}
