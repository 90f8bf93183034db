// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Options of commands that make a file of each dump.
struct WritingArguments: OptionTable {
  // Directories are always searched recursively; the flag remains for existing scripts.
  var recursive = false
  var keepGoing = false
  var fsync = false

  mutating func rows(_ row: inout OptionRows) {
    row.flag(&recursive, "-r, --recursive", "Has no effect.", visibility: .hidden)
    row.flag(&keepGoing, "-k, --keep-going", "Continue with the other dumps when one fails.")
    row.flag(&fsync, "--fsync", "Flush each output to disk before it gets its name.")
  }
}
